//! The file of a segment's changed values: written whole at a checkpoint, under a new name each time.
//!
//! `docs/formats/segment.md` has the layout.

use disk::Disk;
use query::codec::{Reader, put_number, put_value};

use super::Changes;
use crate::error::{Error, Result};
use crate::segment::read_whole;

const MAGIC: [u8; 8] = *b"seinechg";

/// Version of the file; a higher one is refused.
const FORMAT_VERSION: u32 = 1;

/// No disk holds a longer file.
const FILE_BYTES_MAX: u64 = 1 << 40;

/// Bytes before the columns: magic, version, rows of the segment.
const HEAD_BYTES: usize = 16;

/// Writes and syncs the file. Its name is durable only after a sync of the directory. Errors: `Io`.
pub(crate) fn write_changes(
    disk: &dyn Disk,
    path: &str,
    rows: u32,
    changes: &Changes,
) -> Result<()> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend(rows.to_le_bytes());
    let all = changes.all();
    put_number(&mut bytes, all.len() as u64);
    for (column, values) in &all {
        put_number(&mut bytes, u64::from(*column));
        put_number(&mut bytes, values.len() as u64);
        let mut next = 0;
        for (doc, value) in values {
            put_number(&mut bytes, u64::from(doc - next));
            next = doc + 1;
            put_value(&mut bytes, value);
        }
    }
    let write = |bytes: &mut Vec<u8>| {
        bytes.extend(crc32c::crc32c(bytes).to_le_bytes());
        let file = disk.create(path)?;
        file.write_at(0, bytes)?;
        file.sync()
    };
    write(&mut bytes).map_err(|error| Error::io(path, error))
}

/// Reads the file of a segment of `rows` rows. Errors: `Io`, `Corrupt`, `NewerFormat`.
pub(crate) fn read_changes(disk: &dyn Disk, path: &str, rows: u32) -> Result<Changes> {
    let corrupt = |offset: u64, what| Error::Corrupt {
        file: path.to_owned(),
        offset,
        what,
    };
    let bytes = read_whole(disk, path, FILE_BYTES_MAX)?;
    if bytes.get(..8) != Some(&MAGIC[..]) || bytes.len() < HEAD_BYTES + 4 {
        return Err(corrupt(0, "not a file of changed values"));
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
    if crc32c::crc32c(content).to_le_bytes() != sum {
        return Err(corrupt(0, "the file has not the checksum that was written"));
    }
    if number(12) != rows {
        return Err(corrupt(12, "changed values of another segment"));
    }
    decode(&content[HEAD_BYTES..], rows)
        .ok_or_else(|| corrupt(HEAD_BYTES as u64, "not changed values"))
}

fn decode(bytes: &[u8], rows: u32) -> Option<Changes> {
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
