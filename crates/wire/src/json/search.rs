//! The body of POST /search.

use language::nearest::nearest;
use relation::bind::IMPLICIT_LIMIT;
use relation::expression::{self, Expression, Function};
use relation::lexer::{Lexer, TokenKind};
use relation::request::{Facet, Item, OrderBy, Output, Select, together};
use serde_json::Value as Json;

use super::aggregate::{Aggregation, aggregations};
use super::clause::{Clause, clause, field};
use super::error::JsonError;
use super::highlight::{Highlight, highlight};
use super::member::{at_most, count, object, once, only, string};
use super::once::parse;
use super::place;
use super::source::{Shown, source};
use crate::limits::{COLUMNS_MAX, ORDER_KEYS_MAX, TABLES_AS_ONE_MAX};

type Result<T> = std::result::Result<T, JsonError>;

/// What POST /search asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Its first two items are `id` and `weight()`, for a hit's `_id` and `_score`. The other items are its `_source`:
    /// [`Item::Star`] or the named columns, or none if `_source` is false; and the `expressions`.
    pub select: Select,
    /// The columns behind the first two that hits show.
    pub shown: Shown,
    /// The aggregations, by rising name.
    pub aggregations: Vec<Aggregation>,
    /// The FACETs that give their groups, in the order of [`Aggregation::facets`].
    pub facets: Vec<Facet>,
    /// The marked texts that hits show.
    pub highlight: Option<Highlight>,
    /// Whether the reply shows the tree of its words.
    pub is_profiled: bool,
}

/// Parses the body of POST /search.
///
/// # Errors
/// [`JsonError`] with the path of the bad or missing part.
pub fn search(body: &[u8]) -> Result<Search> {
    let json = parse(body).map_err(|error| JsonError::from_serde(&error))?;
    let mut table = None;
    let mut condition = Clause::default();
    let (mut items, mut shown) = (vec![Item::Star], Shown::default());
    let (mut computed, mut order) = (Vec::new(), Vec::new());
    let (mut asked, mut facets) = (Vec::new(), Vec::new());
    let mut select = empty();
    let (mut marked, mut is_profiled, mut offset) = (None, false, None);
    for (name, value) in object(&json, "")? {
        match name.as_str() {
            "table" | "index" => once(&mut table, string(value, name)?, name)?,
            "query" => condition = clause(value, "query", 0)?,
            "limit" | "size" => once(&mut select.limit, count(value, name)?, name)?,
            "offset" | "from" => once(&mut offset, count(value, name)?, name)?,
            "sort" => order = sort(value)?,
            "_source" => (items, shown) = source(value)?,
            "options" => select.options.extend(options(value)?),
            "aggs" | "aggregations" => asked.extend(aggregations(value, name, false, &mut facets)?),
            "expressions" => computed.extend(expressions(value, name)?),
            "script_fields" => computed.extend(scripts(value, name)?),
            "max_matches" => select
                .options
                .push((name.clone(), count(value, name)?.to_string())),
            "profile" => {
                let message = || JsonError::new(name, "expected true or false");
                is_profiled = value.as_bool().ok_or_else(message)?;
            }
            // Scores and totals are always there, and exact.
            "track_scores" | "track_total_hits" if value.is_boolean() => {}
            "track_total_hits" if value.is_u64() => {}
            "track_scores" | "track_total_hits" => {
                return Err(JsonError::new(name, "expected true or false"));
            }
            "highlight" => marked = Some(highlight(value)?),
            "knn" | "join" | "hybrid" | "rescore" | "scroll" | "suggest" | "facet_filter_mode" => {
                return Err(JsonError::not_yet(name, "this part of a search"));
            }
            _ => return Err(JsonError::new(name, unknown(name))),
        }
    }
    select.offset = offset.unwrap_or(0);
    select.limit.get_or_insert(IMPLICIT_LIMIT); // as Manticore, whatever is searched for
    at_most(computed.len(), COLUMNS_MAX, "expressions", "expressions")?;
    let table = table.ok_or_else(|| JsonError::new("table", "no table is named"))?;
    select.table = tables(table)?;
    (select.matching, select.filter) = condition.finish("query")?;
    select.order = order
        .into_iter()
        .map(|key| of_alias(key, &computed))
        .collect();
    select.items.extend(items);
    for item in computed {
        if let Item::Value { name, .. } = &item {
            shown.and_always(name);
        }
        select.items.push(item);
    }
    Ok(Search {
        select,
        shown,
        aggregations: asked,
        facets,
        highlight: marked,
        is_profiled,
    })
}

