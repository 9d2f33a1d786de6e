//! The body of POST /update and of `update` in a line of /bulk: `{"table": "t", "id": 1, "doc": {"price": 5, "j.size": [1, 2]}}`.

use relation::expression::{BinaryOperator, Expression, parse_place};
use relation::json::{Json, JsonNode};
use relation::lexer::{Lexer, TokenKind};
use relation::request::{Assignment, Update, UpdateOptions};
use relation::value::Value;
use serde::Deserialize;
use serde_json::Value as Tree;

use super::bulk::{Id, table_name};
use super::error::JsonError;
use super::once::Once;
use super::search;

/// A change of documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The one document's id; `None`: those that a query finds.
    pub id: Option<u64>,
    /// The statement that does it.
    pub update: Update,
}

/// Parses the body of POST /update: `doc`, and either `id` or `query` as in POST /search.
///
/// # Errors
/// [`JsonError`]: no JSON, no table, no doc, neither or both of id and query.
pub fn change(body: &[u8]) -> Result<Change, JsonError> {
    let entry: ChangeEntry =
        serde_json::from_slice(body).map_err(|error| JsonError::from_serde(&error))?;
    changed(entry)
}

/// A change, before its parts are looked at.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with table, id or query, and doc"
)]
pub(super) struct ChangeEntry {
    #[serde(alias = "index")]
    table: Option<String>,
    id: Option<Id>,
    doc: Option<Once>,
    query: Option<Once>,
}

pub(super) fn changed(entry: ChangeEntry) -> Result<Change, JsonError> {
    let Some(table) = entry.table else {
        return Err(JsonError::new("update", "no table is named"));
    };
    let doc = match entry.doc {
        Some(Once(Tree::Object(doc))) if !doc.is_empty() => doc,
        None | Some(Once(Tree::Object(_) | Tree::Null)) => {
            return Err(JsonError::new("update", "no doc is given"));
        }
        Some(_) => return Err(JsonError::new("update.doc", "expected an object")),
    };
    let id = entry.id.map(|Id(id)| id);
    let (matching, filter) = match (id, entry.query) {
        (Some(id), None) => {
            let column = Box::new(Expression::Column("id".to_owned()));
            let wanted = Box::new(Expression::Literal(Value::Int(id.into())));
            let equal = Expression::Binary(BinaryOperator::Equal, column, wanted);
            (None, Some(equal))
        }
        (None, Some(Once(query))) => search::query(&query)?,
        _ => return Err(JsonError::new("update", "either id or query is needed")),
    };
    let update = Update {
        table: table_name(&table),
        set: doc.into_iter().map(assignment).collect(),
        matching,
        filter,
        order: Vec::new(),
        limit: None,
        options: UpdateOptions::default(),
    };
    Ok(Change { id, update })
}

/// A member of a doc. Its name is a column, or a path in one as in SQL: `j.size`, `j['a b'][0]`.
fn assignment((name, value): (String, Tree)) -> Assignment {
    let mut lexer = Lexer::new(name.as_bytes());
    let place = parse_place(&mut lexer, &[]);
    let is_whole = lexer.peek().kind == TokenKind::End;
    let (column, path) = match place {
        Ok(place) if is_whole => place,
        _ => (name.to_lowercase(), Vec::new()),
    };
    let value = match value {
        Tree::Null => Value::Null,
        Tree::Bool(truth) => Value::Json(Json::of_node(JsonNode::Truth(truth))),
        Tree::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::Int(whole.into()),
            (None, Some(whole)) => Value::Int(whole.into()),
            (None, None) => Value::Float(number.as_f64().unwrap_or_default()),
        },
        Tree::String(text) => Value::Str(text),
        // A column reads the text by its type. In a document it is a part.
        part => {
            let text = part.to_string();
            let document = Json::parse(text.as_bytes()).ok();
            let document = document.filter(|_| !path.is_empty());
            document.map_or(Value::Str(text), Value::Json)
        }
    };
    Assignment {
        column,
        path,
        value: Expression::Literal(value),
    }
}
