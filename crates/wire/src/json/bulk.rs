//! The body of POST /bulk: a JSON object in each line; an empty line commits.

use std::fmt;

use relation::request::{Select, Update};
use relation::value::Value;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::error::JsonError;
use super::fields::Fields;
use super::search::search;
use super::update::{Change, ChangeEntry, changed};

/// The operation of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkItem {
    /// The table's name, in lower case, without a database.
    pub table: String,
    /// The document's id; `None`: none is given, or 0.
    pub id: Option<u64>,
    /// What to do with the document.
    pub action: BulkAction,
}

/// Kind of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum BulkAction {
    /// `insert` or `create`: an id that exists is an error.
    Insert {
        /// Fields in the order written, names in lower case.
        fields: Vec<(String, Value)>,
    },
    /// `replace`.
    Replace {
        /// Fields in the order written, names in lower case.
        fields: Vec<(String, Value)>,
    },
    /// `delete`; the item has an id.
    Delete,
    /// `update` of the document with the item's id.
    Update(Box<Update>),
}

/// One step through a body.
#[derive(Clone, Debug, PartialEq)]
pub enum BulkEvent {
    /// A line with its action.
    Item {
        /// The line's number, from 1.
        line: u64,
        /// The operation, or its error.
        item: Result<BulkItem, JsonError>,
    },
    /// Commit the items since the last commit: at an empty line and at the end, if there are any.
    Commit {
        /// Number of the empty line, or of the body's last line.
        line: u64,
    },
}

/// The events of a body, in order. A line is parsed when the iterator reaches it; no line is kept.
pub fn bulk(body: &[u8]) -> impl Iterator<Item = BulkEvent> + '_ {
    let mut rest = Some(body);
    let mut line = 0;
    let mut waiting = false;
    std::iter::from_fn(move || {
        while let Some(left) = rest {
            let mut parts = left.splitn(2, |&byte| byte == b'\n');
            let text = parts.next().unwrap_or_default().trim_ascii();
            rest = parts.next();
            if text.is_empty() && rest.is_none() {
                break;
            }
            line += 1;
            if !text.is_empty() {
                waiting = true;
                return Some(BulkEvent::Item {
                    line,
                    item: bulk_line(text),
                });
            }
            if std::mem::take(&mut waiting) {
                return Some(BulkEvent::Commit { line });
            }
        }
        std::mem::take(&mut waiting).then_some(BulkEvent::Commit { line })
    })
}

/// Parses a line such as `{"insert":{"table":"t","id":1,"doc":{"title":"x"}}}`.
fn bulk_line(text: &[u8]) -> Result<BulkItem, JsonError> {
    let line = serde_json::from_slice(text).map_err(|error| JsonError::from_serde(&error))?;
    match line {
        Line::Other { verb, entry } => item(&verb, entry),
        Line::Update(entry) => match changed(entry)? {
            Change { id: None, .. } => Err(JsonError::not_yet(
                "update.query",
                "changes by a query in /bulk; POST /update does",
            )),
            Change { id, update } => Ok(BulkItem {
                table: update.table.clone(),
                id,
                action: BulkAction::Update(Box::new(update)),
            }),
        },
    }
}

/// Parses the body of POST /insert or /replace. It has the form of the value of `insert` in a line of /bulk.
///
/// # Errors
/// [`JsonError`]: no JSON, an unknown member, no table, no doc.
pub fn document(verb: &str, body: &[u8]) -> Result<BulkItem, JsonError> {
    let entry = serde_json::from_slice(body).map_err(|error| JsonError::from_serde(&error))?;
    item(verb, entry)
}

/// The documents that POST /delete deletes.
#[derive(Clone, Debug, PartialEq)]
pub enum Deletion {
    /// Documents by their ids.
    Ids {
        /// Lower-case table name without a database.
        table: String,
        /// At least one.
        ids: Vec<u64>,
    },
    /// The documents that a query finds.
    Where(Select),
}

