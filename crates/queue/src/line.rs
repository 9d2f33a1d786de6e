//! A line of those who wait for rows of one kind, and how far its condition has been asked.

use std::collections::BTreeMap;

use query::expression::Expression;

use crate::backlog::Backlog;
use crate::error::Result;
use crate::gate::Gate;
use crate::ids::SessionId;
use crate::row_view::{Predicate, RowView};

/// Those who wait for rows that one condition takes, first come first.
pub(crate) struct Line {
    /// `None`: every row.
    predicate: Option<Predicate>,
    /// By arrival.
    pub(crate) tickets: BTreeMap<u64, SessionId>,
    /// When it was asked for last, as its lane counts.
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

    /// Makes the condition anew.
    pub(crate) fn ask_again(
        &mut self,
        make: &dyn Fn(&Expression) -> Result<Predicate>,
    ) -> Result<()> {
        if let Some(predicate) = &mut self.predicate {
            *predicate = make(&predicate.expression)?;
        }
        Ok(())
    }

    /// Who has waited longest.
    pub(crate) fn front(&self) -> Option<(u64, SessionId)> {
        let (ticket, session) = self.tickets.first_key_value()?;
        Some((*ticket, *session))
    }

    /// The first free row that the condition takes.
    pub(crate) fn first(
        &mut self,
        backlog: &Backlog,
        gate: &mut Gate,
        view: &dyn RowView,
    ) -> Result<Option<u64>> {
        let Some(predicate) = &mut self.predicate else {
            return Ok(None);
        };
        while let Some(&row) = predicate.ready.first() {
            if backlog.contains(row) && gate.is_open(row) {
                return Ok(Some(row));
            }
            predicate.ready.pop_first();
        }
        while let Some(row) = backlog.first_at_or_above(predicate.cursor) {
            // A row that may not go out is asked when it may.
            let taken = gate.lets(row, view)? && view.accepts(predicate, row)?;
            predicate.cursor = row + 1;
            if taken {
                predicate.ready.insert(row);
                return Ok(Some(row));
            }
        }
        predicate.cursor = backlog.next();
        Ok(None)
    }

    /// A row is free again: asked anew where the cursor has passed it. One that cannot be read is left to the cursor.
    pub(crate) fn offer(&mut self, row: u64, view: &dyn RowView) {
        let Some(predicate) = &mut self.predicate else {
            return;
        };
        if row >= predicate.cursor {
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
