//! `_bulk`: for each item a line with the operation, and for all but a deletion a line with the document.

use serde_json::Value as Json;

use super::error::EsError;
use crate::json::parse;

/// Operation of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkOperation {
    /// Stores a document, or replaces it.
    Index,
    /// Stores a document; an existing one is an error.
    Create,
    /// Deletes a document.
    Delete,
    /// Not offered: the item gets an error.
    Update,
}

impl BulkOperation {
    /// Its name in requests and replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BulkOperation::Index => "index",
            BulkOperation::Create => "create",
            BulkOperation::Delete => "delete",
            BulkOperation::Update => "update",
        }
    }
}

/// An item of a bulk body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkItem<'a> {
    /// Operation of the item.
    pub operation: BulkOperation,
    /// The index; `None`: that of the path.
    pub index: Option<String>,
    /// The `_id`; `None`: the engine assigns one.
    pub id: Option<String>,
    /// The document; empty for a deletion.
    pub document: &'a [u8],
}

/// Parses a whole body.
///
/// # Errors
/// [`EsError`]: a line without operation, or without its document. Then no item of the body is done.
pub fn bulk(body: &[u8]) -> Result<Vec<BulkItem<'_>>, EsError> {
    let mut items = Vec::new();
    let lines = body
        .split(|byte| *byte == b'\n')
        .map(|line| line.trim_ascii());
    let mut lines = lines.enumerate().filter(|(_, line)| !line.is_empty());
    while let Some((number, line)) = lines.next() {
        let mut item = action(line, number + 1)?;
        if item.operation != BulkOperation::Delete {
            let (_, document) = lines.next().ok_or_else(|| {
                let what = format!("the document of line [{}] is missing", number + 1);
                EsError::illegal("", what)
            })?;
            item.document = document;
        }
        items.push(item);
    }
    if items.is_empty() {
        return Err(EsError::parsing("", "request body is required"));
    }
    Ok(items)
}

/// What an action may say of its document. Those behind `_index` change nothing here: all is in one place, and no write conflicts.
const METADATA: [&str; 6] = [
    "_id",
    "_index",
    "_type",
    "_routing",
    "retry_on_conflict",
    "routing",
];

fn action(line: &[u8], number: usize) -> Result<BulkItem<'static>, EsError> {
    let malformed = |what: &str| {
        let what = format!("malformed action/metadata line [{number}], {what}");
        EsError::illegal("", what)
    };
    let json = parse(line).map_err(|error| malformed(&error.to_string()))?;
    let (name, body) =
        super::standing::only_entry(&json, "").map_err(|_| malformed("expected one action"))?;
    let operation = match name {
        "index" => BulkOperation::Index,
        "create" => BulkOperation::Create,
        "delete" => BulkOperation::Delete,
        "update" => BulkOperation::Update,
        _ => return Err(malformed("expected one of [create, delete, index, update]")),
    };
    let text = |name: &str| match body.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(Json::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(malformed(&format!("[{name}] is no text"))),
    };
    if !body.is_object() {
        return Err(malformed("expected an object behind the action"));
    }
    let mut names = body.as_object().into_iter().flatten();
    if let Some((name, _)) = names.find(|(name, _)| !METADATA.contains(&name.as_str())) {
        let what = format!("contains an unknown parameter [{name}]");
        return Err(malformed(&what));
    }
    if operation == BulkOperation::Delete && text("_id")?.is_none() {
        return Err(malformed("an _id must be provided to delete"));
    }
    Ok(BulkItem {
        operation,
        index: text("_index")?,
        id: text("_id")?,
        document: &[],
    })
}
