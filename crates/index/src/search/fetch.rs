//! Reads the rows of an answer.

use std::sync::Arc;

use relation::bind::Shown;
use relation::json::JsonStep;
use relation::processor;
use relation::rows::{Fetch, ROWS_A_FETCH};
use relation::schema::Column;
use relation::value::Value;

use super::collect::FoundRow;
use super::values::{ID, ROW_UNITS, RowValues};
use super::walk::Walk;
use crate::control::{Control, Memory};
use crate::error::{Error, Reason, Result};
use crate::interrupt::{Interrupt, LATE_UNITS};
use crate::part::count_copy;
use crate::snapshot::Snapshot;

/// Rows of a walk that are found together.
const WALKED_AT_ONCE: usize = 1_024;

/// Whether values of a column may be long.
fn is_long(column: &Column) -> bool {
    column.kind.family().may_be_long()
}

/// The rows of an answer, read one by one. Holds its snapshot alive.
pub(crate) struct FoundRows {
    snapshot: Arc<Snapshot>,
    shown: Arc<[Shown]>,
    /// The slots that are shown as they are.
    slots: Vec<usize>,
    found: std::vec::IntoIter<FoundRow>,
    /// Rows behind those, in the order of their ids.
    behind: Option<Box<Walk>>,
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
            behind: None,
        }
    }

    /// The same without rows, before those of a walk.
    pub(super) fn walking(self, walk: Box<Walk>) -> FoundRows {
        FoundRows {
            behind: Some(walk),
            ..self
        }
    }

    /// Counts the long values of rows that are to be read within a budget of units, as the rows of a short answer are: nobody looks at
    /// the switch while the first of them are read and sent. Errors: `Interrupted`, where the budget is too small for them.
    pub(super) fn count_long(&self) -> Result<()> {
        if self.interrupt.units_left().is_none() {
            return Ok(());
        }
        let computed = self.shown.iter().filter_map(|shown| match shown {
            Shown::Computed(prepared) => Some(prepared.slots()),
            Shown::Slot(_) | Shown::Stored(..) | Shown::Weight | Shown::Count => None,
        });
        let slots = computed.flatten().chain(&self.slots);
        let columns = slots.filter_map(|slot| slot.checked_sub(1));
        let columns: Vec<usize> = columns
            .filter(|column| {
                self.snapshot
                    .shape
                    .columns
                    .get(*column)
                    .is_some_and(is_long)
            })
            .collect();
        if columns.is_empty() {
            return Ok(());
        }
        for found in self.found.as_slice() {
            let part = self.snapshot.part(found.part);
            for column in &columns {
                // Where it cannot be read, the read of the row says so.
                let bytes = part.column_bytes(found.doc, *column).unwrap_or(0);
                count_copy(bytes, &self.interrupt)?;
            }
        }
        Ok(())
    }

    /// Number of rows left.
    pub(crate) fn len(&self) -> usize {
        self.found.len() + self.behind.as_ref().map_or(0, |walk| walk.len())
    }

    /// Part, number in it and id of each row that is left, where no walk is behind them.
    pub(crate) fn into_places(self) -> Vec<(u32, u32, u64)> {
        let rows = self.found.map(|row| (row.part.0, row.doc, row.id));
        rows.collect()
    }

    /// The value of one of the rows that are left: slot 0 is the id, column `n` slot `n + 1`, and slot `weight` the weight.
    /// Errors: `Io`, `Corrupt`; `Interrupted` before the copy of a long value.
    pub(crate) fn value(&self, row: usize, slot: usize, weight: usize) -> Result<Value> {
        let found = &self.found.as_slice()[row];
        match slot {
            ID => Ok(Value::Int(found.id.into())),
            slot if slot == weight => Ok(Value::Int(found.weight.into())),
            slot => {
                let part = self.snapshot.part(found.part);
                part.column_within(found.doc, slot - 1, &self.interrupt)
            }
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

    /// Bytes of the value of one of the rows that are left, by its slot; 0 for a short value. Errors: `Io`, `Corrupt`.
    pub(crate) fn value_bytes(&self, row: usize, slot: usize) -> Result<usize> {
        let found = &self.found.as_slice()[row];
        match slot.checked_sub(1) {
            Some(column) if self.snapshot.shape.columns.get(column).is_some_and(is_long) => self
                .snapshot
                .part(found.part)
                .column_bytes(found.doc, column),
            _ => Ok(0),
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
        if self.found.len() == 0
            && let Some(walk) = &mut self.behind
        {
            match walk.take(WALKED_AT_ONCE) {
                Ok(rows) => self.found = rows.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
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
            self.behind = None;
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
