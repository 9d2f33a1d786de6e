//! The `Disk` trait and its implementations: the real file system, a disk in memory, a faulty disk, and an overlay
//! that keeps changes to itself.
//!
//! A path is relative to the root that the disk was opened on, is written with `/`, is never absolute, and has no
//! `..`. Any other path is refused with `InvalidInput`. The crate does not know what it stores.
//!
//! ```
//! use disk::{Disk, FaultDisk, everything_kept, everything_lost};
//!
//! let disk = FaultDisk::new();
//! let file = disk.create("journal")?;
//! disk.sync_dir("")?; // the name is durable
//! file.write_at(0, b"frame")?; // the content is not, before `file.sync()`
//!
//! assert_eq!(disk.crash(everything_lost).open("journal")?.len()?, 0);
//! assert_eq!(disk.crash(everything_kept).open("journal")?.len()?, 5);
//! # Ok::<(), std::io::Error>(())
//! ```

mod copies;
mod copy;
mod device;
mod fault;
mod map;
mod memory;
mod namespace;
mod overlay;
mod reads;
mod real;
mod replace;
mod stopwatch;

pub use copies::{Copies, in_two_copies};
pub use copy::{Copied, copy_bytes, link_or_copy};
pub use device::{fdatasync_rate, file_system_kind};
pub use fault::{
    Call, Fate, Fault, FaultDisk, Unsynced, at_random, everything_kept, everything_lost,
};
pub use memory::MemoryDisk;
pub use overlay::Overlay;
pub use reads::Reads;
pub use real::RealDisk;
pub use replace::{make_dir, replace_file};
pub use stopwatch::Stopwatch;

use std::io;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

/// The unit in which a device keeps, loses or tears bytes that were written and not synced. Bytes.
pub const PAGE_BYTES: usize = 4096;

/// Content of a file that outlives the call: a memory map on the real disk, a shared buffer on others.
pub type Bytes = Arc<dyn Deref<Target = [u8]> + Send + Sync>;

/// Space on the device that holds the root, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Bytes that an ordinary write may still use.
    pub free_bytes: u64,
    /// Size of the device.
    pub total_bytes: u64,
}

/// A place for files. Every call may block on the device.
pub trait Disk: Send + Sync {
    /// Opens a file for reading and writing, also through symbolic links. Error: `NotFound`.
    fn open(&self, path: &str) -> io::Result<Arc<dyn File>>;
    /// Opens a file as `open` does, unless the last name of the path is a symbolic link. Errors: `NotFound`; `InvalidInput`: it is
    /// a link, whose target is not touched.
    fn open_no_link(&self, path: &str) -> io::Result<Arc<dyn File>>;
    /// Creates an empty file. Its name is durable after `sync_dir` of its folder. Error: `AlreadyExists`.
    fn create(&self, path: &str) -> io::Result<Arc<dyn File>>;
    /// Whether a file or folder has that name.
    fn exists(&self, path: &str) -> io::Result<bool>;
    /// Names (not paths) in a folder, sorted; may be empty. Error: `NotFound`.
    fn list(&self, dir: &str) -> io::Result<Vec<String>>;
    /// Creates a folder and its parents. No error if it exists.
    fn create_dir(&self, dir: &str) -> io::Result<()>;
    /// Renames a file or folder, replacing the target. Durable after `sync_dir` of both folders.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file. Error: `NotFound`.
    fn remove(&self, path: &str) -> io::Result<()>;
    /// Removes a folder and its content. No error if it does not exist.
    fn remove_dir(&self, dir: &str) -> io::Result<()>;
    /// Makes `link` a symbolic link to `target`, a name in the folder of the link. Replaces a file or link of that name
    /// in one step; uses the name `link` with `.tmp` behind it. `target` need not exist. Durable after `sync_dir`.
    /// Errors: `InvalidInput` for a target that is not a plain name, `IsADirectory`.
    fn symlink(&self, target: &str, link: &str) -> io::Result<()>;
    /// Makes creations, renames and removals in a folder durable. `""` is the root.
    fn sync_dir(&self, dir: &str) -> io::Result<()>;
    /// Space on the device.
    fn space(&self) -> io::Result<Space>;
    /// Takes the exclusive lock of the root until the value is dropped; a file of that name tells who has it. Errors:
    /// `WouldBlock` while another process or value holds it; the message names the holder's process id, if it is known.
    fn lock(&self, path: &str) -> io::Result<Box<dyn Lock>>;
    /// The path in the file system; `None` on a disk that is elsewhere.
    fn place(&self, path: &str) -> Option<PathBuf> {
        let _ = path;
        None
    }
}

/// A lock that is held; dropping it releases it.
pub trait Lock: Send + Sync {
    /// Whether the lock still keeps others away from the files at its path. Puts a lock file back that was removed. Cost:
    /// four calls that read metadata.
    ///
    /// # Errors
    /// The folder was moved or replaced, or another process holds the file: stop writing, since another process may write
    /// there.
    fn check(&self) -> io::Result<()> {
        Ok(()) // nothing outside of this process can take the lock away
    }
}

/// An open file. Offsets and lengths are in bytes. Threads may share it.
pub trait File: Send + Sync {
    /// Length in bytes. Cost: an `fstat` on the real disk.
    fn len(&self) -> io::Result<u64>;
    /// Whether the file is empty.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Fills `buf` from `offset`. Error: `UnexpectedEof` if the file ends before.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;
    /// Writes all of `data` at `offset`; a gap before it reads as zeroes. Error: `StorageFull`.
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Cuts the file, or grows it with zeroes.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes durable all that was written before the call (`fdatasync`). After an error the content on the device is
    /// unknown, and the caller must not try again.
    fn sync(&self) -> io::Result<()>;
    /// The whole content as it is now. Only for files that are not written any more.
    fn map(&self) -> io::Result<Bytes>;
}

#[cfg(test)]
mod tests;
