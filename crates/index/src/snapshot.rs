//! A table as readers see it.

use std::sync::Arc;

use query::request::Select;
use query::tree::Query;
use query::value::Value;

use crate::answer::Answer;
use crate::control::Control;
use crate::error::Result;
use crate::part::Part;
use crate::search;
use crate::table::TableShape;

/// One published state of a table. Immutable; cheap to hold, and what it reads stays until it is dropped.
pub struct Snapshot {
    pub(crate) shape: Arc<TableShape>,
    /// Each with a row at least.
    pub(crate) parts: Vec<Arc<Part>>,
    rows: u64,
}

impl Snapshot {
    pub(crate) fn new(shape: Arc<TableShape>, parts: Vec<Arc<Part>>) -> Snapshot {
        let rows = parts.iter().map(|part| part.rows_live()).sum();
        Snapshot { shape, parts, rows }
    }

    /// Several tables of the same columns and analysis as one: its answers are those of one table with all their rows. Rows of
    /// one id stay in the order of the tables. `None` of no table. Cost: a reference for each part.
    #[must_use]
    pub fn join(tables: &[Arc<Snapshot>]) -> Option<Arc<Snapshot>> {
        let shape = Arc::clone(&tables.first()?.shape);
        let parts = tables.iter().flat_map(|table| &table.parts);
        Some(Arc::new(Snapshot::new(shape, parts.cloned().collect())))
    }

    /// Answers a SELECT. `query` is the parsed text of `select.matching`. `select.limit == None` means every row.
    ///
    /// Errors: `UnknownColumn`, `Unsupported`; `SearchMemory`; `Interrupted`, unless its time was over; `Io` and `Corrupt` of a
    /// segment, unless `control` says to answer without it.
    pub fn search(
        self: &Arc<Self>,
        select: &Select,
        query: Option<&Query>,
        control: &Control,
    ) -> Result<Answer> {
        search::search(self, select, query, control)
    }

    /// The columns of one row, in table order; `None` where there is no such id. Errors: `Io`, `Corrupt`.
    pub fn get(&self, id: u64) -> Result<Option<Vec<Value>>> {
        for part in self.parts.iter().rev() {
            if let Some(doc) = part.find_all(&[id])?.first() {
                return part.columns(*doc).map(Some);
            }
        }
        Ok(None)
    }

    /// Live rows.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.rows
    }

    /// Words of live rows, every occurrence counted.
    #[must_use]
    pub fn words(&self) -> u64 {
        self.parts.iter().map(|part| part.hits()).sum()
    }

    /// Live rows that hold a word, as analysis gives it. Errors: `Io`, `Corrupt` of a segment's dictionary.
    pub fn document_frequency(&self, word: &str) -> Result<u64> {
        let mut rows = 0;
        for part in &self.parts {
            rows += part.word(word)?.map_or(0, |word| word.frequency.documents);
        }
        Ok(rows)
    }
}
