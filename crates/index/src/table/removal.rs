//! Files that no manifest names any more, removed beside the table.

use std::io;
use std::sync::Arc;

use disk::Disk;

use super::writer::Table;
use crate::error::{Error, Result};

/// Files and folders that a table has no use for. Removing them may run on any thread: those of a large segment take tens of
/// milliseconds, because the system gives back what it has cached of them.
pub struct Removal {
    disk: Arc<dyn Disk>,
    paths: Vec<String>,
}

impl Removal {
    /// Removes them, up to the first that cannot be: give the table what is left with [`Table::put_back`]. Errors: `Io`.
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
    /// The removal of what no manifest names any more, if there is something. Ask when the manifest with the last
    /// [`Table::install`]'s or [`Table::install_merged`]'s files is durable. `None` while a seal runs, which may write beside
    /// them; no seal may begin before the removal has ended.
    pub fn removal(&mut self) -> Option<Removal> {
        if self.is_job_running || self.unused.is_empty() {
            return None;
        }
        Some(Removal {
            disk: Arc::clone(&self.disk),
            paths: std::mem::take(&mut self.unused),
        })
    }

    /// What a removal could not remove, the next one tries again.
    pub fn put_back(&mut self, removal: Removal) {
        self.unused.extend(removal.paths);
    }

    /// Removes at once what a [`Table::removal`] would. Errors: `Io`.
    pub fn remove_unused(&mut self) -> Result<()> {
        let Some(mut removal) = self.removal() else {
            return Ok(());
        };
        let removed = removal.run();
        self.put_back(removal);
        removed
    }
}
