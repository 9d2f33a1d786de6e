//! The file `dictionary`: the words of a segment, sorted by their bytes; a word's place among them is its number.
//!
//! Words lie in blocks of [`BLOCK_WORDS`]. The first of a block is whole; each other one is what it shares with the word
//! before and the rest. Behind the blocks stand two arrays of 8-byte numbers: where each block ends, and the first eight bytes
//! of its first word as a big-endian number (here stored little-endian, as all numbers are), by which a look-up finds its block
//! without touching another. From the first look-up on both are in memory too, side by side.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::OnceLock;

use query::codec::{cut_small, put_number};
use query::processor::fetch;

use super::checked::{CheckedFile, SummedWriter};
use crate::error::Result;

/// Words of one block: a look-up decodes half of them on average.
const BLOCK_WORDS: u32 = 16;

/// Keys between two that are looked at first.
const TOP_KEYS: usize = 16;

/// Writes words in rising order.
pub(super) struct DictionaryWriter {
    writer: SummedWriter,
    words: u32,
    before: Vec<u8>,
    /// The word being written, as it lies in the file.
    entry: Vec<u8>,
    ends: Vec<u64>,
    keys: Vec<u64>,
}

impl DictionaryWriter {
    pub(super) fn new(writer: SummedWriter) -> DictionaryWriter {
        DictionaryWriter {
            writer,
            words: 0,
            before: Vec::new(),
            entry: Vec::new(),
            ends: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Words written so far.
    pub(super) fn words(&self) -> u32 {
        self.words
    }

    /// Adds a word, which is above the one before.
    pub(super) fn push(&mut self, word: &[u8]) -> io::Result<()> {
        debug_assert!(
            self.words == 0 || self.before.as_slice() < word,
            "words rise"
        );
        self.entry.clear();
        let is_first = self.words.is_multiple_of(BLOCK_WORDS);
        let shared = if is_first {
            0
        } else {
            common(&self.before, word)
        };
        if is_first {
            if self.words > 0 {
                self.ends.push(self.writer.position());
            }
            self.keys.push(key_of(word));
        } else {
            put_number(&mut self.entry, shared as u64);
        }
        put_number(&mut self.entry, (word.len() - shared) as u64);
        self.entry.extend_from_slice(&word[shared..]);
        self.writer.write_all(&self.entry)?;
        self.before.clear();
        self.before.extend_from_slice(word);
        self.words += 1;
        Ok(())
    }

    /// Writes the arrays; gives the file to be finished.
    pub(super) fn close(mut self) -> io::Result<SummedWriter> {
        if self.words > 0 {
            self.ends.push(self.writer.position());
        }
        for number in self.ends.iter().chain(&self.keys) {
            self.writer.write_all(&number.to_le_bytes())?;
        }
        Ok(self.writer)
    }
}

/// The words of a segment.
pub(super) struct Dictionary {
    file: CheckedFile,
    words: u32,
    /// Where the arrays start.
    ends: usize,
    keys: usize,
    blocks: OnceLock<Blocks>,
}

/// What the arrays say.
struct Blocks {
    all: Vec<Block>,
    /// Every [`TOP_KEYS`]th key: few enough to stay in the processor's cache.
    tops: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Block {
    /// Of its first word.
    key: u64,
    end: usize,
}

impl Dictionary {
    /// Of a file that holds so many words. Errors: `Corrupt` if it is too short for them.
    pub(super) fn new(file: CheckedFile, words: u32) -> Result<Dictionary> {
        let array = words.div_ceil(BLOCK_WORDS) as usize * 8;
        let Some(ends) = file.len().checked_sub(2 * array) else {
            return Err(file.corrupt(0, "too short for its words"));
        };
        Ok(Dictionary {
            file,
            words,
            ends,
            keys: ends + array,
            blocks: OnceLock::new(),
        })
    }

    /// Words held.
    pub(super) fn words(&self) -> u32 {
        self.words
    }

    /// The number of a word, if this block has it.
    pub(super) fn find_in(&self, block: usize, word: &[u8]) -> Result<Option<u32>> {
        let found = find_in(self.block(block)?, word);
        Ok(found.map(|at| block as u32 * BLOCK_WORDS + at))
    }

    /// Steps through the words from the first one that is not below `from`.
    pub(super) fn from(&self, from: &[u8]) -> Result<WordStream<'_>> {
        let block = self.block_of(from, self.near(from)?)?.unwrap_or(0);
        let mut stream = WordStream {
            dictionary: self,
            next: block as u32 * BLOCK_WORDS,
            rest: &[],
            word: Vec::new(),
            is_ahead: false,
        };
        while stream.advance()? {
            if stream.word() >= from {
                stream.is_ahead = true;
                break;
            }
        }
        Ok(stream)
    }

    /// Among which blocks that of a word is.
    pub(super) fn near(&self, word: &[u8]) -> Result<Range<usize>> {
        let (blocks, wanted) = (self.blocks()?, key_of(word));
        let top = blocks.tops.partition_point(|key| *key < wanted);
        let end = (top * TOP_KEYS).min(blocks.all.len());
        Ok(top.saturating_sub(1) * TOP_KEYS..end)
    }

    /// Asks for what is known of these blocks.
    pub(super) fn fetch_near(&self, near: Range<usize>) {
        let blocks = self.blocks.get().and_then(|blocks| blocks.all.get(near));
        fetch(blocks.unwrap_or_default());
    }

    /// Asks for a block.
    pub(super) fn fetch_block(&self, block: usize) {
        if let Ok(bounds) = self.bounds(block) {
            self.file.fetch(bounds);
        }
    }

    /// The last block whose first word is not above `word`; `near` is [`Dictionary::near`] of it.
    pub(super) fn block_of(&self, word: &[u8], near: Range<usize>) -> Result<Option<usize>> {
        let (blocks, wanted) = (&self.blocks()?.all, key_of(word));
        let start = near.start;
        let near = blocks.get(near).unwrap_or_default();
        let below = start + near.partition_point(|block| block.key < wanted);
        let equal = equal_first(blocks.get(below..).unwrap_or_default(), wanted);
        // Among words that begin alike the first words themselves decide.
        let (mut start, mut end) = (below, below + equal);
        while start < end {
            let middle = start + (end - start) / 2;
            if first_of(self.block(middle)?) <= word {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        Ok(start.checked_sub(1))
    }

    fn blocks(&self) -> Result<&Blocks> {
        if let Some(blocks) = self.blocks.get() {
            return Ok(blocks);
        }
        let array = |start, end| Ok(self.file.range(start, end)?.as_chunks::<8>().0);
        let (ends, keys) = (
            array(self.ends, self.keys)?,
            array(self.keys, self.file.len())?,
        );
        let block = |(key, end): (&[u8; 8], &[u8; 8])| Block {
            key: u64::from_le_bytes(*key),
            end: u64::from_le_bytes(*end) as usize,
        };
        let all: Vec<Block> = keys.iter().zip(ends).map(block).collect();
        let is_rising = all.is_sorted_by(|a, b| a.end < b.end);
        if !is_rising || all.last().is_some_and(|last| last.end > self.ends) {
            return Err(self.file.corrupt(self.ends, "ends do not rise"));
        }
        let tops = all.iter().step_by(TOP_KEYS).map(|block| block.key);
        let tops = tops.collect();
        Ok(self.blocks.get_or_init(|| Blocks { all, tops }))
    }

    fn block(&self, block: usize) -> Result<&[u8]> {
        let Range { start, end } = self.bounds(block)?;
        self.file.range(start, end)
    }

    fn bounds(&self, block: usize) -> Result<Range<usize>> {
        let blocks = &self.blocks()?.all;
        let end_of = |block: usize| blocks.get(block).map_or(self.ends, |block| block.end);
        Ok(block.checked_sub(1).map_or(0, end_of)..end_of(block))
    }
}

/// Words by rising number.
pub(super) struct WordStream<'a> {
    dictionary: &'a Dictionary,
    /// Number of the word after the current one.
    next: u32,
    /// Of the block that it stands in.
    rest: &'a [u8],
    word: Vec<u8>,
    /// Whether the next [`WordStream::advance`] stays where it is.
    is_ahead: bool,
}

impl WordStream<'_> {
    /// To the first word, then to each next; `false` after the last. Errors: `Io`, `Corrupt`.
    pub(super) fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.is_ahead) {
            return Ok(true);
        }
        if self.next >= self.dictionary.words {
            return Ok(false);
        }
        let mut shared = Some(0);
        if self.next.is_multiple_of(BLOCK_WORDS) {
            self.rest = self.dictionary.block((self.next / BLOCK_WORDS) as usize)?;
        } else {
            shared = cut_small(&mut self.rest);
        }
        let rest = shared.and_then(|_| read_text(&mut self.rest));
        let (Some(shared), Some(rest)) = (shared, rest) else {
            return Err(self
                .dictionary
                .file
                .corrupt(0, "a block of words ends early"));
        };
        self.word.truncate(shared as usize);
        self.word.extend_from_slice(rest);
        self.next += 1;
        Ok(true)
    }

