//! A chunk: the rows of one or more published batches and their postings, immutable.
//!
//! Example: chunk A of the parent module, with rows 0 ("black cat") and 1 ("cat"); black is word 0,
//! cat is word 1.
//!
//! ```text
//! words             [0, 1]
//! starts            [0, 1, 3]       cat's postings are 1 .. 3
//! ordinals          [0, 0, 1]       cat stands in rows 0 and 1
//! codes             [33, 33, 32]    once in a row of 2 words; once in a row of 1
//! position_starts   [0, 1, 2, 3]
//! positions         [1, 2, 1]       cat: position 2 of row 0, position 1 of row 1
//! ```
//!
//! Invariants: `words` rises; in a word's range `ordinals` rise; in a row's range `positions` rise;
//! `starts` and `position_starts` have one entry more than lists and postings. Look-ups, merges of
//! chunks and the sealing of a segment read the arrays without a check.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::keys::ChunkKey;
use super::radix::by_number;
use super::spare;
use crate::postings::code;
use crate::removed::{Frequency, WordCount};

/// One row in memory. All chunks and snapshots that hold it share it; a merge copies the pointer.
pub(crate) struct TailRow {
    /// Document id.
    pub(crate) id: u64,
    /// Encoded columns; see [`relation::row`].
    pub(crate) columns: Arc<[u8]>,
    /// The forward lists of all rows that were published with this one, row behind row.
    forward: Arc<Vec<WordCount>>,
    /// The range of this row's forward list in `forward`.
    own: Range<u32>,
    /// Class of the row's length, for the codes of its postings.
    pub(crate) length_class: u8,
    /// Where its fields and sentences end; see [`crate::text_ends::TextEnds`].
    pub(crate) text_ends: RowTextEnds,
}

/// The ends of a row. Those of two fields without sentences take no memory of their own.
pub(super) type RowTextEnds = SmallVec<[u8; 16]>;

/// A row that is in no chunk yet, and so has no forward list.
pub(super) struct NewRow {
    pub(super) id: u64,
    pub(super) columns: Arc<[u8]>,
    pub(super) length_class: u8,
    pub(super) text_ends: RowTextEnds,
}

/// Rows `first .. first + rows.len()` of a tail, and their postings in flat arrays.
///
/// Word `words[i]` stands in the rows `ordinals[starts[i] .. starts[i + 1]]`. In row `ordinals[j]`
/// it has the code `codes[j]` and stands at `positions[position_starts[j] .. position_starts[j +
/// 1]]`, each `field << 24 | position`.
#[derive(Default)]
pub(crate) struct Chunk {
    pub(crate) first: u32,
    pub(crate) rows: Vec<Arc<TailRow>>,
    /// `(id, ordinal)`, sorted. An id comes twice if its earlier row was deleted.
    by_id: Vec<(u64, u32)>,
    keys: Vec<ChunkKey>,
    words: Vec<u32>,
    starts: Vec<u32>,
    ordinals: Vec<u32>,
    codes: Vec<u8>,
    position_starts: Vec<u32>,
    positions: Vec<u32>,
}

/// The postings of one word in one chunk.
#[derive(Clone, Copy)]
pub(crate) struct List<'a> {
    /// Rising; never empty.
    pub(crate) ordinals: &'a [u32],
    /// See [`crate::postings::code`].
    pub(crate) codes: &'a [u8],
    /// Start of each row's positions, then the end of the last: one entry more than rows.
    position_starts: &'a [u32],
    positions: &'a [u32],
}

/// One occurrence of a word, before its chunk is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence {
    pub(crate) word: u32,
    pub(crate) ordinal: u32,
    pub(crate) position: u32,
}

/// Whether two occurrences are of one word in one row.
fn is_of_one_posting(one: &Occurrence, other: &Occurrence) -> bool {
    one.word == other.word && one.ordinal == other.ordinal
}

impl TailRow {
    /// The row's forward list: its distinct words by rising number, with their counts.
    pub(crate) fn words(&self) -> &[WordCount] {
        &self.forward[self.own.start as usize..self.own.end as usize]
    }
}

