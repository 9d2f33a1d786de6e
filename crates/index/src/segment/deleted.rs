//! The file of a segment's deleted rows: written whole at a checkpoint, under a new name each time.

use std::io::Cursor;

use disk::Disk;
use roaring::RoaringBitmap;

use super::commit::read_whole;
use crate::error::{Error, Result};

const MAGIC: [u8; 8] = *b"seinedel";

/// Version of the file; a higher one is refused.
const FORMAT_VERSION: u32 = 1;

/// A bitmap of 2³¹ rows takes 256 MiB.
const FILE_BYTES_MAX: u64 = 512 << 20;

/// Bytes before the bitmap: magic, version, rows of the segment.
const HEAD_BYTES: usize = 16;

/// Writes and syncs the file. Its name is durable only after a sync of the directory. Errors: `Io`.
pub(crate) fn write_deleted(
    disk: &dyn Disk,
    path: &str,
    rows: u32,
    deleted: &RoaringBitmap,
) -> Result<()> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend(rows.to_le_bytes());
    let write = |bytes: &mut Vec<u8>| {
        deleted.serialize_into(&mut *bytes)?;
        bytes.extend(crc32c::crc32c(bytes).to_le_bytes());
        let file = disk.create(path)?;
        file.write_at(0, bytes)?;
        file.sync()
    };
    write(&mut bytes).map_err(|error| Error::io(path, error))
}

/// Reads the file of a segment of `rows` rows. Errors: `Io`, `Corrupt`, `NewerFormat`.
pub(crate) fn read_deleted(disk: &dyn Disk, path: &str, rows: u32) -> Result<RoaringBitmap> {
    let corrupt = |offset: u64, what| Error::Corrupt {
        file: path.to_owned(),
        offset,
        what,
    };
    let bytes = read_whole(disk, path, FILE_BYTES_MAX)?;
    if bytes[..8] != MAGIC {
        return Err(corrupt(0, "not a file of deleted rows"));
    }
    let number =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let found = number(8);
    if found > FORMAT_VERSION {
        return Err(Error::NewerFormat {
            file: path.to_owned(),
            found,
            known: FORMAT_VERSION,
        });
    }
    let (content, sum) = bytes.split_at(bytes.len() - 4);
    if content.len() < HEAD_BYTES || crc32c::crc32c(content).to_le_bytes() != sum {
        return Err(corrupt(0, "the file has not the checksum that was written"));
    }
    let deleted = RoaringBitmap::deserialize_from(Cursor::new(&content[HEAD_BYTES..]))
        .map_err(|_| corrupt(HEAD_BYTES as u64, "not a bitmap"))?;
    if number(12) != rows || deleted.max().is_some_and(|row| row >= rows) {
        return Err(corrupt(12, "deleted rows of another segment"));
    }
    Ok(deleted)
}
