//! An open segment: its rows, its dictionary and its lists.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use disk::Disk;
use language::pattern::Literal;
use relation::json::JsonStep;
use relation::value::Value;

use super::checked::{CheckedFile, Sums};
use super::commit::{Commit, Kind};
use super::common_words::{self, CommonWords};
use super::dictionary::Dictionary;
use super::file_names::{COMMIT, DICTIONARY, POSITIONS, POSTINGS, ROWS, WORDS};
use super::lasts::AllLasts;
use super::packed_rows::StoredRow;
use super::pairs::{PairPage, Pairs};
use super::paths::PathNumbers;
use super::rows::Rows;
use super::text_list::Listed;
use super::words::{SegmentWord, WordEntry, Words};
use crate::error::{Error, Result};
use crate::integers::Integers;
use crate::postings::{List, ListForm};
use crate::removed::{Frequency, WordCount};

/// Number of a segment among all that this process has opened; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub(crate) struct SegmentNumber(pub(crate) u64);

/// One open segment. Shared by snapshots; immutable.
pub(crate) struct Segment {
    pub(super) rows: Rows,
    pub(super) dictionary: Dictionary,
    pub(super) words: Words,
    pub(super) common: OnceLock<CommonWords>,
    pub(super) lasts: OnceLock<AllLasts>,
    pub(super) postings: CheckedFile,
    pub(super) positions: CheckedFile,
    /// `None` where it has none, and where they are damaged.
    pub(super) pairs: Option<Pairs>,
    /// Its directory, as a path below the disk's root.
    pub(super) path: String,
    pub(super) docs: u32,
    /// Whether the table has several text columns: then posting lists have sets of fields.
    pub(super) many_fields: bool,
    pub(super) list_form: ListForm,
    pub(super) hits: u64,
    pub(super) bytes: u64,
    pub(super) id_first: u64,
    pub(super) id_last: u64,
    /// Number in this process: a directory opened twice has two.
    pub(super) number: SegmentNumber,
}

/// Number of segments opened by this process.
static OPENED: AtomicU64 = AtomicU64::new(0);

/// A segment's directory, of which the commit was read and checked.
pub(super) struct Files<'a> {
    pub(super) disk: &'a Arc<dyn Disk>,
    pub(super) path: &'a str,
    pub(super) commit_path: String,
    pub(super) commit: Commit,
}

impl Files<'_> {
    pub(super) fn read<'a>(disk: &'a Arc<dyn Disk>, path: &'a str) -> Result<Files<'a>> {
        let commit_path = format!("{path}/{COMMIT}");
        let commit = Commit::read(&**disk, &commit_path)?;
        Ok(Files {
            disk,
            path,
            commit_path,
            commit,
        })
    }

    pub(super) fn open(&self, name: &str) -> Result<CheckedFile> {
        let sums = self.commit.files.iter().find(|(file, _)| file == name);
        let (_, sums): &(String, Sums) =
            sums.ok_or_else(|| self.corrupt("a file is not listed"))?;
        CheckedFile::open(&**self.disk, format!("{}/{name}", self.path), sums.clone())
    }

    pub(super) fn rows(&self) -> Result<Rows> {
        Rows::new(self.open(ROWS)?, &self.commit, &self.commit_path)
    }

    pub(super) fn corrupt(&self, what: &'static str) -> Error {
        Error::Corrupt {
            file: self.commit_path.clone(),
            offset: 0,
            what,
        }
    }
}

impl Segment {
    pub(super) fn of_files(files: &Files<'_>) -> Result<Segment> {
        let commit = &files.commit;
        let words = Words::new(files.open(WORDS)?, commit.words, commit.format)?;
        let rows = files.rows()?;
        let positions = files.open(POSITIONS)?;
        let pairs = commit.section(Kind::Pairs);
        Ok(Segment {
            pairs: pairs.and_then(|section| Pairs::open(&positions, section, commit.rows)),
            id_first: rows.id(0)?,
            id_last: rows.id(commit.rows - 1)?,
            rows,
            dictionary: Dictionary::new(files.open(DICTIONARY)?, commit.words)?,
            words,
            common: OnceLock::new(),
            lasts: OnceLock::new(),
            postings: files.open(POSTINGS)?,
            positions,
            path: files.path.to_owned(),
            docs: commit.rows,
            many_fields: commit.fields > 1,
            list_form: match commit.format {
                0..5 => ListForm::Wide,
                _ => ListForm::Narrow,
            },
            hits: commit.hits,
            bytes: commit.files.iter().map(|(_, sums)| sums.bytes).sum(),
            number: SegmentNumber(OPENED.fetch_add(1, Ordering::Relaxed)),
        })
    }

