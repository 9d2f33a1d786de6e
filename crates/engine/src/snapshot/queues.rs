//! SHOW QUEUES and the metrics of queues.

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
                })
            })
            .collect();
        reports.sort_by(|a, b| a.queue.cmp(&b.queue));
        reports
    }
}
