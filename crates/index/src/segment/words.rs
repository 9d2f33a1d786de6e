//! The file `words`: for each word, by number, its counts and the ends of its lists.
//!
//! Each entry has 28 bytes. A list starts where the list of the word before ends, so an entry is
//! read together with its predecessor.

use std::io::{self, Write};
use std::ops::Range;

use super::checked::{CheckedFile, SummedWriter};
use crate::error::Result;

/// Rows (4 bytes), occurrences (8), end of its list in `postings` (8), end in `positions` (8).
pub(super) const ENTRY_BYTES: usize = 28;

/// The entry of one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WordEntry {
    /// Rows that hold the word, deleted ones included.
    pub(super) documents: u32,
    /// Its occurrences in these rows.
    pub(super) hits: u64,
    /// Byte range of its list in `postings`.
    pub(super) postings: Range<usize>,
    /// Byte range of its list in `positions`.
    pub(super) positions: Range<usize>,
}

/// A word of a segment's dictionary, with its entry.
#[derive(Clone)]
pub(crate) struct SegmentWord {
    /// The word's number: its index in the sorted dictionary.
    pub(crate) number: u32,
    pub(super) entry: WordEntry,
}

/// Writes the entries by rising number.
pub(super) struct WordsWriter {
    writer: SummedWriter,
    postings_end: u64,
    positions_end: u64,
}

impl WordsWriter {
    pub(super) fn new(writer: SummedWriter) -> WordsWriter {
        WordsWriter {
            writer,
            postings_end: 0,
            positions_end: 0,
        }
    }

    /// Adds the next word. `postings` and `positions`: bytes of its lists.
    pub(super) fn push(
        &mut self,
        documents: u32,
        hits: u64,
        postings: usize,
        positions: usize,
    ) -> io::Result<()> {
        self.postings_end += postings as u64;
        self.positions_end += positions as u64;
        let mut entry = [0; ENTRY_BYTES];
        entry[..4].copy_from_slice(&documents.to_le_bytes());
        entry[4..12].copy_from_slice(&hits.to_le_bytes());
        entry[12..20].copy_from_slice(&self.postings_end.to_le_bytes());
        entry[20..].copy_from_slice(&self.positions_end.to_le_bytes());
        self.writer.write_all(&entry)
    }

    /// Returns the file, to be finished.
    pub(super) fn close(self) -> SummedWriter {
        self.writer
    }
}

/// Byte range of a word's entry together with the entry before it.
pub(super) fn bytes_of(number: u32) -> Range<usize> {
    let at = number as usize * ENTRY_BYTES;
    at.saturating_sub(ENTRY_BYTES)..at + ENTRY_BYTES
}

/// Rows that hold a word, deleted ones included. Errors: `Corrupt`.
pub(super) fn documents(file: &CheckedFile, number: u32) -> Result<u32> {
    let at = number as usize * ENTRY_BYTES;
    let documents = file.range(at, at + 4)?.first_chunk();
    Ok(documents.map_or(0, |four| u32::from_le_bytes(*four)))
}

/// The entry of a word. Errors: `Corrupt`.
pub(super) fn read(file: &CheckedFile, number: u32) -> Result<WordEntry> {
    let Range { start, end } = bytes_of(number);
    let at = end - ENTRY_BYTES;
    let (before, entry) = file.range(start, end)?.split_at(at - start);
    let field = |bytes: &[u8], at: usize| {
        let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
        field.map_or(0, |field| u64::from_le_bytes(*field))
    };
    let documents = entry
        .first_chunk()
        .map_or(0, |four| u32::from_le_bytes(*four));
    let (postings, positions) = (field(entry, 12), field(entry, 20));
    let (postings_start, positions_start) = (field(before, 12), field(before, 20));
    if postings_start > postings || positions_start > positions {
        return Err(file.corrupt(at, "ends of lists do not rise"));
    }
    Ok(WordEntry {
        documents,
        hits: field(entry, 4),
        postings: postings_start as usize..postings as usize,
        positions: positions_start as usize..positions as usize,
    })
}
