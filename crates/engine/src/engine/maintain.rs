//! Maintenance: it moves state from the journal into files, so that the journal can be trimmed and a start replays little. Each
//! turn calls it after the replies. The work itself is done by jobs on other threads.
//!
//! # Example
//! The journal holds records 1 to 90. The tail of `news` is full. The queue `jobs` is in a file up to record 60 and has rows
//! of later records. Records 91 to 99 touch both tables. One thread runs seals, folds of queues and manifests in the order of
//! their start, so the manifest of turn 2 waits for the fold of `jobs`.
//!
//! | turn | | `folded` of `news`, `jobs` | manifests | journal |
//! |---|---|---|---|---|
//! | 1 | `due` names both, since a tail is full; `start_fold` starts the seal of `news` and the fold of `jobs`, both at 90 | 0, 60 | none | 1–90 |
//! | 2 | the seal is done: `install_segment` shows the segment and sets `is_manifest_due` | 90, 60 | none | 1–95 |
//! | 2 | `start_manifest` syncs the journal and starts the first: news at 90, jobs at 60 | 90, 60 | first waits | 1–95 |
//! | 3 | the fold is done: `install_rows`; a second manifest is due once the first is written | 90, 90 | first runs | 1–97 |
//! | 4 | the first is durable: `install_manifest` calls `trim(61)`; `maintain` starts the second | 90, 90 | second runs | 61–99 |
//! | 5 | the second is durable: `trim(91)` | 90, 90 | none | 91–99 |
//!
//! A journal in files drops whole files only, so it may keep records below the position of `trim`.
//!
//! # Invariants
//! - A view's `folded` rises after its file was written and synced, or when nothing of the view is outside of files
//!   (`advance_clean_views`). Raised earlier, a start would skip records whose rows are in no file.
//! - A manifest is never ahead of the synced journal: else a start would find files from a future that the journal has lost.
//! - The journal is trimmed, and files are removed, only after a manifest that does not need them is durable.
//! - A fold or seal that failed leaves everything in the journal. The view is pending again, and the fold is tried again
//!   after [`RETRY_US`]. A merge that failed leaves its inputs in use; a merge of segments is tried again after 60 s.

mod backlogs;
mod checkpoint;
pub(super) mod flush;
mod merges;
pub(super) mod retention;

use std::sync::Arc;

use queue::FoldJob;

use super::Engine;
use crate::catalog::TableId;
use crate::error::{Error, Result};
use crate::failure;
use crate::jobs::{Finished, Job, Made, Task, Work};
use crate::limits::SPARE_BYTES;
use crate::manifest;
use crate::state::table_dir;
use crate::table::standing::file::QueryFileJob;

/// Bytes of records above a view's checkpoint that make the engine fold it, even if few of them are the view's own: a restart
/// reads no more than a few times this number.
const BEHIND_FOLD_BYTES: u64 = 256 << 20;
/// Text of standing queries of a table whose changes are written with every seal.
const QUERY_BYTES_WITH_SEAL_MAX: u64 = 16 << 20;
/// Changes of standing queries that are worth a file even for a small table, and the part for a large one.
const QUERY_FOLD_CHANGES: usize = 10_000;
const QUERY_FOLD_PART: usize = 64;
/// A new base is written when the files above it hold this part of its entries, or when there are [`QUERY_FILES_MAX`] of them.
const QUERY_BASE_PART: u64 = 4;
const QUERY_FILES_MAX: usize = 24;
/// Time after which a fold, a seal or a manifest that failed is tried again. Microseconds.
const RETRY_US: u64 = 1_000_000;

impl Engine {
    /// Starts the jobs that are due, installs the results of those that have ended, and starts a manifest
    /// if a file is new or one is to go.
    pub(super) fn maintain(&mut self) -> Result<()> {
        if self.options.read_only {
            self.start_merges();
            return self.take_finished(false);
        }
        if !self.checkpoint_replies.is_empty() {
            return self.checkpoint();
        }
        self.sweep_queues();
        let is_time = self.now.steady_us >= self.retry_us;
        if is_time {
            let due = self.due();
            if !due.is_empty() {
                self.check_lock()?; // the files go to the path
            }
            if self.journal_full && self.pending_bytes(&due) <= SPARE_BYTES as u64 / 2 {
                manifest::give_spare(&*self.options.disk); // with these in files the journal can be trimmed
            }
            let mut seals = self.journal_full || self.folds_full;
            for table in due {
                seals |= self.state.searches.contains_key(&table);
                self.start_counts(table);
                self.start_fold(table);
            }
            self.start_due_counts(seals);
        }
        self.want_flushed();
        for table in std::mem::take(&mut self.wanted_folds) {
            self.start_counts(table);
            self.start_fold(table);
        }
        self.start_merges();
        self.start_segment_merges();
        self.take_finished(false)?;
        if !is_time {
            return Ok(());
        }
        self.is_manifest_due |= self.is_note_due();
        self.journal_full = self.journal_full && !self.has_space_for_a_segment();
        let nothing_to_remove = self.unused.is_empty() || self.backups.is_running();
        if self.manifest_runs || (nothing_to_remove && !self.is_manifest_due) {
            return Ok(());
        }
        self.start_manifest()?;
        self.take_finished(false)
    }

