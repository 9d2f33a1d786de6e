//! Files with a checksum for each block of 16 KiB, verified before the first use of that block.
//!
//! Example: a read of bytes 16,000 .. 17,000 touches blocks 0 and 1. If bit 0 of `verified` is set
//! and bit 1 is not, only block 1 is summed; then its bit is set. A damaged block sets no bit, so
//! every read of it fails again.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use disk::{Bytes, Disk, File};
use relation::processor::fetch;

use crate::error::{Error, Result};

/// Bytes under one CRC-32C. Small, so that reading one row does not sum many bytes; a damaged byte
/// is located to this precision.
pub(super) const BLOCK_BYTES: usize = 16 << 10;

/// Bytes written at once. Linux from 6.16 on (ext4; xfs before) keeps a write of this size, aligned
/// to it, as one piece of memory and maps it in one step. A search then waits less for page tables.
const WRITE_BYTES: usize = 2 << 20;

/// Bytes after which a file is synced while it is written. The journal's syncs wait in the same
/// queue of the device, and would otherwise wait for all bytes of a merge.
const SYNC_BYTES: u64 = 4 << 20;

const _: () = assert!(
    WRITE_BYTES.is_multiple_of(BLOCK_BYTES),
    "blocks are summed as they are written"
);

/// Look-ups in rising order that wait for memory together.
pub(super) const LOOK_UPS_AHEAD: usize = 8;

/// Length of a file, and the CRC-32C of each of its blocks; the last block may be short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) bytes: u64,
    pub(super) blocks: Vec<u32>,
}

/// A mapped file whose blocks are verified when they are first read.
pub(super) struct CheckedFile {
    path: String,
    bytes: Bytes,
    sums: Vec<u32>,
    /// One bit for each block that was verified.
    verified: Vec<AtomicU64>,
}

impl CheckedFile {
    /// Maps a file. Errors: `Io`; `Corrupt` if it has another length than was written.
    pub(super) fn open(disk: &dyn Disk, path: String, sums: Sums) -> Result<CheckedFile> {
        let map = || disk.open(&path)?.map();
        let bytes = map().map_err(|error| Error::io(&path, error))?;
        let length = bytes.len() as u64;
        if length != sums.bytes {
            let what = "the file has not the length that was written";
            return Err(Error::Corrupt {
                file: path,
                offset: length.min(sums.bytes),
                what,
            });
        }
        let words = sums.blocks.len().div_ceil(64);
        let verified = (0..words).map(|_| AtomicU64::new(0)).collect();
        Ok(CheckedFile {
            path,
            bytes,
            sums: sums.blocks,
            verified,
        })
    }

    /// Length in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes `start .. end`, verified. Errors: `Corrupt` where a block is damaged or the file ends
    /// earlier.
    #[inline]
    pub(super) fn range(&self, start: usize, end: usize) -> Result<&[u8]> {
        let Some(bytes) = self.bytes.get(start..end) else {
            return Err(self.corrupt(start, "the file ends before its content"));
        };
        if start < end {
            self.verify_all(start / BLOCK_BYTES, (end - 1) / BLOCK_BYTES)?;
        }
        Ok(bytes)
    }

    /// Tells the processor to fetch bytes that will be read soon. Reads and verifies none.
    #[inline]
    pub(super) fn fetch(&self, range: Range<usize>) {
        fetch(self.bytes.get(range).unwrap_or_default());
    }

    /// As [`CheckedFile::range`], unverified: only to tell what may be read soon.
    #[inline]
    pub(super) fn hint(&self, start: usize, bytes: usize) -> Option<&[u8]> {
        self.bytes.get(start..start + bytes)
    }

    /// The `index`-th of the little-endian `u64`s that begin at `start`. Errors: as
    /// [`CheckedFile::range`].
    #[inline]
    pub(super) fn number(&self, start: usize, index: usize) -> Result<u64> {
        let at = start + 8 * index;
        let bytes = self.range(at, at + 8)?;
        bytes
            .try_into()
            .map(u64::from_le_bytes)
            .map_err(|_| self.corrupt(at, "a number is cut short"))
    }

