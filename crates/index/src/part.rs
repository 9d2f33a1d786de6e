//! A part: one tail or one segment, with the rows deleted from it.
//!
//! A table's rows are spread over parts. Search sees each part alike: rows numbered from 0, words
//! numbered by the part's dictionary, statistics of live rows only. (In a query's tree, `parts` are
//! operands, and no parts of a table.) Example, a segment of three rows after a deletion of row 1,
//! "cat dog":
//!
//! ```text
//! deleted      {1}
//! removed      cat: 1 row, dog: 1 row
//! postings     cat [0, 1, 2]       unchanged: readers drop row 1
//! frequency    cat: 3 - 1 = 2 live rows
//! ```
//!
//! Invariants:
//! - `changes` has no row of another part, and may have deleted ones. A part's rows and statistics do not depend on it: no text
//!   column is ever changed.
//! - `removed` has exactly the words of the rows in `deleted`; else the statistics, and with them
//!   all weights, would depend on the history of the table.
//! - A published part never changes. The writer clones it (cheap: all that is large is shared), and
//!   changes the clone.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use language::pattern::Literal;
use relation::json::JsonStep;
use relation::value::Value;
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::changes::{ChangedColumn, Changes};
use crate::edits::Edits;
use crate::error::{Error, Result};
use crate::integers::Integers;
use crate::interrupt::Interrupt;
use crate::limits::COUNTED_BYTES_MIN;
use crate::postings::List;
use crate::removed::{Frequency, Removed, WordCount};
use crate::segment::{
    self, Lasts, Listed, PairPage, PathNumbers, Segment, SegmentNumber, SegmentWord, StoredRow,
};
use crate::tail::Tail;

/// Where the rows of a part lie.
#[derive(Clone)]
pub(crate) enum Source {
    Tail(Tail),
    Segment(Arc<Segment>),
}

/// A part of a table. Cloning shares all that is large.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) source: Source,
    /// Rows deleted from the part, by doc or ordinal.
    pub(crate) deleted: Arc<RoaringBitmap>,
    /// Words of these rows, to be taken off the statistics.
    pub(crate) removed: Removed,
    /// Values set since the rows were written.
    pub(crate) changes: Changes,
}

/// A word of a part's dictionary that at least one live row holds.
pub(crate) struct PartWord {
    place: WordLocation,
    /// Live rows that hold it, and its occurrences in them.
    pub(crate) frequency: Frequency,
}

/// A column of a row that may be a text.
pub(crate) enum WrittenText<'p> {
    /// It is this one, in UTF-8.
    Text(Cow<'p, [u8]>),
    /// It may be one, and has more bytes than were wanted.
    TooLong,
    /// The column has another value.
    Other,
}

/// Where the part's dictionary has the word.
enum WordLocation {
    Tail(u32),
    Segment(SegmentWord),
}

/// A look-up of a word in a part, step by step, as [`segment::LookUp`].
pub(crate) struct LookUp<'p> {
    source: LookUpIn<'p>,
    removed: &'p Removed,
}

enum LookUpIn<'p> {
    Tail(&'p Tail, Option<u32>),
    Segment(&'p Segment, segment::LookUp<'p>),
}

impl PartWord {
    /// Its number in the segment's dictionary; `None` of a tail's word.
    pub(crate) fn number_in_segment(&self) -> Option<u32> {
        match &self.place {
            WordLocation::Tail(_) => None,
            WordLocation::Segment(word) => Some(word.number),
        }
    }
}

