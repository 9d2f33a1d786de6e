//! Manifests: a job on another thread writes one; then unused files go and the journal is trimmed. The head of `maintain.rs`
//! has an example.
//!
//! `maintain` and `checkpoint` call `start_manifest`. It syncs the journal and starts the job. `install_manifest` takes in the
//! result: the manifest is durable, so records that every view has in files are trimmed, and files that it does not name go.
//!
//! # Invariants
//! - A manifest is begun after the journal is synced up to its position. Begun earlier, it could name rows of records that
//!   a power cut takes.
//! - A file goes only when a manifest that does not name it is durable. Until then a start may open it.
//! - While a backup runs, no removal of files is begun and the journal is not trimmed: the backup copies files that a later
//!   manifest may not name.

use std::sync::Arc;

use journal::Position;

use crate::catalog::TableId;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::failure;
use crate::jobs::{Finished, Job, Made, Work};
use crate::manifest::{self, ManifestJob};
use crate::state::table_dir;

impl Engine {
    /// Starts the job that replaces the manifest by one of the present state. The job also removes the files in `unused`,
    /// once the manifest is durable.
    ///
    /// Errors: those of the journal's sync; `Poisoned` where the directory is another one now.
    pub(in crate::engine) fn start_manifest(&mut self) -> Result<()> {
        self.check_lock()?;
        self.sync()?;
        let position = self.state.position;
        assert!(
            self.journal.log().status().synced >= Position(position),
            "a checkpoint is never ahead of the journal"
        );
        self.state.advance_clean_views();
        self.state.begin_manifest();
        let unused = if self.backups.is_running() {
            Vec::new() // the backup copies them; a manifest after its end removes them
        } else {
            std::mem::take(&mut self.unused)
        };
        let is_folder = |path: &String| path.matches('/').count() == 1;
        let (folders, files) = unused.into_iter().partition(is_folder);
        let job = ManifestJob {
            disk: Arc::clone(&self.options.disk),
            bytes: manifest::encode(&self.state),
            lowest: self.state.lowest_folded(position),
            files,
            folders,
        };
        self.is_manifest_due = false;
        self.has_new_note = false;
        self.manifest_at_bytes = self.appended_bytes();
        self.manifest_runs = true;
        self.jobs.start(Job {
            table: TableId(0),
            position,
            work: Work::Manifest(job),
        });
        Ok(())
    }

    /// Takes in the result of a manifest job. If the manifest is durable, trims the journal below the lowest checkpoint, starts
    /// the removal of unused segments, and removes the folders of dropped tables.
    ///
    /// Errors: the manifest could not be written, a file could not be removed, or the journal could not be trimmed. Files
    /// that stay are tried again after a later manifest.
    pub(in crate::engine) fn install_manifest(&mut self, finished: Finished) -> Result<()> {
        self.manifest_runs = false;
        let position = finished.position;
        let written = match finished.made {
            Ok(Made::Manifest(written)) => written,
            made => {
                let wrong = |_| Error::internal("a manifest came to something else");
                return Err(self.manifest_failed(made.map_or_else(|error| error, wrong)));
            }
        };
        self.unused.extend(written.files_left);
        if let Err(error) = written.replaced {
            self.unused.extend(written.folders);
            return Err(self.manifest_failed(error));
        }
        self.state.catalog_folded = position;
        self.state.end_manifest();
        self.status.checkpoints_total += 1;
        let catalog = &self.state.catalog;
        self.failed_folds
            .retain(|table| catalog.get(*table).is_some());
        self.folds_full = self.folds_full && !self.failed_folds.is_empty();
        self.status.checkpoint_position = written.lowest;
        if self.backups.is_running() {
            self.unused.extend(written.folders);
            return written.removed;
        }
        let mut removed = written.removed;
        for (table, search) in &mut self.state.searches {
            if search.changed_since_manifest() {
                continue; // this manifest may name the segments that are unused since
            }
            if let Some(removal) = search.table.removal() {
                self.jobs.start(Job {
                    table: *table,
                    position,
                    work: Work::Remove(removal),
                });
            }
        }
        self.journal
            .log_mut()
            .trim(Position(written.lowest).next())
            .map_err(failure::of_journal)?;
        for folder in written.folders {
            let gone = self.remove_folder(&folder);
            if gone.is_err() {
                self.unused.push(folder);
            }
            removed = removed.and(gone);
        }
        removed
    }

    /// A manifest could not be written, so the one before is still the durable one. Another is due, and every open FLUSH and
    /// OPTIMIZE is answered with the error.
    fn manifest_failed(&mut self, error: Error) -> Error {
        self.is_manifest_due = true;
        self.flushes.fail(&error);
        error
    }

    /// Takes in the removal of a table's unused segments. Files that could not be removed go after a later manifest.
    pub(in crate::engine) fn install_removed(&mut self, finished: Finished) -> Result<()> {
        match finished.made {
            Ok(Made::Removed(left, removed)) => {
                if let Some(search) = self.state.searches.get_mut(&finished.table) {
                    search.table.put_back(left);
                }
                removed
            }
            made => made.map(|_| ()), // a start removes the files
        }
    }

    /// Removes the folder of a table that is gone. A folder of a table in the catalog stays.
    fn remove_folder(&self, path: &str) -> Result<()> {
        let mut tables = self.state.catalog.iter().map(|(table, _)| table);
        if tables.any(|table| table_dir(table) == path) {
            return Ok(()); // a refused CREATE left the folder, and a later CREATE got its number
        }
        let removed = self.options.disk.remove_dir(path);
        removed.map_err(|error| failure::of_file(path, &error))
    }
}
