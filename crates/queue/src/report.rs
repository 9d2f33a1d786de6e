//! What readers are shown of a queue.

use crate::lane::Lane;
use crate::queue::{Queue, QueueStats};

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
    /// Rows out at somebody's, in all lanes.
    pub fn held_rows(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.held().len() as u64).sum()
    }

    /// Memory of what is known of rows and keys beside the rows themselves. No file takes it over.
    pub fn marks_bytes(&self) -> u64 {
        let lanes = self.lanes.iter().map(Lane::marks_bytes);
        self.seen.bytes() + lanes.sum::<u64>()
    }

    /// Rows whose time has not come.
    pub fn delayed_rows(&self) -> u64 {
        let lanes = self.lanes.iter();
        lanes.map(|lane| lane.gate.delays.len() as u64).sum()
    }

    /// Rows handed out again.
    pub fn redelivered(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.redelivered_total).sum()
    }

    /// When the first row that is there came, as far as that is known.
    pub fn oldest_us(&self) -> Option<i64> {
        let low = self.lanes.iter().map(Lane::lowest).min().unwrap_or(0);
        let first = self.backlog.first_at_or_above(low)?;
        self.ages.of(first)
    }

    /// What each consumer group has before it.
    pub fn group_reports(&self) -> Vec<GroupReport> {
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
    pub fn stats(&self) -> QueueStats {
        let (bytes_total, bytes_removed) = self.backlog.stored_bytes();
        QueueStats {
            bytes_total,
            bytes_removed,
            ..self.stats
        }
    }
}
