//! Reads the rows of an answer.

use std::sync::Arc;

use query::bind::Shown;
use query::json::JsonStep;
use query::processor;
use query::rows::{Fetch, ROWS_A_FETCH};
use query::value::Value;

use super::collect::FoundRow;
use super::values::{ID, ROW_UNITS, RowValues};
use crate::control::{Control, Memory};
use crate::error::{Error, Reason, Result};
use crate::interrupt::{Interrupt, LATE_UNITS};
use crate::snapshot::Snapshot;

/// The rows of an answer, read one by one. Holds its snapshot alive.
pub(crate) struct FoundRows {
    snapshot: Arc<Snapshot>,
    shown: Arc<[Shown]>,
    /// The slots that are shown as they are.
    slots: Vec<usize>,
    found: std::vec::IntoIter<FoundRow>,
    memory: Arc<Memory>,
    interrupt: Arc<Interrupt>,
    /// What expressions over the rows may take once the time is over.
    grace: Interrupt,
}

impl FoundRows {
    pub(super) fn new(
        snapshot: Arc<Snapshot>,
        shown: Arc<[Shown]>,
        found: Vec<FoundRow>,
        control: &Control,
    ) -> FoundRows {
        let slots = shown.iter().filter_map(|shown| match shown {
            Shown::Slot(slot) => Some(*slot),
            _ => None,
        });
        FoundRows {
            memory: Arc::clone(&control.memory),
            interrupt: Arc::clone(&control.interrupt),
            grace: Interrupt::with_units(LATE_UNITS),
            slots: slots.collect(),
            snapshot,
            shown,
            found: found.into_iter(),
        }
    }

    /// Number of rows left.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Part, number in it and id of each row that is left.
    pub(crate) fn into_places(self) -> Vec<(u32, u32, u64)> {
        let rows = self.found.map(|row| (row.part.0, row.doc, row.id));
        rows.collect()
    }

    /// The value of one of the rows that are left: slot 0 is the id, column `n` slot `n + 1`, and slot `weight` the weight.
    /// Errors: `Io`, `Corrupt`.
    pub(crate) fn value(&self, row: usize, slot: usize, weight: usize) -> Result<Value> {
        let found = &self.found.as_slice()[row];
        match slot {
            ID => Ok(Value::Int(found.id.into())),
            slot if slot == weight => Ok(Value::Int(found.weight.into())),
            slot => self.snapshot.part(found.part).column(found.doc, slot - 1),
        }
    }

    /// Tells the processor to fetch what the values of these slots of a row that is left will need.
    #[inline]
    pub(crate) fn fetch(&self, row: usize, slots: &[usize], step: Fetch) {
        let found = &self.found.as_slice()[row];
        let columns = slots.iter().filter_map(|slot| slot.checked_sub(1));
        match step {
            Fetch::Entry => processor::fetch_line(found),
            Fetch::Place => self
                .snapshot
                .part(found.part)
                .fetch_place(found.doc, columns),
            Fetch::Bytes => self
                .snapshot
                .part(found.part)
                .fetch_bytes(found.doc, columns),
        }
    }

    /// What stands at a path in the document of a column, of which `slot` is the slot. Errors: `Io`, `Corrupt`.
    pub(crate) fn value_at(&self, row: usize, slot: usize, path: &[JsonStep]) -> Result<Value> {
        let found = &self.found.as_slice()[row];
        match slot {
            ID => Ok(Value::Null),
            slot => self
                .snapshot
                .part(found.part)
                .column_at(found.doc, slot - 1, path),
        }
    }

    /// The values of the next row. Errors: `Io`, `Corrupt`, and `SearchMemory` or `NoMemory` for a
    /// large row; `Interrupted`, once the search was killed, its client is gone or its budget is spent. The rows of a search whose time
    /// was over are still read, as long as their expressions take no more than 50 ms altogether.
    pub(crate) fn next(&mut self) -> Option<Result<Vec<Value>>> {
        for (before, step) in [(2, Fetch::Place), (1, Fetch::Bytes)] {
            if before * ROWS_A_FETCH < self.found.len() {
                self.fetch(before * ROWS_A_FETCH, &self.slots, step);
            }
        }
        let found = self.found.next()?;
        let values = self.interrupt.check();
        let values = match values.and_then(|()| self.values(&found, &self.interrupt)) {
            Err(Error::Interrupted {
                reason: Reason::Time,
            }) => self.late_values(&found),
            values => values,
        };
        if let Err(Error::Interrupted { .. }) = values {
            // No row follows.
            self.found = Vec::new().into_iter();
        }
        Some(values)
    }

    /// The values of a row of a search whose time is over.
    fn late_values(&self, found: &FoundRow) -> Result<Vec<Value>> {
        match self.values(found, &self.grace) {
            Err(Error::Interrupted { .. }) => Err(Error::Interrupted {
                reason: Reason::Time,
            }),
            values => values,
        }
    }

    fn values(&self, found: &FoundRow, interrupt: &Interrupt) -> Result<Vec<Value>> {
        let row = RowValues::new(self.snapshot.part(found.part), found.doc, interrupt);
        row.weighs(found.weight);
        let mut values = Vec::with_capacity(self.shown.len());
        let mut bytes = 0;
        for shown in self.shown.iter() {
            let value = match shown {
                Shown::Slot(ID) => Value::Int(found.id.into()),
                shown => shown.value(found.weight, &row),
            };
            if let Some(text) = value.text_bytes() {
                // A SELECT may show a large column many times.
                bytes += text.len() as u64;
                self.memory.take_row(bytes)?;
            }
            values.push(value);
        }
        interrupt.spend(ROW_UNITS + bytes / 4);
        row.check().map(|()| values)
    }
}
