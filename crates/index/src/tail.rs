//! The tail: the rows of a shard that are in no segment yet, with their postings, in memory.
//!
//! A row's *ordinal* is its number in the tail, in the order of insertion. [`TailWriter`] gathers
//! inserted rows; [`Tail::publish`] makes a [`Chunk`] of them, which readers see from the next
//! snapshot on. Example, two batches:
//!
//! ```text
//! batch 1   id 40 "black cat", id 7 "cat"     chunk A   ordinals 0, 1
//! batch 2   id 12 "dog cat cat"               chunk B   ordinal  2
//! dictionary   black 0, cat 1, dog 2          shared by all chunks, in the order of arrival
//! ```
//!
//! Eight chunks of one size class (powers of 8) are merged into one. After 75 batches of one row
//! the tail is `[64, 8, 1, 1, 1]`. So a snapshot is a short list of shared pointers, and a posting
//! is copied once for each class.
//!
//! Invariants:
//! - A published chunk never changes: snapshots share it. A deletion is a bit in the
//!   [`crate::part::Part`] around the tail.
//! - Each chunk starts at the ordinal where the one before ends. [`Tail::row`] finds a row by that.
//! - The dictionary only grows, so a number read by an old snapshot keeps its word.
//! - `ordinals` of the writer has each live row, published or not. Without it a DELETE finds no
//!   row.

mod chunk;
mod dictionary;
mod keys;
mod radix;
mod spare;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use chunk::NewRow;
use hashbrown::HashMap;
use language::analysis::Words;

use crate::error::{Error, Result};
use crate::limits;
use crate::postings::{self as encoded, Plain, length_class};
use crate::removed::{Frequency, WordCount};
use crate::text_ends::TextEnds;

pub(crate) use chunk::{Chunk, List, TailRow};
pub(crate) use dictionary::Dictionary;

/// Number of chunks of one size class that are merged into one of the next.
const FAN: usize = 8;

/// Rows from which on a chunk is not merged any more. So a merge holds up the writer for a few
/// milliseconds at most. A tail of 65,536 rows has at most 16 such chunks and a few small ones.
const CHUNK_ROWS_MAX: usize = 4_096;

/// Memory of a row beside its columns and postings, in bytes, estimated, for [`Tail::bytes`].
const ROW_BYTES: u64 = 160;

/// Memory of a row in the key of one column, in bytes.
const KEY_BYTES: u64 = 16;

/// Memory of a word in the dictionary, in bytes, estimated: its lists and table grow by doubling.
const WORD_BYTES: u64 = 96;

/// Memory of one occurrence in a chunk and in a forward list, in bytes, estimated.
const OCCURRENCE_BYTES: u64 = 24;

/// The published rows of a tail.
#[derive(Clone, Default)]
pub(crate) struct Tail {
    pub(crate) dictionary: Arc<Dictionary>,
    /// The first starts at row 0, each other where the one before ends.
    chunks: Vec<Arc<Chunk>>,
    rows: u32,
    hits: u64,
    bytes: u64,
}

/// The rows that are inserted and not published, and the ordinal of each live row.
#[derive(Default)]
pub(crate) struct TailWriter {
    dictionary: Arc<Dictionary>,
    /// Columns with a KEY.
    keyed: Arc<[u16]>,
    /// Ordinal of the first row in `rows`: the number of published rows.
    first: u32,
    rows: Vec<NewRow>,
    /// Of these rows, in their order. A buffer of the thread's, see [`spare`].
    occurrences: Vec<chunk::Occurrence>,
    hits: u64,
    bytes: u64,
    /// Buffer for the ends of a row's text.
    encoded: Vec<u8>,
    /// Ordinal of each live row by its id, published or not.
    ordinals: HashMap<u64, u32>,
}

impl Tail {
    /// Published rows, deleted ones included.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Words of the published rows, every occurrence counted.
    pub(crate) fn hits(&self) -> u64 {
        self.hits
    }

    /// Memory of the published rows, in bytes, estimated.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The chunks, in the order of their rows.
    pub(crate) fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// A row by its ordinal, which must be below [`Tail::rows`]. Cost: a binary search in the
    /// chunks.
    pub(crate) fn row(&self, ordinal: u32) -> &Arc<TailRow> {
        let chunk = self.chunks.partition_point(|chunk| chunk.first <= ordinal) - 1;
        let chunk = &self.chunks[chunk];
        &chunk.rows[(ordinal - chunk.first) as usize]
    }

