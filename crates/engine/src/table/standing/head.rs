//! The head of a pq table's files: 8 bytes of magic, format version `u32`, CRC-32C of the rest `u32`, little-endian.

use disk::{Bytes, Disk};

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
    /// The head of a file whose rest has this checksum.
    pub(super) fn head(&self, sum: u32) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        head[..8].copy_from_slice(self.magic);
        head[8..12].copy_from_slice(&self.version.to_le_bytes());
        head[12..].copy_from_slice(&sum.to_le_bytes());
        head
    }

    /// A file's bytes, head included, and its version. All of it is verified.
    ///
    /// # Errors
    /// `Corrupt` for what is damaged, missing or another kind of file; `NewerFormat`; `Internal`.
    pub(super) fn open(&self, disk: &dyn Disk, path: &str) -> Result<(Bytes, u32)> {
        let bytes = disk.open(path).and_then(|file| file.map());
        let bytes = bytes.map_err(|error| failure::of_file(path, &error))?;
        let head = bytes.first_chunk::<HEAD_BYTES>();
        let head = head.ok_or_else(|| failure::damaged(path, 0, "shorter than its head"))?;
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if &head[..8] != self.magic {
            return Err(failure::damaged(path, 0, self.other));
        }
        let version = number(8);
        if version > self.version {
            return Err(Error::NewerFormat {
                found: version,
                known: self.version,
            });
        }
        if number(12) != crc32c::crc32c(bytes.get(HEAD_BYTES..).unwrap_or_default()) {
            return Err(failure::damaged(path, HEAD_BYTES as u64, "checksum"));
        }
        Ok((bytes, version))
    }
}
