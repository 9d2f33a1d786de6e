//! Undoing what one unit of commands did to a queue: rows that came and went, and keys that were noted.

use query::value::Value;

use crate::queue::{Queue, QueueStats, SENDERS};

/// A queue as it was before a unit, as far as a unit can change it.
#[derive(Debug)]
pub struct Before {
    next: u64,
    changed: bool,
    received: [u64; SENDERS],
    /// Rows that were gone, and that its lanes had not been told of.
    gone: usize,
    /// Keys of `unique_by=` that are noted now, and when they were noted before.
    seen: Vec<(Vec<u8>, Option<i64>)>,
    stats: QueueStats,
    removed: Vec<u64>,
}

impl Before {
    /// The keys of these rows are about to be noted.
    pub fn note_keys(&mut self, queue: &Queue, rows: &[Vec<Value>]) {
        let keys = queue.unique_keys(rows).into_iter().flatten();
        self.seen
            .extend(keys.map(|key| (key.clone(), queue.seen.get(&key))));
    }

    /// These rows are about to be removed.
    pub fn note_removed(&mut self, rows: &[u64]) {
        self.removed.extend_from_slice(rows);
    }
}

impl Queue {
    /// The queue as it is before a unit.
    #[must_use]
    pub fn before(&self) -> Before {
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

    /// Puts everything back that a unit changed.
    pub fn undo(&mut self, before: Before) {
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