impl Chunk {
    /// Makes a chunk of new rows. `first`: ordinal of the first. `occurrences`: row by row; those
    /// of one word in a row by rising place. Sorts them by word.
    /// `keyed`: the columns with a KEY.
    pub(super) fn new(
        first: u32,
        rows: Vec<NewRow>,
        keyed: &[u16],
        occurrences: &mut Vec<Occurrence>,
    ) -> Chunk {
        let mut sorted = spare::take();
        by_number(occurrences, &mut sorted, |occurrence| occurrence.word);
        spare::keep(sorted);
        debug_assert!(occurrences.is_sorted());
        let mut by_id: Vec<(u64, u32)> =
            (first..).zip(&rows).map(|(at, row)| (row.id, at)).collect();
        by_id.sort_unstable();
        let mut chunk = Chunk {
            first,
            by_id,
            keys: ChunkKey::all(keyed, first, rows.iter().map(|row| &*row.columns)),
            ..Chunk::default()
        };
        chunk.positions.reserve_exact(occurrences.len());
        chunk.reserve_lists(occurrences);
        for group in occurrences.chunk_by(is_of_one_posting) {
            let Occurrence { word, ordinal, .. } = group[0];
            if chunk.words.last() != Some(&word) {
                chunk.words.push(word);
                chunk.starts.push(chunk.ordinals.len() as u32);
            }
            chunk.ordinals.push(ordinal);
            let row = &rows[(ordinal - first) as usize];
            chunk.codes.push(code(group.len() as u32, row.length_class));
            chunk.position_starts.push(chunk.positions.len() as u32);
            chunk
                .positions
                .extend(group.iter().map(|occurrence| occurrence.position));
        }
        chunk.close();
        chunk.take_rows(rows);
        chunk
    }

    /// Takes the memory of all lists at once, and no more than they need: lists that grow are copied, and half of their memory stays
    /// unused for as long as the chunk lives.
    fn reserve_lists(&mut self, sorted: &[Occurrence]) {
        let (mut words, mut postings) = (0, 0);
        let mut before: Option<&Occurrence> = None;
        for occurrence in sorted {
            words += usize::from(before.is_none_or(|before| before.word != occurrence.word));
            let is_new = before.is_none_or(|before| !is_of_one_posting(before, occurrence));
            postings += usize::from(is_new);
            before = Some(occurrence);
        }
        self.words.reserve_exact(words);
        self.starts.reserve_exact(words + 1);
        self.ordinals.reserve_exact(postings);
        self.codes.reserve_exact(postings);
        self.position_starts.reserve_exact(postings + 1);
    }

    /// Merges neighbouring chunks, given in order, into one. Cost: one copy of their postings; rows
    /// are shared.
    pub(crate) fn merge(chunks: &[Arc<Chunk>]) -> Chunk {
        let mut merged = Chunk {
            first: chunks.first().map_or(0, |chunk| chunk.first),
            ..Chunk::default()
        };
        merged.reserve(chunks);
        for chunk in chunks {
            merged.rows.extend(chunk.rows.iter().cloned());
            merged.by_id.extend(&chunk.by_id);
        }
        merged.by_id.sort(); // sorted runs: the standard sort merges them
        let keys: Vec<&[ChunkKey]> = chunks.iter().map(|chunk| &chunk.keys[..]).collect();
        merged.keys = ChunkKey::merge(&keys);
        let mut entries: Vec<(u32, u16, u32)> = Vec::new();
        for (chunk, source) in chunks.iter().zip(0u16..) {
            entries.extend(
                chunk
                    .words
                    .iter()
                    .zip(0..)
                    .map(|(word, entry)| (*word, source, entry)),
            );
        }
        by_number(&mut entries, &mut Vec::new(), |entry| entry.0);
        for (word, source, entry) in entries {
            if merged.words.last() != Some(&word) {
                merged.words.push(word);
                merged.starts.push(merged.ordinals.len() as u32);
            }
            merged.append(chunks[usize::from(source)].list_at(entry as usize));
        }
        merged.close();
        merged
    }

