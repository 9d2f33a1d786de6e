//! `_source`: which columns a hit shows.
//!
//! Example: `{"includes": ["ti*", "price"], "excludes": ["title_raw"]}` shows `title` and `price`. A list of names alone reads these
//! columns only; with patterns every column is read, and the reply leaves out the others.

use language::pattern;
use relation::request::{Item, Output};
use serde_json::Value as Json;

use super::clause::field;
use super::error::JsonError;
use super::member::string;

type Result<T> = std::result::Result<T, JsonError>;

/// The columns of an answer that its hits show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// Patterns of LIKE; empty: every column.
    includes: Vec<String>,
    excludes: Vec<String>,
    /// Names that are shown whatever the patterns say: those of expressions.
    always: Vec<String>,
}

impl Shown {
    /// Whether a column is shown. Cost: its name against each pattern.
    #[must_use]
    pub fn has(&self, column: &str) -> bool {
        let is = |list: &[String]| list.iter().any(|pattern| pattern::like(pattern, column));
        self.always.iter().any(|name| name == column)
            || (self.includes.is_empty() || is(&self.includes)) && !is(&self.excludes)
    }

    pub(super) fn and_always(&mut self, name: &str) {
        self.always.push(name.to_owned());
    }
}

/// Parses `_source`: `true`, `false`, `"a"`, `["a", "b*"]` or `{"includes": […], "excludes": […]}`.
pub(super) fn source(json: &Json) -> Result<(Vec<Item>, Shown)> {
    let (mut includes, mut excludes) = (Vec::new(), Vec::new());
    match json {
        Json::Bool(true) => {}
        Json::Bool(false) => return Ok((Vec::new(), Shown::default())),
        Json::String(_) | Json::Array(_) => includes = names(json, "_source")?,
        Json::Object(parts) => {
            for (part, list) in parts {
                let path = format!("_source.{part}");
                match part.as_str() {
                    "includes" | "include" => includes = names(list, &path)?,
                    "excludes" | "exclude" => excludes = names(list, &path)?,
                    _ => return Err(JsonError::new(&path, "expected includes or excludes")),
                }
            }
        }
        _ => {
            let message = "expected a name, names, true or false";
            return Err(JsonError::new("_source", message));
        }
    }
    if includes.contains(&"*") {
        includes.clear();
    }
    if includes.is_empty() || !excludes.is_empty() || includes.iter().any(|it| it.contains('*')) {
        let shown = Shown {
            includes: includes.iter().map(|name| of_like(name)).collect(),
            excludes: excludes.iter().map(|name| of_like(name)).collect(),
            always: Vec::new(),
        };
        return Ok((vec![Item::Star], shown));
    }
    let items = includes.iter().map(|name| column(name));
    Ok((items.collect::<Result<_>>()?, Shown::default()))
}

fn column(name: &str) -> Result<Item> {
    Ok(Item::Value {
        what: Output::Expression(field(name, "_source")?),
        name: name.to_owned(),
    })
}

/// A name or an array of names.
fn names<'j>(json: &'j Json, path: &str) -> Result<Vec<&'j str>> {
    let list = json
        .as_array()
        .map_or(std::slice::from_ref(json), Vec::as_slice);
    list.iter().map(|name| string(name, path)).collect()
}

/// A name with `*` for any characters as a pattern of LIKE.
fn of_like(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '*' => pattern.push('%'),
            '%' | '_' | '\\' => pattern.extend(['\\', letter]),
            _ => pattern.push(letter),
        }
    }
    pattern
}
