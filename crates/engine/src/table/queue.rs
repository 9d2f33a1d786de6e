//! One queue: its rows in insert order, which of them are held, and who waits.

mod backlog;
mod batch;
mod chunk;
mod durable;
mod file;
pub(crate) mod lane;
mod layout;
pub(crate) mod line;
mod queues;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub(crate) use backlog::Backlog;
pub(crate) use batch::HitBatch;
pub(crate) use chunk::Rows as ChunkRows;
pub(crate) use chunk::StoredRow;
pub(crate) use file::{ChunkFile, FoldJob, MergeRowsJob};
pub(crate) use lane::{Holder, Lane, LineId};
pub(crate) use layout::{Layouts, Origin, put_origins, read_origins};
use line::Predicate;
use query::expression::Expression;
use query::schema::{Column, ColumnType};
use query::value::Value;
pub(crate) use queues::Queues;

use crate::catalog::TableId;
use crate::command::{Definition, QueueStats, SessionId};
use crate::decide::delete::prepare;
use crate::error::{Error, Result};
use crate::sessions::Owned;

/// Senders that relay rows into a queue: 0 to 63.
pub(crate) const SENDERS: usize = 64;

/// A queue as the engine's thread owns it. Who holds which row, and who waits, is never written to disk.
pub(crate) struct QueueTable {
    pub(crate) definition: Arc<Definition>,
    pub(crate) backlog: Backlog,
    pub(crate) lane: Lane,
    pub(crate) layouts: Layouts,
    /// No row is handed out.
    pub(crate) is_paused: bool,
    /// The last row received from each sender; 0: none.
    pub(crate) received: [u64; SENDERS],
    /// Counted since the start; those of bytes are made when asked for.
    pub(crate) stats: QueueStats,
    /// Records up to here are in the files that the manifest names.
    pub(crate) folded: u64,
    /// The number that the next row got at that position.
    pub(crate) folded_next: u64,
    /// Whether something happened since.
    pub(crate) changed: bool,
    /// Whether a fold runs.
    pub(crate) folding: bool,
    /// Whether it is among those that readers have not seen as they are now; [`Queues`] sets it.
    is_touched: bool,
}

/// A queue's rows as conditions look at them.
struct Rows<'q> {
    backlog: &'q Backlog,
    layouts: &'q Layouts,
    columns: &'q [Column],
}

impl lane::Look for Rows<'_> {
    fn accepts(&self, predicate: &Predicate, row: u64) -> Result<bool> {
        let values = self.layouts.values(self.backlog, self.columns, row)?;
        let values = values.unwrap_or_default();
        let value = |slot: usize| values.get(slot).cloned().unwrap_or(Value::Null);
        Ok(predicate.prepared.accepts(&value))
    }
}

impl QueueTable {
    pub(crate) fn new(definition: Arc<Definition>, backlog: Backlog, folded: u64) -> QueueTable {
        QueueTable {
            definition,
            folded_next: backlog.next(),
            backlog,
            lane: Lane::new(),
            layouts: Layouts::default(),
            is_paused: false,
            received: [0; SENDERS],
            stats: QueueStats::default(),
            folded,
            changed: false,
            folding: false,
            is_touched: false,
        }
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.definition.columns
    }

    /// The lane, and what it looks at.
    fn parts(&mut self) -> (&mut Lane, Rows<'_>) {
        let rows = Rows {
            backlog: &self.backlog,
            layouts: &self.layouts,
            columns: &self.definition.columns,
        };
        (&mut self.lane, rows)
    }

    /// The line of those who wait for rows of a condition.
    pub(crate) fn line(&mut self, condition: Option<&Expression>) -> Result<LineId> {
        let definition = Arc::clone(&self.definition);
        self.lane
            .line(condition, |condition| predicate(&definition, condition))
    }

    /// The columns have changed: the conditions of all lines are asked of them from the first row on. Gives those who
    /// wait for one that names a column that is gone.
    pub(crate) fn ask_again(&mut self) -> Vec<(SessionId, Error)> {
        let definition = Arc::clone(&self.definition);
        self.lane
            .ask_again(&|condition| predicate(&definition, condition))
    }

    /// Other columns, and how they come of the ones before.
    pub(crate) fn alter(&mut self, definition: Arc<Definition>, origins: Vec<Origin>) {
        let before = std::mem::replace(&mut self.definition, definition);
        self.layouts
            .push(&self.backlog, before.columns.clone(), origins);
    }

    /// Hands the first free rows of a line to a holder, at most so many.
    pub(crate) fn take(&mut self, line: LineId, limit: u32, holder: Holder) -> Result<Vec<u64>> {
        let mut taken = Vec::new();
        if self.is_paused {
            return Ok(taken);
        }
        let (lane, rows) = self.parts();
        while taken.len() < limit as usize {
            let Some(row) = lane.peek(line, rows.backlog, &rows)? else {
                break;
            };
            lane.hold(row, holder);
            taken.push(row);
        }
        Ok(taken)
    }

    /// Who gets the next row; as [`Lane::next_served`].
    pub(crate) fn next_served(
        &mut self,
    ) -> std::result::Result<Option<SessionId>, (SessionId, Error)> {
        if self.is_paused {
            return Ok(None);
        }
        let (lane, rows) = self.parts();
        lane.next_served(rows.backlog, &rows)
    }

    /// Puts a held row back to its place; one that its owner has deleted stays deleted. True where it is free now.
    pub(crate) fn give_back(&mut self, row: u64) -> bool {
        let (lane, rows) = self.parts();
        lane.give_back(row, rows.backlog, &rows)
    }

    /// The rows that a session outside owner mode sees, in order.
    pub(crate) fn free_rows(&self) -> impl Iterator<Item = u64> + '_ {
        let held = self.lane.held();
        self.backlog.rows().filter(|row| !held.contains_key(row))
    }

    /// The rows that a session sees, in order; one in owner mode only its own. `table`: this one.
    pub(crate) fn visible_rows<'q>(
        &'q self,
        table: TableId,
        owner: Option<&'q Owned>,
    ) -> Box<dyn Iterator<Item = u64> + 'q> {
        match owner {
            None => Box::new(self.free_rows()),
            Some(owned) => {
                let rows = owned.rows_of(table).iter().copied();
                Box::new(rows.filter(|row| self.backlog.contains(*row)))
            }
        }
    }

    /// Rows that are held and still there.
    pub(crate) fn held_live(&self) -> u64 {
        let held = self.lane.held().keys();
        held.filter(|row| self.backlog.contains(**row)).count() as u64
    }

    /// The values of a row that is there.
    pub(crate) fn values(&self, row: u64) -> Result<Option<Vec<Value>>> {
        self.layouts.values(&self.backlog, self.columns(), row)
    }

    /// `queue_stats`.
    pub(crate) fn stats(&self) -> QueueStats {
        let (bytes_total, bytes_removed) = self.backlog.stored_bytes();
        QueueStats {
            bytes_total,
            bytes_removed,
            ..self.stats
        }
    }
}

/// A condition ready for a queue's rows.
fn predicate(definition: &Definition, condition: &Expression) -> Result<Predicate> {
    let columns = typed(&definition.columns);
    let prepared = prepare(&definition.name, &columns, Some(condition))?;
    let prepared = prepared.ok_or_else(|| Error::internal("a condition was lost"))?;
    Ok(Predicate::new(condition.clone(), prepared))
}

/// Names and types of columns, as expressions look them up.
pub(crate) fn typed(columns: &[Column]) -> Vec<(&str, ColumnType)> {
    columns
        .iter()
        .map(|column| (column.name.as_str(), column.kind))
        .collect()
}
