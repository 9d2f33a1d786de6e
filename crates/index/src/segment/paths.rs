//! Paths: whole numbers inside JSON documents, kept as columns of their own, so that a condition on them is compared in bulk.
//!
//! Example: the documents of column 2, and the path `price`.
//!
//! ```text
//! doc        0              1      2              3
//! document   {"price": 7}   {}     {"price": 1}   NULL
//! numbers    7              0      1              0
//! present    bits 0 and 2
//! ```
//!
//! Invariants:
//! - A path is kept only if each row of the segment has a whole number there, or nothing, or JSON's null. So a row whose bit is not
//!   set has NULL there. Older builds kept truths too, as 0 and 1; what they wrote is not read.
//! - The rows hold all documents whole. If these sections cannot be read, the reader asks every row: no answer depends on them.
//!
//! A path is found in a sample of the rows: [`SAMPLED_ROWS`] of them, at least half of which have a number there. A table
//! with many paths keeps the [`PATHS_MAX`] that most of them have.

use std::collections::BTreeMap;
use std::ops::Range;

use relation::json::{JsonNode, JsonStep, each_member};
use relation::value::Value;

use super::checked::CheckedFile;
use super::commit::{Commit, Kind, Section};
use super::packed;
use super::row_source::RowSource;
use crate::error::Result;
use crate::integers::Integers;

/// The section of names whose paths have numbers alone, see [`Kind::Paths`].
pub(super) const NUMBERS_ALONE: u16 = 1;

/// Rows in which paths are looked for.
const SAMPLED_ROWS: u32 = 1_000;

/// Most paths that are kept of a column.
const PATHS_MAX: usize = 16;

/// Most paths that are counted in a sample; later ones are not seen.
const COUNTED_PATHS_MAX: usize = 4_096;

/// Most keys of a path.
const KEYS_MAX: usize = 8;

/// Longest key of a path, in bytes.
const KEY_BYTES_MAX: usize = 255;

/// A path inside a column's documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// Index of the column, the id not counted.
    pub(super) column: u16,
    /// Keys, from the outermost.
    pub(super) keys: Vec<String>,
}

/// The sections of one path.
pub(super) struct PathColumn {
    path: Path,
    numbers: Section,
    /// A bit for each row, in 8-byte words; `None`: each row has a number.
    present: Option<Section>,
}

/// The numbers at a path in neighbouring rows.
#[derive(Clone, Copy)]
pub(crate) struct PathNumbers<'s> {
    /// One for each row.
    pub(crate) numbers: Integers<'s>,
    /// Little-endian words with a bit for each row that has a number; `None`: each has.
    pub(crate) present: Option<&'s [[u8; 8]]>,
}

impl PathColumn {
    /// The paths that a commit lists with sections of the right length. Others are left out, as if they had not been written.
    /// Errors: `Corrupt`, where their names cannot be read.
    pub(super) fn all(commit: &Commit, file: &CheckedFile) -> Result<Vec<PathColumn>> {
        let fits = |section: &Section, bytes: u64| {
            let end = section.start.checked_add(section.bytes);
            section.bytes == bytes && end.is_some_and(|end| end <= file.len() as u64)
        };
        let Some(listed) = commit.section(Kind::Paths(NUMBERS_ALONE)) else {
            return Ok(Vec::new());
        };
        if !fits(&listed, listed.bytes) {
            return Ok(Vec::new());
        }
        let rows = u64::from(commit.rows);
        let (start, end) = (
            listed.start as usize,
            (listed.start + listed.bytes) as usize,
        );
        let named = decode(file.range(start, end)?).unwrap_or_default();
        let mut paths = Vec::new();
        for (at, path) in (0..).zip(named) {
            let written = commit.section(Kind::PathNumbers(at));
            let written = written.filter(|numbers| fits(numbers, 8 * rows));
            let packed = commit.section(Kind::PackedPathNumbers(at));
            let packed = packed.filter(|numbers| fits(numbers, numbers.bytes));
            let present = commit.section(Kind::PathRows(at));
            let is_whole = present.is_none_or(|present| fits(&present, 8 * rows.div_ceil(64)));
            let numbers = packed.or(written).filter(|_| is_whole);
            paths.extend(numbers.map(|numbers| PathColumn {
                path,
                numbers,
                present,
            }));
        }
        Ok(paths)
    }

    pub(super) fn is_of(&self, column: usize, path: &[JsonStep]) -> bool {
        let is_key = |(key, step): (&String, &JsonStep)| match step {
            JsonStep::Key(wanted) => key == wanted,
            JsonStep::Item(_) | JsonStep::Itself => false,
        };
        usize::from(self.path.column) == column
            && self.path.keys.len() == path.len()
            && self.path.keys.iter().zip(path).all(is_key)
    }

    /// The numbers of rows; `None` if they are of several pages. `docs` starts at a multiple of 64. Errors: `Corrupt`.
    pub(super) fn read<'f>(
        &self,
        file: &'f CheckedFile,
        docs: Range<u32>,
    ) -> Result<Option<PathNumbers<'f>>> {
        let words = |section: Section, from: usize, to: usize| {
            let start = section.start as usize;
            let bytes = file.range(start + 8 * from, start + 8 * to)?;
            Ok(bytes.as_chunks().0)
        };
        let (from, to) = (docs.start as usize, docs.end as usize);
        let present = |section| words(section, from / 64, to.div_ceil(64));
        let numbers = if matches!(self.numbers.kind, Kind::PathNumbers(_)) {
            Some(Integers::whole(words(self.numbers, from, to)?))
        } else {
            packed::read(file, self.numbers, docs)?
        };
        let present = self.present.map(present).transpose()?;
        Ok(numbers.map(|numbers| PathNumbers { numbers, present }))
    }
}