    /// Whether a file belongs to this segment. `file`: its path below the disk's root.
    pub(crate) fn has_file(&self, file: &str) -> bool {
        let folder = file.rsplit_once('/').map(|(folder, _)| folder);
        folder == Some(self.path.as_str())
    }

    /// Rows of the segment, deleted ones included.
    pub(crate) fn rows(&self) -> u32 {
        self.docs
    }

    /// Words of all rows, every occurrence counted, deleted rows included.
    pub(crate) fn hits(&self) -> u64 {
        self.hits
    }

    /// Bytes of its files, without files of deleted rows.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The id of a row. Errors: `Corrupt`, as all below.
    pub(crate) fn id(&self, doc: u32) -> Result<u64> {
        self.rows.id(doc)
    }

    /// Tells the processor to fetch the id of a row.
    pub(crate) fn fetch_id(&self, doc: u32) {
        self.rows.fetch_id(doc);
    }

    /// Tells the processor to fetch the numbers of a row, and where its bytes are.
    pub(crate) fn fetch_place(&self, doc: u32, columns: impl Iterator<Item = usize>) {
        self.rows.fetch_place(doc, columns);
    }

    /// Tells the processor to fetch the bytes of a row, if one of the columns needs them.
    pub(crate) fn fetch_bytes(&self, doc: u32, columns: impl Iterator<Item = usize>) {
        self.rows.fetch_bytes(doc, columns);
    }

    /// Length class of a row; see [`crate::postings::length_class`].
    pub(crate) fn length_class(&self, doc: u32) -> Result<u8> {
        self.rows.length_class(doc)
    }

    /// Lowest and highest id, deleted rows included. All rows are of one shard, so the lowest id tells which.
    pub(crate) fn id_range(&self) -> (u64, u64) {
        (self.id_first, self.id_last)
    }

    /// The row of an id, deleted or not. Cost: a logarithm of the rows.
    pub(crate) fn find(&self, id: u64) -> Result<Option<u32>> {
        if !(self.id_first..=self.id_last).contains(&id) {
            return Ok(None);
        }
        let doc = self.rows.first_at(id, 0)?;
        Ok((doc < self.docs && self.id(doc)? == id).then_some(doc))
    }

    /// Calls `visit` with the row of each of these ids (rising) that is there, deleted or not.
    /// Cost: for each id a logarithm of how far its row is from where even ids would have it.
    pub(crate) fn find_all(&self, ids: &[u64], visit: &mut impl FnMut(u32)) -> Result<()> {
        let ids = &ids[ids.partition_point(|id| *id < self.id_first)..];
        self.rows.find_all(ids, self.id_last, visit)
    }

    /// The rows that the key of a column has for these codes, as [`super::keys`] has it: deleted rows
    /// included, by code. `None` if they are more than `most`, and if the segment has no such key.
    pub(crate) fn find_by_key(
        &self,
        column: usize,
        codes: &[u64],
        most: usize,
    ) -> Result<Option<Vec<u32>>> {
        self.rows.find_by_key(column, codes, most)
    }

