//! The order of buckets, and where a page of them begins.

use relation::expression::Expression;
use relation::json::Json as Document;
use relation::request::{OrderBy, Output};
use relation::value::Value;
use serde_json::Value as Json;

use super::{Metric, Source, seconds};
use crate::json::clause::{constant, field};
use crate::json::error::JsonError;
use crate::json::member::{at_most, object, only, only_entry};
use crate::limits::ORDER_KEYS_MAX;

type Result<T> = std::result::Result<T, JsonError>;

/// Parses `order` or `sort`: a key or an array of keys, each `"name"`, `{"name": "desc"}` or `{"name": {"order": "desc"}}`. Names
/// are `_count` or `count(*)`, `_key`, the field itself, and values of the bucket. Groups with equal ones go by their keys.
pub(super) fn bucket_order(
    json: &Json,
    keys: &[Expression],
    metrics: &[Metric],
    path: &str,
) -> Result<Vec<OrderBy>> {
    let list = json
        .as_array()
        .map_or(std::slice::from_ref(json), Vec::as_slice);
    at_most(list.len(), ORDER_KEYS_MAX, "keys", path)?;
    let mut order = Vec::with_capacity(list.len() + keys.len());
    for key in list {
        let (name, direction) = match key {
            Json::String(name) => (name.as_str(), None),
            _ => {
                let (name, direction) = only_entry(key, path)?;
                (name, Some(direction))
            }
        };
        let key = named(name, keys, metrics, path)?;
        let descending = match direction {
            Some(direction) => is_descending(direction, &format!("{path}.{name}"))?,
            None => key == Output::Count,
        };
        order.push(OrderBy { key, descending });
    }
    for key in keys {
        let key = Output::Expression(key.clone());
        if !order.iter().any(|known: &OrderBy| known.key == key) {
            order.push(OrderBy {
                key,
                descending: false,
            });
        }
    }
    Ok(order)
}

fn named(name: &str, keys: &[Expression], metrics: &[Metric], path: &str) -> Result<Output> {
    if matches!(name, "_count" | "count(*)") {
        return Ok(Output::Count);
    }
    let value = name.strip_suffix(".value").unwrap_or(name);
    if let Some(metric) = metrics.iter().find(|metric| metric.name == value) {
        return Ok(Output::Expression(metric.value.clone()));
    }
    let key = match name {
        "_key" | "_term" => keys.first().cloned(),
        _ => {
            let meant = field(name, path)?;
            keys.contains(&meant).then_some(meant)
        }
    };
    let message = || format!("unknown '{name}': expected _count, _key or a value of the bucket");
    let key = key.ok_or_else(|| JsonError::new(path, message()))?;
    Ok(Output::Expression(key))
}

/// Whether a direction, alone or as the member `order` of an object, is `desc`.
pub(super) fn is_descending(json: &Json, path: &str) -> Result<bool> {
    let direction = match json.as_object() {
        Some(options) => {
            only(options, &["order"], path)?;
            options.get("order").and_then(Json::as_str)
        }
        None => json.as_str(),
    };
    match direction.map(str::to_lowercase).as_deref() {
        Some("asc") => Ok(false),
        Some("desc") => Ok(true),
        _ => Err(JsonError::new(path, "expected asc or desc")),
    }
}

/// Parses `after`: the keys of the last bucket of the page before, in the order of the sources.
pub(super) fn after(json: &Json, sources: &[Source], path: &str) -> Result<Vec<Value>> {
    let last = object(json, path)?;
    if let Some(name) = last
        .keys()
        .find(|name| !sources.iter().any(|source| source.name == **name))
    {
        let path = format!("{path}.{name}");
        return Err(JsonError::new(&path, "no source has this name"));
    }
    let values = sources.iter().map(|source| {
        let name = &source.name;
        let path = format!("{path}.{name}");
        let missing = || JsonError::new(&path, "missing");
        match last.get(name).ok_or_else(missing)? {
            document @ (Json::Object(_) | Json::Array(_)) => {
                let parsed = Document::parse(document.to_string().as_bytes());
                let parsed = parsed.map_err(|_| JsonError::new(&path, "too deep a document"))?;
                Ok(Value::Json(parsed))
            }
            scalar if source.is_in_milliseconds => seconds(scalar, &path),
            scalar => constant(scalar, &path),
        }
    });
    values.collect()
}
