//! A copy of a data directory in another place: made while the engine runs, and put back.
//!
//! A backup is a data directory itself: the files that a manifest names, which are never changed and so may be links, the
//! journal's files as far as they were written, those of the collector's spools as far as the manifest's cursors need them, and
//! that manifest.
//!
//! A copy is made in this order, so that a power cut between any two steps leaves an empty folder, a folder that bears the
//! mark, or a whole copy:
//! 1. the mark, a file of the name [`MARK`], and its name are synced;
//! 2. every file, then every name;
//! 3. the manifest;
//! 4. the mark is removed and the root is synced.
//!
//! No command opens a folder that bears the mark ([`check_whole`]): without its manifest it would be taken for a new
//! directory, and its tables for files that belong to none.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use disk::{Disk, link_or_copy};
use journal::Extent;

use crate::collected::Cursors;
use crate::error::{Error, Result};
use crate::failure;
use crate::manifest;

/// Finds the files that the collector's cursors need, on the disk of the data directory. Called on a thread of a backup.
pub type FindSpools =
    Arc<dyn Fn(&dyn Disk, &Cursors) -> std::io::Result<Vec<SpoolFile>> + Send + Sync>;

/// A file of a spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolFile {
    /// Path on the disk of the data directory.
    pub path: String,
    /// The first bytes, which the cursor needs; `None`: the whole file, which is never written again.
    pub bytes: Option<u64>,
}

/// The collector's folder below the data directory.
const SPOOLS_DIR: &str = "spools";

/// Stands at the root of a copy until the copy is whole.
const MARK: &str = "incomplete";

/// Says to a person who finds the mark what it means.
const MARK_TEXT: &str =
    "This copy was cut short. Delete this folder and make the backup or restore again.\n";

/// Refuses a directory that bears the mark of an unfinished copy.
///
/// # Errors
/// `Invalid`, and those of the disk.
pub(crate) fn check_whole(disk: &dyn Disk) -> Result<()> {
    match disk.exists(MARK) {
        Ok(false) => Ok(()),
        Ok(true) => Err(cut_short("the directory")),
        Err(error) => Err(failure::of_file(MARK, &error)),
    }
}

fn cut_short(place: &str) -> Error {
    Error::invalid(format!(
        "{place} holds a copy that was cut short or is still being made (file {MARK}): if nothing is at work on it, delete \
         the folder and make the backup or restore again"
    ))
}

/// The work of making one; runs on any thread, while the engine removes nothing and trims no journal.
pub(crate) struct BackupJob {
    pub(crate) from: Arc<dyn Disk>,
    pub(crate) to: Arc<dyn Disk>,
    pub(crate) manifest: Vec<u8>,
    /// Files that the manifest names.
    pub(crate) files: Vec<String>,
    pub(crate) journal: Vec<Extent>,
    /// The collector's cursors in the manifest, and what finds their files.
    pub(crate) spools: Option<(FindSpools, Cursors)>,
}

impl BackupJob {
    /// Makes the copy and makes it durable. Gives its files. After an error, files of the unfinished copy may be left in
    /// `to`, under the mark.
    pub(crate) fn run(self) -> Result<u64> {
        let mut copy = Copy::begin(&*self.to)?;
        for path in &self.files {
            copy.put(path, |to| {
                link_or_copy(&self.from, path, to, path).map(drop)
            })?;
        }
        for extent in &self.journal {
            copy.put(&extent.path, |to| {
                let file = self.from.open(&extent.path)?;
                disk::copy_bytes(&*file, extent.bytes, to, &extent.path)
            })?;
        }
        let spools = self.put_spools(&mut copy)?;
        copy.finish(&self.manifest)?;
        Ok(1 + (self.files.len() + self.journal.len() + spools) as u64)
    }

    /// Copies the files of the collector's spools. Gives their number.
    fn put_spools(&self, copy: &mut Copy<'_>) -> Result<usize> {
        let Some((find, cursors)) = &self.spools else {
            return Ok(0);
        };
        let files = find(&*self.from, cursors);
        let files = files.map_err(|error| failure::of_file(SPOOLS_DIR, &error))?;
        for SpoolFile { path, bytes } in &files {
            copy.put(path, |to| match bytes {
                None => link_or_copy(&self.from, path, to, path).map(drop),
                Some(bytes) => disk::copy_bytes(&*self.from.open(path)?, *bytes, to, path),
            })?;
        }
        Ok(files.len())
    }
}

/// A copy while it is made.
struct Copy<'d> {
    to: &'d dyn Disk,
    /// Folders that were made, each to be synced once.
    folders: BTreeSet<String>,
}