impl LookUp<'_> {
    /// Steps after which a look-up has nothing left to read.
    pub(crate) const STEPS: usize = 4;

    /// Tells the processor to fetch what the next step reads.
    pub(crate) fn fetch(&self) {
        if let LookUpIn::Segment(_, look_up) = &self.source {
            look_up.fetch();
        }
    }

    /// Takes a step. Errors: `Io`, `Corrupt`, as below.
    pub(crate) fn step(&mut self) -> Result<()> {
        match &mut self.source {
            LookUpIn::Tail(..) => Ok(()),
            LookUpIn::Segment(_, look_up) => look_up.step(),
        }
    }

    /// The word, if a live row of the part holds it. Takes the steps that are left.
    pub(crate) fn end(self) -> Result<Option<PartWord>> {
        let (number, all, place) = match self.source {
            LookUpIn::Tail(_, None) => return Ok(None),
            LookUpIn::Tail(tail, Some(number)) => {
                (number, tail.frequency(number), WordLocation::Tail(number))
            }
            LookUpIn::Segment(segment, look_up) => match look_up.end()? {
                Some(word) => (
                    word.number,
                    segment.frequency(&word),
                    WordLocation::Segment(word),
                ),
                None => return Ok(None),
            },
        };
        Ok(PartWord::of_live(
            all,
            self.removed.frequency(number),
            place,
        ))
    }
}

impl PartWord {
    /// The word at a place, if a live row holds it. `all`: its frequency among all rows, `gone`: among deleted ones.
    fn of_live(all: Frequency, gone: Frequency, place: WordLocation) -> Option<PartWord> {
        let frequency = Frequency {
            documents: all.documents - gone.documents,
            hits: all.hits - gone.hits,
        };
        (frequency.documents > 0).then_some(PartWord { place, frequency })
    }
}

impl Part {
    /// A part without deleted rows.
    pub(crate) fn new(source: Source) -> Part {
        Part {
            source,
            deleted: Arc::default(),
            removed: Removed::default(),
            changes: Changes::default(),
        }
    }

    /// Deleted rows and changed values, as they are now.
    pub(crate) fn edits(&self) -> Edits {
        Edits {
            deleted: Arc::clone(&self.deleted),
            changes: self.changes.clone(),
        }
    }

    /// Whether the part has no other edits than these, which it has all.
    pub(crate) fn has_only(&self, edits: &Edits) -> bool {
        edits.deleted.len() == self.deleted.len() && edits.changes.is_same(&self.changes)
    }

    /// Rows of the part, deleted ones included.
    pub(crate) fn rows(&self) -> u32 {
        match &self.source {
            Source::Tail(tail) => tail.rows(),
            Source::Segment(segment) => segment.rows(),
        }
    }

    /// Rows that are not deleted. Only of a published tail: a row that is deleted before it is
    /// published is in `deleted`, but not among the tail's rows.
    pub(crate) fn rows_live(&self) -> u64 {
        u64::from(self.rows()) - self.deleted.len()
    }

    /// The rows that are not deleted, rising.
    pub(crate) fn live_docs(&self) -> impl Iterator<Item = u32> {
        (0..self.rows()).filter(|doc| self.is_live(*doc))
    }

    /// Number of rows of a range that are not deleted.
    pub(crate) fn rows_live_in(&self, docs: Range<u32>) -> u64 {
        u64::from(docs.end - docs.start) - self.deleted.range_cardinality(docs)
    }

    /// Words of live rows, every occurrence counted.
    pub(crate) fn hits(&self) -> u64 {
        let all = match &self.source {
            Source::Tail(tail) => tail.hits(),
            Source::Segment(segment) => segment.hits(),
        };
        all - self.removed.hits()
    }

    /// Bytes of the segment's files; 0 of a tail.
    pub(crate) fn segment_bytes(&self) -> u64 {
        match &self.source {
            Source::Tail(_) => 0,
            Source::Segment(segment) => segment.bytes(),
        }
    }

    /// Whether a file belongs to this part. `file`: its path below the disk's root.
    pub(crate) fn has_file(&self, file: &str) -> bool {
        match &self.source {
            Source::Tail(_) => false,
            Source::Segment(segment) => segment.has_file(file),
        }
    }

    /// Whether rows are numbered by rising id: true of a segment, not of a tail.
    pub(crate) fn is_sorted(&self) -> bool {
        matches!(self.source, Source::Segment(_))
    }

    pub(crate) fn is_live(&self, doc: u32) -> bool {
        self.deleted.is_empty() || !self.deleted.contains(doc)
    }