/// The paths whose numbers are worth a column, by column and then by keys. Cost: reads [`SAMPLED_ROWS`] rows. Errors: those
/// of the source.
pub(super) fn chosen(source: &dyn RowSource, rows: u32, columns: u16) -> Result<Vec<Path>> {
    let step = rows.div_ceil(SAMPLED_ROWS).max(1);
    let sampled = || (0..rows).step_by(step as usize);
    let mut chosen = Vec::new();
    for column in 0..columns {
        // By keys: how many of the rows have a whole number there; `None` if one has another value.
        let mut counts: BTreeMap<Vec<String>, Option<u32>> = BTreeMap::new();
        for doc in sampled() {
            let row = source.columns(doc)?;
            if let Some(document) = row.document(usize::from(column)) {
                count(&document, &mut counts);
            }
        }
        let least = sampled().count() as u32 / 2;
        let worth = |(keys, count): (Vec<String>, Option<u32>)| Some((count?, keys));
        let mut worth: Vec<(u32, Vec<String>)> = counts.into_iter().filter_map(worth).collect();
        worth.retain(|(count, _)| *count > least);
        worth.sort_by(|(a, a_keys), (b, b_keys)| b.cmp(a).then_with(|| a_keys.cmp(b_keys)));
        worth.truncate(PATHS_MAX);
        worth.sort_by(|(_, a), (_, b)| a.cmp(b));
        chosen.extend(worth.into_iter().map(|(_, keys)| Path { column, keys }));
    }
    Ok(chosen)
}

fn count(document: &[u8], counts: &mut BTreeMap<Vec<String>, Option<u32>>) {
    each_member(document, KEYS_MAX, &mut Vec::new(), &mut |path, node| {
        if path.iter().any(|key| key.len() > KEY_BYTES_MAX) {
            return;
        }
        let path: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
        if counts.len() >= COUNTED_PATHS_MAX && !counts.contains_key(&path) {
            return;
        }
        let count = counts.entry(path).or_insert(Some(0));
        match node {
            JsonNode::Whole(_) => {
                *count = count.map(|count| count + 1);
            }
            JsonNode::Null => {}
            JsonNode::Truth(_) | JsonNode::Real(_) | JsonNode::Text(_) | JsonNode::Document(_) => {
                *count = None
            }
        }
    });
}

/// The numbers of all rows at a path, and the words with a bit for each row that has one; `None` if a row has another value
/// there. Memory: 65 bits a row. Errors: those of the source.
pub(super) fn numbers(
    source: &dyn RowSource,
    rows: u32,
    path: &Path,
) -> Result<Option<(Vec<i64>, Vec<u64>)>> {
    let steps = path.keys.iter().cloned().map(JsonStep::Key);
    let steps: Vec<JsonStep> = steps.chain([JsonStep::Itself]).collect();
    let mut numbers = vec![0; rows as usize];
    let mut present = vec![0; rows.div_ceil(64) as usize];
    for doc in 0..rows {
        let row = source.columns(doc)?;
        match row.at_path(usize::from(path.column), &steps) {
            Some(Value::Null) => {}
            Some(Value::Int(number)) => match i64::try_from(number) {
                Ok(number) => {
                    numbers[doc as usize] = number;
                    present[doc as usize / 64] |= 1 << (doc % 64);
                }
                Err(_) => return Ok(None),
            },
            _ => return Ok(None),
        }
    }
    Ok(Some((numbers, present)))
}

/// The names of paths, for the section [`Kind::Paths`].
pub(super) fn encode(paths: &[Path]) -> Vec<u8> {
    let mut out = (paths.len() as u16).to_le_bytes().to_vec(); // at most `PATHS_MAX` a column
    for path in paths {
        out.extend(path.column.to_le_bytes());
        out.push(path.keys.len() as u8); // at most `KEYS_MAX`
        for key in &path.keys {
            out.push(key.len() as u8); // at most `KEY_BYTES_MAX`
            out.extend(key.as_bytes());
        }
    }
    out
}

/// Reads what [`encode`] wrote; `None` for other bytes.
fn decode(mut bytes: &[u8]) -> Option<Vec<Path>> {
    let mut take = |count: usize| {
        let (head, rest) = bytes.split_at_checked(count)?;
        bytes = rest;
        Some(head)
    };
    let count = u16::from_le_bytes(take(2)?.try_into().ok()?);
    let mut paths = Vec::new();
    for _ in 0..count {
        let column = u16::from_le_bytes(take(2)?.try_into().ok()?);
        let mut keys = Vec::new();
        for _ in 0..take(1)?[0] {
            let length = usize::from(take(1)?[0]);
            keys.push(std::str::from_utf8(take(length)?).ok()?.to_owned());
        }
        paths.push(Path { column, keys });
    }
    Some(paths)
}
