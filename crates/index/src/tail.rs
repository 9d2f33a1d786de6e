//! The rows that are not in files yet: append-only postings in memory.
//!
//! A tail is a row of immutable [`Chunk`]s. Each published batch adds one; neighbours are merged geometrically, so that a
//! snapshot is a short list of shared pointers, whatever the number of batches. A row's *ordinal* is its number in the tail,
//! in the order of insertion.

mod chunk;
mod dictionary;
mod radix;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use hashbrown::HashMap;
use query::analysis::Words;
use query::row;
use query::value::Value;

use crate::error::{Error, Result};
use crate::limits;
use crate::postings::{self as encoded, Plain, length_class};
use crate::removed::{Frequency, WordCount};
use chunk::NewRow;

pub(crate) use chunk::{Chunk, List, TailRow};
pub(crate) use dictionary::Dictionary;

/// Chunks of one size class before they are merged into one of the next.
const FAN: usize = 8;

/// Chunks of this many rows are not merged any more: a merge then holds up the writer for a few milliseconds at
/// most, and a tail of 65,536 rows is at most 16 of them and a few small ones.
const CHUNK_ROWS_MAX: usize = 4_096;

/// What a row takes beyond its columns and postings, roughly, for [`Tail::bytes`].
const ROW_BYTES: u64 = 160;

/// What a word takes in the dictionary, in lists and a table that grow by doubling.
const WORD_BYTES: u64 = 96;

/// What one occurrence of a word takes in a chunk and in a forward list, roughly.
const OCCURRENCE_BYTES: u64 = 24;

/// The published rows of a tail.
#[derive(Clone, Default)]
pub(crate) struct Tail {
    pub(crate) dictionary: Arc<Dictionary>,
    /// Neighbours: the first starts at row 0, each other where the one before ends.
    chunks: Vec<Arc<Chunk>>,
    rows: u32,
    hits: u64,
    bytes: u64,
}

/// Rows that were inserted and not published yet, and where each live row is.
#[derive(Default)]
pub(crate) struct TailWriter {
    dictionary: Arc<Dictionary>,
    /// Ordinal of the first row in `rows`.
    first: u32,
    rows: Vec<NewRow>,
    occurrences: Vec<chunk::Occurrence>,
    hits: u64,
    bytes: u64,
    /// Live rows, published or not.
    ordinals: HashMap<u64, u32>,
}

impl Tail {
    /// Rows held, deleted ones included.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Words held, every occurrence counted.
    pub(crate) fn hits(&self) -> u64 {
        self.hits
    }

    /// Memory taken, roughly.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// A row by its ordinal, which must be below [`Tail::rows`].
    pub(crate) fn row(&self, ordinal: u32) -> &Arc<TailRow> {
        let chunk = self.chunks.partition_point(|chunk| chunk.first <= ordinal) - 1;
        let chunk = &self.chunks[chunk];
        &chunk.rows[(ordinal - chunk.first) as usize]
    }

    /// The rows of a word in the form of a segment's; with `places`, also where it stands in them. Cost: a copy of both.
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

    /// Calls `visit` with the ordinals of all rows with one of these ids (sorted), deleted rows included.
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

    /// Takes over what the writer has gathered.
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
            &mut writer.occurrences,
        )));
        writer.first = self.rows;
        writer.occurrences.clear();
        self.merge();
    }

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

/// Powers of [`FAN`].
fn class_of(rows: usize) -> u32 {
    rows.min(CHUNK_ROWS_MAX).ilog(FAN)
}

/// The first entry that is not `before`, found in a logarithm of its distance: for stepping through sorted lists.
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
    /// For a tail that shares the dictionary.
    pub(crate) fn new(tail: &Tail) -> TailWriter {
        TailWriter {
            dictionary: Arc::clone(&tail.dictionary),
            ..TailWriter::default()
        }
    }

    /// The ordinal of the live row of that id.
    pub(crate) fn ordinal(&self, id: u64) -> Option<u32> {
        self.ordinals.get(&id).copied()
    }

    /// Rows inserted and not published yet.
    pub(crate) fn rows(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Memory that they take, roughly.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a row. The caller has made sure that the id is free.
    pub(crate) fn insert(&mut self, id: u64, columns: &[Value], words: &Words) -> Result<()> {
        check(words.places())?;
        if self.first + self.rows() >= limits::TAIL_ROWS_MAX {
            return Err(Error::TailFull);
        }
        let ordinal = self.first + self.rows();
        let occurrences = &mut self.occurrences;
        let new_words = self.dictionary.intern(words, |word, field, position| {
            let position = u32::from(field) << 24 | position;
            occurrences.push(chunk::Occurrence {
                word,
                ordinal,
                position,
            });
        });
        let columns = row::encode(columns).into_boxed_slice();
        let hits = words.len() as u64;
        self.hits += hits;
        self.bytes += columns.len() as u64 + ROW_BYTES + OCCURRENCE_BYTES * hits;
        self.bytes += WORD_BYTES * new_words as u64;
        self.rows.push(NewRow {
            id,
            columns,
            length_class: length_class(hits.try_into().unwrap_or(u32::MAX)),
        });
        self.ordinals.insert(id, ordinal);
        Ok(())
    }

    /// Forgets the rows that are not published; the next one follows the `rows` that are.
    pub(crate) fn rewind(&mut self, rows: u32) {
        self.first = rows;
        self.rows.clear();
        self.occurrences.clear();
        self.hits = 0;
        self.bytes = 0;
    }

    /// Notes the ordinal of the live row of an id; `None`: there is none.
    pub(crate) fn place(&mut self, id: u64, ordinal: Option<u32>) {
        match ordinal {
            Some(ordinal) => self.ordinals.insert(id, ordinal),
            None => self.ordinals.remove(&id),
        };
    }

    /// Forgets where the live row of that id is. Gives its words, by number, with their counts, if it is not published yet.
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

/// Whether every word's place, given as (field, position), fits its 24 bits.
fn check(mut places: impl Iterator<Item = (u8, u32)>) -> Result<()> {
    match places.find(|(_, position)| *position > limits::FIELD_POSITION_MAX) {
        Some((field, _)) => Err(Error::TextTooLong { field }),
        None => Ok(()),
    }
}
