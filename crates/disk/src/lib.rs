//! The `Disk` trait and its implementations: the real file system, one in memory, a faulty one, and one over another
//! that keeps changes to itself.
//!
//! Paths are relative to the root that the disk was opened on, written with `/`, never absolute, never with `..`;
//! any other path is refused with `InvalidInput`. The crate does not know what it stores.

mod copy;
mod device;
mod fault;
mod map;
mod memory;
mod namespace;
mod overlay;
mod real;
mod replace;
mod stopwatch;

pub use copy::{Copied, copy_bytes, link_or_copy};
pub use device::{fdatasync_rate, file_system_kind};
pub use fault::{
    Call, Fate, Fault, FaultDisk, Unsynced, at_random, everything_kept, everything_lost,
};
pub use memory::MemoryDisk;
pub use overlay::Overlay;
pub use real::RealDisk;
pub use replace::{make_dir, replace_file};
pub use stopwatch::Stopwatch;

use std::io;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

/// The unit in which a device may keep, lose or tear what was written and not synced. Bytes.
pub const PAGE_BYTES: usize = 4096;

/// Bytes of a file that outlive the call: a memory map on the real disk, a shared buffer elsewhere.
pub type Bytes = Arc<dyn Deref<Target = [u8]> + Send + Sync>;

/// Room on the device that holds the root. Units: bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// What an ordinary write may still use.
    pub free_bytes: u64,
    /// The size of the device.
    pub total_bytes: u64,
}

/// A place to keep files. Every call may block on the device.
pub trait Disk: Send + Sync {
    /// Opens an existing file for reading and writing. Error `NotFound` where there is none.
    fn open(&self, path: &str) -> io::Result<Arc<dyn File>>;
    /// Creates an empty file. Error `AlreadyExists` where there is one. Its name is durable after `sync_dir` of its folder.
    fn create(&self, path: &str) -> io::Result<Arc<dyn File>>;
    /// True where a file or folder of that name exists.
    fn exists(&self, path: &str) -> io::Result<bool>;
    /// Names (not paths) in a folder, sorted; empty for an empty folder. Error `NotFound` where there is none.
    fn list(&self, dir: &str) -> io::Result<Vec<String>>;
    /// Creates a folder and its parents; fine where it exists.
    fn create_dir(&self, dir: &str) -> io::Result<()>;
    /// Renames a file or folder over what is there. Durable after `sync_dir` of both folders.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file. Error `NotFound` where there is none.
    fn remove(&self, path: &str) -> io::Result<()>;
    /// Removes a folder with all it holds; fine where there is none.
    fn remove_dir(&self, dir: &str) -> io::Result<()>;
    /// Makes creations, renames and removals in a folder durable. `""` is the root.
    fn sync_dir(&self, dir: &str) -> io::Result<()>;
    /// Room on the device.
    fn space(&self) -> io::Result<Space>;
    /// Takes the only lock of that name until the value is dropped. Error `WouldBlock` where another process
    /// (or holder) has it; its text then names that holder's process id, as far as it is known.
    fn lock(&self, path: &str) -> io::Result<Box<dyn Lock>>;
    /// Where the file system has that path; `None` on a disk that lies elsewhere.
    fn place(&self, path: &str) -> Option<PathBuf> {
        let _ = path;
        None
    }
}

/// A held lock; dropping it lets go.
pub trait Lock: Send + Sync {}

/// One open file. Offsets and lengths in bytes. Shared freely between threads.
pub trait File: Send + Sync {
    /// Length of the file.
    fn len(&self) -> io::Result<u64>;
    /// Whether the file holds nothing.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Fills `buf` from `offset`. Error `UnexpectedEof` where the file ends before.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;
    /// Writes all of `data` at `offset`, growing the file where needed. Error `StorageFull` for a full device.
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Cuts or grows (with zeroes) the file.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes all that was written before this call durable (`fdatasync`). After an error nothing is known of the
    /// file's content on the device: the caller must not try again.
    fn sync(&self) -> io::Result<()>;
    /// The whole content as it is now. Only for files that are not written any more.
    fn map(&self) -> io::Result<Bytes>;
}

#[cfg(test)]
mod tests;
