//! The figures of a queue: SHOW QUEUES, `/metrics`, `queue_stats`.

use std::sync::Arc;

use crate::ids::RowNumber;

use crate::lane::Lane;
use crate::queue::{Queue, QueueStats};

/// The figures of one queue at the last published batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueReport {
    /// The name of the queue.
    pub queue: Arc<str>,
    /// Rows in the backlog, held ones included.
    pub rows: u64,
    /// Rows that sessions and receipts hold, added up over the lanes.
    pub owned: u64,
    /// Places in lines: a session counts once for each condition that it waits with.
    pub waiting: u64,
    /// Rows given back by `queue_abort` or by a closed connection, since the server's start.
    pub restored: u64,
    /// Whether QUEUE_PAUSE has stopped every lane.
    pub paused: bool,
    /// Rows that are due later and that a cursor has reached, added up over the lanes.
    pub delayed: u64,
    /// Second and later deliveries, since the server's start.
    pub redelivered: u64,
    /// When the oldest row came, in microseconds since 1970-01-01 UTC, to about a second. A row from before the server's start
    /// counts as come at the first report after it. `None` where there is no row.
    pub oldest_us: Option<i64>,
    /// The consumer groups, in the order of `groups=`; empty for a queue without groups.
    pub groups: Vec<GroupReport>,
    /// Memory of the rows that are in no file. Bytes, estimated.
    pub memory_bytes: u64,
    /// Memory of leases, delivery counts, delays and keys. Bytes, estimated. A fold does not free it.
    pub marks_bytes: u64,
    /// Chunk files that hold its rows.
    pub files: u64,
    /// The number that the next row gets.
    pub next_row: RowNumber,
    /// The checkpoint: the last record whose rows the files hold.
    pub folded: u64,
}

/// The figures of one consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupReport {
    /// The name of the group, lower case.
    pub group: String,
    /// Rows that the group has yet to end, held ones included.
    pub rows: u64,
    /// Rows that its workers hold.
    pub owned: u64,
    /// Second and later deliveries to its workers, since the server's start.
    pub redelivered: u64,
    /// Whether QUEUE_PAUSE has stopped the group.
    pub is_paused: bool,
}

impl Queue {
    /// The figures of now. Rows that came since the last report are taken to have come at `now_us`. Cost: constant for each
    /// lane.
    pub fn report(&mut self, now_us: i64) -> QueueReport {
        self.ages.note(self.backlog.next(), now_us);
        let lanes = &self.lanes;
        let low = lanes.iter().map(Lane::lowest).min().unwrap_or_default();
        let first = self.backlog.first_at_or_above(low);
        let marks_bytes = lanes.iter().map(Lane::marks_bytes).sum::<u64>();
        let delayed = lanes.iter().map(|lane| lane.gate.delays.len() as u64);
        QueueReport {
            queue: Arc::clone(&self.name),
            rows: self.backlog.len(),
            owned: lanes.iter().map(|lane| lane.held().len() as u64).sum(),
            waiting: self.waiting() as u64,
            restored: self.stats.restored_by_abort + self.stats.restored_by_close,
            paused: self.paused.iter().all(|is_paused| *is_paused),
            delayed: delayed.sum(),
            redelivered: lanes.iter().map(|lane| lane.redelivered_total).sum(),
            oldest_us: first.and_then(|row| self.ages.of(row)),
            groups: self.group_reports(),
            memory_bytes: self.backlog.memory_bytes(),
            marks_bytes: self.seen.bytes() + marks_bytes,
            files: self.backlog.file_count(),
            next_row: self.backlog.next(),
            folded: self.folded.position,
        }
    }

    fn group_reports(&self) -> Vec<GroupReport> {
        let groups = self.options.groups.iter();
        let lanes = self.lanes.iter().zip(&self.paused);
        let report = |(group, (lane, is_paused)): (&String, (&Lane, &bool))| GroupReport {
            group: group.clone(),
            rows: self.backlog.len().saturating_sub(lane.gate.acked.len()),
            owned: lane.held().len() as u64,
            redelivered: lane.redelivered_total,
            is_paused: *is_paused,
        };
        groups.zip(lanes).map(report).collect()
    }

    /// The counters of `queue_stats`, with the bytes of now. Cost: the chunks.
    #[must_use]
    pub fn stats(&self) -> QueueStats {
        let (bytes_total, bytes_removed) = self.backlog.stored_bytes();
        QueueStats {
            bytes_total,
            bytes_removed,
            ..self.stats
        }
    }
}