    /// A row with all its columns.
    #[inline]
    pub(crate) fn row(&self, doc: u32) -> Result<StoredRow<'_>> {
        self.rows.row(doc)
    }

    /// Whether a merge wrote the segment that packs long texts.
    pub(crate) fn is_packed(&self) -> bool {
        self.rows.are_packed()
    }

    /// The dictionaries of packed texts, by number.
    pub(super) fn pack_dictionaries(&self) -> Result<Vec<&[u8]>> {
        self.rows.pack_dictionaries()
    }

    /// A column's value, read without the row; `None` for a column that is not kept as numbers.
    pub(crate) fn number(&self, doc: u32, column: usize) -> Result<Option<Value>> {
        self.rows.number(doc, column)
    }

    /// The segment's number in this process.
    pub(crate) fn number_in_process(&self) -> SegmentNumber {
        self.number
    }

    /// A column of neighbouring rows; `None` for a column that is not kept as integers, and where the rows are of several pages.
    pub(crate) fn integers(&self, column: usize, docs: Range<u32>) -> Result<Option<Integers<'_>>> {
        self.rows.integers(column, docs)
    }

    /// A column of neighbouring rows as the bytes of `f64`s; `None` for a column that is not kept as floats.
    pub(crate) fn floats(&self, column: usize, docs: Range<u32>) -> Result<Option<&[[u8; 8]]>> {
        self.rows.floats(column, docs)
    }

    /// The places of neighbouring rows in the list of a column's texts; `None` for a column without a list, and where the rows are
    /// of several pages.
    pub(crate) fn listed(&self, column: usize, docs: Range<u32>) -> Result<Option<Listed<'_>>> {
        self.rows.listed(column, docs)
    }

    /// The numbers at a path of a column's documents, in neighbouring rows from a multiple of 64 on; `None` for a path that is not
    /// kept as numbers.
    pub(crate) fn path_numbers(
        &self,
        column: usize,
        path: &[JsonStep],
        docs: Range<u32>,
    ) -> Result<Option<PathNumbers<'_>>> {
        self.rows.path_numbers(column, path, docs)
    }

    /// The ids of neighbouring rows; `None` where the highest id is no `i64`, and where the rows are of several pages.
    pub(crate) fn id_column(&self, docs: Range<u32>) -> Result<Option<Integers<'_>>> {
        match i64::try_from(self.id_last) {
            Ok(_) => self.rows.id_column(docs),
            Err(_) => Ok(None),
        }
    }

    /// Highest integer of a column, deleted rows included; `None` for a column that is not kept as
    /// integers. Cost: reads the whole column.
    pub(crate) fn highest(&self, column: usize) -> Result<Option<i64>> {
        self.rows.highest(column)
    }

    /// The forward list of a row: its distinct words by rising number, with their counts.
    pub(crate) fn forward(&self, doc: u32) -> Result<Vec<WordCount>> {
        self.rows.forward(doc)
    }

    /// Whether [`Segment::forward`] can be read. Errors: `Corrupt`.
    pub(crate) fn check_forward(&self, doc: u32) -> Result<()> {
        self.rows.check_forward(doc)
    }

    /// Tells the processor to fetch [`Segment::text_ends`] of a row.
    #[inline]
    pub(crate) fn fetch_text_ends(&self, doc: u32) {
        self.rows.fetch_text_ends(doc);
    }

    /// Where a row's fields and sentences end; `None`: nobody knows, since it comes from an older
    /// segment. Errors: `Corrupt`.
    #[inline]
    pub(crate) fn text_ends(&self, doc: u32) -> Result<Option<&[u8]>> {
        self.rows.text_ends(doc)
    }

    /// The common words; the first caller reads them. Cost then: all words.
    pub(super) fn common(&self) -> Result<&CommonWords> {
        if let Some(common) = self.common.get() {
            return Ok(common);
        }
        let common = CommonWords::read(
            &self.dictionary,
            &self.words,
            common_words::least(self.docs),
        )?;
        Ok(self.common.get_or_init(|| common))
    }

    /// The entry of a word, by its number.
    pub(crate) fn word_of(&self, number: u32) -> Result<SegmentWord> {
        let entry = self.words.read(number)?;
        Ok(SegmentWord { number, entry })
    }

    /// Calls `visit` with the number and the text of every word of the dictionary that holds the literal, rising.
    pub(crate) fn each_word(
        &self,
        literal: &Literal,
        visit: &mut dyn FnMut(u32, &str) -> Result<()>,
    ) -> Result<()> {
        self.dictionary.each(
            literal,
            &mut |number, word| match std::str::from_utf8(word) {
                Ok(word) => visit(number, word),
                Err(_) => Ok(()),
            },
        )
    }

    /// Rows and occurrences of a word, deleted rows included.
    pub(crate) fn frequency(&self, word: &SegmentWord) -> Frequency {
        Frequency {
            documents: u64::from(word.entry.documents),
            hits: word.entry.hits,
        }
    }

    /// Whether the segment has pairs.
    pub(crate) fn has_pairs(&self) -> bool {
        self.pairs.is_some()
    }

    /// The pairs of a page; `None` where it has none, and where they are damaged.
    pub(crate) fn pairs(&self, page: usize) -> Option<PairPage<'_>> {
        let pairs = self.pairs.as_ref()?;
        pairs.page(&self.positions, page, self.docs).ok()?
    }

    /// The posting list of a word, read where it lies in the files, places included. Errors:
    /// `Corrupt`.
    pub(crate) fn list(&self, word: &SegmentWord) -> Result<List<'_>> {
        let WordEntry {
            postings,
            positions,
            ..
        } = &word.entry;
        let bytes = self.postings.range(postings.start, postings.end)?;
        let places = self.positions.range(positions.start, positions.end)?;
        let shape = (self.docs, self.list_form);
        List::open(shape, self.many_fields, bytes, places)
            .ok_or_else(|| self.postings.corrupt(postings.start, "not a list of rows"))
    }
}
