//! Members of a body by their types.

use serde_json::{Map, Value as Json};

use super::error::JsonError;

type Result<T> = std::result::Result<T, JsonError>;

/// Fails for more than `most` of something.
pub(super) fn at_most(count: usize, most: usize, what: &str, path: &str) -> Result<()> {
    match count > most {
        true => Err(JsonError::new(path, format!("more than {most} {what}"))),
        false => Ok(()),
    }
}

/// The name and value of an object with exactly one member.
pub(super) fn only_entry<'j>(json: &'j Json, path: &str) -> Result<(&'j str, &'j Json)> {
    let object = object(json, path)?;
    let mut entries = object.iter();
    match (entries.next(), entries.next()) {
        (Some((name, value)), None) => Ok((name, value)),
        (None, _) => Err(JsonError::new(
            path,
            "expected an object with one name in it, found none",
        )),
        (_, Some(_)) => Err(JsonError::new(
            path,
            "expected an object with one name in it, found more",
        )),
    }
}

pub(super) fn object<'j>(json: &'j Json, path: &str) -> Result<&'j Map<String, Json>> {
    json.as_object()
        .ok_or_else(|| JsonError::new(path, "expected an object"))
}

pub(super) fn string<'j>(json: &'j Json, path: &str) -> Result<&'j str> {
    json.as_str()
        .ok_or_else(|| JsonError::new(path, "expected a string"))
}

pub(super) fn count(json: &Json, path: &str) -> Result<u64> {
    json.as_u64()
        .ok_or_else(|| JsonError::new(path, "expected a whole number from 0"))
}
