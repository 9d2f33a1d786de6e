//! The file `rows`: ids, encoded rows, numeric columns, forward lists, lengths, keys.

use std::ops::Range;
use std::sync::OnceLock;

use relation::json::JsonStep;
use relation::value::Value;

use super::checked::{CheckedFile, LOOK_UPS_AHEAD};
use super::commit::{Commit, Kind, Section};
use super::ids::Ids;
use super::keys::Key;
use super::packed_rows::{StoredRow, Unpacking};
use super::paths::{PathColumn, PathNumbers};
use super::stretches::Stretches;
use super::text_list::{Listed, TextList};
use super::{forward, forward_codes, packed};
use crate::error::{Error, Result};
use crate::integers::Integers;
use crate::postings::PAGE_BITS;
use crate::removed::WordCount;
use crate::tail::gallop;

/// Bytes of a row that are fetched before it is read. The processor sees by itself that one reads on.
const FETCHED_BYTES: usize = 256;

/// Bytes of the ends of a row's text that are fetched before they are read.
const FETCHED_ENDS_BYTES: usize = 32;

/// The rows of one segment, read from the mapped file.
pub(super) struct Rows {
    file: CheckedFile,
    docs: u32,
    ids: Ids,
    rows: Stretches,
    /// Of a merge: what unpacks its rows.
    unpacking: Option<Unpacking>,
    forward: Stretches,
    /// Of a merge: the words with a code of their own in forward lists.
    common: Option<Section>,
    /// Whether ends of texts stand before the forward lists: from format 4 on.
    has_text_ends: bool,
    /// One byte a row; `None` in format 1.
    lengths: Option<Section>,
    /// By column: its numbers; `None` for a column that is not all integers or all floats.
    numbers: Vec<Option<Section>>,
    /// The look-up indexes of keyed columns.
    keys: Vec<Key>,
    /// The paths of documents that are kept as numbers.
    paths: Vec<PathColumn>,
    /// The columns that are kept as lists of texts.
    text_lists: Vec<TextList>,
    /// Where the sections of lists and paths begin, which stand behind all others; `None` without any.
    copies_start: Option<u64>,
    /// By column: its highest integer, where it is known.
    highest: Vec<OnceLock<i64>>,
}

impl Rows {
    /// Finds the sections of an opened file. Errors: `Corrupt`, naming `commit_path`, where a
    /// section is missing or has the wrong length.
    pub(super) fn new(file: CheckedFile, commit: &Commit, commit_path: &str) -> Result<Rows> {
        let corrupt = |what| Error::Corrupt {
            file: commit_path.to_owned(),
            offset: 0,
            what,
        };
        let whole = |section: Section, bytes: Option<u64>| {
            let end = section.start.checked_add(section.bytes);
            let is_inside = end.is_some_and(|end| end <= file.len() as u64);
            if !is_inside || bytes.is_some_and(|bytes| section.bytes != bytes) {
                return Err(corrupt("a section has not the length of its rows"));
            }
            Ok(section)
        };
        let section = |kind, bytes: Option<u64>| {
            let section = commit.section(kind);
            whole(
                section.ok_or_else(|| corrupt("a section is missing"))?,
                bytes,
            )
        };
        let rows = u64::from(commit.rows);
        let numbers = number_sections(commit, &section)?;
        let lengths = commit.section(Kind::Lengths);
        let is_merged = commit.section(Kind::PackedRows).is_some();
        let wide = |ends, content| {
            let ends = section(ends, Some(8 * rows))?;
            Ok(Stretches::wide(ends, section(content, None)?))
        };
        let grouped = |number, content| {
            let ends = section(Kind::GroupedEnds(number), None)?;
            let grouped = Stretches::grouped(ends, section(content, None)?, commit.rows);
            grouped.ok_or_else(|| corrupt("a section has not the length of its rows"))
        };
        Ok(Rows {
            docs: commit.rows,
            has_text_ends: commit.format >= 4,
            ids: Ids::find(commit, &file)
                .ok_or_else(|| corrupt("the ids of rows are missing or cut short"))?,
            rows: match is_merged {
                true => grouped(0, Kind::PackedRows)?,
                false => wide(Kind::RowEnds, Kind::Rows)?,
            },
            unpacking: match is_merged {
                true => Some(
                    Unpacking::new(commit, file.len() as u64)
                        .ok_or_else(|| corrupt("a dictionary of rows has not the length of one"))?,
                ),
                false => None,
            },
            forward: match is_merged {
                true => grouped(1, Kind::PackedForward)?,
                false => wide(Kind::ForwardEnds, Kind::Forward)?,
            },
            common: match is_merged {
                true => Some(section(Kind::CommonWords, None)?),
                false => None,
            },
            lengths: lengths
                .map(|lengths| whole(lengths, Some(rows)))
                .transpose()?,
            highest: numbers.iter().map(|_| OnceLock::new()).collect(),
            numbers,
            keys: Key::all(commit, file.len() as u64),
            copies_start: copies_start(commit),
            text_lists: TextList::all(commit, &file),
            paths: PathColumn::all(commit, &file).unwrap_or_default(), // then all rows are asked
            file,
        })
    }

