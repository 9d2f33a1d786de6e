//! Keys: for a column with a KEY, the codes of its values with their rows, sorted.
//!
//! Example: a column of texts, whose codes ([`relation::key::code`]) are written here as small numbers.
//!
//! ```text
//! doc      0     1     2      3     4
//! value    'b'   'a'   NULL   'A'   'c'
//! codes    1     1     2      3           'a' and 'A' have one code, NULL has none
//! docs     1     3     0      4
//! ```
//!
//! Invariants:
//! - Pairs of code and doc rise. So the rows of a code are neighbours, and rise.
//! - Each row whose value is not NULL has one pair. A look-up by the codes of all values wanted
//!   finds every row wanted; it may find others, as codes are hashes.
//! - Both sections are only used to find candidates. If they cannot be read, the reader asks every
//!   row instead: no answer depends on them.

use relation::key;

use super::checked::{CheckedFile, LOOK_UPS_AHEAD};
use super::commit::{Commit, Kind, Section};
use super::rising;
use super::row_source::RowSource;
use crate::error::Result;

/// The sections of one keyed column.
pub(super) struct Key {
    /// Index of the column, the id not counted.
    column: u16,
    codes: Section,
    docs: Section,
}

impl Key {
    /// The keys that a commit lists, each with as many codes as rows and at most one for each of
    /// the segment's rows. Others are left out, as if they had not been written.
    pub(super) fn all(commit: &Commit, file_bytes: u64) -> Vec<Key> {
        let is_inside = |section: &Section| {
            let end = section.start.checked_add(section.bytes);
            end.is_some_and(|end| end <= file_bytes)
        };
        let mut keys = Vec::new();
        for codes in commit.sections.iter().filter(|codes| is_inside(codes)) {
            let Kind::KeyCodes(column) = codes.kind else {
                continue;
            };
            let docs = commit.section(Kind::KeyDocs(column)).filter(is_inside);
            let fits = |docs: &Section| {
                let entries = codes.bytes / 8;
                let is_whole = codes.bytes == 8 * entries && docs.bytes == 4 * entries;
                is_whole && entries <= u64::from(commit.rows)
            };
            keys.extend(docs.filter(fits).map(|docs| Key {
                column,
                codes: *codes,
                docs,
            }));
        }
        keys
    }

    /// Whether it is of this column.
    pub(super) fn is_of(&self, column: usize) -> bool {
        usize::from(self.column) == column
    }

    /// Whether a byte of the file lies in one of the sections.
    pub(super) fn holds(&self, offset: u64) -> bool {
        let sections = [&self.codes, &self.docs];
        sections.iter().any(|section| {
            let end = section.start + section.bytes;
            (section.start..end).contains(&offset)
        })
    }

    /// The rows of these codes (rising, each once), deleted rows included, by code; `None` if they
    /// are more than `most`. Cost: for each code a logarithm of how far it is from where even codes
    /// would have it.
    /// Errors: `Corrupt`.
    pub(super) fn find(
        &self,
        file: &CheckedFile,
        codes: &[u64],
        most: usize,
    ) -> Result<Option<Vec<u32>>> {
        let entries = (self.codes.bytes / 8) as usize;
        let (start, mut at) = (self.codes.start as usize, 0);
        let docs = self.docs.start as usize;
        let code_at = |at: usize| file.number(start, at);
        let is_sparse = codes.len() < entries / LOOK_UPS_AHEAD;
        let (mut places, mut count) = (Vec::with_capacity(codes.len()), 0);
        for (number, code) in codes.iter().enumerate() {
            if let Some(ahead) = codes.get(number + LOOK_UPS_AHEAD).filter(|_| is_sparse) {
                let place = |near: usize| start + 8 * near..start + 8 * (near + 1);
                if let Ok(near) = rising::near(0..entries, *ahead, code_at) {
                    file.fetch(place(near));
                }
            }
            let near = rising::near(at..entries, *code, code_at)?;
            at = rising::first_not_below(at..entries, near, *code, code_at)?;
            if at == entries {
                break;
            }
            let end = match code.checked_add(1) {
                Some(next) => rising::first_not_below(at..entries, 0, next, code_at)?,
                None => entries,
            };
            count += end - at;
            if count > most {
                return Ok(None);
            }
            let place = docs + 4 * at..docs + 4 * end;
            file.fetch(place.start..place.end.min(place.start + 4));
            places.push(place);
            at = end;
        }
        let mut found = Vec::with_capacity(count);
        for place in places {
            let (docs, _) = file.range(place.start, place.end)?.as_chunks::<4>();
            found.extend(docs.iter().map(|doc| u32::from_le_bytes(*doc)));
        }
        Ok(Some(found))
    }
}

/// The pairs of code and doc of a column, sorted; `None` if a row has no such column. Memory: 16
/// bytes a row. Errors: those of the source.
pub(super) fn pairs(
    source: &dyn RowSource,
    rows: u32,
    column: u16,
) -> Result<Option<Vec<(u64, u32)>>> {
    let mut pairs = Vec::with_capacity(rows as usize);
    for doc in 0..rows {
        match source.columns(doc)?.column(usize::from(column))? {
            Some(value) => pairs.extend(key::code(&value).map(|code| (code, doc))),
            None => return Ok(None),
        }
    }
    pairs.sort_unstable();
    Ok(Some(pairs))
}
