//! Rows that were found, read as an answer shows them.

use std::sync::Arc;

use query::bind::Shown;
use query::rows::Sorted;
use query::value::Value;

use super::values::{ID, RowValues};
use crate::control::{Control, Memory};
use crate::error::Result;
use crate::snapshot::Snapshot;

/// A row that was found, and what it is ordered by.
pub(super) struct Found {
    pub(super) part: u32,
    pub(super) doc: u32,
    pub(super) id: u64,
    pub(super) weight: i64,
    /// Values of the keys that are expressions, in their order.
    pub(super) keys: Vec<Value>,
}

impl Sorted for Found {
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
        (size_of::<Found>() + keys) as u64
    }
}

/// Rows that were found, read one by one.
pub(crate) struct FoundRows {
    snapshot: Arc<Snapshot>,
    shown: Arc<[Shown]>,
    found: std::vec::IntoIter<Found>,
    memory: Arc<Memory>,
}

impl FoundRows {
    pub(super) fn new(
        snapshot: Arc<Snapshot>,
        shown: Arc<[Shown]>,
        found: Vec<Found>,
        control: &Control,
    ) -> FoundRows {
        FoundRows {
            memory: Arc::clone(&control.memory),
            snapshot,
            shown,
            found: found.into_iter(),
        }
    }

    /// Rows left.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    pub(crate) fn next(&mut self) -> Option<Result<Vec<Value>>> {
        let found = self.found.next()?;
        let row = RowValues::new(&self.snapshot.parts[found.part as usize], found.doc);
        Some(self.values(&row, &found))
    }

    fn values(&self, row: &RowValues<'_>, found: &Found) -> Result<Vec<Value>> {
        let mut values = Vec::with_capacity(self.shown.len());
        let mut bytes = 0;
        for shown in self.shown.iter() {
            let value = match shown {
                Shown::Slot(ID) => Value::Int(found.id.into()),
                shown => shown.value(found.weight, &|slot| row.value(slot)),
            };
            if let Some(text) = value.text_bytes() {
                // A statement may name a large column many times.
                bytes += text.len() as u64;
                self.memory.take_row(bytes)?;
            }
            values.push(value);
        }
        row.check().map(|()| values)
    }
}
