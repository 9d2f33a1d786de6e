//! The body of POST /bulk: one JSON object a line; an empty line commits.

use query::value::Value;

use super::error::JsonError;

/// What one line asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkItem {
    /// Lower-case table name without a database.
    pub table: String,
    /// The document's id, where one was given.
    pub id: Option<u64>,
    /// What is to happen.
    pub action: BulkAction,
}

/// What is to happen to a document.
#[derive(Clone, Debug, PartialEq)]
pub enum BulkAction {
    /// `insert`, `create`: an id that exists is an error.
    Insert {
        /// Fields in the order written, names in lower case.
        fields: Vec<(String, Value)>,
    },
    /// `replace`, `index`.
    Replace {
        /// Fields in the order written, names in lower case.
        fields: Vec<(String, Value)>,
    },
    /// `delete`; the id is there.
    Delete,
}

/// One step through a body.
#[derive(Clone, Debug, PartialEq)]
pub enum BulkEvent {
    /// A line.
    Item {
        /// Its number, from 1.
        line: u64,
        /// What it asks for, or why it could not be read.
        item: Result<BulkItem, JsonError>,
    },
    /// Everything since the last commit is to be committed: at an empty line, and at the end if anything waits.
    Commit {
        /// Number of the line it stands at.
        line: u64,
    },
}

/// Walks through a body, in order. Lines are read as they are reached.
pub fn bulk(body: &[u8]) -> impl Iterator<Item = BulkEvent> + '_ {
    body.split(|&byte| byte == b'\n')
        .map(|_| BulkEvent::Commit { line: 1 })
}
