//! The file `words`: for each word, by number, its counts and where its lists are.
//!
//! Words lie in blocks of [`BLOCK_WORDS`]. Four LEB128 numbers stand for each: its rows, its occurrences beyond one a row, and the
//! bytes of its lists in `postings` and `positions`. Behind the blocks is a *head* for each: where the block begins in the file, and
//! where the lists of its first word begin. Example, a block at byte 90 whose lists begin at 5,000 and 7,000:
//!
//! ```text
//! block    2 rows, 1 more occurrence, 9 and 4 bytes    1 row, none more, 5 and 3 bytes
//! head     90  5,000  7,000
//! word 0   2 rows, 3 occurrences, lists 5,000 .. 5,009 and 7,000 .. 7,004
//! word 1   1 row, 1 occurrence,   lists 5,009 .. 5,014 and 7,004 .. 7,007
//! ```
//!
//! Before format 5 an entry had 28 bytes: rows (4), occurrences (8), and where its lists end in `postings` (8) and `positions` (8).

use std::io::{self, Write};
use std::ops::Range;

use relation::codec::{number_at, put_number};

use super::checked::{CheckedFile, SummedWriter};
use crate::error::Result;

/// Words of a block; a look-up reads half of them on average.
const BLOCK_WORDS: u32 = 16;

/// Bytes of a block's head: three numbers.
const HEAD_BYTES: usize = 24;

/// Bytes of an entry before format 5.
const WIDE_BYTES: usize = 28;

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
    words: u32,
    postings_end: u64,
    positions_end: u64,
    heads: Vec<[u64; 3]>,
    /// The bytes of the entry being written.
    entry: Vec<u8>,
}

impl WordsWriter {
    pub(super) fn new(writer: SummedWriter) -> WordsWriter {
        WordsWriter {
            writer,
            words: 0,
            postings_end: 0,
            positions_end: 0,
            heads: Vec::new(),
            entry: Vec::new(),
        }
    }

    /// Adds the next word. `hits`: at least `documents`; `postings` and `positions`: bytes of its lists.
    pub(super) fn push(
        &mut self,
        documents: u32,
        hits: u64,
        postings: usize,
        positions: usize,
    ) -> io::Result<()> {
        if self.words.is_multiple_of(BLOCK_WORDS) {
            let start = self.writer.position();
            self.heads
                .push([start, self.postings_end, self.positions_end]);
        }
        self.words += 1;
        self.postings_end += postings as u64;
        self.positions_end += positions as u64;
        self.entry.clear();
        let more = hits - u64::from(documents);
        for number in [documents.into(), more, postings as u64, positions as u64] {
            put_number(&mut self.entry, number);
        }
        self.writer.write_all(&self.entry)
    }

    /// Writes the heads. Returns the file, to be finished.
    pub(super) fn close(mut self) -> io::Result<SummedWriter> {
        for number in self.heads.iter().flatten() {
            self.writer.write_all(&number.to_le_bytes())?;
        }
        Ok(self.writer)
    }
}

/// The entries of a segment, read from the mapped file.
pub(super) struct Words {
    file: CheckedFile,
    words: u32,
    /// Where the heads begin; `None` before format 5.
    heads: Option<usize>,
}

/// The entries of a block that were not read yet.
struct Block<'w> {
    bytes: &'w [u8],
    at: usize,
    /// Where the lists of the next word begin.
    postings: u64,
    positions: u64,
}

impl Words {
    /// Opens a file of `words` words. `format`: version of the segment. Errors: `Corrupt` for a file that has not the length of them.
    pub(super) fn new(file: CheckedFile, words: u32, format: u32) -> Result<Words> {
        let heads = match format {
            0..5 if file.len() == words as usize * WIDE_BYTES => None,
            0..5 => return Err(file.corrupt(0, "not as many words as the commit says")),
            _ => {
                let bytes = words.div_ceil(BLOCK_WORDS) as usize * HEAD_BYTES;
                let start = file.len().checked_sub(bytes);
                Some(start.ok_or_else(|| file.corrupt(0, "too short for its words"))?)
            }
        };
        Ok(Words { file, words, heads })
    }

    /// Tells the processor to fetch the head of a word's block; before format 5, the word's entry.
    pub(super) fn fetch_head(&self, number: u32) {
        let place = match self.heads {
            Some(heads) => head_at(heads, number),
            None => wide_at(number),
        };
        self.file.fetch(place);
    }

