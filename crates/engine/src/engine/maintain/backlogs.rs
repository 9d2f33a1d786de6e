//! The queues' files of rows: a file whose rows are all gone is removed, small and sparse files are merged. Jobs on other threads
//! do the work.
//!
//! `maintain` and `checkpoint` call `sweep_queues`. A fold or merge that has ended is taken in by `install_rows` or `install_merged_rows`; both
//! may start the next merge. Nothing depends on a merge: without it the old files stay.

use std::sync::Arc;

use queue::{ChunkFile, MergeRowsJob};

use crate::catalog::TableId;
use crate::engine::Engine;
use crate::error::Result;
use crate::jobs::{Finished, Job, Made, Work};
use crate::state::table_dir;

impl Engine {
    /// Drops empty chunks, and starts the merges that are due, of the queues whose rows changed since the last call.
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

    /// Takes in the file of a fold. `None`: every row of the fold was removed before it was written. In both cases the queue's
    /// checkpoint becomes that of the fold.
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

    /// Notes the unused files of a queue for removal, starts the merge that is due, and has dropped rows freed.
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
            // No file in use has this name. It could only be the result of an earlier merge of these rows at this position;
            // no row went since, so that file is not sparse, and it is not merged alone.
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

    /// Has `garbage` freed on another thread: to free large memory and maps can take ten milliseconds and more.
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

    /// Takes in a merge that has ended. After a failure the old files stay, and the failure is only counted.
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