    /// Whether the device has room for the journal's next file. Asked in each turn while the journal is full, so that the flag
    /// falls without a write that tries.
    pub(super) fn has_space_for_a_segment(&self) -> bool {
        let space = self.options.disk.space();
        space.is_ok_and(|space| space.free_bytes >= self.options.journal_segment_bytes)
    }

    /// Folds every view that has something pending, then writes the manifest.
    pub(super) fn checkpoint(&mut self) -> Result<()> {
        self.check_lock()?;
        self.sweep_queues();
        self.wait_for_jobs()?;
        let tables: Vec<TableId> = self.state.catalog.iter().map(|(table, _)| table).collect();
        for table in tables {
            self.start_counts(table);
            self.start_fold(table);
        }
        self.wait_for_jobs()?;
        self.start_manifest()?;
        self.wait_for_jobs()?;
        self.publish();
        Ok(())
    }

    /// Starts the merges of levels of standing queries that are due, at most one a table.
    fn start_merges(&mut self) {
        for (table, pq) in &mut self.state.percolates {
            if let Some(job) = pq.set.merge_job() {
                self.jobs.start(Job {
                    table: *table,
                    position: self.state.position,
                    work: Work::Merge(job),
                });
            }
        }
    }

    fn wait_for_jobs(&mut self) -> Result<()> {
        let mut outcome = Ok(());
        loop {
            let finished = self.jobs.finished(true);
            if finished.is_empty() {
                return outcome;
            }
            outcome = outcome.and(self.install_all(finished));
        }
    }

    /// Installs every result, and gives the first error.
    fn install_all(&mut self, finished: Vec<Finished>) -> Result<()> {
        let mut outcome = Ok(());
        for finished in finished {
            match finished.task {
                Task::Fold => {}
                Task::Merge => {
                    outcome = outcome.and(self.install_merged(finished));
                    continue;
                }
                Task::Discard => continue,
                Task::MergeRows => {
                    outcome = outcome.and(self.install_merged_rows(finished));
                    continue;
                }
                Task::MergeSegments => {
                    outcome = outcome.and(self.install_merged_segments(finished));
                    continue;
                }
                Task::Reshape => {
                    self.take_reshaped(finished);
                    continue;
                }
                Task::Remove => {
                    outcome = outcome.and(self.install_removed(finished));
                    continue;
                }
                Task::Manifest => {
                    outcome = outcome.and(self.install_manifest(finished));
                    continue;
                }
            }
            let table = finished.table;
            let installed = self.install(finished);
            if installed.is_ok() {
                self.is_manifest_due = true;
                self.failed_folds.remove(&table);
            } else {
                self.failed_folds.insert(table);
            }
            outcome = outcome.and(installed);
        }
        outcome
    }

    /// Installs the results of jobs that have ended. `wait`: waits for a job that runs. A failure is tried again in a later turn.
    pub(super) fn take_finished(&mut self, wait: bool) -> Result<()> {
        let finished = self.jobs.finished(wait);
        if finished.is_empty() {
            return Ok(());
        }
        self.later(|engine| engine.install_all(finished))?;
        self.publish();
        Ok(())
    }

