//! Documents of CALL PQ and of POST /pq/t/search.

use query::value::Value;

use super::error::JsonError;

/// Reads every document of one string: an object, an array of objects, or several of these one behind the other.
/// Each becomes its fields in the order written.
///
/// # Errors
/// [`JsonError`]: no JSON, or something else than objects.
pub fn documents(text: &[u8]) -> Result<Vec<Vec<(String, Value)>>, JsonError> {
    let _ = text;
    Err(JsonError::new("", "not a JSON object"))
}
