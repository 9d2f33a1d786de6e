//! Files of hit counts of pq tables: when a background job writes one. `table/standing/counts.rs` has their form.
//!
//! A file is written if the counts changed: after a minute, before each fold of the table's queries, at each checkpoint, and when
//! a search table is sealed or the disk is full, because the journal is to be trimmed then.

use std::sync::Arc;

use super::Engine;
use crate::catalog::TableId;
use crate::error::Result;
use crate::jobs::{Job, Work};
use crate::state::table_dir;
use crate::table::standing::counts::{CountsBefore, CountsJob};

/// Microseconds between two files of a table's counts while they change. The hits of a pq table without `into=` are in no record:
/// a crash loses those that were counted since its last file.
const COUNTS_EVERY_US: u64 = 60_000_000;

impl Engine {
    /// Starts the files that are due. `all`: a file for every table whose counts changed, since the journal is to be trimmed.
    pub(super) fn start_due_counts(&mut self, all: bool) {
        let now_us = self.now.steady_us;
        let mut due = Vec::new();
        for (table, pq) in &mut self.state.percolates {
            if !pq.counts_changed || pq.counting.is_some() {
                continue;
            }
            if pq.counts_due_us == 0 {
                pq.counts_due_us = now_us + COUNTS_EVERY_US;
            }
            if all || pq.counts_due_us <= now_us {
                due.push(*table);
            }
        }
        for table in due {
            self.start_counts(table);
        }
    }

    /// Starts to write a table's counts, if they have changed. Called before each fold of the table's queries: the counts must not
    /// be older than the queries, or they could be those of an earlier query with the same id. Newer counts do no harm.
    pub(super) fn start_counts(&mut self, table: TableId) {
        let position = self.state.position;
        let Some(pq) = self.state.percolates.get_mut(&table) else {
            return;
        };
        if pq.counting.is_some() {
            return;
        }
        if !pq.counts_changed {
            pq.counted = position; // the last file still has the present counts
            return;
        }
        pq.counts_changed = false;
        pq.counting = Some(position);
        pq.counts_before = CountsBefore::default();
        pq.counts_due_us = 0;
        let work = Work::Counts(CountsJob {
            disk: Arc::clone(&self.options.disk),
            dir: table_dir(table),
            name: format!("{position}.hits"),
            queries: pq.set.snapshot(),
            before: pq.counts_before.clone(),
        });
        self.jobs.start(Job {
            table,
            position,
            work,
        });
    }

    /// Takes in a file of counts. The file before it is removed after the next manifest. After a failure the counts are due
    /// again.
    pub(super) fn install_counts(
        &mut self,
        table: TableId,
        position: u64,
        path: Result<String>,
    ) -> Result<()> {
        let Some(pq) = self.state.percolates.get_mut(&table) else {
            return Ok(());
        };
        pq.counting = None;
        pq.counts_before = CountsBefore::default();
        let path = match path {
            Ok(path) => path,
            Err(error) => {
                pq.counts_changed = true;
                return Err(error);
            }
        };
        pq.counted = position;
        let before = pq.counts_file.replace(path.clone());
        self.unused.extend(before.filter(|before| *before != path));
        Ok(())
    }
}
