//! The lock of a folder: the kernel's lock (`flock`) on the folder itself, and one on a file in it.
//!
//! # Example
//! Process 7 serves `/data`, whose inode is 42:
//!
//! | what happens | the lock of process 7 |
//! |---|---|
//! | another process opens `/data` | it finds inode 42 locked and is refused; the file `lock` tells it the number 7 |
//! | somebody removes `/data/lock` | inode 42 is still locked; the next [`check`](Lock::check) puts the file back |
//! | `/data` is moved away, and a new folder stands in its place | `check` finds another inode at the path: an error |
//!
//! # Invariants
//! - A writer holds the folder's inode. No name in the folder has a part in that, so nothing that is removed there ends it.
//! - The file tells who holds the lock. It also keeps out earlier builds, which lock nothing else.
//! - On a file system that locks no folders (NFS) the file alone holds. If it is gone, `check` is an error there.

use std::fs::{self, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::{NO_LINK, is_link, named};
use crate::Lock;
use crate::memory::{held, in_use};
use crate::namespace::is_a_link;

/// A lock that is held. The kernel releases it when the files are closed, also when the process is killed.
struct RealLock {
    root: PathBuf,
    folder: fs::File,
    /// Whether the kernel locks the folder itself.
    holds_folder: bool,
    /// Name of the file as the caller gave it, for messages.
    name: String,
    path: PathBuf,
    mode: u32,
    /// The locked file.
    file: Mutex<fs::File>,
}

/// Locks `root` and its file `name` for this process alone. `mode`: rights of the file, if it is made.
///
/// # Errors
/// `WouldBlock`: another process or value holds it. `InvalidInput`: the file is a symbolic link.
pub(super) fn lock(root: &Path, name: &str, mode: u32) -> io::Result<Box<dyn Lock>> {
    let path = root.join(name);
    let folder = fs::File::open(root).map_err(|error| named(error, ""))?;
    let holds_folder = match folder.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => return Err(holder_of(name, &path)),
        Err(TryLockError::Error(error)) if locks_no_folder(&error) => false,
        Err(TryLockError::Error(error)) => return Err(named(error, "")),
    };
    let lock = RealLock {
        root: root.to_owned(),
        file: Mutex::new(lock_file(name, &path, mode)?),
        folder,
        holds_folder,
        name: name.to_owned(),
        path,
        mode,
    };
    lock.check()?; // the folder may have been replaced before it was locked
    Ok(Box::new(lock))
}

/// Locks `root` for readers: others may read too, and no process writes. Changes nothing.
///
/// # Errors
/// As [`lock`].
pub(super) fn lock_to_read(root: &Path, name: &str) -> io::Result<Box<dyn Lock>> {
    let path = root.join(name);
    let folder = fs::File::open(root).map_err(|error| named(error, ""))?;
    match folder.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(holder_of(name, &path)),
        Err(TryLockError::Error(error)) if locks_no_folder(&error) => {}
        Err(TryLockError::Error(error)) => return Err(named(error, "")),
    }
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(NO_LINK)
        .open(&path);
    let file = match opened {
        Ok(file) => Some(file),
        Err(error) if error.kind() == ErrorKind::NotFound => None, // no process has ever written here
        Err(error) => return Err(named_lock(error, name)),
    };
    match file.as_ref().map_or(Ok(()), fs::File::try_lock_shared) {
        Ok(()) => Ok(Box::new(ReadLock {
            _folder: folder,
            _file: file,
        })),
        Err(TryLockError::WouldBlock) => Err(holder_of(name, &path)),
        Err(TryLockError::Error(error)) => Err(named(error, name)),
    }
}

/// The lock of a reader.
struct ReadLock {
    _folder: fs::File,
    _file: Option<fs::File>,
}

impl Lock for ReadLock {}

impl Lock for RealLock {
    fn check(&self) -> io::Result<()> {
        let ours = self.folder.metadata()?;
        match fs::metadata(&self.root) {
            Ok(there) if is_same(&ours, &there) => {}
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => return Err(gone(format!("{:?} was moved or replaced", self.root))),
        }
        let mut file = held(&self.file);
        let ours = file.metadata()?;
        match fs::symlink_metadata(&self.path) {
            Ok(there) if is_same(&ours, &there) => return Ok(()),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ if !self.holds_folder => {
                return Err(gone(format!("{:?} was removed or replaced", self.path)));
            }
            _ => {}
        }
        *file = lock_file(&self.name, &self.path, self.mode)?;
        Ok(())
    }
}

/// Makes or opens the file, locks it, and writes the number of this process into it.
fn lock_file(name: &str, path: &Path, mode: u32) -> io::Result<fs::File> {
    let open = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(mode)
        .custom_flags(NO_LINK)
        .open(path);
    let mut file = open.map_err(|error| named_lock(error, name))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(holder_of(name, path)),
        Err(TryLockError::Error(error)) => return Err(named(error, name)),
    }
    file.set_len(0)?;
    file.write_all(format!("{}\n", std::process::id()).as_bytes())?;
    Ok(file)
}

fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

fn gone(what: String) -> io::Error {
    io::Error::new(
        ErrorKind::NotFound,
        format!("{what} while this process had it: another process may write there"),
    )
}

/// Whether the error says that this file system locks files that are open for writing, and so no folders.
fn locks_no_folder(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let unable = [Errno::BADF, Errno::NOLCK, Errno::OPNOTSUPP, Errno::INVAL];
    unable
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// The error for a lock that another process holds, whose number the file tells.
fn holder_of(name: &str, path: &Path) -> io::Error {
    let mut holder = String::new();
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(NO_LINK)
        .open(path);
    if let Ok(mut file) = opened {
        // An unreadable holder only makes the message poorer.
        let _ = file.read_to_string(&mut holder);
    }
    in_use(name, holder.trim())
}

/// Refuses a lock that is a symbolic link, with a message that says so: the lock would be written to the link's
/// target.
fn named_lock(error: io::Error, path: &str) -> io::Error {
    match is_link(&error) {
        true => is_a_link(path),
        false => named(error, path),
    }
}
