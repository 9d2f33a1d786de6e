//! The file `dictionary`: the words of a segment, sorted by their bytes. A word's index is its
//! number.
//!
//! Words lie in blocks of [`BLOCK_WORDS`]. The first word of a block is whole; each other one is
//! the number of bytes that it shares with the word before, and the rest. Example, the block of
//! black, blue and cat:
//!
//! ```text
//! 5 "black"   2 2 "ue"   0 3 "cat"
//! blue:  shares 2 bytes with black, 2 further bytes
//! ```
//!
//! Behind the blocks are two arrays of 8-byte numbers: the end of each block, and its *key*. The
//! key is the first eight bytes of the block's first word, read as a big-endian number. A look-up
//! finds its block by the keys without touching another block. After the first look-up both arrays
//! are in memory too, side by side.
//!
//! Invariants:
//! - Words rise strictly, so keys never fall: blocks and words are found by binary search.
//! - Block ends rise; the first look-up checks that, since damage here would lead anywhere.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use language::pattern::Literal;
use relation::codec::{cut_small, put_number};
use relation::processor::fetch;

use super::checked::{CheckedFile, SummedWriter};
use super::sequences::{self, Sequences};
use crate::error::Result;

/// Words of one block; a look-up decodes half of them on average.
const BLOCK_WORDS: u32 = 16;

/// Literals for which all words are compared before the table of sequences is made, which costs about as much.
const SCANS: u32 = 4;

/// Keys for each entry of [`Blocks::tops`].
const TOP_KEYS: usize = 16;

/// Writes the words in rising order.
pub(super) struct DictionaryWriter {
    writer: SummedWriter,
    words: u32,
    before: Vec<u8>,
    /// The bytes of the word being written.
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

    /// Number of words written.
    pub(super) fn words(&self) -> u32 {
        self.words
    }

    /// Adds a word, which must be above the one before.
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

