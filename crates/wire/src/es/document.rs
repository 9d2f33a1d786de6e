//! Documents to percolate, as values of a pq table's columns.

use relation::value::Value;
use serde_json::Value as Json;

use super::error::EsError;
use super::language::{before, words};
use super::mapping::{Field, FieldKind, Mapping, UNMAPPED};
use super::number::value;

type Result<T> = std::result::Result<T, EsError>;

/// The values of a document by column. A column without a value in the document has the value that `absent` gives.
///
/// # Errors
/// [`EsError`]: a value that its field cannot hold, or several values for a field that holds one.
pub fn columns_of(document: &Json, mapping: &Mapping) -> Result<Vec<(String, Value)>> {
    if !document.is_object() {
        return Err(EsError::mapper("", "a document is an object"));
    }
    let mut columns = Vec::with_capacity(mapping.fields.len() + 1);
    for field in &mapping.fields {
        let mut found = Vec::new();
        at(document, &field.place, &mut found);
        columns.push((field.column.clone(), column(field, &found)?));
    }
    if mapping.unmapped_as_text {
        let mut text = String::new();
        unmapped(document, "", mapping, &mut text);
        columns.push((UNMAPPED.to_owned(), Value::Str(text)));
    }
    Ok(columns)
}

/// The value of a missing field: bytes that no column accepts, so matching reads it as NULL. To leave the field out, or to pass
/// NULL, would give it the column's default, as in a stored row. But a missing field must fit no `range` and no `exists`.
#[must_use]
pub(crate) fn absent() -> Value {
    Value::Bytes(vec![0xff])
}

/// Checks that the fields of a document can hold its values; each may have several.
///
/// # Errors
/// [`EsError`]: one cannot.
pub(super) fn fit(document: &Json, mapping: &Mapping) -> Result<()> {
    let mut found = Vec::new();
    for field in &mapping.fields {
        found.clear();
        at(document, &field.place, &mut found);
        for json in &found {
            value(field, json, "").map_err(|error| wrong(field, &error))?;
        }
    }
    Ok(())
}

fn wrong(field: &Field, error: &EsError) -> EsError {
    let what = format!("failed to parse field [{}]: {}", field.path, error.reason);
    EsError::mapper("", what)
}

fn column(field: &Field, found: &[&Json]) -> Result<Value> {
    let wrong = |error: EsError| wrong(field, &error);
    if field.kind == FieldKind::Text {
        let mut text = String::new();
        for json in found {
            if !text.is_empty() {
                text.push('\n');
            }
            if let Value::Str(more) = value(field, json, "").map_err(wrong)? {
                text.push_str(&more);
            }
        }
        return Ok(Value::Str(text));
    }
    match found {
        [] => Ok(absent()),
        [one] => value(field, one, "").map_err(wrong),
        _ => Err(EsError::not_yet(
            "",
            format!("several values in field [{}]", field.path),
        )),
    }
}

/// Appends the values at a path. The items of an array count one by one; null counts as no value.
pub(super) fn at<'j>(json: &'j Json, path: &str, found: &mut Vec<&'j Json>) {
    match json {
        Json::Array(list) => list.iter().for_each(|json| at(json, path, found)),
        Json::Null => {}
        _ if path.is_empty() => found.push(json),
        Json::Object(fields) => {
            for (name, json) in fields {
                match path.strip_prefix(name.as_str()) {
                    Some("") => at(json, "", found),
                    Some(rest) if rest.starts_with('.') => at(json, &rest[1..], found),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Appends the words of every field that the mapping does not know.
fn unmapped(json: &Json, path: &str, mapping: &Mapping, text: &mut String) {
    match json {
        Json::Object(fields) => {
            for (name, json) in fields {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                unmapped(json, &path, mapping, text);
            }
        }
        Json::Array(list) => list
            .iter()
            .for_each(|json| unmapped(json, path, mapping, text)),
        Json::Null => {}
        _ if mapping.field(path).is_some() || path == mapping.percolator => {}
        scalar => {
            let before = before(path);
            let scalar = scalar
                .as_str()
                .map_or_else(|| scalar.to_string(), str::to_owned);
            for word in words(&scalar) {
                text.push_str(&before);
                text.push_str(&word);
                text.push(' ');
            }
        }
    }
}
