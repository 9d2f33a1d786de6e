//! SHOW QUEUES and the metrics of queues.

pub use queue::GroupReport;

use super::{Snapshot, View};

/// What one queue holds. Counted when the last batch was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueReport {
    /// Its name.
    pub queue: String,
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
}

impl Snapshot {
    /// The queues, by name.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueReport> {
        let mut reports: Vec<QueueReport> = self
            .catalog
            .iter()
            .filter_map(|(id, table)| {
                let View::Queue(cell) = self.views.get(&id)? else {
                    return None;
                };
                let view = cell.load();
                Some(QueueReport {
                    queue: table.name.clone(),
                    rows: view.rows,
                    owned: view.owned,
                    waiting: view.waiting,
                    restored: view.restored,
                    paused: view.paused,
                    delayed: view.delayed,
                    redelivered: view.redelivered,
                    oldest_us: view.oldest_us,
                    groups: view.groups.clone(),
                })
            })
            .collect();
        reports.sort_by(|a, b| a.queue.cmp(&b.queue));
        reports
    }
}
