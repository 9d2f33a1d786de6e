//! What readers are shown of a queue.

use std::sync::Arc;

use crate::lane::Lane;
use crate::queue::{Queue, QueueStats};

/// What one queue holds. Counted when the last batch was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueReport {
    /// Its name.
    pub queue: Arc<str>,
    /// Rows, owned ones included.
    pub rows: u64,
    /// Rows that somebody has.
    pub owned: u64,
    /// Sessions that wait for a row.
    pub waiting: u64,
    /// Times that a row was given back, since the server's start.
    pub restored: u64,
    /// Whether its rows are held back, by `QUEUE_PAUSE`.
    pub paused: bool,
    /// Rows whose time has not come, as far as somebody has met them.
    pub delayed: u64,
    /// Rows handed out again, since the server's start.
    pub redelivered: u64,
    /// When the first row came, in microseconds since 1970-01-01 UTC, to a second or so; of rows from before the server's
    /// start: when that was. `None`: there is no row.
    pub oldest_us: Option<i64>,
    /// Its consumer groups.
    pub groups: Vec<GroupReport>,
    /// Memory of the rows that are in no file, in bytes.
    pub memory_bytes: u64,
    /// Memory of leases, delivery counts, delays and keys, in bytes. No file takes it over.
    pub marks_bytes: u64,
    /// Files that hold its rows.
    pub files: u64,
    /// The number that the next row gets.
    pub next_row: u64,
    /// The last record that its files hold.
    pub folded: u64,
}

/// What one consumer group has before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupReport {
    /// Its name.
    pub group: String,
    /// Rows that it is not done with.
    pub rows: u64,
    /// Rows that somebody has.
    pub owned: u64,
    /// Rows handed out again, since the server's start.
    pub redelivered: u64,
    /// No row is handed out to it.
    pub is_paused: bool,
}

impl Queue {
    /// What it holds now; rows that came since the last report came at `now_us`. Cost: the lanes.
    pub fn report(&mut self, now_us: i64) -> QueueReport {
        self.ages.note(self.backlog.next(), now_us);
        let lanes = &self.lanes;
        let low = lanes.iter().map(Lane::lowest).min().unwrap_or(0);
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

    /// `queue_stats`.
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
