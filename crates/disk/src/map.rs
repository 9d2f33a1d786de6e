//! Memory maps of sealed files: the only `unsafe` of this crate.
#![expect(
    unsafe_code,
    reason = "mapping a file is unsafe by nature; the invariant is stated at the call"
)]

use crate::Bytes;
use std::fs;
use std::io;
use std::sync::Arc;

/// Maps the whole file read-only. The safe sibling reads it into a `Vec`; tests compare both.
///
/// The memory of a map belongs to the page cache: it does not count as the process's own, and the kernel may drop it.
/// A device error under a map ends the process with SIGBUS, where a read would return an `io::Error`. So the journal
/// is read with `pread` and never mapped: its newest pages are the likeliest to be damaged.
pub(crate) fn map(file: &fs::File) -> io::Result<Bytes> {
    if file.metadata()?.len() == 0 {
        return Ok(Arc::new(Vec::new()));
    }
    // SAFETY: the bytes must not change while the map lives. `File::map` is only for files that are not written any
    // more: sealed files are written once, synced, and afterwards only removed, which leaves the mapped pages in place.
    // Other processes are kept out by the lock on the data directory.
    let map = unsafe { memmap2::Mmap::map(file)? };
    Ok(Arc::new(map))
}
