//! Merges of a search table's segments: begun when a seal has made one more, or none has for a while; taken in when no seal runs.

use crate::catalog::TableId;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::failure;
use crate::jobs::{Finished, Job, Made, Work};
use crate::state::table_dir;
use crate::table::search::SearchTable;

/// A merge that failed, or had no room, is tried again after so long.
const MERGE_RETRY_US: u64 = 60_000_000;

impl Engine {
    /// Starts what is due to how rows lie in segments, one merge a table. A merge needs room beside what it joins: where the
    /// device has not twice as much, it waits.
    pub(in crate::engine) fn start_segment_merges(&mut self) {
        let now_us = self.now.steady_us;
        let is_due = |search: &SearchTable| {
            let is_due =
                search.merge_due || search.merge_look_us.is_some_and(|look| now_us >= look);
            is_due && now_us >= search.merge_retry_us
        };
        for (table, search) in &mut self.state.searches {
            if !is_due(search) {
                continue;
            }
            let request = index::MergeRequest {
                quiet_us: now_us.saturating_sub(search.sealed_us),
                keep_by: search.keep.as_ref().map(|(_, column)| *column),
            };
            search.merge_due = false; // until this one has ended
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

    /// A merge has ended. After a failure its segments stay as they were, and it is tried again later; not if one of them
    /// is damaged, which a repair has to see to.
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

    /// Takes in what a merge has made, if there is something and no seal runs, which names the old segments.
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
