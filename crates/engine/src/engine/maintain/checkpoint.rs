//! The manifest: what is in files, written beside the engine's thread; then the journal's end.

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
    /// Starts to replace the manifest. It says what is in files now, all of it synced in the journal before; files that
    /// it does not name any more go once it is durable.
    pub(in crate::engine) fn start_manifest(&mut self) -> Result<()> {
        self.sync()?;
        let position = self.state.position;
        assert!(
            self.journal.log().status().synced >= Position(position),
            "a checkpoint is never ahead of the journal"
        );
        self.state.advance_clean_views();
        self.state.begin_manifest();
        let unused = if self.backups.is_running() {
            Vec::new() // it copies what an earlier manifest names; a later one lets go of it
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
        self.manifest_runs = true;
        self.jobs.start(Job {
            table: TableId(0),
            position,
            work: Work::Manifest(job),
        });
        Ok(())
    }

    /// The manifest is durable: lets the journal forget what all views hold, and removes what nobody names.
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
                continue; // what it has no use for now is named by this manifest
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

    /// The durable manifest is still the one before: another is due, and FLUSH is told.
    fn manifest_failed(&mut self, error: Error) -> Error {
        self.is_manifest_due = true;
        self.flushes.fail(&error);
        error
    }

    /// What a table had no use for is gone; what could not be removed goes after a later manifest.
    pub(in crate::engine) fn install_removed(&mut self, finished: Finished) -> Result<()> {
        match finished.made {
            Ok(Made::Removed(left, removed)) => {
                if let Some(search) = self.state.searches.get_mut(&finished.table) {
                    search.table.put_back(left);
                }
                removed
            }
            made => made.map(|_| ()), // the next opening removes it
        }
    }

    /// Removes the folder of a table that is gone.
    fn remove_folder(&self, path: &str) -> Result<()> {
        let mut tables = self.state.catalog.iter().map(|(table, _)| table);
        if tables.any(|table| table_dir(table) == path) {
            return Ok(()); // a CREATE that was refused left it, and a later one took its number
        }
        let removed = self.options.disk.remove_dir(path);
        removed.map_err(|error| failure::of_file(path, &error))
    }
}
