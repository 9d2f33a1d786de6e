//! `BACKUP TO`: the engine makes a manifest of this moment. A job copies the files that the manifest names, and those of the
//! collector's spools that its cursors need; writes go on.
//!
//! The collector removes its files itself. It asks [`crate::Handle::is_backing_up`] after it has noted the cursors that do not
//! need them. A backup that began before has the older cursors, and is seen. One that begins later has the new ones.

use std::sync::{Arc, Weak};

use journal::LocalLog;

use super::Engine;
use crate::backup::BackupJob;
use crate::command::{Answering, Reply};
use crate::error::{Error, Result};
use crate::manifest;
use crate::state::table_dir;

/// Requests for backups in this batch, and the running backup. At most one backup runs at a time.
#[derive(Default)]
pub(super) struct Backups {
    pub(super) asked: Vec<(String, Answering)>,
    /// Alive while a job copies files.
    pin: Weak<()>,
}

impl Backups {
    /// Whether a job copies files. Until it ends, the engine removes no file of its manifest and trims no journal.
    pub(super) fn is_running(&self) -> bool {
        self.pin.strong_count() > 0
    }
}

impl Engine {
    /// Starts the requested backups. A backup holds every write whose OK was sent before.
    pub(super) fn start_backups(&mut self) {
        for (to, reply) in std::mem::take(&mut self.backups.asked) {
            match self.backup_job(&to) {
                Ok(job) => self.run_backup(job, reply),
                Err(error) => reply(Err(error)),
            }
        }
    }

    fn backup_job(&mut self, to: &str) -> Result<BackupJob> {
        if self.backups.is_running() {
            return Err(Error::invalid("another backup is under way"));
        }
        let Some(open) = &self.options.backups else {
            return Err(Error::invalid("this server makes no backups"));
        };
        if self.journal.local().is_none() {
            return Err(Error::invalid(
                "a backup copies the files of the journal, and this server's journal has none here",
            ));
        }
        let to = open(to)?;
        self.sync()?;
        self.state.advance_clean_views();
        let log = self.journal.local();
        let find_spools = self.options.spools.clone();
        Ok(BackupJob {
            spools: find_spools.map(|find| (find, self.state.collected.cursors.clone())),
            from: Arc::clone(&self.options.disk),
            to,
            manifest: manifest::encode(&self.state),
            files: self.files_of_manifest(),
            journal: log.map_or_else(Vec::new, LocalLog::extents),
        })
    }

    /// Everything that the manifest names.
    fn files_of_manifest(&self) -> Vec<String> {
        let mut files: Vec<String> = self.state.named_files().into_iter().collect();
        for (table, search) in &self.state.searches {
            let dir = table_dir(*table);
            files.extend(search.files.paths().map(|path| format!("{dir}/{path}")));
        }
        files
    }

    /// Runs the job on its own thread, because a copy to another device may take hours.
    fn run_backup(&mut self, job: BackupJob, reply: Answering) {
        let pin = Arc::new(());
        self.backups.pin = Arc::downgrade(&pin);
        self.shared.backup.pin(&pin);
        let work = move || {
            let made = job.run();
            drop(pin);
            reply(made.map(Reply::affected));
        };
        // Without a thread the reply is dropped, which tells the caller that nothing was done.
        self.jobs.detach("seine-backup", Box::new(work));
    }
}
