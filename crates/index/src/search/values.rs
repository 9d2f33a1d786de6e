//! The values of one row, as expressions ask for them.

use std::cell::RefCell;

use query::value::Value;

use crate::error::{Error, Result};
use crate::part::Part;

/// Slot of `id` in prepared expressions; the columns follow.
pub(super) const ID: usize = 0;

/// One row, read column by column. An expression cannot fail half-way, so the first error is kept aside: call
/// [`RowValues::check`] after it.
pub(super) struct RowValues<'a> {
    part: &'a Part,
    doc: u32,
    error: RefCell<Option<Error>>,
}

impl<'a> RowValues<'a> {
    pub(super) fn new(part: &'a Part, doc: u32) -> RowValues<'a> {
        RowValues {
            part,
            doc,
            error: RefCell::new(None),
        }
    }

    pub(super) fn doc(&self) -> u32 {
        self.doc
    }

    /// The value of a slot; NULL after an error.
    pub(super) fn value(&self, slot: usize) -> Value {
        match slot {
            ID => Value::Int(i128::from(self.id())),
            column => self
                .keep(self.part.column(self.doc, column - 1))
                .unwrap_or(Value::Null),
        }
    }

    /// The document id; 0 after an error.
    pub(super) fn id(&self) -> u64 {
        self.keep(self.part.id(self.doc)).unwrap_or(0)
    }

    /// Words of the row's text columns, every occurrence counted. Errors: as reading the row.
    #[cfg(test)]
    pub(super) fn length(&self) -> Result<u32> {
        let words = self.part.forward(self.doc)?;
        let hits = words.iter().map(|word| word.hits);
        Ok(hits.fold(0, u32::saturating_add))
    }

    /// The first error, if there was one.
    pub(super) fn check(&self) -> Result<()> {
        self.error.take().map_or(Ok(()), Err)
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
