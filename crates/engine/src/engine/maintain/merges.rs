//! Merges of a search table's segments: a job on another thread writes some of them anew as one.
//!
//! A table is asked for a merge when its segments changed, when OPTIMIZE wants one, and when some time has passed since its last
//! seal. `index` chooses the segments; at most one merge of a table runs. `maintain` calls `start_segment_merges` every turn.
//!
//! # Invariant
//! A result is installed only while no seal of the table runs: the seal's job names the old segments. A merge that ends
//! during a seal waits in `SearchTable::merged` until the seal has ended.

use crate::catalog::TableId;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::failure;
use crate::jobs::{Finished, Job, Made, Work};
use crate::state::table_dir;
use crate::table::search::SearchTable;

/// Microseconds until a merge that failed, or had no room, is tried again.
const MERGE_RETRY_US: u64 = 60_000_000;

impl Engine {
    /// Starts the merges that are due, at most one a table. The new segment is written beside the old ones, so a merge waits
    /// unless the device has twice the bytes of its segments free, and a file of the journal more.
    pub(in crate::engine) fn start_segment_merges(&mut self) {
        let now_us = self.now.steady_us;
        let is_due = |search: &SearchTable| {
            let is_due =
                search.merge_due || search.merge_look_us.is_some_and(|look| now_us >= look);
            is_due && now_us >= search.merge_retry_us
        };
        for (table, search) in &mut self.state.searches {
            if !is_due(search) || self.alters.has(*table) {
                continue;
            }
            let request = index::MergeRequest {
                quiet_us: now_us.saturating_sub(search.sealed_us),
                keep_by: search.keep.as_ref().map(|(_, column)| *column),
            };
            search.merge_due = false; // true again when this merge has ended
            search.merge_look_us = None;
            let Some(job) = search.table.merge_job(request) else {
                let quiet_us = request.next_quiet_us();
                search.merge_look_us = quiet_us.map(|quiet_us| search.sealed_us + quiet_us);
                continue;
            };
            let space = self.options.disk.space();
            let needed = 2 * job.bytes() + self.options.journal_segment_bytes;
            if space.is_ok_and(|space| space.free_bytes < needed) {
                search.table.abandon_merge();
                search.merge_due = true;
                search.merge_retry_us = now_us + MERGE_RETRY_US;
                search.table.give_up_optimizing();
                self.flushes.fail_optimizing(*table, &Error::DiskFull);
                continue;
            }
            self.jobs.start(Job {
                table: *table,
                position: self.state.position,
                work: Work::MergeSegments(job),
            });
        }
    }

    /// Takes in a merge that has ended. After a failure its segments stay as they were, an OPTIMIZE that waits for it is
    /// answered with the error, and the merge is tried again after [`MERGE_RETRY_US`]. A merge that met a damaged segment is
    /// tried again only when the segments have changed; `seine repair` mends the damage.
    pub(in crate::engine) fn install_merged_segments(&mut self, finished: Finished) -> Result<()> {
        let table = finished.table;
        let Some(search) = self.state.searches.get_mut(&table) else {
            self.unused.push(table_dir(table)); // dropped meanwhile
            return Ok(());
        };
        match finished.made {
            Ok(Made::MergedSegments(merged)) => {
                search.merged = Some(*merged);
                self.take_merged_segments(table)
            }
            made => {
                search.table.abandon_merge();
                search.merge_due = !matches!(made, Err(Error::Corrupt { .. }));
                search.merge_retry_us = self.now.steady_us + MERGE_RETRY_US;
                search.table.give_up_optimizing();
                let wrong = |_| Error::internal("a merge of segments came to something else");
                let error = made.map_or_else(|error| error, wrong);
                self.flushes.fail_optimizing(table, &error);
                Err(error)
            }
        }
    }

    /// Installs the result of a merge that has ended. Does nothing if there is none, or while a seal runs.
    pub(in crate::engine) fn take_merged_segments(&mut self, table: TableId) -> Result<()> {
        let Some(search) = self.state.searches.get_mut(&table) else {
            return Ok(());
        };
        if !search.table.takes_merged() {
            return Ok(());
        }
        let Some(merged) = search.merged.take() else {
            return Ok(());
        };
        search.is_unpublished = true;
        search.file_changes += 1;
        search.merge_due = true;
        self.is_manifest_due = true;
        let installed = search.table.install_merged(merged);
        for discarded in search.table.take_discarded() {
            self.garbage.push(Box::new(discarded));
        }
        match installed {
            Ok(files) => {
                search.take_files(files);
                self.status.segment_merges_total += 1;
                Ok(())
            }
            Err(error) => {
                search.merge_retry_us = self.now.steady_us + MERGE_RETRY_US;
                Err(failure::of_index(error))
            }
        }
    }
}
