//! The body of POST /search.

use query::expression::Expression;
use query::request::{Item, OrderBy, Output, Select};
use serde_json::Value as Json;

use super::clause::{Clause, clause, object};
use super::error::JsonError;

type Result<T> = std::result::Result<T, JsonError>;

/// Parses the body of POST /search into a SELECT.
///
/// The SELECT's first two items are `id` and `weight()`, for a hit's `_id` and `_score`. The other items are its `_source`:
/// [`Item::Star`], the named columns, or none if `_source` is false.
///
/// # Errors
/// [`JsonError`] with the path of the bad or missing part.
pub fn search(body: &[u8]) -> Result<Select> {
    let json: Json = serde_json::from_slice(body).map_err(|error| JsonError::from_serde(&error))?;
    let mut table = None;
    let mut condition = Clause::default();
    let mut source = vec![Item::Star];
    let mut select = Select {
        table: String::new(),
        items: vec![
            item(
                "id",
                Output::Expression(Expression::Column("id".to_owned())),
            ),
            item("weight()", Output::Weight),
        ],
        matching: None,
        filter: None,
        order: Vec::new(),
        limit: None,
        offset: 0,
        options: Vec::new(),
    };
    for (name, value) in object(&json, "")? {
        match name.as_str() {
            "table" | "index" => table = Some(string(value, name)?),
            "query" => condition = clause(value, "query", 0)?,
            "limit" | "size" => select.limit = Some(count(value, name)?),
            "offset" | "from" => select.offset = count(value, name)?,
            "sort" => select.order = sort(value)?,
            "_source" => source = source_items(value)?,
            "options" => select.options.extend(options(value)?),
            "max_matches" => select
                .options
                .push((name.clone(), count(value, name)?.to_string())),
            "track_scores" | "track_total_hits" | "profile" => {}
            "highlight" | "aggs" | "aggregations" | "knn" | "expressions" | "script_fields"
            | "join" | "hybrid" | "rescore" | "scroll" | "suggest" => {
                return Err(JsonError::not_yet(name, "this part of a search"));
            }
            _ => return Err(JsonError::new(name, "unknown part of a search")),
        }
    }
    let table = table.ok_or_else(|| JsonError::new("table", "no table is named"))?;
    select.table = table.rsplit('.').next().unwrap_or_default().to_lowercase();
    (select.matching, select.filter) = condition.finish("query")?;
    select.items.extend(source);
    Ok(select)
}

/// The conditions of the member `query` of a body: the text of MATCH, and the rest.
pub(super) fn query(json: &Json) -> Result<(Option<String>, Option<Expression>)> {
    clause(json, "query", 0)?.finish("query")
}

fn item(name: &str, what: Output) -> Item {
    Item::Value {
        what,
        name: name.to_owned(),
    }
}

pub(super) fn string<'j>(json: &'j Json, path: &str) -> Result<&'j str> {
    json.as_str()
        .ok_or_else(|| JsonError::new(path, "expected a string"))
}

pub(super) fn count(json: &Json, path: &str) -> Result<u64> {
    json.as_u64()
        .ok_or_else(|| JsonError::new(path, "expected a whole number from 0"))
}

/// Parses a sort key or an array of keys: `"price"`, `{"price": "desc"}`, `{"price": {"order": "desc"}}`.
fn sort(json: &Json) -> Result<Vec<OrderBy>> {
    let Some(list) = json.as_array() else {
        return Ok(vec![sort_key(json, "sort")?]);
    };
    let numbered = list.iter().enumerate();
    numbered
        .map(|(index, key)| sort_key(key, &format!("sort[{index}]")))
        .collect()
}

