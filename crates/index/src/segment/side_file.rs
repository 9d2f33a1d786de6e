//! The frame of a file beside a segment's own files: deleted rows, and changed values. Each is written whole at a checkpoint, under
//! a new name, and never changed. From version 2 on the file holds two copies of this:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic: which of the two |
//! | 4 | version of the content |
//! | 4 | rows of the segment |
//! | n | content |
//! | 4 | CRC-32C of all bytes before |

use std::ops::Range;

use disk::{Copies, Disk};

use super::commit::read_whole;
use crate::error::{Error, Result};

/// Version of the content of both; a higher one is refused.
const FORMAT_VERSION: u32 = 2;

/// Bytes before the content.
const HEAD_BYTES: usize = 16;

/// Which of the two files, and how errors name it.
pub(crate) struct SideFile {
    pub(crate) magic: [u8; 8],
    /// Longest file that is read, in bytes; both copies together.
    pub(crate) bytes_max: u64,
    /// For "not a …".
    pub(crate) what: &'static str,
    /// The file is of a segment with another number of rows.
    pub(crate) of_another: &'static str,
}

/// The bytes of a file that was read and verified.
pub(crate) struct Content {
    bytes: Vec<u8>,
    /// Where the content stands in the file.
    content: Range<usize>,
}

impl Content {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.content.clone()]
    }
}

impl SideFile {
    /// Writes and syncs a file of a segment of `rows` rows. Its name is durable only after a sync of the directory. Errors: `Io`;
    /// those of `fill`, which appends the content.
    pub(crate) fn write(
        &self,
        disk: &dyn Disk,
        path: &str,
        rows: u32,
        fill: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
    ) -> Result<()> {
        let mut bytes = self.magic.to_vec();
        bytes.extend(FORMAT_VERSION.to_le_bytes());
        bytes.extend(rows.to_le_bytes());
        let write = |bytes: &mut Vec<u8>| {
            fill(bytes)?;
            bytes.extend(crc32c::crc32c(bytes).to_le_bytes());
            let file = disk.create(path)?;
            file.write_at(0, &disk::in_two_copies(bytes))?;
            file.sync()
        };
        write(&mut bytes).map_err(|error| Error::io(path, error))
    }

    /// Reads the first sound copy in a file of a segment of `rows` rows. Errors: `Io`, `Corrupt`, `NewerFormat`.
    pub(crate) fn read(&self, disk: &dyn Disk, path: &str, rows: u32) -> Result<Content> {
        let bytes = read_whole(disk, path, self.bytes_max)?;
        let check = |start: usize, copy: &[u8]| self.check(path, rows, start, copy);
        let content = Copies::of(&bytes).first_sound(check)?;
        Ok(Content { bytes, content })
    }

    /// What is wrong with a file; an error for each damaged copy.
    pub(crate) fn damages(&self, disk: &dyn Disk, path: &str, rows: u32) -> Vec<Error> {
        match read_whole(disk, path, self.bytes_max) {
            Ok(bytes) => Copies::of(&bytes).damages(|at, copy| self.check(path, rows, at, copy)),
            Err(error) => vec![error],
        }
    }

    /// Verifies the copy that begins at `start` of the file; gives where its content stands in the file.
    fn check(&self, path: &str, rows: u32, start: usize, copy: &[u8]) -> Result<Range<usize>> {
        if copy.get(..8) != Some(&self.magic[..]) || copy.len() < HEAD_BYTES + 4 {
            return Err(self.corrupt(path, start as u64, self.what));
        }
        let number =
            |at: usize| u32::from_le_bytes([copy[at], copy[at + 1], copy[at + 2], copy[at + 3]]);
        // First the checksum, which ends the copy in every version: a damaged byte is no newer version.
        let (framed, sum) = copy.split_at(copy.len() - 4);
        if crc32c::crc32c(framed).to_le_bytes() != sum {
            let what = "the file has not the checksum that was written";
            return Err(self.corrupt(path, start as u64, what));
        }
        let found = number(8);
        if found > FORMAT_VERSION {
            return Err(Error::NewerFormat {
                file: path.to_owned(),
                found,
                known: FORMAT_VERSION,
            });
        }
        if number(12) != rows {
            return Err(self.corrupt(path, start as u64 + 12, self.of_another));
        }
        Ok(start + HEAD_BYTES..start + framed.len())
    }

    /// Damage at an offset of the file.
    pub(crate) fn corrupt(&self, path: &str, offset: u64, what: &'static str) -> Error {
        Error::Corrupt {
            file: path.to_owned(),
            offset,
            what,
        }
    }

    /// Damage of the content as a whole.
    pub(crate) fn not_readable(&self, path: &str, what: &'static str) -> Error {
        self.corrupt(path, HEAD_BYTES as u64, what)
    }
}
