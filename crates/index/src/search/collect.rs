//! Where rows go that an executor finds: to a collector for each thread, all of which are merged in any order.

mod count;
mod top;

use query::rows::Sorted;
use query::value::Value;

use crate::control::Memory;
use crate::error::Result;

pub(super) use count::Count;
pub(super) use top::Top;

/// Takes the rows that match.
pub(super) trait Collector: Send {
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
pub(super) struct FoundRow {
    /// Place of the part in the snapshot.
    pub(super) part: u32,
    pub(super) doc: u32,
    pub(super) id: u64,
    pub(super) weight: i64,
    /// Values of the keys that are expressions, in their order.
    pub(super) keys: Vec<Value>,
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
        self.part
    }

    fn keys(&self) -> &[Value] {
        &self.keys
    }

    fn bytes(&self) -> u64 {
        let keys: usize = self.keys.iter().map(Value::memory).sum();
        (size_of::<FoundRow>() + keys) as u64
    }
}
