//! Undoing a unit of commands, such as POST /bulk, that fails half-way: its rows, its removals, its `unique_by=` keys.
//!
//! A unit inserts rows 8 and 9 and removes row 3. `Before` then holds `next` = 8 and `removed` = [3]. `undo` restores row 3
//! and cuts the backlog at 8, so that the next INSERT gets number 8 again. The unit's rows are in no file and no worker has
//! seen them: nothing of a unit is published before all of it is decided.

use relation::value::Value;

use crate::ids::RowNumber;

use crate::queue::{Queue, QueueStats, SENDERS};

/// What a unit of commands may change in a queue, as it was before the unit.
#[derive(Debug)]
pub struct Before {
    next: RowNumber,
    changed: bool,
    received: [u64; SENDERS],
    /// Length of [`Queue::gone`].
    gone: usize,
    /// Each `unique_by=` key that the unit notes, with its time before the unit, in the order of the notes.
    seen: Vec<(Vec<u8>, Option<i64>)>,
    stats: QueueStats,
    removed: Vec<RowNumber>,
}

impl Before {
    /// To be called before [`Queue::note_keys`] with the same rows.
    pub fn note_keys(&mut self, queue: &Queue, rows: &[Vec<Value>]) {
        let keys = queue.unique_keys(rows).into_iter().flatten();
        self.seen
            .extend(keys.map(|key| (key.clone(), queue.seen.get(&key))));
    }

    /// To be called before these rows are removed. The rows are in the backlog.
    pub fn note_removed(&mut self, rows: &[RowNumber]) {
        self.removed.extend_from_slice(rows);
    }
}

impl Queue {
    /// Begins a unit, which ends with [`Queue::undo`] or [`Queue::keep`]. Cost: constant.
    #[must_use]
    pub fn before(&mut self) -> Before {
        self.unit_from = Some(self.backlog.next());
        Before {
            next: self.backlog.next(),
            changed: self.changed,
            received: self.received,
            gone: self.gone.len(),
            seen: Vec::new(),
            stats: self.stats,
            removed: Vec::new(),
        }
    }

    /// The number of the first row that the unit which is applied now has put or may put. Once the unit was undone, other rows get
    /// these numbers.
    #[must_use]
    pub fn unit_from(&self) -> RowNumber {
        self.unit_from.unwrap_or(self.backlog.next())
    }

    /// Ends a unit whose changes stay.
    pub fn keep(&mut self) {
        self.unit_from = None;
    }

    /// Puts back what the unit changed. The rows that it inserted must still be in memory.
    pub fn undo(&mut self, before: Before) {
        self.unit_from = None;
        for row in before.removed {
            self.restore(row);
        }
        self.backlog.truncate(before.next);
        self.changed = before.changed;
        self.received = before.received;
        self.gone.truncate(before.gone);
        for (key, at_us) in before.seen.into_iter().rev() {
            self.seen.restore(&key, at_us);
        }
        self.stats = before.stats;
    }
}
