//! A line: the sessions that wait for rows of one condition, and the rows that the condition is known to take.
//!
//! Two workers wait with `'jobs:prio > 5'`. Rows 1 to 4 have the priorities 9, 1, 7, 8, and row 3 is held by a worker that
//! waited with another condition. The first of the two gets row 1. Then:
//!
//! | row | the condition | known how |
//! |---|---|---|
//! | 1 | true | `ready`; the row is held, so the next search drops it |
//! | 2 | not asked yet | at or above the line's cursor, which is 2 |
//! | 3, 4 | not asked yet | |
//!
//! The second worker's search asks row 2 (false), passes row 3 without asking, and takes row 4: the cursor is 5. When row 3
//! comes back, `offer` asks it, because the cursor has passed it, and puts it into `ready`.
//!
//! Invariants:
//! - A row below the cursor that the condition takes is in `ready` or `unasked`, or the gate keeps it back. Else this line's waiters
//!   would never get it.
//! - `ready` may name rows that are gone or that the gate keeps back by now. The search drops them.
//! - A row is asked once as the cursor passes it, and once more each time it becomes free below the cursor. So a long
//!   backlog without a match is read once, not once a wait.
//! - A search stops where the queue's conditions have used their units ([`Found::NotYet`]), and goes on at the same row later.

use std::collections::BTreeMap;

use relation::expression::Expression;

use crate::backlog::Backlog;
use crate::error::Result;
use crate::gate::Gate;
use crate::ids::{RowNumber, SessionId};
use crate::row_view::{Predicate, RowView};

/// What a search for a free row has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The first row.
    Row(RowNumber),
    /// There is none.
    None,
    /// There are rows that were not asked.
    NotYet,
}

/// The sessions that wait with one condition, and the state of its search.
pub(crate) struct Line {
    /// `None`: any row will do, and the lane's own cursor serves this line.
    predicate: Option<Predicate>,
    /// The sessions that wait, by ticket: the lowest ticket has waited longest.
    pub(crate) tickets: BTreeMap<u64, SessionId>,
    /// The lane's count of calls when this line was last asked for; the least goes first.
    pub(crate) asked: u64,
}

impl Line {
    pub(crate) fn new(predicate: Option<Predicate>) -> Line {
        Line {
            predicate,
            tickets: BTreeMap::new(),
            asked: 0,
        }
    }

    pub(crate) fn is_of(&self, condition: &Expression) -> bool {
        let own = self.predicate.as_ref();
        own.is_some_and(|own| own.expression == *condition)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.tickets.is_empty()
    }

    /// Prepares the condition for other columns. Its cursor goes back to the first row.
    pub(crate) fn ask_again(
        &mut self,
        make: &dyn Fn(&Expression) -> Result<Predicate>,
    ) -> Result<()> {
        if let Some(predicate) = &mut self.predicate {
            *predicate = make(&predicate.expression)?;
        }
        Ok(())
    }

    /// Ticket and session of the longest wait.
    pub(crate) fn front(&self) -> Option<(u64, SessionId)> {
        let (ticket, session) = self.tickets.first_key_value()?;
        Some((*ticket, *session))
    }

    /// Whether there are rows that were not asked yet.
    pub(crate) fn has_unasked(&self, backlog: &Backlog) -> bool {
        let predicate = self.predicate.as_ref();
        predicate.is_some_and(|it| {
            let first = backlog.first_at_or_above(it.cursor);
            first.is_some() || !it.unasked.is_empty()
        })
    }

    /// The first free row that the condition takes; it stays free. `None` for a line without a condition.
    pub(crate) fn first(
        &mut self,
        backlog: &Backlog,
        gate: &mut Gate,
        view: &dyn RowView,
    ) -> Result<Found> {
        let Some(predicate) = &mut self.predicate else {
            return Ok(Found::None);
        };
        while let Some(&row) = predicate.unasked.first() {
            if view.is_spent() {
                return Ok(Found::NotYet);
            }
            if view.accepts(predicate, row)? {
                predicate.ready.insert(row);
            }
            predicate.unasked.pop_first();
        }
        while let Some(&row) = predicate.ready.first() {
            if backlog.contains(row) && gate.is_open(row) {
                return Ok(Found::Row(row));
            }
            predicate.ready.pop_first();
        }
        while let Some(row) = backlog.first_at_or_above(predicate.cursor) {
            if view.is_spent() {
                return Ok(Found::NotYet);
            }
            // A row that the gate keeps back is asked in `offer`, when it becomes free.
            let taken = gate.lets(row, view)? && view.accepts(predicate, row)?;
            predicate.cursor = row.plus(1);
            if taken {
                predicate.ready.insert(row);
                return Ok(Found::Row(row));
            }
        }
        predicate.cursor = backlog.next();
        Ok(Found::None)
    }

    /// A row has become free: asks it where the cursor has passed it. If the row cannot be read the cursor goes back to it, so
    /// that the next search reports the error.
    pub(crate) fn offer(&mut self, row: RowNumber, view: &dyn RowView) {
        let Some(predicate) = &mut self.predicate else {
            return;
        };
        if row >= predicate.cursor {
            return;
        }
        if view.is_spent() {
            predicate.unasked.insert(row);
            return;
        }
        match view.accepts(predicate, row) {
            Ok(true) => {
                predicate.ready.insert(row);
            }
            Ok(false) => {}
            Err(_) => predicate.cursor = row,
        }
    }
}