    /// The id of a row. Errors: `Io`, `Corrupt`, as all below.
    pub(crate) fn id(&self, doc: u32) -> Result<u64> {
        match &self.source {
            Source::Tail(tail) => Ok(tail.row(doc).id),
            Source::Segment(segment) => segment.id(doc),
        }
    }

    /// Lowest and highest id, deleted rows included; `None` of a tail.
    pub(crate) fn id_range(&self) -> Option<(u64, u64)> {
        match &self.source {
            Source::Tail(_) => None,
            Source::Segment(segment) => Some(segment.id_range()),
        }
    }

    /// Tells the processor to fetch the id of a row that will be read soon.
    pub(crate) fn fetch_id(&self, doc: u32) {
        if let Source::Segment(segment) = &self.source {
            segment.fetch_id(doc);
        }
    }

    /// Tells the processor to fetch the numbers of a row that will be read soon, and where its bytes are.
    pub(crate) fn fetch_place(&self, doc: u32, columns: impl Iterator<Item = usize>) {
        if let Source::Segment(segment) = &self.source {
            segment.fetch_place(doc, columns);
        }
    }

    /// As [`Part::fetch_place`], its bytes, if one of the columns needs them.
    pub(crate) fn fetch_bytes(&self, doc: u32, columns: impl Iterator<Item = usize>) {
        if let Source::Segment(segment) = &self.source {
            segment.fetch_bytes(doc, columns);
        }
    }

    /// The live rows that have one of these ids (rising, each once), by rising doc.
    pub(crate) fn find_all(&self, ids: &[u64]) -> Result<Vec<u32>> {
        let mut docs = Vec::new();
        let mut visit = |doc| {
            if self.is_live(doc) {
                docs.push(doc);
            }
        };
        match &self.source {
            Source::Tail(tail) => tail.find(ids, &mut visit),
            Source::Segment(segment) => segment.find_all(ids, &mut visit)?,
        }
        docs.sort_unstable();
        Ok(docs)
    }

    /// The rows that may have a value with one of these codes ([`relation::key::code`]; rising, each
    /// once) in a column: all live rows that have one, and others. They rise. `None` if they are
    /// more than `most`, and if the part has no key of the column: then every row may have one.
    /// Cost: a logarithm for each code, and a look at each value of the column that was changed
    /// since. Errors: `Corrupt`, of a damaged key; all rows can be read all the same.
    pub(crate) fn find_by_key(
        &self,
        column: usize,
        codes: &[u64],
        most: usize,
    ) -> Result<Option<Vec<u32>>> {
        let found = match &self.source {
            Source::Tail(tail) => tail.find_by_key(column, codes, most),
            Source::Segment(segment) => segment.find_by_key(column, codes, most)?,
        };
        Ok(found.map(|mut docs| {
            if let Some(changed) = self.changes.of(column) {
                changed.find(codes, &mut docs); // rows that had these values before stay candidates
            }
            docs.retain(|doc| self.is_live(*doc));
            docs.sort_unstable();
            docs.dedup();
            docs
        }))
    }

    /// All columns of a row.
    pub(crate) fn columns(&self, doc: u32) -> Result<Vec<Value>> {
        let mut values = self.stored(doc)?.decode()?.ok_or_else(|| not_a_row(doc))?;
        self.changes.apply(doc, &mut values);
        Ok(values)
    }

    /// One column of a row. A column that the segment keeps as numbers, or as a list of texts, is read without the row.
    pub(crate) fn column(&self, doc: u32, column: usize) -> Result<Value> {
        match self.column_apart(doc, column)? {
            Some(value) => Ok(value),
            None => self.stored_column(&self.stored(doc)?, doc, column),
        }
    }

    /// As [`Part::column`]. The copy of a long value is counted before it is made. Errors also: `Interrupted`; then nothing was read.
    pub(crate) fn column_within(
        &self,
        doc: u32,
        column: usize,
        interrupt: &Interrupt,
    ) -> Result<Value> {
        if let Some(value) = self.column_apart(doc, column)? {
            return Ok(value);
        }
        let row = self.stored(doc)?;
        count_copy(row.column_bytes(column), interrupt)?;
        self.stored_column(&row, doc, column)
    }