    /// The file, for errors that name it.
    pub(super) fn file(&self) -> &CheckedFile {
        &self.file
    }

    /// The id of a row. Errors: `Corrupt`, as all below.
    pub(super) fn id(&self, doc: u32) -> Result<u64> {
        self.ids.get(&self.file, doc)
    }

    /// Tells the processor to fetch the id of a row.
    pub(super) fn fetch_id(&self, doc: u32) {
        self.file.fetch(self.ids.place(doc));
    }

    /// Tells the processor to fetch the numbers of a row, and where its bytes are.
    #[inline]
    pub(super) fn fetch_place(&self, doc: u32, columns: impl Iterator<Item = usize>) {
        let mut is_in_bytes = false;
        for column in columns {
            match self.numbers.get(column).copied().flatten() {
                Some(numbers) => self.file.fetch(self.number_hint(numbers, doc)),
                None => is_in_bytes = true,
            }
        }
        if is_in_bytes {
            self.rows.fetch_place(&self.file, doc);
        }
    }

    /// Tells the processor to fetch the bytes of a row, if one of the columns needs them. Reads where they are.
    #[inline]
    pub(super) fn fetch_bytes(&self, doc: u32, mut columns: impl Iterator<Item = usize>) {
        let is_in_bytes = |column: usize| self.numbers.get(column).copied().flatten().is_none();
        if columns.any(is_in_bytes) {
            self.rows.fetch(&self.file, doc, FETCHED_BYTES);
        }
    }

    /// The first row, from `doc` on, whose id is not below `id`; the number of rows if there is
    /// none. Cost: a logarithm of how far the row is from where even ids would have it.
    pub(super) fn first_at(&self, id: u64, doc: u32) -> Result<u32> {
        self.ids.first_at(&self.file, doc..self.docs, id)
    }

    /// The rows that a key has for these codes (rising, each once), deleted rows included, by code.
    /// `None` if they are more than `most`, and if there is no key of the column.
    pub(super) fn find_by_key(
        &self,
        column: usize,
        codes: &[u64],
        most: usize,
    ) -> Result<Option<Vec<u32>>> {
        let Some(key) = self.keys.iter().find(|key| key.is_of(column)) else {
            return Ok(None);
        };
        let found = key.find(&self.file, codes, most)?;
        let highest = found.iter().flatten().max();
        if highest.is_some_and(|doc| *doc >= self.docs) {
            return Err(self.file.corrupt(0, "a key has a row that is not there"));
        }
        Ok(found)
    }

    /// The file's damage: all blocks that have not the checksum that was written. Damage of keys, or of
    /// lists of texts and paths alone, is named so.
    pub(super) fn damages(&self) -> Vec<Error> {
        let of_key = |error| match error {
            Error::Corrupt { file, offset, .. } if self.is_of_copy(offset) => Error::Corrupt {
                file,
                offset,
                what: "the numbers of JSON paths or the lists of texts are damaged; conditions and groups read all rows, and OPTIMIZE \
                       writes them again",
            },
            Error::Corrupt { file, offset, .. } if self.is_of_key(offset) => Error::Corrupt {
                file,
                offset,
                what: "the index of a KEY is damaged; look-ups read all rows, and OPTIMIZE writes it again",
            },
            other => other,
        };
        self.file.damages().into_iter().map(of_key).collect()
    }

    /// Whether a block begins in the sections of lists and paths, which are the last.
    fn is_of_copy(&self, offset: u64) -> bool {
        self.copies_start.is_some_and(|start| start <= offset)
    }

    /// Whether a block begins in a key. A key begins with a block, or behind another key.
    fn is_of_key(&self, offset: u64) -> bool {
        self.keys.iter().any(|key| key.holds(offset))
    }

    /// Calls `visit` with the row of each of `ids` that is there. `ids`: rising; `last`: the last
    /// row's id.
    pub(super) fn find_all(
        &self,
        ids: &[u64],
        last: u64,
        visit: &mut impl FnMut(u32),
    ) -> Result<()> {
        let mut doc = 0;
        let ids = &ids[..gallop(ids, |id| *id <= last)];
        let is_sparse = ids.len() < self.docs as usize / LOOK_UPS_AHEAD;
        for (at, id) in ids.iter().enumerate() {
            if let Some(ahead) = ids.get(at + LOOK_UPS_AHEAD).filter(|_| is_sparse) {
                self.ids.fetch_near(&self.file, self.docs, *ahead);
            }
            doc = self.first_at(*id, doc)?;
            if self.id(doc)? == *id {
                visit(doc);
            }
        }
        Ok(())
    }

