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

/// Fails for a member that is none of `known`. Every reader of an object whose members have fixed names, and that does not look at
/// each of them, begins with it: what is written is read, or refused.
pub(super) fn only(body: &Map<String, Json>, known: &[&str], path: &str) -> Result<()> {
    only_or_later(body, known, &[], path)
}

/// As [`only`]. `later`: names that mean something to Elasticsearch or Manticore, and nothing here yet.
pub(super) fn only_or_later(
    body: &Map<String, Json>,
    known: &[&str],
    later: &[&str],
    path: &str,
) -> Result<()> {
    let unknown = body.keys().find(|name| !known.contains(&name.as_str()));
    let Some(name) = unknown else {
        return Ok(());
    };
    let at = format!("{path}.{name}");
    match later.contains(&name.as_str()) {
        true => Err(JsonError::not_yet(&at, "this option")),
        false if known.is_empty() => Err(JsonError::new(&at, "unknown option, expected none")),
        false => {
            let message = format!("unknown option, expected {}", known.join(", "));
            Err(JsonError::new(&at, message))
        }
    }
}

/// Sets what two names may stand for. Fails if the other name has set it.
pub(super) fn once<T>(place: &mut Option<T>, value: T, name: &str) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(JsonError::new(
            name,
            "means the same as another part: write one of the two",
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