    /// Verifies every block; returns an error for each damaged one.
    pub(super) fn damages(&self) -> Vec<Error> {
        let blocks = 0..self.sums.len();
        blocks
            .filter_map(|block| self.verify(block).err())
            .collect()
    }

    /// The error of damage at `offset`, in bytes from the start of the file.
    #[cold]
    pub(super) fn corrupt(&self, offset: usize, what: &'static str) -> Error {
        Error::Corrupt {
            file: self.path.clone(),
            offset: offset as u64,
            what,
        }
    }

    /// Verifies blocks `first ..= last`. 64 blocks that were verified before cost one step.
    #[inline]
    fn verify_all(&self, first: usize, last: usize) -> Result<()> {
        for word in first / 64..=last / 64 {
            let start = first.max(64 * word);
            let end = last.min(64 * word + 63);
            let wanted = (u64::MAX >> (63 - (end - start))) << (start % 64);
            if self.verified[word].load(Ordering::Relaxed) & wanted != wanted {
                (start..=end).try_for_each(|block| self.verify(block))?;
            }
        }
        Ok(())
    }

    /// Verifies one block, unless it was verified before.
    #[cold]
    fn verify(&self, block: usize) -> Result<()> {
        let (word, bit) = (block / 64, 1 << (block % 64));
        if self.verified[word].load(Ordering::Relaxed) & bit != 0 {
            return Ok(());
        }
        let start = block * BLOCK_BYTES;
        let end = (start + BLOCK_BYTES).min(self.bytes.len());
        if crc32c::crc32c(&self.bytes[start..end]) != self.sums[block] {
            return Err(self.corrupt(start, "a block has not the checksum that was written"));
        }
        self.verified[word].fetch_or(bit, Ordering::Relaxed);
        Ok(())
    }
}

/// Writes a new file from start to end, and sums its blocks.
pub(super) struct SummedWriter {
    file: Arc<dyn File>,
    buffer: Vec<u8>,
    sums: Sums,
    /// Bytes of the file that are synced.
    synced: u64,
}

impl SummedWriter {
    /// Creates the file. Errors: those of [`Disk::create`].
    pub(super) fn create(disk: &dyn Disk, path: &str) -> io::Result<SummedWriter> {
        let file = disk.create(path)?;
        Ok(SummedWriter {
            file,
            buffer: Vec::with_capacity(WRITE_BYTES),
            sums: Sums::default(),
            synced: 0,
        })
    }

    /// Bytes given to the writer so far.
    pub(super) fn position(&self) -> u64 {
        self.sums.bytes + self.buffer.len() as u64
    }

    /// Writes the rest of the buffer and syncs the file. The file's name is durable only after a
    /// sync of the directory.
    pub(super) fn finish(&mut self) -> io::Result<Sums> {
        self.flush_buffer()?;
        self.file.sync()?;
        Ok(std::mem::take(&mut self.sums))
    }

    /// Writes the rest of the buffer, so that the file can be read, and returns the sums so far. The caller may write on only if
    /// a block ends here.
    pub(super) fn write_out(&mut self) -> io::Result<Sums> {
        self.flush_buffer()?;
        Ok(self.sums.clone())
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        self.file.write_at(self.sums.bytes, &self.buffer)?;
        self.sums
            .blocks
            .extend(self.buffer.chunks(BLOCK_BYTES).map(crc32c::crc32c));
        self.sums.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

impl Write for SummedWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let taken = data.len().min(WRITE_BYTES - self.buffer.len());
        self.buffer.extend_from_slice(&data[..taken]);
        if self.buffer.len() == WRITE_BYTES {
            self.flush_buffer()?;
            if self.sums.bytes - self.synced >= SYNC_BYTES {
                self.file.sync()?;
                self.synced = self.sums.bytes;
            }
        }
        Ok(taken)
    }

    /// Does nothing: blocks are summed whole, so the rest waits for [`SummedWriter::finish`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