/// Parses the body of POST /delete: `id`, which is a number or a list of numbers, or `query` as in POST /search.
///
/// # Errors
/// [`JsonError`]: neither or both are given, or one is malformed.
pub fn deletion(body: &[u8]) -> Result<Deletion, JsonError> {
    let object: DeleteBody =
        serde_json::from_slice(body).map_err(|error| JsonError::from_serde(&error))?;
    let ids = match (object.id, object.query) {
        (Some(OneOrMany(ids)), None) => ids,
        (None, Some(_)) => return search(body).map(|asked| Deletion::Where(asked.select)),
        _ => return Err(JsonError::new("", "either id or query is needed")),
    };
    let Some(table) = object.table else {
        return Err(JsonError::new("", "no table is named"));
    };
    if ids.is_empty() {
        return Err(JsonError::new("id", "no id is given"));
    }
    let table = table_name(&table);
    Ok(Deletion::Ids { table, ids })
}

/// The body of POST /delete.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with table and id or query"
)]
struct DeleteBody {
    #[serde(alias = "index")]
    table: Option<String>,
    id: Option<OneOrMany>,
    query: Option<IgnoredAny>,
}

/// An id or a list of ids.
struct OneOrMany(Vec<u64>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = serde_json::Value::deserialize(deserializer)?;
        let list = match given {
            serde_json::Value::Array(list) => list,
            one => vec![one],
        };
        let ids = list
            .into_iter()
            .map(|id| Id::deserialize(id).map_err(D::Error::custom));
        ids.map(|id| id.map(|Id(number)| number))
            .collect::<Result<Vec<u64>, D::Error>>()
            .map(OneOrMany)
    }
}

/// A table's name in lower case, without a database.
pub(super) fn table_name(written: &str) -> String {
    written
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_lowercase()
}

fn item(verb: &str, entry: Entry) -> Result<BulkItem, JsonError> {
    let Some(table) = entry.table else {
        return Err(JsonError::new(verb, "no table is named"));
    };
    let table = table_name(&table);
    let id = entry.id.map(|Id(id)| id).filter(|&id| id != 0);
    if entry.query.is_some() {
        return Err(match verb {
            "delete" => JsonError::not_yet(
                "delete.query",
                "deleting by a query in /bulk; POST /delete does",
            ),
            _ => JsonError::new(verb, "takes no query"),
        });
    }
    let fields = entry.doc.map(|Fields(fields)| fields);
    let action = match (verb, fields) {
        ("insert" | "create", Some(fields)) => BulkAction::Insert { fields },
        ("replace", Some(fields)) => BulkAction::Replace { fields },
        ("insert" | "create" | "replace", None) => {
            return Err(JsonError::new(verb, "no doc is given"));
        }
        ("delete", _) if id.is_some() => BulkAction::Delete,
        ("delete", _) => return Err(JsonError::new(verb, "no id is given")),
        _ => {
            return Err(JsonError::new(
                verb,
                "unknown action (insert, create, replace, update or delete)",
            ));
        }
    };
    Ok(BulkItem { table, id, action })
}

/// A line: an object with one member, the verb.
enum Line {
    Update(ChangeEntry),
    Other { verb: String, entry: Entry },
}

/// The value of a verb.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with table, id and doc")]
struct Entry {
    #[serde(alias = "index")]
    table: Option<String>,
    id: Option<Id>,
    doc: Option<Fields>,
    query: Option<IgnoredAny>,
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LineVisitor)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one action")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
        let line = match map.next_key::<String>()? {
            Some(verb) if verb == "update" => Line::Update(map.next_value()?),
            Some(verb) => Line::Other {
                verb,
                entry: map.next_value()?,
            },
            None => return Err(A::Error::custom("an object without an action")),
        };
        if map.next_key::<IgnoredAny>()?.is_some() {
            return Err(A::Error::custom("more than one action in a line"));
        }
        Ok(line)
    }
}

/// A document's id: a number, or a string of digits.
pub(super) struct Id(pub(super) u64);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = serde_json::Value::deserialize(deserializer)?;
        let id = match &given {
            serde_json::Value::Number(number) => number.as_u64(),
            serde_json::Value::String(digits) => digits.parse().ok(),
            _ => None,
        };
        id.map(Id)
            .ok_or_else(|| D::Error::custom(format!("'{given}' is no document id")))
    }
}