    /// Tells the processor to fetch the block of a word. Reads its head, unverified.
    pub(super) fn fetch_block(&self, number: u32) {
        if let Some(heads) = self.heads {
            let head = self.file.hint(head_at(heads, number).start, 8);
            let start = head.and_then(|head| head.first_chunk());
            let start = start.map_or(0, |start| u64::from_le_bytes(*start) as usize);
            self.file.fetch(start..start.saturating_add(HEAD_BYTES));
        }
    }

    /// The entry of a word. Errors: `Corrupt`.
    pub(super) fn read(&self, number: u32) -> Result<WordEntry> {
        let Some(heads) = self.heads else {
            return self.read_wide(number);
        };
        let mut block = self.block(heads, number / BLOCK_WORDS)?;
        for _ in 0..number % BLOCK_WORDS {
            block.next().ok_or_else(|| self.cut_short(heads, number))?;
        }
        block.next().ok_or_else(|| self.cut_short(heads, number))
    }

    /// Calls `visit` with the entry of each word, by rising number. Errors: `Corrupt`; those of `visit`.
    pub(super) fn each(&self, visit: &mut dyn FnMut(u32, WordEntry) -> Result<()>) -> Result<()> {
        let Some(heads) = self.heads else {
            return (0..self.words).try_for_each(|number| visit(number, self.read_wide(number)?));
        };
        for first in (0..self.words).step_by(BLOCK_WORDS as usize) {
            let mut block = self.block(heads, first / BLOCK_WORDS)?;
            for number in first..self.words.min(first + BLOCK_WORDS) {
                let entry = block.next().ok_or_else(|| self.cut_short(heads, number))?;
                visit(number, entry)?;
            }
        }
        Ok(())
    }

    fn block(&self, heads: usize, block: u32) -> Result<Block<'_>> {
        let head = |field: usize| self.file.number(heads, 3 * block as usize + field);
        let start = head(0)? as usize;
        let end = match block + 1 < self.words.div_ceil(BLOCK_WORDS) {
            true => head(3)? as usize,
            false => heads,
        };
        Ok(Block {
            bytes: self.file.range(start, end)?,
            at: 0,
            postings: head(1)?,
            positions: head(2)?,
        })
    }

    /// The error of a block that has not the word.
    #[cold]
    fn cut_short(&self, heads: usize, number: u32) -> crate::error::Error {
        let at = head_at(heads, number).start;
        self.file.corrupt(at, "a block of words is cut short")
    }

    fn read_wide(&self, number: u32) -> Result<WordEntry> {
        let at = wide_at(number);
        let before = at.start.saturating_sub(WIDE_BYTES);
        let (before, entry) = self.file.range(before, at.end)?.split_at(at.start - before);
        let field = |bytes: &[u8], at: usize| {
            let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
            field.map_or(0, |field| u64::from_le_bytes(*field))
        };
        let documents = entry.first_chunk();
        let (postings, positions) = (field(entry, 12), field(entry, 20));
        let (postings_start, positions_start) = (field(before, 12), field(before, 20));
        if postings_start > postings || positions_start > positions {
            return Err(self.file.corrupt(at.start, "ends of lists do not rise"));
        }
        Ok(WordEntry {
            documents: documents.map_or(0, |four| u32::from_le_bytes(*four)),
            hits: field(entry, 4),
            postings: postings_start as usize..postings as usize,
            positions: positions_start as usize..positions as usize,
        })
    }
}

impl Block<'_> {
    /// The next entry; `None` for bytes that are none.
    fn next(&mut self) -> Option<WordEntry> {
        let mut number = || number_at(self.bytes, &mut self.at);
        let documents = u32::try_from(number()?).ok()?;
        let hits = number()?.checked_add(documents.into())?;
        let (postings, positions) = (number()?, number()?);
        let range = |start: &mut u64, bytes: u64| {
            let end = start.checked_add(bytes)?;
            Some(std::mem::replace(start, end) as usize..end as usize)
        };
        Some(WordEntry {
            documents,
            hits,
            postings: range(&mut self.postings, postings)?,
            positions: range(&mut self.positions, positions)?,
        })
    }
}

