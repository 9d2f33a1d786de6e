//! A table as readers see it.

use std::sync::Arc;

use query::request::Select;
use query::tree::Query;
use query::value::Value;

use crate::answer::{Answer, Rows};
use crate::error::Result;

/// One published state of a table. Immutable; cheap to hold, and what it reads stays until it is dropped.
pub struct Snapshot {
    pub(crate) rows: u64,
}

impl Snapshot {
    /// Answers a SELECT. `query` is the parsed text of `select.matching`. `select.limit == None` means every row.
    ///
    /// Errors: `UnknownColumn`, `Unsupported`; `Io` and `Corrupt` of a segment.
    pub fn search(self: &Arc<Self>, select: &Select, query: Option<&Query>) -> Result<Answer> {
        let _ = (select, query);
        Ok(Answer {
            columns: Vec::new(),
            rows: Rows { next: 0 },
            total_found: 0,
            keywords: Vec::new(),
        })
    }

    /// The columns of one row, in table order; `None` where there is no such id. Errors: `Io`, `Corrupt`.
    pub fn get(&self, id: u64) -> Result<Option<Vec<Value>>> {
        let _ = id;
        Ok(None)
    }

    /// Live rows.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.rows
    }

    /// Live rows that hold a word, as analysis gives it. Errors: `Io`, `Corrupt` of a segment's dictionary.
    pub fn document_frequency(&self, word: &str) -> Result<u64> {
        let _ = word;
        Ok(0)
    }
}
