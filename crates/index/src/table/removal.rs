//! Removes files that no manifest names any more.

use std::io;
use std::sync::Arc;

use disk::Disk;

use super::writer::Table;
use crate::error::{Error, Result};

/// Files and directories that a table does not use any more. May run on any thread: removing a
/// large segment takes tens of milliseconds, since the system frees what it has cached.
pub struct Removal {
    disk: Arc<dyn Disk>,
    paths: Vec<String>,
}

impl Removal {
    /// Removes them, up to the first that fails. Give the table the rest with [`Table::put_back`].
    /// Errors: `Io`.
    pub fn run(&mut self) -> Result<()> {
        while let Some(path) = self.paths.last() {
            let name = path.rsplit_once('/').map_or("", |(_, name)| name);
            let removed = match name.starts_with("segment-") {
                true => self.disk.remove_dir(path),
                false => self.disk.remove(path),
            };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io(path.as_str(), error));
                }
                _ => {}
            }
            self.paths.pop();
        }
        Ok(())
    }
}

impl Table {
    /// The removal of unused files; `None` if there are none. Call it once the manifest with the
    /// files of the last [`Table::install`] or [`Table::install_merged`] is durable. `None` also
    /// while a seal runs, which may write beside them; no seal may begin before the removal has
    /// ended.
    pub fn removal(&mut self) -> Option<Removal> {
        if self.is_job_running || self.unused.is_empty() {
            return None;
        }
        Some(Removal {
            disk: Arc::clone(&self.disk),
            paths: std::mem::take(&mut self.unused),
        })
    }

    /// Takes back what a removal could not remove; the next removal tries it again.
    pub fn put_back(&mut self, removal: Removal) {
        self.unused.extend(removal.paths);
    }

    /// Removes the unused files at once. Errors: `Io`.
    pub fn remove_unused(&mut self) -> Result<()> {
        let Some(mut removal) = self.removal() else {
            return Ok(());
        };
        let removed = removal.run();
        self.put_back(removal);
        removed
    }
}