    /// The word it stands on.
    pub(super) fn word(&self) -> &[u8] {
        &self.word
    }

    /// Its number.
    pub(super) fn number(&self) -> u32 {
        self.next - 1
    }
}

/// Where a word stands in a block. The words before it are never put together: as long as they are below it, it is enough to
/// know how many of its bytes the last one shares.
fn find_in(mut block: &[u8], word: &[u8]) -> Option<u32> {
    let first = read_text(&mut block)?;
    if first == word {
        return Some(0);
    }
    let mut agreed = common(first, word);
    for at in 1..BLOCK_WORDS {
        let shared = cut_small(&mut block)? as usize;
        let rest = read_text(&mut block)?;
        if shared > agreed {
            continue; // differs from `word` where the one before did
        }
        let wanted = &word[agreed..];
        if shared < agreed || rest > wanted {
            return None;
        }
        if rest == wanted {
            return Some(at);
        }
        agreed += common(rest, wanted);
    }
    None
}

/// How many blocks, from the first on, have this key: few, mostly, so that they are not halved but passed.
fn equal_first(blocks: &[Block], key: u64) -> usize {
    let is_equal = |block: &Block| block.key == key;
    let mut end = 1;
    while blocks.get(end - 1).is_some_and(is_equal) {
        end *= 2;
    }
    let passed = end / 2;
    let rest = &blocks[passed..blocks.len().min(end - 1).max(passed)];
    passed + rest.partition_point(is_equal)
}

fn first_of(mut block: &[u8]) -> &[u8] {
    read_text(&mut block).unwrap_or_default()
}

fn read_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = cut_small(bytes)? as usize;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(text)
}

/// The first eight bytes as a number that sorts as they do; shorter words are filled up with zeroes.
pub(super) fn key_of(word: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = word.len().min(8);
    bytes[..length].copy_from_slice(&word[..length]);
    u64::from_be_bytes(bytes)
}

/// Bytes that both begin with.
fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}
