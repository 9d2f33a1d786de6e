//! The values of one row, read column by column.

use std::cell::{Cell, RefCell};

use language::meter::{HeldWide, Meter};
use relation::expression::{ColumnValues, WEIGHT_SLOT};
use relation::json::JsonStep;
use relation::value::Value;

use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::part::Part;

/// Slot of `id` in prepared expressions; column `n` has slot `n + 1`.
pub(super) const ID: usize = 0;

/// One row. An expression cannot fail half-way, so a read that fails gives a placeholder and keeps
/// the first error. Call [`RowValues::check`] after each use.
pub(super) struct RowValues<'a> {
    part: &'a Part,
    doc: u32,
    /// Its weight, for expressions with `weight()`.
    weight: Cell<i64>,
    error: RefCell<Option<Error>>,
    /// Counts the expressions over the row.
    interrupt: &'a Interrupt,
    /// Whether a wide value of the row was read: it may be in memory as long as this is.
    wide: HeldWide<'a>,
}

impl<'a> RowValues<'a> {
    pub(super) fn new(part: &'a Part, doc: u32, interrupt: &'a Interrupt) -> RowValues<'a> {
        RowValues {
            part,
            doc,
            interrupt,
            weight: Cell::new(0),
            error: RefCell::new(None),
            wide: HeldWide::new(interrupt),
        }
    }

    /// Notes a wide value.
    fn note(&self, value: Value) -> Value {
        self.wide.note(value.memory());
        value
    }

    /// Number of the row in its part.
    pub(super) fn doc(&self) -> u32 {
        self.doc
    }

    /// Tells expressions the weight of the row.
    pub(super) fn weighs(&self, weight: i64) {
        self.weight.set(weight);
    }

    /// The document id; 0 after an error.
    pub(super) fn id(&self) -> u64 {
        self.keep(self.part.id(self.doc)).unwrap_or(0)
    }

    /// Number of words of the row's text columns. Errors: `Io`, `Corrupt`.
    #[cfg(test)]
    pub(super) fn length(&self) -> Result<u32> {
        let words = self.part.forward(self.doc)?;
        let hits = words.iter().map(|word| word.hits);
        Ok(hits.fold(0, u32::saturating_add))
    }

    /// The first error of a read since the last call; `Interrupted`, once the search was stopped: values that expressions gave are of
    /// no use then.
    #[inline]
    pub(super) fn check(&self) -> Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.interrupt.check(),
        }
    }

    fn keep<T>(&self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error.borrow_mut().get_or_insert(error);
                None
            }
        }
    }
}

/// Units of a row that is read on its own, without what its expressions take.
pub(super) const ROW_UNITS: u64 = 150;

/// NULL after an error.
impl ColumnValues for RowValues<'_> {
    fn value(&self, slot: usize) -> Value {
        match slot {
            ID => Value::Int(i128::from(self.id())),
            WEIGHT_SLOT => Value::Int(self.weight.get().into()),
            column => self.note(
                self.keep(
                    self.part
                        .column_within(self.doc, column - 1, self.interrupt),
                )
                .unwrap_or(Value::Null),
            ),
        }
    }

    fn value_at(&self, slot: usize, path: &[JsonStep]) -> Value {
        match slot {
            ID | WEIGHT_SLOT => Value::Null,
            column => self.note(
                self.keep(self.part.column_at(self.doc, column - 1, path))
                    .unwrap_or(Value::Null),
            ),
        }
    }

    fn meter(&self) -> &dyn Meter {
        self.interrupt
    }
}