    /// Writes the two arrays. Returns the file, to be finished.
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

/// The words of a segment, read from the mapped file.
pub(super) struct Dictionary {
    file: CheckedFile,
    words: u32,
    /// Byte offsets of the two arrays.
    ends: usize,
    keys: usize,
    blocks: OnceLock<Blocks>,
    sequences: OnceLock<Sequences>,
    /// Literals looked for before the sequences were known.
    asked: AtomicU32,
}

/// The two arrays in memory.
struct Blocks {
    all: Vec<Block>,
    /// Every [`TOP_KEYS`]th key: so few that they stay in the processor's cache.
    tops: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Block {
    /// Key of the block's first word.
    key: u64,
    end: usize,
}

impl Dictionary {
    /// Opens a file of `words` words. Errors: `Corrupt` if it is too short for them.
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
            sequences: OnceLock::new(),
            asked: AtomicU32::new(0),
        })
    }

    /// Number of words.
    pub(super) fn words(&self) -> u32 {
        self.words
    }

    /// The number of a word; `None` if this block does not have it. Errors: `Corrupt`, as all
    /// below.
    pub(super) fn find_in(&self, block: usize, word: &[u8]) -> Result<Option<u32>> {
        let found = find_in(self.block(block)?, word);
        Ok(found.map(|at| block as u32 * BLOCK_WORDS + at))
    }

    /// A stream of the words, beginning with the first that is not below `from`.
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

    /// Calls `visit` with the number and the bytes of each word that holds a literal, rising. Cost: the words that begin with a
    /// prefix, or those of blocks that may have one with the literal; else all words.
    /// Errors: the first of `visit`; `Corrupt`.
    pub(super) fn each(
        &self,
        literal: &Literal,
        visit: &mut dyn FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let prefix = literal.prefix().as_bytes();
        if prefix.is_empty()
            && let Some(blocks) = self.holding(literal)?
        {
            for block in blocks {
                self.each_of_block(block, &mut |number, word| match literal.is_in(word) {
                    true => visit(number, word),
                    false => Ok(()),
                })?;
            }
            return Ok(());
        }
        let mut words = self.from(prefix)?;
        while words.advance()? {
            let word = words.word();
            if !prefix.is_empty() && !word.starts_with(prefix) {
                break;
            }
            if literal.is_in(word) {
                visit(words.number(), word)?;
            }
        }
        Ok(())
    }

    /// The blocks that may have words with a literal, rising; `None`: each may.
    fn holding(&self, literal: &Literal) -> Result<Option<Vec<u32>>> {
        if self.words > sequences::WORDS_MAX || literal.text().is_empty() {
            return Ok(None);
        }
        if let Some(known) = self.sequences.get() {
            return Ok(known.blocks(literal));
        }
        if self.asked.fetch_add(1, Ordering::Relaxed) < SCANS {
            return Ok(None);
        }
        let made = Sequences::new(|visit| {
            (0..self.words.div_ceil(BLOCK_WORDS)).try_for_each(|block| {
                self.each_of_block(block, &mut |_, word| {
                    visit(block, word);
                    Ok(())
                })
            })
        })?;
        Ok(self.sequences.get_or_init(|| made).blocks(literal))
    }

    /// Calls `visit` with the number and the bytes of each word of a block.
    fn each_of_block(
        &self,
        block: u32,
        visit: &mut dyn FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let first = block * BLOCK_WORDS;
        let mut words = WordStream {
            dictionary: self,
            next: first,
            rest: &[],
            word: Vec::new(),
            is_ahead: false,
        };
        while words.next < self.words.min(first + BLOCK_WORDS) && words.advance()? {
            visit(words.number(), words.word())?;
        }
        Ok(())
    }

    /// The few blocks among which the word's block is. Only blocks whose keys equal the word's key
    /// may lie behind them.
    pub(super) fn near(&self, word: &[u8]) -> Result<Range<usize>> {
        let (blocks, wanted) = (self.blocks()?, key_of(word));
        let top = blocks.tops.partition_point(|key| *key < wanted);
        let end = (top * TOP_KEYS).min(blocks.all.len());
        Ok(top.saturating_sub(1) * TOP_KEYS..end)
    }

    /// Tells the processor to fetch the keys and ends of these blocks.
    pub(super) fn fetch_near(&self, near: Range<usize>) {
        let blocks = self.blocks.get().and_then(|blocks| blocks.all.get(near));
        fetch(blocks.unwrap_or_default());
    }

    /// Tells the processor to fetch a block.
    pub(super) fn fetch_block(&self, block: usize) {
        if let Ok(bounds) = self.bounds(block) {
            self.file.fetch(bounds);
        }
    }

    /// The last block whose first word is not above `word`; `None` if there is none. `near`: the
    /// value of [`Dictionary::near`] for the word.
    pub(super) fn block_of(&self, word: &[u8], near: Range<usize>) -> Result<Option<usize>> {
        let (blocks, wanted) = (&self.blocks()?.all, key_of(word));
        let start = near.start;
        let near = blocks.get(near).unwrap_or_default();
        let below = start + near.partition_point(|block| block.key < wanted);
        let equal = equal_first(blocks.get(below..).unwrap_or_default(), wanted);
        // Blocks with equal keys are told apart by their first words.
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

    /// The two arrays; the first caller reads and checks them.
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

    /// Byte range of a block.
    fn bounds(&self, block: usize) -> Result<Range<usize>> {
        let blocks = &self.blocks()?.all;
        let end_of = |block: usize| blocks.get(block).map_or(self.ends, |block| block.end);
        Ok(block.checked_sub(1).map_or(0, end_of)..end_of(block))
    }
}

/// A stream of words by rising number.
pub(super) struct WordStream<'a> {
    dictionary: &'a Dictionary,
    /// Number of the next word.
    next: u32,
    /// What is left of the current block.
    rest: &'a [u8],
    word: Vec<u8>,
    /// Whether the stream already stands on the word that the next [`WordStream::advance`] returns.
    is_ahead: bool,
}

impl WordStream<'_> {
    /// Moves to the first word, then to each next one; `false` after the last. Errors: `Corrupt`.
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

    /// The current word.
    pub(super) fn word(&self) -> &[u8] {
        &self.word
    }

    /// Number of the current word.
    pub(super) fn number(&self) -> u32 {
        self.next - 1
    }
}

/// Index of a word in a block. Compares without building the words between: it is enough to know
/// how many bytes of `word` the word before shares.
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
            continue; // differs from `word` at the same byte as the word before
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

/// Number of blocks, from the first on, that have this key. Mostly few, so it searches with
/// doubling steps.
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

/// The first eight bytes as a number that sorts as they do; shorter words are filled up with
/// zeroes.
pub(super) fn key_of(word: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = word.len().min(8);
    bytes[..length].copy_from_slice(&word[..length]);
    u64::from_be_bytes(bytes)
}

/// Number of bytes that both begin with.
fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}
