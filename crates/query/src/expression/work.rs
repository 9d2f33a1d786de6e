//! The work that an expression may take over one row, so that a statement can be stopped between rows within a second.

use std::cell::Cell;

use crate::limits::ROW_WORK_MAX;

/// What is left of [`ROW_WORK_MAX`] for one expression over one row.
pub(super) struct Work(Cell<usize>);

impl Work {
    pub(super) fn new() -> Work {
        Work(Cell::new(ROW_WORK_MAX))
    }

    /// This much, which is less than a row has.
    pub(super) fn of(much: usize) -> Work {
        Work(Cell::new(much))
    }

    /// What is left.
    pub(super) fn left(&self) -> usize {
        self.0.get()
    }

    /// Whether none is left. Calls and conditions on lists are NULL then.
    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    /// Takes as much; spends all that is left if that is less. Gives whether it was there.
    pub(super) fn pay(&self, much: usize) -> bool {
        let left = self.0.get().checked_sub(much);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}