    /// The posting list of a word, in the form of a segment's. With `places`, it also has the
    /// word's places. Cost: a copy of the word's postings.
    pub(crate) fn list(&self, word: u32, places: bool) -> encoded::List<'static> {
        let lists: Vec<_> = self
            .chunks
            .iter()
            .filter_map(|chunk| chunk.list(word))
            .collect();
        let (mut codes, mut open, mut plain) = (Vec::new(), Vec::new(), Plain::default());
        for list in &lists {
            for (at, code) in list.codes.iter().enumerate() {
                if encoded::hits_of(*code).is_none() {
                    open.push(((codes.len() + at) as u32, list.hits(at)));
                }
            }
            codes.extend_from_slice(list.codes);
            if places {
                let before = plain.places.len() as u32;
                let (positions, starts) = list.all_positions();
                plain.starts.pop();
                plain.starts.extend(starts.map(|start| before + start));
                plain.places.extend_from_slice(positions);
            }
        }
        let ordinals = lists.iter().flat_map(|list| list.ordinals).copied();
        encoded::List::of_memory(self.rows, ordinals, codes, &open, plain)
    }

    /// Rows and occurrences of a word, deleted rows included.
    pub(crate) fn frequency(&self, word: u32) -> Frequency {
        let mut sum = Frequency::default();
        for list in self.chunks.iter().filter_map(|chunk| chunk.list(word)) {
            let Frequency { documents, hits } = list.frequency();
            sum.documents += documents;
            sum.hits += hits;
        }
        sum
    }

    /// Calls `visit` with the ordinal of each row that has one of these ids (rising), deleted rows
    /// included.
    pub(crate) fn find(&self, ids: &[u64], visit: &mut impl FnMut(u32)) {
        for chunk in &self.chunks {
            let mut rest = chunk.by_id();
            for id in ids {
                rest = &rest[gallop(rest, |entry| entry.0 < *id)..];
                for (_, ordinal) in rest.iter().take_while(|entry| entry.0 == *id) {
                    visit(*ordinal);
                }
                if rest.is_empty() {
                    break;
                }
            }
        }
    }

    /// The ordinals of the rows that have one of these codes (rising, each once) in a keyed column,
    /// deleted rows included, in any order. `None` if they are more than `most`, and if a chunk has
    /// no key of the column. Cost: for each chunk and code a logarithm.
    pub(crate) fn find_by_key(
        &self,
        column: usize,
        codes: &[u64],
        most: usize,
    ) -> Option<Vec<u32>> {
        let mut found = Vec::new();
        for chunk in &self.chunks {
            chunk.find_by_key(column, codes, &mut found)?;
        }
        (found.len() <= most).then_some(found)
    }

    /// Makes a chunk of the writer's rows, and empties the writer.
    pub(crate) fn publish(&mut self, writer: &mut TailWriter) {
        if writer.rows.is_empty() {
            return;
        }
        let rows = std::mem::take(&mut writer.rows);
        self.rows += rows.len() as u32;
        self.hits += std::mem::take(&mut writer.hits);
        self.bytes += std::mem::take(&mut writer.bytes);
        self.chunks.push(Arc::new(Chunk::new(
            writer.first,
            rows,
            &writer.keyed,
            &mut writer.occurrences,
        )));
        writer.first = self.rows;
        spare::keep(std::mem::take(&mut writer.occurrences));
        self.merge();
    }

    /// Merges the last chunks while at least [`FAN`] of them are of the last chunk's class or
    /// below.
    fn merge(&mut self) {
        while let Some(last) = self.chunks.last().map(|chunk| chunk.rows.len()) {
            if last >= CHUNK_ROWS_MAX {
                return;
            }
            let small = |chunk: &&Arc<Chunk>| class_of(chunk.rows.len()) <= class_of(last);
            let first = self.chunks.len() - self.chunks.iter().rev().take_while(small).count();
            if self.chunks.len() - first < FAN {
                return;
            }
            let merged = Chunk::merge(&self.chunks[first..]);
            self.chunks.truncate(first);
            self.chunks.push(Arc::new(merged));
        }
    }
}

/// Size class of a chunk: logarithm to the base [`FAN`] of its rows.
fn class_of(rows: usize) -> u32 {
    rows.min(CHUNK_ROWS_MAX).ilog(FAN)
}