/// Where the head of a word's block is in the file.
fn head_at(heads: usize, number: u32) -> Range<usize> {
    let at = heads + (number / BLOCK_WORDS) as usize * HEAD_BYTES;
    at..at + HEAD_BYTES
}

/// Where a word's entry was before format 5.
fn wide_at(number: u32) -> Range<usize> {
    let at = number as usize * WIDE_BYTES;
    at..at + WIDE_BYTES
}

#[cfg(test)]
mod tests {
    use disk::MemoryDisk;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    type Given = Vec<(u32, u32, usize, usize)>;

    fn entries(given: &Given) -> Vec<WordEntry> {
        let (mut postings, mut positions) = (0, 0);
        let entry = |(documents, more, list, places): &(u32, u32, usize, usize)| {
            let starts = (postings, positions);
            postings += list;
            positions += places;
            WordEntry {
                documents: *documents,
                hits: u64::from(*documents) + u64::from(*more),
                postings: starts.0..postings,
                positions: starts.1..positions,
            }
        };
        given.iter().map(entry).collect()
    }

    fn opened(words: u32, format: u32, write: impl FnOnce(SummedWriter) -> SummedWriter) -> Words {
        let disk = MemoryDisk::new();
        let writer = SummedWriter::create(&disk, "words").unwrap();
        let sums = write(writer).finish().unwrap();
        let file = CheckedFile::open(&disk, "words".to_owned(), sums).unwrap();
        Words::new(file, words, format).unwrap()
    }

    fn narrow(given: &Given) -> Words {
        opened(given.len() as u32, 5, |writer| {
            let mut writer = WordsWriter::new(writer);
            for ((documents, _, list, places), entry) in given.iter().zip(entries(given)) {
                writer.push(*documents, entry.hits, *list, *places).unwrap();
            }
            writer.close().unwrap()
        })
    }

    fn wide(given: &Given) -> Words {
        opened(given.len() as u32, 4, |mut writer| {
            for entry in entries(given) {
                writer.write_all(&entry.documents.to_le_bytes()).unwrap();
                let ends = [entry.postings.end as u64, entry.positions.end as u64];
                for number in [entry.hits, ends[0], ends[1]] {
                    writer.write_all(&number.to_le_bytes()).unwrap();
                }
            }
            writer
        })
    }

    proptest! {
        #[test]
        fn entries_come_back_in_both_forms(
            given in vec((any::<u32>(), any::<u32>(), 0..1_usize << 40, 0..300_usize), 0..70),
        ) {
            let expected = entries(&given);
            for words in [narrow(&given), wide(&given)] {
                let mut all = Vec::new();
                words.each(&mut |number, entry| {
                    assert_eq!(number as usize, all.len());
                    all.push(entry);
                    Ok(())
                }).unwrap();
                prop_assert_eq!(&all, &expected);
                for (number, entry) in (0..).zip(&expected) {
                    words.fetch_head(number);
                    words.fetch_block(number);
                    prop_assert_eq!(&words.read(number).unwrap(), entry);
                }
            }
        }

        #[test]
        fn hostile_entries_are_errors_or_some_ranges(
            bytes in vec(any::<u8>(), 48..200),
            start in 0..300_u64,
            end in 0..300_u64,
            lists in any::<u64>(),
        ) {
            let words = opened(20, 5, |mut writer| {
                writer.write_all(&bytes).unwrap();
                for number in [start, lists, lists, end, u64::MAX, lists] {
                    writer.write_all(&number.to_le_bytes()).unwrap();
                }
                writer
            });
            for number in 0..20 {
                words.fetch_block(number);
                if let Ok(entry) = words.read(number) {
                    prop_assert!(entry.postings.start <= entry.postings.end);
                }
            }
            let _ = words.each(&mut |_, _| Ok(()));
        }
    }

    #[test]
    fn a_file_too_short_for_its_words_is_refused() {
        for (format, bytes) in [(5, 23), (4, 27)] {
            let disk = MemoryDisk::new();
            let mut writer = SummedWriter::create(&disk, "words").unwrap();
            writer.write_all(&vec![0; bytes]).unwrap();
            let sums = writer.finish().unwrap();
            let file = CheckedFile::open(&disk, "words".to_owned(), sums).unwrap();
            assert!(Words::new(file, 1, format).is_err());
        }
    }
}