fn sort_key(json: &Json, path: &str) -> Result<OrderBy> {
    if let Some(name) = json.as_str() {
        return order_by(name, None, path);
    }
    let key = object(json, path)?;
    let mut entries = key.iter();
    let (Some((name, body)), None) = (entries.next(), entries.next()) else {
        return Err(JsonError::new(path, "expected one key"));
    };
    let path = format!("{path}.{name}");
    let order = match body {
        Json::String(order) => Some(order.as_str()),
        Json::Object(options) => {
            for option in options.keys() {
                if option != "order" {
                    return Err(JsonError::not_yet(
                        &format!("{path}.{option}"),
                        "this option of a key",
                    ));
                }
            }
            options.get("order").and_then(Json::as_str)
        }
        _ => return Err(JsonError::new(&path, "expected asc or desc")),
    };
    order_by(name, order, &path)
}

/// A sort key. Without a written order, a score sorts descending and any other key ascending.
fn order_by(name: &str, order: Option<&str>, path: &str) -> Result<OrderBy> {
    let key = match name {
        "_score" => Output::Weight,
        "_random" => return Err(JsonError::not_yet(path, "random order")),
        "_id" => Output::Expression(Expression::Column("id".to_owned())),
        _ => Output::Expression(Expression::Column(name.to_lowercase())),
    };
    let descending = match order.map(str::to_lowercase).as_deref() {
        None => key == Output::Weight,
        Some("asc") => false,
        Some("desc") => true,
        Some(_) => return Err(JsonError::new(path, "expected asc or desc")),
    };
    Ok(OrderBy { key, descending })
}

/// Parses `_source`: `true`, `false`, `"a"`, `["a", "b"]` or `{"includes": […]}`.
fn source_items(json: &Json) -> Result<Vec<Item>> {
    let names = match json {
        Json::Bool(true) => return Ok(vec![Item::Star]),
        Json::Bool(false) => return Ok(Vec::new()),
        Json::String(name) => vec![name.as_str()],
        Json::Array(list) => strings(list, "_source")?,
        Json::Object(parts) => {
            if parts
                .get("excludes")
                .and_then(Json::as_array)
                .is_some_and(|list| !list.is_empty())
            {
                return Err(JsonError::not_yet(
                    "_source.excludes",
                    "leaving columns out",
                ));
            }
            match parts.get("includes") {
                Some(Json::Array(list)) => strings(list, "_source.includes")?,
                None => return Ok(vec![Item::Star]),
                Some(_) => {
                    return Err(JsonError::new(
                        "_source.includes",
                        "expected an array of names",
                    ));
                }
            }
        }
        _ => {
            return Err(JsonError::new(
                "_source",
                "expected a name, names, true or false",
            ));
        }
    };
    if names.contains(&"*") {
        return Ok(vec![Item::Star]);
    }
    if names.iter().any(|name| name.contains('*')) {
        return Err(JsonError::not_yet("_source", "patterns of names"));
    }
    let column = |name: &&str| {
        item(
            name,
            Output::Expression(Expression::Column(name.to_lowercase())),
        )
    };
    Ok(names.iter().map(column).collect())
}

fn strings<'j>(list: &'j [Json], path: &str) -> Result<Vec<&'j str>> {
    list.iter().map(|name| string(name, path)).collect()
}

/// Parses `options`, which are those of OPTION in SQL. Gives the values as text.
fn options(json: &Json) -> Result<Vec<(String, String)>> {
    let mut options = Vec::new();
    for (name, value) in object(json, "options")? {
        let path = format!("options.{name}");
        let text = match value {
            Json::String(text) => text.clone(),
            Json::Number(number) => number.to_string(),
            Json::Bool(value) => u8::from(*value).to_string(),
            Json::Object(weights) => {
                let pairs: Vec<String> = weights
                    .iter()
                    .map(|(name, weight)| format!("{name}={weight}"))
                    .collect();
                format!("({})", pairs.join(", "))
            }
            _ => {
                return Err(JsonError::new(
                    &path,
                    "expected a string, a number, a bool or an object",
                ));
            }
        };
        options.push((name.to_lowercase(), text));
    }
    Ok(options)
}
