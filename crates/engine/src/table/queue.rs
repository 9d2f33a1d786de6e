//! One queue: its rows in insert order, which of them are owned, and who waits.

mod backlog;
mod batch;
mod chunk;
mod file;
mod queues;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub(crate) use backlog::Backlog;
pub(crate) use batch::HitBatch;
pub(crate) use chunk::StoredRow;
pub(crate) use file::{ChunkFile, FoldJob};
use query::schema::Column;
use query::value::Value;
pub(crate) use queues::Queues;

use crate::catalog::TableId;
use crate::command::{Answering, Definition, SessionId};
use crate::decide::delete::Owned;
use crate::error::Result;

/// A queue as the engine's thread owns it. Who owns which row, and who waits, is never written to disk.
pub(crate) struct QueueTable {
    pub(crate) definition: Arc<Definition>,
    pub(crate) backlog: Backlog,
    /// Rows handed out, by row, until their owner lets go of them: also ones that the owner has deleted.
    pub(crate) owned: BTreeMap<u64, SessionId>,
    /// Who waits for a row, first come first.
    pub(crate) waiters: VecDeque<Waiter>,
    /// Records up to here are in the files that the manifest names.
    pub(crate) folded: u64,
    /// The number that the next row got at that position.
    pub(crate) folded_next: u64,
    /// Whether something happened since.
    pub(crate) changed: bool,
    /// Whether a fold runs.
    pub(crate) folding: bool,
    /// It may differ from what readers see: kept by [`Queues`].
    is_touched: bool,
}

/// A session in `queue_wait`.
pub(crate) struct Waiter {
    pub(crate) session: SessionId,
    /// When it gives up, on the steady clock, in microseconds.
    pub(crate) deadline_us: u64,
    pub(crate) reply: Answering,
}

impl QueueTable {
    pub(crate) fn new(definition: Arc<Definition>, backlog: Backlog, folded: u64) -> QueueTable {
        QueueTable {
            definition,
            folded_next: backlog.next(),
            backlog,
            owned: BTreeMap::new(),
            waiters: VecDeque::new(),
            folded,
            changed: false,
            folding: false,
            is_touched: false,
        }
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.definition.columns
    }

    /// Hands the first free row to a session.
    pub(crate) fn take(&mut self, session: SessionId) -> Option<u64> {
        let row = self.backlog.take()?;
        self.owned.insert(row, session);
        Some(row)
    }

    /// Puts an owned row back to its place; one that its owner has deleted stays deleted.
    pub(crate) fn give_back(&mut self, row: u64) {
        if self.owned.remove(&row).is_some() {
            self.backlog.give_back(row);
        }
    }

    /// The rows that a session outside owner mode sees, in order.
    pub(crate) fn free_rows(&self) -> impl Iterator<Item = u64> + '_ {
        self.backlog
            .rows()
            .filter(|row| !self.owned.contains_key(row))
    }

    /// The rows that a session sees, in order; one in owner mode only its own. `table`: this one.
    pub(crate) fn visible_rows(
        &self,
        table: TableId,
        owner: Option<Owned>,
    ) -> Box<dyn Iterator<Item = u64> + '_> {
        match owner {
            None => Box::new(self.free_rows()),
            Some(Some((owned_in, row))) if owned_in == table && self.backlog.contains(row) => {
                Box::new(std::iter::once(row))
            }
            Some(_) => Box::new(std::iter::empty()),
        }
    }

    /// Rows that are owned and still there.
    pub(crate) fn owned_live(&self) -> u64 {
        self.owned
            .keys()
            .filter(|row| self.backlog.contains(**row))
            .count() as u64
    }

    /// The values of a row that is there.
    pub(crate) fn values(&self, row: u64) -> Result<Option<Vec<Value>>> {
        self.backlog.values(row, self.columns())
    }
}
