//! The body of POST /search.

use query::request::Select;

use super::error::JsonError;

/// Reads the body of POST /search as a SELECT.
///
/// # Errors
/// [`JsonError`] with the path of what is wrong or cannot be expressed yet.
pub fn search(body: &[u8]) -> Result<Select, JsonError> {
    let _ = body;
    Err(JsonError::new("", "not a JSON object"))
}