/// Parts of a search, for the error about one that is none.
const PARTS: [&str; 19] = [
    "table",
    "index",
    "query",
    "limit",
    "size",
    "offset",
    "from",
    "sort",
    "_source",
    "options",
    "aggs",
    "aggregations",
    "expressions",
    "script_fields",
    "max_matches",
    "profile",
    "track_scores",
    "track_total_hits",
    "highlight",
];

fn unknown(name: &str) -> String {
    let meant = nearest(name, PARTS.into_iter());
    let meant = meant.map_or_else(String::new, |meant| format!(", did you mean {meant}?"));
    format!("unknown part of a search{meant}")
}

/// A table, or several with commas between them, which are searched as one: the name that [`together`] gives.
fn tables(written: &str) -> Result<String> {
    let mut tables = Vec::new();
    for name in written.split(',') {
        let name = name.rsplit('.').next().unwrap_or_default();
        let name = name.trim().to_lowercase();
        if name.is_empty() {
            return Err(JsonError::new("table", "a table's name is empty"));
        }
        if name.contains('`') {
            return Err(JsonError::new("table", "a table's name has no backtick"));
        }
        if tables.contains(&name) {
            let message = format!("table '{name}' is there twice");
            return Err(JsonError::new("table", message));
        }
        tables.push(name);
        at_most(tables.len(), TABLES_AS_ONE_MAX, "tables", "table")?;
    }
    Ok(together(&tables))
}

/// A SELECT without a table, of the id and the weight.
fn empty() -> Select {
    let id = Output::Expression(Expression::Column("id".to_owned()));
    Select::new("", vec![item("id", id), item("weight()", Output::Weight)])
}

/// Parses `expressions`: `{"cheap": "price < 5", "length": "LENGTH(title)"}`, each an item with its name.
fn expressions(json: &Json, path: &str) -> Result<Vec<Item>> {
    let named = object(json, path)?.iter();
    named
        .map(|(name, text)| {
            let path = format!("{path}.{name}");
            computed(name, string(text, &path)?, &path)
        })
        .collect()
}

/// Parses `script_fields`: `{"cheap": {"script": {"inline": "price < 5"}}}`.
fn scripts(json: &Json, path: &str) -> Result<Vec<Item>> {
    let named = object(json, path)?.iter();
    named
        .map(|(name, body)| {
            let path = format!("{path}.{name}");
            let body = object(body, &path)?;
            only(body, &["script"], &path)?;
            let path = format!("{path}.script");
            let text = match body.get("script") {
                Some(Json::Object(script)) if script.len() == 1 => {
                    only(script, &["inline", "source"], &path)?;
                    script.values().next().and_then(Json::as_str)
                }
                Some(Json::Object(script)) => {
                    only(script, &["inline"], &path)?;
                    None
                }
                script => script.and_then(Json::as_str),
            };
            let text =
                text.ok_or_else(|| JsonError::new(&path, "expected a text called inline"))?;
            computed(name, text, &path)
        })
        .collect()
}