    /// The postings of a word; `None` where no row of the chunk holds it.
    pub(crate) fn list(&self, word: u32) -> Option<List<'_>> {
        self.words
            .binary_search(&word)
            .ok()
            .map(|entry| self.list_at(entry))
    }

    /// `(id, ordinal)` of every row, sorted.
    pub(crate) fn by_id(&self) -> &[(u64, u32)] {
        &self.by_id
    }

    /// Appends the ordinals of the rows that have one of these codes (rising, each once) in a keyed
    /// column. `None` if the chunk has no key of the column.
    pub(super) fn find_by_key(
        &self,
        column: usize,
        codes: &[u64],
        out: &mut Vec<u32>,
    ) -> Option<()> {
        ChunkKey::of(&self.keys, column)?.find(codes, out);
        Some(())
    }

    /// Every word with its postings, by rising number.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (u32, List<'_>)> {
        (0..self.words.len()).map(|entry| (self.words[entry], self.list_at(entry)))
    }

    /// The postings of the word at index `entry` of [`Chunk::lists`].
    pub(crate) fn list_at(&self, entry: usize) -> List<'_> {
        let (start, end) = (self.starts[entry] as usize, self.starts[entry + 1] as usize);
        List {
            ordinals: &self.ordinals[start..end],
            codes: &self.codes[start..end],
            position_starts: &self.position_starts[start..=end],
            positions: &self.positions,
        }
    }

    /// Takes in the rows and makes their forward lists from the postings. Words come by rising
    /// number, so each row's list is in order as well.
    fn take_rows(&mut self, rows: Vec<NewRow>) {
        let mut places = vec![0u32; rows.len()];
        for ordinal in &self.ordinals {
            places[(ordinal - self.first) as usize] += 1;
        }
        let mut sum = 0;
        for place in &mut places {
            sum += std::mem::replace(place, sum);
        }
        let mut forward = vec![WordCount { word: 0, hits: 0 }; self.ordinals.len()];
        for (word, list) in self.lists() {
            for (at, ordinal) in list.ordinals.iter().enumerate() {
                let place = &mut places[(ordinal - self.first) as usize];
                let hits = list.hits(at);
                forward[*place as usize] = WordCount { word, hits };
                *place += 1;
            }
        }
        let forward = Arc::new(forward);
        let mut start = 0;
        let with_words = rows.into_iter().zip(places).map(|(row, end)| {
            let own = std::mem::replace(&mut start, end)..end;
            Arc::new(TailRow {
                id: row.id,
                columns: row.columns,
                forward: Arc::clone(&forward),
                own,
                length_class: row.length_class,
                text_ends: row.text_ends,
            })
        });
        self.rows = with_words.collect();
    }

    fn append(&mut self, list: List<'_>) {
        let moved = self.positions.len() as u32;
        let from = list.position_starts[0];
        self.ordinals.extend_from_slice(list.ordinals);
        self.codes.extend_from_slice(list.codes);
        let starts = &list.position_starts[..list.ordinals.len()];
        self.position_starts
            .extend(starts.iter().map(|start| start - from + moved));
        let until = list.position_starts[list.ordinals.len()];
        self.positions
            .extend_from_slice(&list.positions[from as usize..until as usize]);
    }

    fn reserve(&mut self, chunks: &[Arc<Chunk>]) {
        let sum =
            |length: fn(&Chunk) -> usize| chunks.iter().map(|chunk| length(chunk)).sum::<usize>();
        self.rows.reserve_exact(sum(|chunk| chunk.rows.len()));
        self.by_id.reserve_exact(sum(|chunk| chunk.by_id.len()));
        self.ordinals
            .reserve_exact(sum(|chunk| chunk.ordinals.len()));
        self.codes.reserve_exact(sum(|chunk| chunk.codes.len()));
        self.position_starts
            .reserve_exact(sum(|chunk| chunk.position_starts.len()));
        self.positions
            .reserve_exact(sum(|chunk| chunk.positions.len()));
    }

    /// Adds the last ends, so that every list is the range `[i] .. [i + 1]`.
    fn close(&mut self) {
        self.starts.push(self.ordinals.len() as u32);
        self.position_starts.push(self.positions.len() as u32);
    }
}

impl<'a> List<'a> {
    /// The word's positions in the `at`-th row of the list.
    pub(crate) fn positions(&self, at: usize) -> &'a [u32] {
        let range = self.position_starts[at] as usize..self.position_starts[at + 1] as usize;
        &self.positions[range]
    }

    /// The word's positions in all rows of the list, row behind row, and the start of each row's:
    /// one more than rows.
    pub(crate) fn all_positions(&self) -> (&'a [u32], impl Iterator<Item = u32> + 'a) {
        let starts = self.position_starts;
        let (first, end) = (starts[0], starts[self.ordinals.len()]);
        let positions = &self.positions[first as usize..end as usize];
        (positions, starts.iter().map(move |start| start - first))
    }

    /// The word's occurrences in the `at`-th row of the list.
    pub(crate) fn hits(&self, at: usize) -> u32 {
        self.position_starts[at + 1] - self.position_starts[at]
    }

    /// Rows and occurrences of the word.
    pub(crate) fn frequency(&self) -> Frequency {
        let documents = self.ordinals.len();
        let hits = self.position_starts[documents] - self.position_starts[0];
        Frequency {
            documents: documents as u64,
            hits: u64::from(hits),
        }
    }
}
