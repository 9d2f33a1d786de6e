//! Applies the records of queues. Every one goes through `apply_to_queue`, which skips a record at or below the queue's
//! checkpoint and marks the queue as changed: `freed` for its waiters, `touched_queues` for its files, `changed` for the next
//! fold.

use queue::{Queue, RowNumber};
use relation::value::Value;

use super::{Prepared, State};
use crate::catalog::TableId;
use crate::command::Now;
use crate::error::{Error, Result};
use crate::record::QueueRecord;

/// Adds rows to a queue. `relayed`: the sender and its number of the rows. `noted_us`: when the rows came, if their `unique_by=`
/// keys are to be noted.
fn push_rows(
    queue: &mut Queue,
    rows: &[Vec<Value>],
    relayed: Option<(u8, u64)>,
    noted_us: Option<i64>,
) {
    for row in rows {
        queue.backlog.push(row);
    }
    if let Some((sender, row)) = relayed
        && let Some(received) = queue.received.get_mut(usize::from(sender))
    {
        *received = row;
    }
    if let Some(at_us) = noted_us {
        queue.note_keys(rows, at_us);
    }
}

impl State {
    /// As [`State::apply`].
    pub(super) fn apply_queue_record(
        &mut self,
        record: &QueueRecord,
        position: u64,
        prepared: &mut Prepared,
    ) -> Result<bool> {
        match record {
            QueueRecord::Rows {
                table,
                first_row,
                rows,
                relayed,
                at_us,
            } => {
                // The manifest has the keys up to its own position, in its own columns: earlier records note none again.
                let noted = at_us.filter(|_| position > self.catalog_folded);
                self.apply_to_queue(*table, position, *first_row, |queue| {
                    push_rows(queue, rows, *relayed, noted);
                })
            }
            QueueRecord::Alter {
                table,
                columns,
                origins,
            } => self.apply_alter(*table, (columns, origins), position, prepared),
            QueueRecord::RemoveRows { table, rows } => {
                self.apply_to_queue_as_it_is(*table, position, |queue| {
                    rows.iter().for_each(|row| queue.remove(*row));
                })
            }
            QueueRecord::Clear { table, kept } => {
                self.apply_to_queue_as_it_is(*table, position, |queue| queue.clear(kept))
            }
            QueueRecord::Pause {
                table,
                lanes,
                paused,
            } => self.apply_to_queue_as_it_is(*table, position, |queue| {
                for lane in lanes {
                    if let Some(is_paused) = queue.paused.get_mut(*lane as usize) {
                        *is_paused = *paused;
                    }
                }
            }),
            QueueRecord::Returned {
                table,
                lane,
                rows,
                not_before_us,
            } => {
                self.timed.insert(*table);
                self.apply_to_queue_as_it_is(*table, position, |queue| {
                    queue.note_returned(*lane as usize, rows, *not_before_us);
                })
            }
            QueueRecord::Done { table, lane, rows } => {
                self.apply_to_queue_as_it_is(*table, position, |queue| {
                    queue.done(*lane as usize, rows);
                })
            }
        }
    }

    /// Changes a queue without adding rows: the record has no first row to compare.
    fn apply_to_queue_as_it_is(
        &mut self,
        table: TableId,
        position: u64,
        change: impl FnOnce(&mut Queue),
    ) -> Result<bool> {
        let queue = self.queues.get(&table);
        let next = queue.map(|queue| queue.backlog.next()).unwrap_or_default();
        self.apply_to_queue(table, position, next, change)
    }

    /// Changes a queue, unless its files hold the record. `next`: the number that the queue's next row must have before the
    /// change.
    ///
    /// # Errors
    /// `Internal` where it has another number: rows are missing or applied twice.
    pub(super) fn apply_to_queue(
        &mut self,
        table: TableId,
        position: u64,
        next: RowNumber,
        change: impl FnOnce(&mut Queue),
    ) -> Result<bool> {
        let Some(queue) = self.queues.get_mut(&table) else {
            return self.skip_dropped(table, position);
        };
        if position <= queue.folded.position {
            return Ok(false);
        }
        if queue.backlog.next() != next {
            let found = queue.backlog.next();
            return Err(Error::internal(format!(
                "queue rows from {next} where {found} comes next"
            )));
        }
        change(queue);
        queue.changed = true;
        if queue.waiting() > 0 {
            self.freed.insert(table);
        }
        self.touched_queues.insert(table);
        Ok(true)
    }

    /// Ends recovery: drops marks of rows that are gone, and notes the queues with delays.
    pub(crate) fn open_queues(&mut self, now: Now) {
        for table in self.queues.keys() {
            if let Some(queue) = self.queues.get_mut(&table) {
                queue.opened(now);
                if queue.next_timer_us(now).is_some() {
                    self.timed.insert(table);
                }
            }
        }
    }
}
