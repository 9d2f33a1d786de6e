//! Lists of texts: a column with few distinct texts is kept a second time, as a list of them and the place of each row's text in it.
//!
//! Example: the column `city`.
//!
//! ```text
//! doc      0      1      2      3       list     0 "BONN"   1 "Bonn"   2 "Rome"    by their bytes
//! city     Rome   Bonn   NULL   Bonn
//! places   2      1      3      1       3, the number of texts: NULL
//! ```
//!
//! Groups and conditions over such a column read no row: they decide each text once.
//!
//! Invariant: the rows hold all texts whole. If these sections cannot be read, the reader asks the rows: no answer depends on
//! them.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use relation::rows::Texts;
use relation::value::Value;
use rustc_hash::FxHashMap;

use super::checked::CheckedFile;
use super::commit::{Commit, Kind, Section};
use super::packed;
use super::row_source::RowSource;
use crate::error::Result;
use crate::integers::Integers;

/// Most texts of a list.
const TEXTS_MAX: usize = 65_535;

/// Most bytes of all texts of a list. An open segment keeps its lists in memory once they are used.
const BYTES_MAX: usize = 1 << 20;

/// Least rows of a segment for each text of a list.
const ROWS_EACH: usize = 4;

/// A column's list, and the place of each row's text.
pub(super) struct TextList {
    column: usize,
    places: Section,
    list: Section,
    texts: OnceLock<Arc<Texts>>,
}

/// The places of some rows' texts in a list. A place behind the last text is NULL.
pub(crate) struct Listed<'s> {
    pub(crate) places: Integers<'s>,
    pub(crate) texts: &'s Arc<Texts>,
}

impl Listed<'_> {
    /// The text of the `at`-th row, or NULL.
    pub(crate) fn value(&self, at: usize) -> Value {
        self.texts.value(self.places.get(at) as usize)
    }
}

impl TextList {
    /// The lists that a commit names with sections inside the file; others are left out, as if they had not been written.
    pub(super) fn all(commit: &Commit, file: &CheckedFile) -> Vec<TextList> {
        let whole = |kind| {
            let section: Section = commit.section(kind)?;
            let end = section.start.checked_add(section.bytes)?;
            (end <= file.len() as u64).then_some(section)
        };
        let lists = commit.sections.iter().filter_map(|section| {
            let Kind::Texts(column) = section.kind else {
                return None;
            };
            Some(TextList {
                column: column.into(),
                places: whole(Kind::TextPlaces(column))?,
                list: whole(section.kind)?,
                texts: OnceLock::new(),
            })
        });
        lists.collect()
    }

    pub(super) fn is_of(&self, column: usize) -> bool {
        self.column == column
    }

    /// The places of neighbouring rows; `None` if they are of several pages, or the list cannot be read. The first call reads the
    /// list. Errors: `Corrupt`.
    pub(super) fn read<'f>(
        &'f self,
        file: &'f CheckedFile,
        docs: Range<u32>,
    ) -> Result<Option<Listed<'f>>> {
        let texts = match self.texts.get() {
            Some(texts) => texts,
            None => {
                let start = self.list.start as usize;
                let bytes = file.range(start, start + self.list.bytes as usize)?;
                let Some(texts) = decode(bytes) else {
                    return Ok(None);
                };
                self.texts.get_or_init(|| Arc::new(texts))
            }
        };
        let places = packed::read(file, self.places, docs)?;
        Ok(places.map(|places| Listed { places, texts }))
    }
}

/// The place of each row's text in the list of a column, and the list; `None` for a column that is not worth one, or has other
/// values than texts and NULL. Cost: a hash of each row's text; a column is given up at the first text too many. Memory: 12 bytes a
/// row, and the list. Errors: those of the source.
pub(super) fn chosen(
    source: &dyn RowSource,
    rows: u32,
    column: u16,
) -> Result<Option<(Vec<i64>, Vec<u8>)>> {
    let mut known: FxHashMap<Box<[u8]>, u32> = FxHashMap::default();
    let most = (rows as usize / ROWS_EACH).min(TEXTS_MAX);
    let (mut bytes, mut seen) = (0, Vec::new());
    for doc in 0..rows {
        let row = source.columns(doc)?;
        let Some(text) = row.text_or_null(usize::from(column))? else {
            return Ok(None);
        };
        let Some(text) = text else {
            seen.push(u32::MAX);
            continue;
        };
        let number = match known.get(&*text) {
            Some(number) => *number,
            None => {
                bytes += text.len();
                let number = known.len() as u32;
                known.insert(text[..].into(), number);
                number
            }
        };
        seen.push(number);
        if known.len() > most || bytes > BYTES_MAX {
            return Ok(None);
        }
    }
    let mut texts: Vec<(Box<[u8]>, u32)> = known.into_iter().collect();
    if texts.is_empty() {
        return Ok(None);
    }
    texts.sort_unstable();
    let mut places = vec![0; texts.len()];
    for (place, (_, number)) in (0..).zip(&texts) {
        places[*number as usize] = place;
    }
    let null = texts.len() as i64;
    let place = |number: u32| places.get(number as usize).copied().unwrap_or(null);
    Ok(Some((
        seen.into_iter().map(place).collect(),
        encode(texts.iter().map(|(text, _)| &**text)),
    )))
}

/// The section [`Kind::Texts`]: the number of texts, the end of each, the texts.
fn encode<'t>(texts: impl ExactSizeIterator<Item = &'t [u8]> + Clone) -> Vec<u8> {
    let mut out = (texts.len() as u32).to_le_bytes().to_vec(); // at most `TEXTS_MAX`
    let mut end = 0;
    for text in texts.clone() {
        end += text.len() as u32; // at most `BYTES_MAX`
        out.extend(end.to_le_bytes());
    }
    texts.for_each(|text| out.extend_from_slice(text));
    out
}

/// Reads what [`encode`] wrote; `None` for other bytes.
fn decode(bytes: &[u8]) -> Option<Texts> {
    let (count, rest) = bytes.split_first_chunk()?;
    let count = u32::from_le_bytes(*count) as usize;
    let (ends, content) = rest.split_at_checked(count.checked_mul(4)?)?;
    let (mut texts, mut start) = (Texts::default(), 0);
    for end in ends.as_chunks::<4>().0 {
        let end = u32::from_le_bytes(*end) as usize;
        texts.push(
            std::str::from_utf8(content.get(start..end)?)
                .ok()?
                .as_bytes(),
        );
        start = end;
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts_of(bytes: &[u8]) -> Option<Vec<String>> {
        let texts = decode(bytes)?;
        let all = texts
            .iter()
            .map(|text| String::from_utf8_lossy(text).into_owned());
        Some(all.collect())
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let texts: [&[u8]; 4] = [b"", b"BONN", b"Bonn", "Z\u{fc}rich".as_bytes()];
        let read = texts_of(&encode(texts.into_iter()));
        assert_eq!(read.unwrap(), ["", "BONN", "Bonn", "Zürich"]);
    }

    #[test]
    fn bytes_that_are_no_list_are_none() {
        let whole = encode([&b"Bonn"[..], b"Rome"].into_iter());
        for length in 0..whole.len() {
            assert_eq!(texts_of(&whole[..length]), None, "{length} bytes");
        }
        let falling = [2, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, b'B', b'o', b'n', b'n'];
        assert_eq!(texts_of(&falling), None);
        let many = [255, 255, 255, 255, 0, 0, 0, 0];
        assert_eq!(texts_of(&many), None);
        let no_utf8 = [1, 0, 0, 0, 1, 0, 0, 0, 0xff];
        assert_eq!(texts_of(&no_utf8), None);
    }
}
