//! The frame of a pq table's files: 8 bytes of magic, format version `u32`, CRC-32C of the rest `u32`, little-endian. A file of
//! hit counts has it, in two copies from version 2 on, and so have files of queries up to version 3.

use crate::error::{Error, Result};
use crate::failure;

pub(super) const HEAD_BYTES: usize = 16;

/// A kind of file.
pub(super) struct FileKind {
    pub(super) magic: &'static [u8; 8],
    /// The version that is written; older ones are read too.
    pub(super) version: u32,
    /// What is wrong with a file of another kind.
    pub(super) other: &'static str,
}

impl FileKind {
    /// The head of a frame whose rest has this checksum.
    pub(super) fn head(&self, sum: u32) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        head[..8].copy_from_slice(self.magic);
        head[8..12].copy_from_slice(&self.version.to_le_bytes());
        head[12..].copy_from_slice(&sum.to_le_bytes());
        head
    }

    /// Verifies a frame, which begins at `start` of the file; gives its version.
    ///
    /// # Errors
    /// `Corrupt` for what is damaged or another kind of file; `NewerFormat`.
    pub(super) fn check(&self, path: &str, start: usize, bytes: &[u8]) -> Result<u32> {
        let damaged = |at: usize, why: &str| failure::damaged(path, (start + at) as u64, why);
        let head = bytes.first_chunk::<HEAD_BYTES>();
        let head = head.ok_or_else(|| damaged(0, "shorter than its head"))?;
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if &head[..8] != self.magic {
            return Err(damaged(0, self.other));
        }
        let version = number(8);
        if version > self.version {
            return Err(Error::NewerFormat {
                found: version,
                known: self.version,
            });
        }
        if number(12) != crc32c::crc32c(bytes.get(HEAD_BYTES..).unwrap_or_default()) {
            return Err(damaged(HEAD_BYTES, "checksum"));
        }
        Ok(version)
    }
}
