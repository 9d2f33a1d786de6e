//! The file of a segment's deleted rows.

use std::io::Cursor;

use disk::Disk;
use roaring::RoaringBitmap;

use super::side_file::SideFile;
use crate::error::{Error, Result};

const FILE: SideFile = SideFile {
    magic: *b"seinedel",
    bytes_max: 1 << 30, // a bitmap of 2³¹ rows takes 256 MiB
    what: "not a file of deleted rows",
    of_another: "deleted rows of another segment",
};

/// Writes and syncs the file. Its name is durable only after a sync of the directory. Errors: `Io`.
pub(crate) fn write_deleted(
    disk: &dyn Disk,
    path: &str,
    rows: u32,
    deleted: &RoaringBitmap,
) -> Result<()> {
    FILE.write(disk, path, rows, |bytes| deleted.serialize_into(bytes))
}

/// Reads the file of a segment of `rows` rows. Errors: `Io`, `Corrupt`, `NewerFormat`.
pub(crate) fn read_deleted(disk: &dyn Disk, path: &str, rows: u32) -> Result<RoaringBitmap> {
    let content = FILE.read(disk, path, rows)?;
    let deleted = RoaringBitmap::deserialize_from(Cursor::new(content.bytes()))
        .map_err(|_| FILE.not_readable(path, "not a bitmap"))?;
    match deleted.max() {
        Some(row) if row >= rows => Err(FILE.not_readable(path, FILE.of_another)),
        _ => Ok(deleted),
    }
}

/// What is wrong with the file of a segment of `rows` rows; an error for each damaged copy.
pub(super) fn damages_of_deleted(disk: &dyn Disk, path: &str, rows: u32) -> Vec<Error> {
    let damages = FILE.damages(disk, path, rows);
    match damages.is_empty() {
        true => read_deleted(disk, path, rows).err().into_iter().collect(),
        false => damages,
    }
}
