//! What takes rows.

use query::rows::Sorted;
use query::value::Value;

use crate::control::Memory;
use crate::error::Result;
use crate::snapshot::PartIndex;

/// Weight of every row of a SELECT without MATCH, as in Sphinx.
pub(in super::super) const WEIGHT_WITHOUT_MATCH: i64 = 1;

/// Takes the rows that match.
pub(in super::super) trait Collector: Send {
    /// So many rows match, offered or not.
    fn count(&mut self, rows: u64);

    /// Takes a row, or leaves it. Errors: `SearchMemory`.
    fn offer(&mut self, row: FoundRow, memory: &Memory) -> Result<()>;

    /// The last row kept, where no row behind it is wanted.
    fn last(&self) -> Option<&FoundRow>;

    /// Adds what another one took.
    fn merge(&mut self, other: Self)
    where
        Self: Sized;
}

/// A row that was found, and what it is ordered by.
pub(in super::super) struct FoundRow {
    pub(in super::super) part: PartIndex,
    pub(in super::super) doc: u32,
    pub(in super::super) id: u64,
    pub(in super::super) weight: i64,
    /// Values of the keys that are expressions, in their order.
    pub(in super::super) keys: Vec<Value>,
}

impl Sorted for FoundRow {
    fn weight(&self) -> i64 {
        self.weight
    }

    fn id(&self) -> u64 {
        self.id
    }

    /// The parts stand in the order of their tables.
    fn table(&self) -> u32 {
        self.part.0
    }

    fn keys(&self) -> &[Value] {
        &self.keys
    }

    fn bytes(&self) -> u64 {
        let keys: usize = self.keys.iter().map(Value::memory).sum();
        (size_of::<FoundRow>() + keys) as u64
    }
}
