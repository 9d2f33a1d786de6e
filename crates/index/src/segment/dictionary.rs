//! The file `dictionary`: the words of a segment, sorted by their bytes; a word's place among them is its number.
//!
//! Words lie in blocks of [`BLOCK_WORDS`]. The first of a block is whole; each other one is what it shares with the word
//! before and the rest. Behind the blocks stand two arrays of 8-byte numbers: where each block ends, and the first eight bytes
//! of its first word as a big-endian number (here stored little-endian, as all numbers are), by which a look-up finds its block
//! without touching another.

use std::io::{self, Write};
use std::sync::OnceLock;

use super::checked::{CheckedFile, SummedWriter};
use super::number::{read_number, write_number};
use crate::error::Result;

/// Words of one block: a look-up decodes half of them on average.
const BLOCK_WORDS: u32 = 16;

/// Keys between two that are kept in memory: those of two lines of the processor's cache.
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
            write_number(shared as u32, &mut self.entry);
        }
        write_number((word.len() - shared) as u32, &mut self.entry);
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
    /// Every [`TOP_KEYS`]th key, from the first look-up on: few enough to stay in the processor's cache.
    tops: OnceLock<Vec<u64>>,
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
            tops: OnceLock::new(),
        })
    }

    /// Words held.
    pub(super) fn words(&self) -> u32 {
        self.words
    }

    /// The number of a word, if it is there. Cost: a logarithm of the blocks in an array, and one block.
    pub(super) fn find(&self, word: &[u8]) -> Result<Option<u32>> {
        let Some(block) = self.block_of(word)? else {
            return Ok(None);
        };
        let found = find_in(self.block(block)?, word);
        Ok(found.map(|at| block as u32 * BLOCK_WORDS + at))
    }

    /// Steps through the words from the first one that is not below `from`.
    pub(super) fn from(&self, from: &[u8]) -> Result<WordStream<'_>> {
        let block = self.block_of(from)?.unwrap_or(0);
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

    /// The last block whose first word is not above `word`.
    fn block_of(&self, word: &[u8]) -> Result<Option<usize>> {
        let keys = self.file.range(self.keys, self.file.len())?;
        let (keys, _) = keys.as_chunks::<8>();
        let wanted = key_of(word);
        let below = self.keys_below(keys, wanted);
        let is_equal = |key: &[u8; 8]| u64::from_le_bytes(*key) == wanted;
        let equal = match keys.get(below) {
            Some(key) if is_equal(key) => keys[below..].partition_point(is_equal),
            _ => 0,
        };
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

    /// How many keys lie below one.
    fn keys_below(&self, keys: &[[u8; 8]], wanted: u64) -> usize {
        let tops = self.tops.get_or_init(|| {
            let tops = keys.iter().step_by(TOP_KEYS);
            tops.map(|key| u64::from_le_bytes(*key)).collect()
        });
        let top = tops.partition_point(|key| *key < wanted);
        let start = top.saturating_sub(1) * TOP_KEYS;
        let end = keys.len().min(top * TOP_KEYS);
        start + keys[start..end].partition_point(|key| u64::from_le_bytes(*key) < wanted)
    }

    fn block(&self, block: usize) -> Result<&[u8]> {
        let start = match block {
            0 => 0,
            _ => self.file.number(self.ends, block - 1)?,
        };
        let end = self.file.number(self.ends, block)?;
        if start >= end || end > self.ends as u64 {
            let at = self.ends + 8 * block;
            return Err(self.file.corrupt(at, "ends do not rise"));
        }
        self.file.range(start as usize, end as usize)
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
            shared = read_number(&mut self.rest);
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
        let shared = read_number(&mut block)? as usize;
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

fn first_of(mut block: &[u8]) -> &[u8] {
    read_text(&mut block).unwrap_or_default()
}

fn read_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = read_number(bytes)? as usize;
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
