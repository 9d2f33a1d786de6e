//! The file of a segment's changed values: `docs/formats/segment.md` has the layout.

use disk::Disk;
use relation::codec::{Reader, put_number, put_value};

use super::Changes;
use crate::error::{Error, Result};
use crate::segment::SideFile;

const FILE: SideFile = SideFile {
    magic: *b"seinechg",
    bytes_max: 1 << 40, // no disk holds a longer file
    what: "not a file of changed values",
    of_another: "changed values of another segment",
};

/// Writes and syncs the file. Its name is durable only after a sync of the directory. Errors: `Io`.
pub(crate) fn write_changes(
    disk: &dyn Disk,
    path: &str,
    rows: u32,
    changes: &Changes,
) -> Result<()> {
    FILE.write(disk, path, rows, |bytes| {
        let all = changes.all();
        put_number(bytes, all.len() as u64);
        for (column, values) in &all {
            put_number(bytes, u64::from(*column));
            put_number(bytes, values.len() as u64);
            let mut next = 0;
            for (doc, value) in values {
                put_number(bytes, u64::from(doc - next));
                next = doc + 1;
                put_value(bytes, value);
            }
        }
        Ok(())
    })
}

/// Reads the file of a segment of `rows` rows. Errors: `Io`, `Corrupt`, `NewerFormat`.
pub(crate) fn read_changes(disk: &dyn Disk, path: &str, rows: u32) -> Result<Changes> {
    let content = FILE.read(disk, path, rows)?;
    decode_changes(content.bytes(), rows)
        .ok_or_else(|| FILE.not_readable(path, "not changed values"))
}

/// What is wrong with the file of a segment of `rows` rows; an error for each damaged copy.
pub(crate) fn damages_of_changes(disk: &dyn Disk, path: &str, rows: u32) -> Vec<Error> {
    let damages = FILE.damages(disk, path, rows);
    match damages.is_empty() {
        true => read_changes(disk, path, rows).err().into_iter().collect(),
        false => damages,
    }
}

/// Reads the content of a file; `None` where the bytes are none.
pub(crate) fn decode_changes(bytes: &[u8], rows: u32) -> Option<Changes> {
    let mut reader = Reader::new(bytes);
    let mut changes = Changes::default();
    for _ in 0..reader.count().ok()? {
        let column = u16::try_from(reader.small().ok()?).ok()?;
        let mut next = 0u32;
        for _ in 0..reader.count().ok()? {
            let doc = next.checked_add(reader.small().ok()?)?;
            if doc >= rows {
                return None;
            }
            changes.set(column, doc, reader.value().ok()?);
            next = doc + 1;
        }
    }
    reader.end().ok()?;
    Some(changes)
}