impl<'d> Copy<'d> {
    /// Marks an empty place.
    fn begin(to: &'d dyn Disk) -> Result<Copy<'d>> {
        let mark = || {
            let file = to.create(MARK)?;
            file.write_at(0, MARK_TEXT.as_bytes())?;
            file.sync()?;
            to.sync_dir("")
        };
        match mark() {
            Ok(()) => Ok(Copy {
                to,
                folders: BTreeSet::new(),
            }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(cut_short("the place of the copy"))
            }
            Err(error) => Err(failed(MARK, &error)),
        }
    }

    /// Makes the folder of a file, and the file by `write`, which makes its content durable.
    fn put(&mut self, path: &str, write: impl FnOnce(&dyn Disk) -> io::Result<()>) -> Result<()> {
        let made = self.make_folder(path).and_then(|()| write(self.to));
        made.map_err(|error| match error.kind() {
            // The mark is still there: the file is missing where it is read, not its folder where it is written.
            io::ErrorKind::NotFound if self.to.exists(MARK).unwrap_or(false) => {
                failure::of_file(path, &error)
            }
            _ => failed(path, &error),
        })
    }

    fn make_folder(&mut self, path: &str) -> io::Result<()> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if folder.is_empty() || self.folders.contains(folder) {
            return Ok(());
        }
        self.to.create_dir(folder)?;
        let mut folder = folder;
        loop {
            self.folders.insert(folder.to_owned());
            match folder.rsplit_once('/') {
                Some((parent, _)) => folder = parent,
                None => return Ok(()),
            }
        }
    }

    /// Makes all names durable, then the manifest, and removes the mark.
    fn finish(self, manifest: &[u8]) -> Result<()> {
        let names = || {
            for folder in self.folders.iter().rev() {
                self.to.sync_dir(folder)?;
            }
            self.to.sync_dir("")
        };
        names().map_err(|error| failed("its folders", &error))?;
        disk::replace_file(self.to, manifest::PATH, manifest)
            .map_err(|error| failed(manifest::PATH, &error))?;
        let unmark = || {
            self.to.remove(MARK)?;
            self.to.sync_dir("")
        };
        unmark().map_err(|error| failed(MARK, &error))
    }
}

/// A copy that failed. That its place is full, or gone, is no concern of this node.
fn failed(path: &str, error: &io::Error) -> Error {
    let what = match error.kind() {
        io::ErrorKind::StorageFull => format!("the device of the copy is full at {path}"),
        _ => format!("the copy failed at {path}: {error}"),
    };
    Error::invalid(format!(
        "{what}; what was written stays and is not a whole copy (file {MARK}): delete its folder and try again"
    ))
}

/// Copies a backup into an empty place, where a server may then be started. The backup is not changed, and shares nothing
/// with the copy. Gives the files.
///
/// # Errors
/// `Invalid` where the place is not empty, where the backup was cut short, and where the place's device fails or is full; those
/// of the backup's disk. After an error, files of the unfinished copy may be left in the place, which no command opens then.
pub fn restore(from: &Arc<dyn Disk>, to: &Arc<dyn Disk>) -> Result<u64> {
    let unreadable = |error: io::Error| failure::of_file("", &error);
    let held = to.list("").map_err(unreadable)?;
    if held.iter().any(|name| name == MARK) {
        return Err(cut_short("the place to restore into"));
    }
    if let Some(name) = held.first() {
        return Err(Error::invalid(format!(
            "the place to restore into is not empty: it holds {name}"
        )));
    }
    check_whole(&**from)?;
    let manifest = from
        .open(manifest::PATH)
        .and_then(|file| file.map())
        .map_err(|error| failure::of_file(manifest::PATH, &error))?;
    let mut files = Vec::new();
    for part in ["journal", "tables", SPOOLS_DIR] {
        if from.exists(part).map_err(unreadable)? {
            list_files(&**from, part, &mut files).map_err(unreadable)?;
        }
    }
    let mut copy = Copy::begin(&**to)?;
    for path in &files {
        copy.put(path, |to| {
            let file = from.open(path)?;
            disk::copy_bytes(&*file, file.len()?, to, path)
        })?;
    }
    copy.finish(&manifest)?;
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

#[cfg(test)]
mod tests {
    use disk::MemoryDisk;

    use super::*;

    #[test]
    fn a_missing_file_is_damage_and_a_missing_target_is_not() {
        let (from, to): (Arc<dyn Disk>, _) = (Arc::new(MemoryDisk::new()), MemoryDisk::new());
        let mut copy = Copy::begin(&to).unwrap();
        let mut put = || {
            copy.put("tables/1/a", |to| {
                link_or_copy(&from, "a", to, "a").map(drop)
            })
        };
        assert!(matches!(put(), Err(Error::Corrupt { .. })));
        to.remove(MARK).unwrap();
        assert!(matches!(put(), Err(Error::Invalid { .. })));
    }
}