/// Index of the first entry that is not `before`. Cost: a logarithm of that index, so stepping
/// through two sorted lists is cheap where one is much longer.
pub(crate) fn gallop<T>(list: &[T], before: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    while step <= list.len() && before(&list[step - 1]) {
        step *= 2;
    }
    let start = step / 2;
    let end = step.min(list.len());
    start + list[start..end].partition_point(before)
}

impl TailWriter {
    /// A writer for a tail; both use one dictionary. `keyed`: the columns with a KEY.
    pub(crate) fn new(tail: &Tail, keyed: Arc<[u16]>) -> TailWriter {
        TailWriter {
            keyed,
            dictionary: Arc::clone(&tail.dictionary),
            ..TailWriter::default()
        }
    }

    /// Ordinal of the live row of an id.
    pub(crate) fn ordinal(&self, id: u64) -> Option<u32> {
        self.ordinals.get(&id).copied()
    }

    /// Rows that are inserted and not published.
    pub(crate) fn rows(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Memory of these rows, in bytes, estimated.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a row. No live row may have the id. Errors, before anything changed: `TextTooLong`,
    /// `TailFull`.
    pub(crate) fn insert(&mut self, id: u64, columns: Arc<[u8]>, words: &Words) -> Result<()> {
        check(words.places())?;
        if self.first + self.rows() >= limits::TAIL_ROWS_MAX {
            return Err(Error::TailFull);
        }
        let ordinal = self.first + self.rows();
        if self.rows.is_empty() {
            self.occurrences = spare::take();
        }
        let occurrences = &mut self.occurrences;
        let new_words = self.dictionary.intern(words, |word, field, position| {
            let position = u32::from(field) << 24 | position;
            occurrences.push(chunk::Occurrence {
                word,
                ordinal,
                position,
            });
        });
        let hits = words.len() as u64;
        self.hits += hits;
        self.bytes += columns.len() as u64 + ROW_BYTES + OCCURRENCE_BYTES * hits;
        self.bytes += KEY_BYTES * self.keyed.len() as u64;
        self.bytes += WORD_BYTES * new_words as u64;
        self.encoded.clear();
        TextEnds::write(words, &mut self.encoded);
        self.bytes += self.encoded.len() as u64;
        self.rows.push(NewRow {
            id,
            columns,
            text_ends: self.encoded.as_slice().into(),
            length_class: length_class(hits.try_into().unwrap_or(u32::MAX)),
        });
        self.ordinals.insert(id, ordinal);
        Ok(())
    }

    /// Drops the rows that are not published; the next row gets the ordinal `rows`.
    pub(crate) fn rewind(&mut self, rows: u32) {
        self.first = rows;
        self.rows.clear();
        spare::keep(std::mem::take(&mut self.occurrences));
        self.hits = 0;
        self.bytes = 0;
    }

    /// Sets the ordinal of an id's live row; `None`: it has no live row.
    pub(crate) fn place(&mut self, id: u64, ordinal: Option<u32>) {
        match ordinal {
            Some(ordinal) => self.ordinals.insert(id, ordinal),
            None => self.ordinals.remove(&id),
        };
    }

    /// Drops the ordinal of an id's live row. For a row that is not published, also returns its
    /// words by number with their counts: it has no forward list yet.
    pub(crate) fn delete(&mut self, id: u64) -> Option<Vec<WordCount>> {
        let ordinal = self.ordinals.remove(&id)?;
        if ordinal < self.first {
            return None;
        }
        let from = |ordinal| {
            let before = |other: &chunk::Occurrence| other.ordinal < ordinal;
            self.occurrences.partition_point(before)
        };
        let own = &self.occurrences[from(ordinal)..from(ordinal + 1)];
        let mut words: Vec<u32> = own.iter().map(|occurrence| occurrence.word).collect();
        words.sort_unstable();
        let count = |group: &[u32]| WordCount {
            word: group[0],
            hits: group.len() as u32,
        };
        Some(words.chunk_by(|a, b| a == b).map(count).collect())
    }
}

/// Checks that every position fits 24 bits. Errors: `TextTooLong`.
fn check(mut places: impl Iterator<Item = (u8, u32)>) -> Result<()> {
    match places.find(|(_, position)| *position > limits::FIELD_POSITION_MAX) {
        Some((field, _)) => Err(Error::TextTooLong { field }),
        None => Ok(()),
    }
}