    /// Calls `act`, which may fail without harm because the journal still holds everything. A failure is counted and tried again.
    fn later(&mut self, act: impl FnOnce(&mut Engine) -> Result<()>) -> Result<()> {
        match act(self) {
            Err(error @ Error::Poisoned { .. }) => Err(error),
            Err(error) => {
                self.retry_us = self.now.steady_us + RETRY_US;
                self.status.fold_errors_total += 1;
                self.folds_full |= error == Error::DiskFull;
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// The tables whose fold or seal is worth its cost now. With a seal go the folds of queues and of small pq tables that have
    /// changed: then the journal can drop the records that the segment holds, and a restart has few to apply.
    fn due(&self) -> Vec<TableId> {
        let searches = &self.state.searches;
        let tails = searches.values().map(|search| search.table.tail().bytes);
        let taken = tails.sum::<u64>() + self.status.queue_bytes;
        let pressed = taken > self.options.memory_bytes / 2
            || self.folds_full
            || self.journal_full // the smallest view may be what keeps the journal from being trimmed
            || self.journal.log().status().disk_bytes > self.options.journal_bytes_max;
        let seal_rows = u64::from(self.options.seal_rows);
        let any_full = searches.values().any(|search| search.is_full(seal_rows));
        let mut due = Vec::new();
        for (table, search) in searches {
            let wanted = pressed || self.is_wanted(*table);
            if search.is_full(seal_rows) || (wanted && search.has_pending()) {
                due.push(*table);
            }
        }
        for (table, pq) in &self.state.percolates {
            let many = pq.changed.len() >= QUERY_FOLD_CHANGES.max(pq.set.len() / QUERY_FOLD_PART);
            let with_seal = any_full && pq.text_bytes <= QUERY_BYTES_WITH_SEAL_MAX;
            let wanted = pressed || with_seal || self.is_wanted(*table);
            if !pq.folding && (many || (wanted && !pq.changed.is_empty())) {
                due.push(*table);
            }
        }
        for (table, queue) in self.state.queues.iter() {
            let large = queue.backlog.memory_bytes() >= self.options.queue_fold_bytes;
            let wanted = pressed || any_full || self.is_wanted(*table);
            if queue.folding.is_none() && (large || (wanted && queue.changed)) {
                due.push(*table);
            }
        }
        due
    }

    /// Bytes that the folds of these tables would write, roughly.
    fn pending_bytes(&self, tables: &[TableId]) -> u64 {
        let of = |table: &TableId| {
            let tail = self
                .state
                .searches
                .get(table)
                .map(|search| search.table.tail().bytes);
            let text = self.state.percolates.get(table).map(|pq| pq.text_bytes);
            let rows = self
                .state
                .queues
                .get(table)
                .map(|queue| queue.backlog.memory_bytes());
            tail.or(text).or(rows).unwrap_or(0)
        };
        tables.iter().map(of).sum()
    }

    /// Whether a table's last fold failed, or more than [`BEHIND_FOLD_BYTES`] of records came since.
    fn is_wanted(&self, table: TableId) -> bool {
        let at = self.folded_at_bytes.get(&table).copied().unwrap_or(0);
        let bytes = self.status.record_bytes_total - at;
        bytes > BEHIND_FOLD_BYTES.min(self.options.journal_bytes_max / 4)
            || self.failed_folds.contains(&table)
    }

    /// Starts the fold of one table, if it has anything to fold and none runs.
    fn start_fold(&mut self, table: TableId) {
        let position = self.state.position;
        if let Some(work) = self.fold_work(table, position) {
            self.folded_at_bytes
                .insert(table, self.status.record_bytes_total);
            self.jobs.start(Job {
                table,
                position,
                work,
            });
        }
    }

    fn fold_work(&mut self, table: TableId, position: u64) -> Option<Work> {
        let disk = &self.options.disk;
        if let Some(search) = self.state.searches.get_mut(&table) {
            let job = search.table.freeze(position)?;
            search.sealing = true;
            return Some(Work::Seal(job));
        }
        if let Some(pq) = self.state.percolates.get_mut(&table) {
            let is_counted = pq.counting.is_none_or(|counting| counting == position);
            if pq.folding || pq.changed.is_empty() || !is_counted {
                return None;
            }
            let dir = table_dir(table);
            let mut name = format!("{position}.queries");
            let is_taken = |name: &String| {
                let path = format!("{dir}/{name}");
                pq.files.iter().any(|file| file.path == path)
            };
            if is_taken(&name) && !pq.is_mending {
                pq.changed.clear(); // no record since: what had changed was undone
                return None;
            }
            let mut further = 2;
            while is_taken(&name) {
                name = format!("{position}-{further}.queries");
                further += 1;
            }
            let path = format!("{dir}/{name}");
            self.unused.retain(|unused| *unused != path); // of an attempt before: it is written anew
            pq.folding = true;
            pq.folding_ids = std::mem::take(&mut pq.changed);
            let ids = &pq.folding_ids;
            let base = pq.files.first().map_or(0, |base| base.entries);
            let above = pq.files.iter().skip(1).map(|file| file.entries);
            let above = above.sum::<u64>() + ids.len() as u64;
            let is_large = above > base / QUERY_BASE_PART || pq.files.len() >= QUERY_FILES_MAX;
            // A base would take the place of the damaged file, and nothing would say any more which queries are lost.
            let is_base = (is_large || pq.is_mending) && pq.lost.is_empty();
            return Some(Work::Queries(QueryFileJob {
                disk: Arc::clone(disk),
                dir,
                name,
                queries: pq.set.snapshot(),
                changed: (!is_base).then(|| {
                    // A file of changes with a lost id would say that its query was deleted.
                    let known = ids.iter().filter(|id| !pq.lost.contains(**id));
                    known.copied().collect()
                }),
            }));
        }
        let queue = self.state.queues.get_mut(&table)?;
        if queue.folding.is_some() || !queue.changed {
            return None;
        }
        queue.changed = false;
        let chunks = queue.backlog.share();
        if chunks.is_empty() {
            return None; // what was removed is in the manifest's marks
        }
        queue.folding = Some(queue.as_of(position));
        Some(Work::Rows(FoldJob {
            disk: Arc::clone(disk),
            dir: table_dir(table),
            name: format!("{position}.rows"),
            chunks,
        }))
    }

    /// Installs merged levels of standing queries. After a failure the levels stay as they were.
    fn install_merged(&mut self, finished: Finished) -> Result<()> {
        let Some(pq) = self.state.percolates.get_mut(&finished.table) else {
            return Ok(()); // dropped meanwhile
        };
        match finished.made {
            Ok(Made::Merged(merged)) => {
                pq.set.install(*merged);
                pq.is_unpublished = true;
                Ok(())
            }
            made => {
                pq.set.abandon();
                made.map(|_| ())
            }
        }
    }

    /// Takes in one result. The files it names come into use with the next manifest.
    fn install(&mut self, finished: Finished) -> Result<()> {
        let Finished {
            table,
            position,
            made,
            ..
        } = finished;
        if self.state.catalog.get(table).is_none() {
            self.unused.push(table_dir(table)); // dropped meanwhile
            return Ok(());
        }
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                self.take_back(table);
                self.take_merged_segments(table)?;
                return Err(error);
            }
        };
        match made {
            Made::Segment(sealed) => self.install_segment(table, *sealed)?,
            Made::Queries(file) => {
                if let Some(pq) = self.state.percolates.get_mut(&table) {
                    pq.folding = false;
                    if pq.counted < position {
                        pq.changed.append(&mut pq.folding_ids); // its counts could not be written
                        self.unused.push(file.path);
                        return Err(Error::internal("hit counts could not be written"));
                    }
                    pq.folded = position;
                    pq.folding_ids.clear();
                    self.unused.retain(|unused| *unused != file.path); // of an attempt before
                    if file.is_base {
                        pq.is_mending = false;
                        let replaced = pq.files.drain(..).map(|before| before.path);
                        self.unused.extend(replaced);
                    }
                    pq.files.push(file);
                    self.status.folds_total += 1;
                }
            }
            Made::Counts(path) => self.install_counts(table, position, path)?,
            Made::Rows(file) => self.install_rows(table, file),
            // `install_all` has seen to these.
            Made::Merged(_)
            | Made::Reshaped(_)
            | Made::MergedRows(_)
            | Made::MergedSegments(_)
            | Made::Removed(..)
            | Made::Manifest(_)
            | Made::Nothing => {}
        }
        Ok(())
    }

    fn install_segment(&mut self, table: TableId, sealed: index::Sealed) -> Result<()> {
        let Some(search) = self.state.searches.get_mut(&table) else {
            return Ok(());
        };
        search.is_unpublished = true;
        search.file_changes += 1;
        search.files = match search.table.install(sealed) {
            Ok(files) => files,
            Err(error) => {
                let error = failure::of_index(error);
                self.take_back(table);
                return Err(error);
            }
        };
        search.sealing = false;
        search.merge_due = true;
        search.sealed_us = self.now.steady_us;
        search.folded = search.files.position;
        for discarded in search.table.take_discarded() {
            self.garbage.push(Box::new(discarded));
        }
        self.status.seals_total += 1;
        self.take_merged_segments(table)
    }

    /// A fold failed: its rows are pending again.
    fn take_back(&mut self, table: TableId) {
        if let Some(search) = self.state.searches.get_mut(&table) {
            search.table.thaw();
            search.sealing = false;
        }
        if let Some(pq) = self.state.percolates.get_mut(&table) {
            pq.folding = false;
            pq.changed.append(&mut pq.folding_ids);
        }
        if let Some(queue) = self.state.queues.get_mut(&table) {
            queue.folding = None;
            queue.changed = true;
            queue.backlog.abandon_fold();
        }
    }
}