    /// One column of a row, if it does not stand in the row itself.
    #[inline]
    fn column_apart(&self, doc: u32, column: usize) -> Result<Option<Value>> {
        if let Some(changed) = self.changes.value(column, doc) {
            return Ok(Some(changed));
        }
        if let Source::Segment(segment) = &self.source
            && let Some(number) = segment.number(doc, column)?
        {
            return Ok(Some(number));
        }
        match self.listed(column, doc..doc + 1) {
            Ok(Some(listed)) => Ok(Some(listed.value(0))),
            _ => Ok(None),
        }
    }

    #[inline]
    fn stored_column(&self, row: &StoredRow<'_>, doc: u32, column: usize) -> Result<Value> {
        row.column(column)?.ok_or_else(|| not_a_row(doc))
    }

    /// Bytes of a column of a row; 0 below [`COUNTED_BYTES_MIN`], and for a value that does not stand in the row itself. Cost: as of
    /// finding the row; its texts are not read.
    pub(crate) fn column_bytes(&self, doc: u32, column: usize) -> Result<usize> {
        Ok(self.stored(doc)?.column_bytes(column))
    }

    /// A row's text as it was written, if it has at most `most` bytes: see [`Part::changed`]. A long text is counted as by
    /// [`Part::column_within`].
    #[inline]
    pub(crate) fn written_text(
        &self,
        doc: u32,
        column: usize,
        most: usize,
        interrupt: &Interrupt,
    ) -> Result<WrittenText<'_>> {
        let row = self.stored(doc)?;
        let bytes = row.column_bytes(column);
        if bytes > most {
            return Ok(WrittenText::TooLong);
        }
        count_copy(bytes, interrupt)?;
        Ok(match row.text(column)?.ok_or_else(|| not_a_row(doc))? {
            None => WrittenText::Other,
            Some(text) if text.len() > most => WrittenText::TooLong,
            Some(text) => WrittenText::Text(text),
        })
    }

    /// What stands at a path in a row's document; NULL where the column has none.
    pub(crate) fn column_at(&self, doc: u32, column: usize, path: &[JsonStep]) -> Result<Value> {
        if let Some(changed) = self.changes.value(column, doc) {
            return Ok(changed.at_path(path));
        }
        let value = self.stored(doc)?.at_path(column, path);
        value.ok_or_else(|| not_a_row(doc))
    }

    /// The segment's number, never reused by this process; `None` of a tail.
    pub(crate) fn segment_number(&self) -> Option<SegmentNumber> {
        match &self.source {
            Source::Tail(_) => None,
            Source::Segment(segment) => Some(segment.number_in_process()),
        }
    }

    /// The values of a column that were set since its rows were written; `None` if there are none.
    pub(crate) fn changed(&self, column: usize) -> Option<&ChangedColumn> {
        self.changes.of(column)
    }

    /// A column of neighbouring rows, as the rows were written: see [`Part::changed`]. `None` of a tail, of a column that the
    /// segment does not keep as integers, and of rows of several pages.
    pub(crate) fn integers(&self, column: usize, docs: Range<u32>) -> Result<Option<Integers<'_>>> {
        match &self.source {
            Source::Tail(_) => Ok(None),
            Source::Segment(segment) => segment.integers(column, docs),
        }
    }

    /// A column of neighbouring rows as the bytes of `f64`s, as the rows were written: see [`Part::changed`]. `None` of a tail, and of
    /// a column that the segment does not keep as floats.
    pub(crate) fn floats(&self, column: usize, docs: Range<u32>) -> Result<Option<&[[u8; 8]]>> {
        match &self.source {
            Source::Tail(_) => Ok(None),
            Source::Segment(segment) => segment.floats(column, docs),
        }
    }

    /// The places of neighbouring rows in the list of a column's texts, as the rows were written: see [`Part::changed`]. `None` of
    /// a tail, of a column without a list, and of rows of several pages.
    pub(crate) fn listed(&self, column: usize, docs: Range<u32>) -> Result<Option<Listed<'_>>> {
        match &self.source {
            Source::Tail(_) => Ok(None),
            Source::Segment(segment) => segment.listed(column, docs),
        }
    }

    /// The numbers at a path of a column's documents, in neighbouring rows from a multiple of 64 on, as the rows were written: see
    /// [`Part::changed`]. `None` of a tail, and of a path that the segment does not keep as numbers.
    pub(crate) fn path_numbers(
        &self,
        column: usize,
        path: &[JsonStep],
        docs: Range<u32>,
    ) -> Result<Option<PathNumbers<'_>>> {
        match &self.source {
            Source::Tail(_) => Ok(None),
            Source::Segment(segment) => segment.path_numbers(column, path, docs),
        }
    }

    /// The ids of neighbouring rows; `None` of a tail, where the highest id is no `i64`, and where the rows are of several pages.
    pub(crate) fn id_column(&self, docs: Range<u32>) -> Result<Option<Integers<'_>>> {
        match &self.source {
            Source::Tail(_) => Ok(None),
            Source::Segment(segment) => segment.id_column(docs),
        }
    }

    /// The forward list of a row: its distinct words by rising number, with their counts.
    pub(crate) fn forward(&self, doc: u32) -> Result<Vec<WordCount>> {
        match &self.source {
            Source::Tail(tail) => Ok(tail.row(doc).words().to_vec()),
            Source::Segment(segment) => segment.forward(doc),
        }
    }

    /// Whether [`Part::forward`] can be read. Errors: `Io`, `Corrupt`.
    pub(crate) fn check_forward(&self, doc: u32) -> Result<()> {
        match &self.source {
            Source::Tail(_) => Ok(()),
            Source::Segment(segment) => segment.check_forward(doc),
        }
    }

    /// Tells the processor to fetch [`Part::text_ends`] of a row.
    #[inline]
    pub(crate) fn fetch_text_ends(&self, doc: u32) {
        if let Source::Segment(segment) = &self.source {
            segment.fetch_text_ends(doc);
        }
    }

    /// Where a row's fields and sentences end; `None`: only its text tells. Errors: `Corrupt`.
    #[inline]
    pub(crate) fn text_ends(&self, doc: u32) -> Result<Option<&[u8]>> {
        match &self.source {
            Source::Tail(tail) => Ok(Some(&tail.row(doc).text_ends)),
            Source::Segment(segment) => segment.text_ends(doc),
        }
    }

    /// As [`Segment::lasts`]; `None` of a tail, whose rows are in memory.
    pub(crate) fn lasts(
        &self,
        page: usize,
        asked: usize,
        fields: usize,
    ) -> Result<Option<Lasts<'_>>> {
        match &self.source {
            Source::Tail(_) => Ok(None),
            Source::Segment(segment) => segment.lasts(page, asked, fields),
        }
    }

    /// A word of this part, if a live row holds it.
    pub(crate) fn word(&self, text: &str) -> Result<Option<PartWord>> {
        self.look_up(text)?.end()
    }

    /// As [`Part::word`], for a word by its number. `number`: as [`Part::each_word`] told it.
    pub(crate) fn numbered(&self, number: u32) -> Result<Option<PartWord>> {
        let gone = self.removed.frequency(number);
        let (all, place) = match &self.source {
            Source::Tail(tail) => (tail.frequency(number), WordLocation::Tail(number)),
            Source::Segment(segment) => {
                let word = segment.word_of(number)?;
                (segment.frequency(&word), WordLocation::Segment(word))
            }
        };
        Ok(PartWord::of_live(all, gone, place))
    }

    /// Starts to look a word of this part up.
    pub(crate) fn look_up<'p>(&'p self, text: &'p str) -> Result<LookUp<'p>> {
        let source = match &self.source {
            Source::Tail(tail) => LookUpIn::Tail(tail, tail.dictionary.find(text)),
            Source::Segment(segment) => LookUpIn::Segment(segment, segment.look_up(text)?),
        };
        Ok(LookUp {
            source,
            removed: &self.removed,
        })
    }

    /// Calls `visit` with the number and the text of the words of the part that hold the literal, those of
    /// deleted rows included. Cost: all words of a tail; of a segment, as
    /// [`Segment::each_word`](crate::segment::Segment::each_word). Errors: the first of `visit`; `Io`, `Corrupt`.
    pub(crate) fn each_word(
        &self,
        literal: &Literal,
        visit: &mut dyn FnMut(u32, &str) -> Result<()>,
    ) -> Result<()> {
        match &self.source {
            Source::Tail(tail) => tail.dictionary.each(literal, visit),
            Source::Segment(segment) => segment.each_word(literal, visit),
        }
    }

    /// The posting list of a word of this part, deleted rows included. With `places`, a tail's list
    /// has places too; a segment's always has.
    pub(crate) fn list(&self, word: &PartWord, places: bool) -> Result<List<'_>> {
        match (&self.source, &word.place) {
            (Source::Tail(tail), WordLocation::Tail(number)) => Ok(tail.list(*number, places)),
            (Source::Segment(segment), WordLocation::Segment(word)) => segment.list(word),
            _ => Err(Error::Internal {
                what: "a word of one part was looked up in another".into(),
            }),
        }
    }

    /// Whether it is a segment with pairs.
    pub(crate) fn has_pairs(&self) -> bool {
        matches!(&self.source, Source::Segment(segment) if segment.has_pairs())
    }

    /// The pairs of a page; `None` where it has none.
    pub(crate) fn pairs(&self, page: usize) -> Option<PairPage<'_>> {
        match &self.source {
            Source::Tail(_) => None,
            Source::Segment(segment) => segment.pairs(page),
        }
    }

    /// Deletes a row: takes it out of the statistics and of every answer. `words`: its forward
    /// list. Cost: its words, and a copy of the bitmap if a snapshot shares it.
    pub(crate) fn remove(&mut self, doc: u32, words: &[WordCount]) {
        Arc::make_mut(&mut self.deleted).insert(doc);
        self.removed.add(words);
    }

    /// Deletes many rows, none of which is deleted yet. `words`: those of these rows. Cost: as of the bitmaps.
    pub(crate) fn remove_with(&mut self, docs: &RoaringBitmap, words: &Removed) {
        *Arc::make_mut(&mut self.deleted) |= docs;
        self.removed.join(words);
    }

    /// Deletes many rows, none of which is deleted yet. Cost: reads their forward lists.
    pub(crate) fn remove_all(&mut self, docs: &RoaringBitmap) -> Result<()> {
        let mut counts: FxHashMap<u32, Frequency> = FxHashMap::default();
        for doc in docs {
            for WordCount { word, hits } in self.forward(doc)? {
                let sum = counts.entry(word).or_default();
                sum.documents += 1;
                sum.hits += u64::from(hits);
            }
        }
        *Arc::make_mut(&mut self.deleted) |= docs;
        self.removed.add_counts(counts.into_iter().collect());
        Ok(())
    }

    #[inline]
    fn stored(&self, doc: u32) -> Result<StoredRow<'_>> {
        match &self.source {
            Source::Tail(tail) => Ok(StoredRow::whole_row(&tail.row(doc).columns)),
            Source::Segment(segment) => segment.row(doc),
        }
    }
}

/// Bytes that are read and copied for a unit.
const COPIED_BYTES: u64 = 2;

/// Counts the copy of a value before it is made. Errors: `Interrupted`.
#[inline]
pub(crate) fn count_copy(bytes: usize, interrupt: &Interrupt) -> Result<()> {
    if bytes < COUNTED_BYTES_MIN {
        return Ok(());
    }
    interrupt.spend(bytes as u64 / COPIED_BYTES);
    interrupt.check()
}

fn not_a_row(doc: u32) -> Error {
    Error::Internal {
        what: format!("row {doc} of a part is not an encoded row"),
    }
}
