//! The bodies of /pq: a standing query to store, and documents to match.

use relation::value::Value;
use serde::de::Deserialize;
use serde_json::Value as Json;

use super::clause::clause;
use super::error::JsonError;
use super::fields::Fields;
use super::member::{count, object, once, only_or_later, string};
use super::once::{parse, repeated, twice};
use crate::sql::{PqOptions, condition};

type Result<T> = std::result::Result<T, JsonError>;

/// The body of PUT /pq/{table}/doc: a standing query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PqRule {
    /// Text of the query; empty for a query of filters only.
    pub query: String,
    /// Tags, with commas.
    pub tags: String,
    /// A condition on the document's attributes; empty for none.
    pub filters: String,
}

/// Parses a standing query: `{"query": {"ql": "…"} | {"match": …}, "tags": […], "filters": "…"}`.
///
/// # Errors
/// [`JsonError`] with the path of the bad part.
pub fn pq_rule(body: &[u8]) -> Result<PqRule> {
    let mut rule = PqRule::default();
    let mut has_query = false;
    for (name, value) in object(&parsed(body)?, "")? {
        match name.as_str() {
            "query" => {
                has_query = true;
                rule.query = rule_text(value)?;
            }
            "tags" => rule.tags = tags(value)?,
            "filters" => rule.filters = string(value, name)?.to_owned(),
            _ => return Err(JsonError::new(name, "unknown part of a standing query")),
        }
    }
    if !has_query && rule.filters.is_empty() {
        return Err(JsonError::new("query", "no query is given"));
    }
    Ok(rule)
}

/// Parses `{"query": {"percolate": {"document": {…}}}, "limit": …}`. Gives the documents, with their fields in the order
/// written, and sets the options.
///
/// # Errors
/// [`JsonError`] with the path of the bad part.
pub fn pq_search(body: &[u8], options: &mut PqOptions) -> Result<Vec<Vec<(String, Value)>>> {
    let (mut documents, mut limit) = (None, None);
    for (name, value) in object(&parsed(body)?, "")? {
        match name.as_str() {
            "query" => documents = Some(percolated(value)?),
            "limit" | "size" => once(&mut limit, count(value, name)?, name)?,
            "after" => options.after = Some(count(value, name)?),
            "top" => options.top = Some(top(count(value, name)?)?),
            "only" => {
                let only = condition(string(value, name)?.as_bytes());
                options.only = Some(only.map_err(|error| JsonError::new(name, error.to_string()))?);
            }
            "count_only" => options.count = flag(value, name)?,
            "weights" => options.weights = flag(value, name)?,
            "highlight" => {
                options.highlight = match value.as_object() {
                    Some(how) => only_or_later(how, &[], &MARKS, name).map(|()| true)?,
                    None => flag(value, name)?,
                }
            }
            _ => return Err(JsonError::new(name, "unknown part of a percolation")),
        }
    }
    options.limit = limit.or(options.limit);
    documents.ok_or_else(|| JsonError::new("query", "no query is given"))
}

/// Options of `highlight` in a search, which nothing here reads yet.
const MARKS: [&str; 4] = ["fields", "pre_tags", "post_tags", "fragment_size"];

fn parsed(body: &[u8]) -> Result<Json> {
    parse(body).map_err(|error| JsonError::from_serde(&error))
}

fn flag(value: &Json, path: &str) -> Result<bool> {
    match value {
        Json::Bool(flag) => Ok(*flag),
        Json::Number(number) => Ok(number.as_f64() != Some(0.0)),
        _ => Err(JsonError::new(path, "expected true or false")),
    }
}

fn top(count: u64) -> Result<u32> {
    match u32::try_from(count).unwrap_or(u32::MAX) {
        0 => Err(JsonError::new("top", "expected a number from 1")),
        top => Ok(top),
    }
}

/// The text of a standing query: the text of `ql`, or one made from a JSON query.
fn rule_text(query: &Json) -> Result<String> {
    if let Some(text) = query.as_str() {
        return Ok(text.to_owned());
    }
    if let Some(text) = object(query, "query")?.get("ql") {
        if query.as_object().is_some_and(|parts| parts.len() > 1) {
            return Err(JsonError::new("query", "expected ql alone"));
        }
        return string(text, "query.ql").map(str::to_owned);
    }
    match clause(query, "query", 0)?.finish("query")? {
        (text, None) => Ok(text.unwrap_or_default()),
        (_, Some(_)) => Err(JsonError::not_yet(
            "query",
            "conditions on attributes inside the query; write them as filters",
        )),
    }
}

/// `"a,b"` or `["a", "b"]`.
fn tags(value: &Json) -> Result<String> {
    if let Some(text) = value.as_str() {
        return Ok(text.to_owned());
    }
    let list = value
        .as_array()
        .ok_or_else(|| JsonError::new("tags", "expected a string or an array of strings"))?;
    let numbered = list.iter().enumerate();
    let each = numbered.map(|(index, tag)| string(tag, &format!("tags[{index}]")));
    Ok(each.collect::<Result<Vec<&str>>>()?.join(","))
}

/// The documents below `query.percolate`.
fn percolated(query: &Json) -> Result<Vec<Vec<(String, Value)>>> {
    for name in object(query, "query")?.keys() {
        if name != "percolate" {
            let path = format!("query.{name}");
            return Err(JsonError::new(&path, "expected percolate"));
        }
    }
    let Some(percolate) = query.get("percolate") else {
        return Err(JsonError::new("query", "expected percolate"));
    };
    let mut found = None;
    for (name, value) in object(percolate, "query.percolate")? {
        let path = format!("query.percolate.{name}");
        let documents = match (name.as_str(), value) {
            ("document", one) => vec![fields(one, &path)?],
            ("documents", Json::Array(many)) => {
                let numbered = many.iter().enumerate();
                let each =
                    numbered.map(|(index, document)| fields(document, &format!("{path}[{index}]")));
                each.collect::<Result<Vec<_>>>()?
            }
            ("documents", _) => {
                return Err(JsonError::new(&path, "expected an array of documents"));
            }
            _ => return Err(JsonError::new(&path, "unknown part of percolate")),
        };
        if found.replace(documents).is_some() {
            let message = "expected either document or documents";
            return Err(JsonError::new("query.percolate", message));
        }
    }
    found.ok_or_else(|| JsonError::new("query.percolate", "no document is given"))
}

fn fields(document: &Json, path: &str) -> Result<Vec<(String, Value)>> {
    if !document.is_object() {
        return Err(JsonError::new(path, "expected an object of fields"));
    }
    let Fields(fields) =
        Fields::deserialize(document).map_err(|error| JsonError::new(path, error.to_string()))?;
    // Names that differ in case are one column.
    match repeated(fields.iter().map(|(name, _)| &**name)) {
        None => Ok(fields),
        Some(name) => Err(JsonError::new(path, twice(name))),
    }
}
