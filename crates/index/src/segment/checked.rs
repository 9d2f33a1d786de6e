//! Files with a checksum for each block, verified before the first use of that block.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use disk::{Bytes, Disk, File};
use query::processor::fetch;

use crate::error::{Error, Result};

/// Bytes under one CRC-32C. Small, so that one row does not cost a long sum; a damaged byte is known to this precision.
pub(super) const BLOCK_BYTES: usize = 16 << 10;

/// What is written at once. Linux from 6.16 on (ext4; xfs before) keeps it as one piece of memory and maps it in one step, if it begins
/// at a multiple of its size: a search then waits less for page tables.
const WRITE_BYTES: usize = 2 << 20;

/// What is made durable at once: the journal's syncs wait in the same line of the device, and would stand behind all of a merge.
const SYNC_BYTES: u64 = 4 << 20;

const _: () = assert!(
    WRITE_BYTES.is_multiple_of(BLOCK_BYTES),
    "blocks are summed as they are written"
);

/// Length of a file and the CRC-32C of each of its blocks (the last one may be short).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) bytes: u64,
    pub(super) blocks: Vec<u32>,
}

/// A mapped file whose blocks are verified as they are first touched.
pub(super) struct CheckedFile {
    path: String,
    bytes: Bytes,
    sums: Vec<u32>,
    /// One bit for each block that was verified.
    verified: Vec<AtomicU64>,
}

impl CheckedFile {
    /// Maps a file. Errors: `Io`; `Corrupt` if it has not the length that was written.
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

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes `start .. end`. Errors: `Corrupt` where a block is damaged or the range is not in the file.
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

    /// Asks for bytes that are about to be read. None are looked at.
    #[inline]
    pub(super) fn fetch(&self, range: Range<usize>) {
        fetch(self.bytes.get(range).unwrap_or_default());
    }

    /// The `index`-th little-endian `u64` of those that start at `start`.
    #[inline]
    pub(super) fn number(&self, start: usize, index: usize) -> Result<u64> {
        let at = start + 8 * index;
        let bytes = self.range(at, at + 8)?;
        bytes
            .try_into()
            .map(u64::from_le_bytes)
            .map_err(|_| self.corrupt(at, "a number is cut short"))
    }

    /// Verifies every block; gives each that is damaged.
    pub(super) fn damages(&self) -> Vec<Error> {
        let blocks = 0..self.sums.len();
        blocks
            .filter_map(|block| self.verify(block).err())
            .collect()
    }

    #[cold]
    pub(super) fn corrupt(&self, offset: usize, what: &'static str) -> Error {
        Error::Corrupt {
            file: self.path.clone(),
            offset: offset as u64,
            what,
        }
    }

    /// Blocks `first ..= last`; 64 that were verified before cost one step.
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

/// Writes a new file from start to end, summing its blocks.
pub(super) struct SummedWriter {
    file: Arc<dyn File>,
    buffer: Vec<u8>,
    sums: Sums,
    /// Bytes of the file that are durable.
    synced: u64,
}

impl SummedWriter {
    /// Makes the file. Errors: of [`Disk::create`].
    pub(super) fn create(disk: &dyn Disk, path: &str) -> io::Result<SummedWriter> {
        let file = disk.create(path)?;
        Ok(SummedWriter {
            file,
            buffer: Vec::with_capacity(WRITE_BYTES),
            sums: Sums::default(),
            synced: 0,
        })
    }

    /// Bytes written so far.
    pub(super) fn position(&self) -> u64 {
        self.sums.bytes + self.buffer.len() as u64
    }

    /// Writes what is left and makes the content durable (the name is not, before the folder is synced).
    pub(super) fn finish(&mut self) -> io::Result<Sums> {
        self.write_out()?;
        self.file.sync()?;
        Ok(std::mem::take(&mut self.sums))
    }

    fn write_out(&mut self) -> io::Result<()> {
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
            self.write_out()?;
            if self.sums.bytes - self.synced >= SYNC_BYTES {
                self.file.sync()?;
                self.synced = self.sums.bytes;
            }
        }
        Ok(taken)
    }

    /// Nothing: blocks are summed whole, so what is left waits for [`SummedWriter::finish`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
