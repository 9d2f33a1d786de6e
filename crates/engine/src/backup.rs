//! A copy of a data directory in another place: made while the engine runs, and put back.
//!
//! A backup is a data directory itself: the files that a manifest names, which are never changed and so may be links, the
//! journal's files as far as they were written, and that manifest, written last. One that was cut short has a journal and no
//! manifest, which nothing takes for a data directory.

use std::io;
use std::sync::Arc;

use disk::{Disk, link_or_copy};
use journal::Extent;

use crate::error::{Error, Result};
use crate::failure;
use crate::manifest;

/// The work of making one; runs on any thread, while the engine removes nothing and trims no journal.
pub(crate) struct BackupJob {
    pub(crate) from: Arc<dyn Disk>,
    pub(crate) to: Arc<dyn Disk>,
    pub(crate) manifest: Vec<u8>,
    /// Files that the manifest names.
    pub(crate) files: Vec<String>,
    pub(crate) journal: Vec<Extent>,
}

impl BackupJob {
    /// Makes the copy and makes it durable. Gives its files.
    pub(crate) fn run(self) -> Result<u64> {
        let mut folders = Folders::default();
        for path in &self.files {
            let failed = |error| failed(path, &error);
            folders.make(&*self.to, path).map_err(failed)?;
            link_or_copy(&self.from, path, &*self.to, path).map_err(failed)?;
        }
        for extent in &self.journal {
            let path = &extent.path;
            let mut copy = || {
                folders.make(&*self.to, path)?;
                let file = self.from.open(path)?;
                disk::copy_bytes(&*file, extent.bytes, &*self.to, path)
            };
            copy().map_err(|error| failed(path, &error))?;
        }
        folders
            .sync(&*self.to)
            .map_err(|error| failed("", &error))?;
        manifest::replace(&*self.to, &self.manifest)?;
        Ok(1 + self.files.len() as u64 + self.journal.len() as u64)
    }
}

/// An error of either place; that the other one is full is no concern of this node.
fn failed(path: &str, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::StorageFull => {
            Error::invalid(format!("the backup's device is full at {path}"))
        }
        io::ErrorKind::AlreadyExists => {
            Error::invalid(format!("the backup's place holds {path} already"))
        }
        _ => failure::of_file(path, error),
    }
}

/// Folders that were made, each to be synced once.
#[derive(Default)]
struct Folders {
    made: std::collections::BTreeSet<String>,
}

impl Folders {
    /// Makes the folder of a file.
    fn make(&mut self, to: &dyn Disk, path: &str) -> io::Result<()> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if folder.is_empty() || self.made.contains(folder) {
            return Ok(());
        }
        to.create_dir(folder)?;
        let mut folder = folder;
        loop {
            self.made.insert(folder.to_owned());
            match folder.rsplit_once('/') {
                Some((parent, _)) => folder = parent,
                None => return Ok(()),
            }
        }
    }

    /// Makes all names durable, the root's included.
    fn sync(&self, to: &dyn Disk) -> io::Result<()> {
        for folder in self.made.iter().rev() {
            to.sync_dir(folder)?;
        }
        to.sync_dir("")
    }
}

/// Copies a backup into an empty place, where a server may then be started. The backup is not changed, and shares nothing
/// with the copy. Gives the files.
///
/// # Errors
/// `Invalid` where the place is not empty, and those of both disks.
pub fn restore(from: &Arc<dyn Disk>, to: &Arc<dyn Disk>) -> Result<u64> {
    let unreadable = |error: io::Error| failed("", &error);
    let held = to.list("").map_err(unreadable)?;
    if let Some(name) = held.first() {
        return Err(Error::invalid(format!(
            "the place to restore into is not empty: it holds {name}"
        )));
    }
    let mut files = Vec::new();
    for part in ["journal", "tables"] {
        if from.exists(part).map_err(unreadable)? {
            list_files(&**from, part, &mut files).map_err(unreadable)?;
        }
    }
    let mut folders = Folders::default();
    for path in &files {
        let mut copy = || {
            folders.make(&**to, path)?;
            let file = from.open(path)?;
            disk::copy_bytes(&*file, file.len()?, &**to, path)
        };
        copy().map_err(|error| failed(path, &error))?;
    }
    folders.sync(&**to).map_err(unreadable)?;
    let manifest = from
        .open(manifest::PATH)
        .and_then(|file| file.map())
        .map_err(|error| failed(manifest::PATH, &error))?;
    manifest::replace(&**to, &manifest)?;
    Ok(1 + files.len() as u64)
}

/// Every file below a folder.
pub(crate) fn list_files(disk: &dyn Disk, dir: &str, files: &mut Vec<String>) -> io::Result<()> {
    for name in disk.list(dir)? {
        let path = match dir {
            "" => name,
            dir => format!("{dir}/{name}"),
        };
        match disk.list(&path) {
            Ok(_) => list_files(disk, &path, files)?,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => files.push(path),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
