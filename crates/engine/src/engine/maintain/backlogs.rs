//! The queues' files: emptied ones go, small and sparse ones are merged, all beside the engine's thread.

use std::sync::Arc;

use queue::{ChunkFile, MergeRowsJob};

use crate::catalog::TableId;
use crate::engine::Engine;
use crate::error::Result;
use crate::jobs::{Finished, Job, Made, Work};
use crate::state::table_dir;

impl Engine {
    /// Tidies the queues whose rows changed in this batch.
    pub(in crate::engine) fn sweep_queues(&mut self) {
        for table in std::mem::take(&mut self.state.touched_queues) {
            let queue = self.state.queues.get(&table);
            if queue.is_some_and(|queue| queue.backlog.is_tidy()) {
                continue;
            }
            if let Some(queue) = self.state.queues.get_mut(&table) {
                queue.backlog.sweep();
                self.tidy_queue(table);
            }
        }
    }

    /// Takes in a fold's file; `None`: no row of the fold was left to be written.
    pub(in crate::engine) fn install_rows(&mut self, table: TableId, file: Option<ChunkFile>) {
        let Some(queue) = self.state.queues.get_mut(&table) else {
            return;
        };
        let Some(folded) = queue.folding.take() else {
            return;
        };
        match file {
            Some(file) => queue.backlog.install(file),
            None => queue.backlog.abandon_fold(),
        }
        queue.folded = folded;
        self.status.folds_total += 1;
        self.tidy_queue(table);
    }

    /// Lets go of what a queue no longer needs, and starts the merge that is due.
    fn tidy_queue(&mut self, table: TableId) {
        let position = self.state.position;
        let Some(queue) = self.state.queues.get_mut(&table) else {
            return;
        };
        self.unused.append(&mut queue.backlog.take_unused_files());
        let discarded = queue.backlog.take_discarded();
        let candidates = queue.backlog.begin_merge();
        let disk = Arc::clone(&self.options.disk);
        let merge = candidates.map(|candidates| MergeRowsJob {
            disk,
            dir: table_dir(table),
            // No file that is in use has this name: it would be this one, which then is not merged alone.
            name: format!("{position}-{}-{}.rows", candidates.first, candidates.end),
            parts: candidates.parts,
        });
        if let Some(job) = merge {
            self.jobs.start(Job {
                table,
                position,
                work: Work::MergeRows(job),
            });
        }
        if let Some(discarded) = discarded {
            self.garbage.push(discarded);
            self.discard();
        }
    }

    /// Has what nobody needs freed beside this thread: that takes ten milliseconds and more.
    pub(in crate::engine) fn discard(&mut self) {
        if self.garbage.is_empty() {
            return;
        }
        self.jobs.start(Job {
            table: TableId(0),
            position: self.state.position,
            work: Work::Discard(std::mem::take(&mut self.garbage)),
        });
    }

    /// Takes in a merged file; without one the files stay as they are. Nothing depends on a merge, so a failure is
    /// counted and no more.
    pub(in crate::engine) fn install_merged_rows(&mut self, finished: Finished) -> Result<()> {
        let table = finished.table;
        let Some(queue) = self.state.queues.get_mut(&table) else {
            self.unused.push(table_dir(table)); // dropped meanwhile
            return Ok(());
        };
        match finished.made {
            Ok(Made::MergedRows(file)) => {
                queue.backlog.end_merge(file);
                self.status.queue_merges_total += 1;
                self.is_manifest_due = true;
            }
            _ => {
                queue.backlog.abandon_merge();
                self.status.fold_errors_total += 1;
            }
        }
        self.tidy_queue(table);
        Ok(())
    }
}
