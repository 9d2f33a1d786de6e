//! Forward lists of merged segments, in bits: words of many rows have small numbers of their own, and a small number costs few bits.
//!
//! The section [`super::commit::Kind::CommonWords`] has the numbers of the words that most rows hold, at most [`COMMON_MAX`], by
//! falling number of rows. A word's *code* is its place there, or the number of such words plus its own number. A list has the
//! codes of its words, rising: for each
//!
//! 1. the codes skipped since the one before (since 0 for the first): without their lowest `k` bits and plus 1 as an Elias gamma
//!    code, then the `k` bits. `k` follows from the code before, see [`low_bits`]: far behind, codes are far apart;
//! 2. a bit that says whether the word occurs more than once in the row; then also its occurrences less one as a gamma code.
//!
//! A gamma code of a number of `n` bits is `n - 1` zeroes, a one, and the number without its highest bit. Bits fill bytes from the
//! lowest on. Zeroes fill the last byte: fewer than eight of them and no one behind are no code. Example: the common words are
//! [7, 3]; the list has word 3 twice, word 5 once and word 7 once, codes 1, 7 and 0. `k` is 2 for all three:
//!
//! ```text
//! code 0   skips 0   1         00   0
//! code 1   skips 0   1         00   1 1      twice: 2 - 1 is 1
//! code 7   skips 5   0 1 0     10   0        5 is 1 without its low bits 01; 1 + 1 is 2; low bits first
//! ```

use crate::removed::WordCount;

/// Most words that have a code of their own.
const COMMON_MAX: usize = 32_768;

/// Least number of low bits.
const LOW_BITS_MIN: u32 = 2;

/// The words with a code of their own.
pub(super) struct CommonCodes {
    /// By code: the word.
    words: Vec<u32>,
    /// By word: its code.
    codes: Vec<u32>,
}

/// Low bits of the codes skipped behind a code: three fewer than `next` has, the first code that may follow.
fn low_bits(next: u32) -> u32 {
    (32 - next.leading_zeros())
        .saturating_sub(3)
        .max(LOW_BITS_MIN)
}

impl CommonCodes {
    /// `rows`: by word, the number of rows that hold it. Words of one row get no code.
    pub(super) fn new(rows: &[u32]) -> CommonCodes {
        let mut words: Vec<u32> = (0..rows.len() as u32).collect();
        words.retain(|word| rows[*word as usize] > 1);
        words.sort_by_key(|word| std::cmp::Reverse(rows[*word as usize]));
        words.truncate(COMMON_MAX);
        let common = words.len() as u32;
        let mut codes: Vec<u32> = (0..rows.len() as u32).map(|word| common + word).collect();
        for (word, code) in words.iter().zip(0..) {
            codes[*word as usize] = code;
        }
        CommonCodes { words, codes }
    }

    /// The section of the words.
    pub(super) fn encode(&self) -> Vec<u8> {
        let words = self.words.iter();
        words.flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Appends the list of one row. `words`: each once; they are sorted by code afterwards.
    pub(super) fn append(&self, words: &mut [WordCount], out: &mut Vec<u8>) {
        for word in words.iter_mut() {
            word.word = self.codes[word.word as usize];
        }
        words.sort_unstable_by_key(|word| word.word);
        let mut bits = BitWriter::default();
        let mut next = 0;
        for WordCount { word, hits } in words {
            let (skipped, low) = (*word - next, low_bits(next));
            bits.gamma(u64::from(skipped >> low) + 1, out);
            bits.put(u64::from(skipped & ((1 << low) - 1)), low, out);
            bits.put(u64::from(*hits > 1), 1, out);
            if *hits > 1 {
                bits.gamma(u64::from(*hits) - 1, out);
            }
            next = *word + 1;
        }
        bits.finish(out);
    }
}

/// Reads the list of one row: its words by rising number. `common`: the section of the words. `None` where the bytes are no list.
pub(super) fn decode(common: &[u8], bytes: &[u8]) -> Option<Vec<WordCount>> {
    let (common, _) = common.as_chunks::<4>();
    let mut words = Vec::with_capacity(bytes.len());
    let mut bits = BitReader { bytes, at: 0 };
    let mut next = 0u32;
    while !bits.is_at_end() {
        let low = low_bits(next);
        let high = bits.gamma()? - 1;
        let skipped = high << low | bits.take(low)?;
        let code = next.checked_add(u32::try_from(skipped).ok()?)?;
        let hits = match bits.take(1)? {
            0 => 1,
            _ => u32::try_from(bits.gamma()? + 1).ok()?,
        };
        let word = match common.get(code as usize) {
            Some(word) => u32::from_le_bytes(*word),
            None => code - common.len() as u32,
        };
        words.push(WordCount { word, hits });
        next = code.checked_add(1)?;
    }
    words.sort_unstable_by_key(|word| word.word);
    Some(words)
}

/// Appends bits to bytes. Fewer than eight bits wait in it.
#[derive(Default)]
struct BitWriter {
    waiting: u64,
    count: u32,
}

impl BitWriter {
    /// Appends the `count` lowest bits, at most 33, of a number that has no others.
    fn put(&mut self, number: u64, count: u32, out: &mut Vec<u8>) {
        self.waiting |= number << self.count;
        self.count += count;
        while self.count >= 8 {
            out.push(self.waiting as u8);
            self.waiting >>= 8;
            self.count -= 8;
        }
    }

    /// Appends a number from 1 to 2^32 as a gamma code.
    fn gamma(&mut self, number: u64, out: &mut Vec<u8>) {
        let rest = number.ilog2();
        self.put(1 << rest, rest + 1, out);
        self.put(number ^ (1 << rest), rest, out);
    }

    fn finish(self, out: &mut Vec<u8>) {
        if self.count > 0 {
            out.push(self.waiting as u8);
        }
    }
}

/// Reads bits of bytes.
struct BitReader<'b> {
    bytes: &'b [u8],
    /// Bits read.
    at: usize,
}

impl BitReader<'_> {
    /// At least the next 57 bits; zeroes behind the last.
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let bytes = match rest.first_chunk::<8>() {
            Some(bytes) => *bytes,
            None => {
                let mut bytes = [0; 8];
                bytes[..rest.len()].copy_from_slice(rest);
                bytes
            }
        };
        u64::from_le_bytes(bytes) >> (self.at % 8)
    }

    /// Whether fewer than eight bits are left, all zeroes.
    fn is_at_end(&self) -> bool {
        8 * self.bytes.len() < self.at + 8 && self.peek() == 0
    }

    /// The next bits, at most 33.
    fn take(&mut self, count: u32) -> Option<u64> {
        let bits = self.peek() & ((1 << count) - 1);
        self.at += count as usize;
        (self.at <= 8 * self.bytes.len()).then_some(bits)
    }

    /// A number from 1 to 2^33 - 1 as a gamma code.
    fn gamma(&mut self) -> Option<u64> {
        let rest = self.peek().trailing_zeros();
        if rest > 32 {
            return None;
        }
        self.at += rest as usize + 1;
        Some(1 << rest | self.take(rest)?)
    }
}
