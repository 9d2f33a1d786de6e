//! Files of hit counts: written in the background, at checkpoints and from time to time.

use std::sync::Arc;

use super::Engine;
use crate::catalog::TableId;
use crate::error::Result;
use crate::jobs::{Job, Work};
use crate::state::table_dir;
use crate::table::standing::counts::{CountsBefore, CountsJob};

/// A table's counts are written so often while they change: as much of them a crash may forget.
const COUNTS_EVERY_US: u64 = 60_000_000;

impl Engine {
    /// Starts what is due. `all`: whatever has changed, because the journal is to be trimmed.
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

    /// Starts to write a table's counts, if they have changed. Called before its queries are folded: counts of a later
    /// record than the queries' are understood, of an earlier one they may be another query's of the same id.
    pub(super) fn start_counts(&mut self, table: TableId) {
        let position = self.state.position;
        let Some(pq) = self.state.percolates.get_mut(&table) else {
            return;
        };
        if pq.counting.is_some() {
            return;
        }
        if !pq.counts_changed {
            pq.counted = position; // the file says it all
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

    /// Takes a written file in.
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
