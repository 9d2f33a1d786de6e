//! Readers of parts of a segment's files, over any bytes: for the fuzzer, and for the tests that run its seeds.
//!
//! Checksums keep bytes of strangers from these readers, but not bytes that were written wrong. Nothing here may panic, read
//! beyond the bytes, or take memory by a length that they do not hold.

#[cfg(test)]
mod tests;

use std::io::Write;

use disk::{Disk, MemoryDisk};

use super::checked::{CheckedFile, SummedWriter};
use super::commit::{Commit, Kind, Section};
use super::packed_rows::{StoredRow, Unpacking};
use super::{PairPage, forward_codes};
use crate::changes::decode_changes;
use crate::error::Result;

/// Rows of the segment or page that the bytes are said to be of.
const ROWS: u32 = 500;

/// Words of a page of pairs, and columns of a row, that are looked at.
const PARTS_MAX: usize = 64;

/// Dictionary of the packed rows, written 20 times.
const DICTIONARY: &[u8] = b"the measurement of spectra ";

/// Reads the content of a file of changed values. Whether it is one.
#[must_use]
pub fn read_changes(bytes: &[u8]) -> bool {
    decode_changes(bytes, ROWS).is_some()
}

/// Reads a page of pairs of words, and the rows of the pairs that its bytes may name. Whether it is one.
#[must_use]
pub fn read_pairs(bytes: &[u8]) -> bool {
    let Some(page) = PairPage::open(bytes, ROWS) else {
        return false;
    };
    let (words, _) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    for left in words.iter().take(PARTS_MAX) {
        for right in words.iter().take(PARTS_MAX) {
            let rows = page.rows(*left, *right);
            let mut lows: Vec<u16> = (0..ROWS as u16).collect();
            rows.narrow(&mut lows);
            rows.each(|_| {});
        }
    }
    let _ = page.keeps([ROWS, ROWS]);
    true
}

/// Reads a row of a merge in all ways, and the same bytes as a packed forward list. Whether they are a row.
#[must_use]
pub fn read_packed_row(bytes: &[u8]) -> bool {
    let (common, list) = bytes.split_at(bytes.len() / 2);
    let _ = forward_codes::decode(common, list);
    read_row(bytes).is_ok_and(|is_whole| is_whole)
}

fn read_row(bytes: &[u8]) -> Result<bool> {
    let dictionary = DICTIONARY.repeat(20);
    let disk = MemoryDisk::new();
    let Ok(file) = file_of(&disk, &[&dictionary, bytes]) else {
        return Ok(false);
    };
    let commit = Commit {
        sections: vec![Section {
            kind: Kind::PackDictionary(0),
            start: 0,
            bytes: dictionary.len() as u64,
        }],
        ..Commit::default()
    };
    let Some(unpacking) = Unpacking::new(&commit, file.len() as u64) else {
        return Ok(false);
    };
    let at = dictionary.len();
    let row = StoredRow::of_merge(&file, &unpacking, 0, at, file.range(at, file.len())?)?;
    for column in 0..=row.column_count().unwrap_or(0).min(PARTS_MAX) {
        let _ = (row.column(column), row.text(column));
        let _ = (row.number(column), row.document(column));
    }
    let _ = row.encoded();
    row.decode().map(|columns| columns.is_some())
}

/// A file of these bytes.
fn file_of(disk: &dyn Disk, parts: &[&[u8]]) -> Result<CheckedFile> {
    let failed = |error| crate::Error::io("rows", error);
    let mut writer = SummedWriter::create(disk, "rows").map_err(failed)?;
    for part in parts {
        writer.write_all(part).map_err(failed)?;
    }
    let sums = writer.finish().map_err(failed)?;
    CheckedFile::open(disk, "rows".to_owned(), sums)
}