fn computed(name: &str, text: &str, path: &str) -> Result<Item> {
    let mut lexer = Lexer::new(text.as_bytes());
    let parsed = expression::parse(&mut lexer);
    let parsed = parsed.map_err(|error| JsonError::new(path, error.to_string()))?;
    let behind = lexer.peek();
    if behind.kind != TokenKind::End {
        let message = format!("the expression ends at byte {}", behind.range.start);
        return Err(JsonError::new(path, message));
    }
    if parsed.has_aggregate() {
        let message = "an aggregate is no value of a document: write it in aggs";
        return Err(JsonError::new(path, message));
    }
    Ok(item(&name.to_lowercase(), output(parsed)))
}

/// The value of an item or a key.
fn output(expression: Expression) -> Output {
    match expression {
        Expression::Column(name) if name == "weight()" => Output::Weight,
        other => Output::Expression(other),
    }
}

/// The key, or what it stands for as the name of an expression.
fn of_alias(key: OrderBy, computed: &[Item]) -> OrderBy {
    let named = computed.iter().find_map(|item| match (item, &key.key) {
        (Item::Value { what, name }, Output::Expression(Expression::Column(wanted)))
            if name == wanted =>
        {
            Some(what.clone())
        }
        _ => None,
    });
    OrderBy {
        key: named.unwrap_or(key.key),
        descending: key.descending,
    }
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

/// Parses a sort key or an array of keys: `"price"`, `{"price": "desc"}`, `{"price": {"order": "desc"}}`.
fn sort(json: &Json) -> Result<Vec<OrderBy>> {
    let Some(list) = json.as_array() else {
        return Ok(vec![sort_key(json, "sort")?]);
    };
    at_most(list.len(), ORDER_KEYS_MAX, "keys", "sort")?;
    let mut keys: Vec<OrderBy> = Vec::with_capacity(list.len());
    for (index, key) in list.iter().enumerate() {
        let key = sort_key(key, &format!("sort[{index}]"))?;
        // A repeated key cannot change the order.
        if !keys.iter().any(|known| known.key == key.key) {
            keys.push(key);
        }
    }
    Ok(keys)
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
    if name == "_geo_distance" {
        let (distance, order) = place::key(body, &path)?;
        return directed(Output::Expression(distance), order, &path);
    }
    let (mut order, mut mode) = (None, None);
    match body {
        Json::String(written) => order = Some(written.as_str()),
        Json::Object(options) => {
            for (option, value) in options {
                let path = format!("{path}.{option}");
                match option.as_str() {
                    "order" => order = Some(string(value, &path)?),
                    "mode" => mode = Some((string(value, &path)?, path)),
                    _ => return Err(JsonError::not_yet(&path, "this option of a key")),
                }
            }
        }
        _ => return Err(JsonError::new(&path, "expected asc or desc")),
    }
    let mut key = order_by(name, order, &path)?;
    if let (Some((mode, path)), Output::Expression(of)) = (mode, &mut key.key) {
        let function = match mode {
            "min" => Function::Least,
            "max" => Function::Greatest,
            _ => return Err(JsonError::new(&path, "expected min or max")),
        };
        *of = Expression::Call(function, vec![of.clone()]);
    }
    Ok(key)
}

/// A sort key. Without a written order, a score sorts descending and any other key ascending.
fn order_by(name: &str, order: Option<&str>, path: &str) -> Result<OrderBy> {
    let key = match name {
        "_score" => Output::Weight,
        "_random" => Output::Expression(Expression::Call(Function::Rand, Vec::new())),
        "_geo_distance" => {
            let message = "expected location_anchor and location_source";
            return Err(JsonError::new(path, message));
        }
        _ => Output::Expression(field(name, path)?),
    };
    directed(key, order, path)
}

fn directed(key: Output, order: Option<&str>, path: &str) -> Result<OrderBy> {
    let descending = match order.map(str::to_lowercase).as_deref() {
        None => key == Output::Weight,
        Some("asc") => false,
        Some("desc") => true,
        Some(_) => return Err(JsonError::new(path, "expected asc or desc")),
    };
    Ok(OrderBy { key, descending })
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