    /// A row with all its columns.
    #[inline]
    pub(super) fn row(&self, doc: u32) -> Result<StoredRow<'_>> {
        let place = self.rows.place(&self.file, doc)?;
        let bytes = self.file.range(place.start, place.end)?;
        match &self.unpacking {
            None => Ok(StoredRow::whole_row(bytes)),
            Some(unpacking) => StoredRow::of_merge(&self.file, unpacking, doc, place.start, bytes),
        }
    }

    /// Whether a merge wrote the rows: then their long texts are packed.
    pub(super) fn are_packed(&self) -> bool {
        self.unpacking.is_some()
    }

    /// The dictionaries of packed texts, by number.
    pub(super) fn pack_dictionaries(&self) -> Result<Vec<&[u8]>> {
        match &self.unpacking {
            None => Ok(Vec::new()),
            Some(unpacking) => unpacking.dictionaries(&self.file),
        }
    }

    /// Length class of a row; see [`crate::postings::length_class`].
    pub(super) fn length_class(&self, doc: u32) -> Result<u8> {
        let Some(lengths) = self.lengths else {
            return Err(self.file.corrupt(0, "lengths of rows are missing"));
        };
        let at = lengths.start as usize + doc as usize;
        Ok(self.file.range(at, at + 1)?[0])
    }

    /// A column's value, read without the row; `None` for a column that is not kept as numbers.
    pub(super) fn number(&self, doc: u32, column: usize) -> Result<Option<Value>> {
        let Some(section) = self.numbers.get(column).copied().flatten() else {
            return Ok(None);
        };
        if is_packed(section) {
            let number = packed::number(&self.file, section, doc)?;
            return Ok(Some(Value::Int(number.into())));
        }
        let bits = self.file.number(section.start as usize, doc as usize)?;
        let is_float = matches!(section.kind, Kind::Floats(_));
        Ok(Some(match is_float {
            true => Value::Float(f64::from_bits(bits)),
            false => Value::Int(i128::from(bits.cast_signed())),
        }))
    }

    /// The bytes of the file that have a number of a column. Without a check: wrong ones are fetched in vain.
    #[inline]
    fn number_hint(&self, numbers: Section, doc: u32) -> Range<usize> {
        match is_packed(numbers) {
            true => packed::place_hint(&self.file, numbers, doc),
            false => number_at(numbers, doc),
        }
    }

    /// Highest integer of a column; `None` for a column that is not kept as integers. Cost: the first
    /// call for a column reads the whole column.
    pub(super) fn highest(&self, column: usize) -> Result<Option<i64>> {
        let Some(section) = self.integer_section(column) else {
            return Ok(None);
        };
        if let Some(known) = self.highest[column].get() {
            return Ok(Some(*known));
        }
        let mut highest = None;
        for page in (0..self.docs).step_by(1 << PAGE_BITS) {
            let docs = page..self.docs.min(page.saturating_add(1 << PAGE_BITS));
            highest = highest.max(self.numbers_of(section, docs)?.and_then(|of| of.highest()));
        }
        let kept = &self.highest[column];
        Ok(highest.map(|highest| *kept.get_or_init(|| highest)))
    }

    fn integer_section(&self, column: usize) -> Option<Section> {
        let section = self.numbers.get(column).copied().flatten();
        section.filter(|section| !matches!(section.kind, Kind::Floats(_)))
    }

    /// A column of neighbouring rows; `None` for one that is not kept as integers, and where the rows are of several pages.
    pub(super) fn integers(&self, column: usize, docs: Range<u32>) -> Result<Option<Integers<'_>>> {
        let Some(section) = self.integer_section(column) else {
            return Ok(None);
        };
        self.numbers_of(section, docs)
    }

    /// A column of neighbouring rows as the bytes of `f64`s; `None` for one that is not kept as floats.
    pub(super) fn floats(&self, column: usize, docs: Range<u32>) -> Result<Option<&[[u8; 8]]>> {
        match self.numbers.get(column).copied().flatten() {
            Some(section) if matches!(section.kind, Kind::Floats(_)) => {
                self.eights(section, docs).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The places of neighbouring rows in the list of a column's texts; `None` for a column without a list, and where the rows are
    /// of several pages.
    pub(super) fn listed(&self, column: usize, docs: Range<u32>) -> Result<Option<Listed<'_>>> {
        let list = self.text_lists.iter().find(|list| list.is_of(column));
        list.map_or(Ok(None), |list| list.read(&self.file, docs))
    }

    /// The numbers at a path of a column's documents, in neighbouring rows from a multiple of 64 on; `None` for a path that is not
    /// kept as numbers.
    pub(super) fn path_numbers(
        &self,
        column: usize,
        path: &[JsonStep],
        docs: Range<u32>,
    ) -> Result<Option<PathNumbers<'_>>> {
        let mut paths = self.paths.iter();
        let found = paths.find(|kept| kept.is_of(column, path));
        found.map_or(Ok(None), |kept| kept.read(&self.file, docs))
    }

    /// The ids of neighbouring rows, if all are `i64`; `None` if the rows are of several pages.
    pub(super) fn id_column(&self, docs: Range<u32>) -> Result<Option<Integers<'_>>> {
        self.ids.column(&self.file, docs)
    }

    /// `None`: the rows are of several pages.
    fn numbers_of(&self, section: Section, docs: Range<u32>) -> Result<Option<Integers<'_>>> {
        match is_packed(section) {
            true => packed::read(&self.file, section, docs),
            false => Ok(Some(Integers::whole(self.eights(section, docs)?))),
        }
    }

    /// The 8-byte numbers of neighbouring rows.
    fn eights(&self, section: Section, docs: Range<u32>) -> Result<&[[u8; 8]]> {
        let at = |doc: u32| section.start as usize + 8 * doc as usize;
        let bytes = self.file.range(at(docs.start), at(docs.end))?;
        Ok(bytes.as_chunks().0)
    }

    /// Whether the bytes that [`Rows::forward`] reads are undamaged. Cost: a tenth of reading it.
    pub(super) fn check_forward(&self, doc: u32) -> Result<()> {
        self.ends_and_list(doc)?;
        if let Some(common) = self.common {
            let start = common.start as usize;
            self.file.range(start, start + common.bytes as usize)?;
        }
        Ok(())
    }

    /// The forward list of a row: its distinct words by rising number, with their counts.
    pub(super) fn forward(&self, doc: u32) -> Result<Vec<WordCount>> {
        let (_, list) = self.ends_and_list(doc)?;
        let words = match self.common {
            None => forward::decode(list),
            Some(common) => {
                let start = common.start as usize;
                let common = self.file.range(start, start + common.bytes as usize)?;
                forward_codes::decode(common, list)
            }
        };
        words.ok_or_else(|| self.no_list())
    }

    /// Tells the processor to fetch [`Rows::text_ends`] of a row.
    #[inline]
    pub(super) fn fetch_text_ends(&self, doc: u32) {
        self.forward.fetch(&self.file, doc, FETCHED_ENDS_BYTES);
    }

    /// Where a row's fields and sentences end; `None`: nobody knows.
    #[inline]
    pub(super) fn text_ends(&self, doc: u32) -> Result<Option<&[u8]>> {
        match self.has_text_ends {
            true => self.ends_and_list(doc).map(|(ends, _)| ends),
            false => Ok(None),
        }
    }

    #[inline]
    fn ends_and_list(&self, doc: u32) -> Result<(Option<&[u8]>, &[u8])> {
        let bytes = self.forward.read(&self.file, doc)?;
        match self.has_text_ends {
            true => forward::cut_ends(bytes).ok_or_else(|| self.no_list()),
            false => Ok((None, bytes)),
        }
    }

    fn no_list(&self) -> Error {
        self.file
            .corrupt(self.forward.start(), "not a forward list")
    }
}

/// The bytes of the file that have the number of a row.
fn number_at(numbers: Section, doc: u32) -> Range<usize> {
    let at = numbers.start as usize + 8 * doc as usize;
    at..at + 8
}

fn copies_start(commit: &Commit) -> Option<u64> {
    let sections = commit.sections.iter();
    let copies = sections.filter(|section| section.kind.is_copy());
    copies.map(|section| section.start).min()
}

fn is_packed(numbers: Section) -> bool {
    matches!(numbers.kind, Kind::PackedIntegers(_))
}

/// The sections of numeric columns, by column.
fn number_sections(
    commit: &Commit,
    section: &impl Fn(Kind, Option<u64>) -> Result<Section>,
) -> Result<Vec<Option<Section>>> {
    let mut numbers = Vec::new();
    for listed in &commit.sections {
        let (Kind::Integers(column) | Kind::Floats(column) | Kind::PackedIntegers(column)) =
            listed.kind
        else {
            continue;
        };
        let bytes = (!is_packed(*listed)).then(|| 8 * u64::from(commit.rows));
        let column = usize::from(column);
        numbers.resize(numbers.len().max(column + 1), None);
        numbers[column] = Some(section(listed.kind, bytes)?);
    }
    Ok(numbers)
}
