//! Terms and keys. A term is the number of a word, of a pair of neighbours or of a pattern; a key is a short word in
//! 16 bytes.
//!
//! Example: the key of `storm` is the bytes `s t o r m`, ten zeros, and `0x85`: its length 5 and [`USED`].

use std::{hash::BuildHasher, ops::Range};

use language::tree::{FieldSet, Word};
use rustc_hash::FxBuildHasher;

/// Number of a term: from [`FIRST`] to below [`TERMS_MAX`], dense, never used for another term of the dictionary.
pub(crate) type TermId = u32;

/// No term: the result for a word that no query names.
pub(crate) const UNKNOWN: TermId = 0;

/// A term that no document holds.
pub(crate) const NEVER: TermId = 1;

/// The smallest number of a real term.
pub(crate) const FIRST: TermId = 2;

/// Terms are below this: the dictionary and entries use the upper bit for flags.
pub(crate) const TERMS_MAX: TermId = 1 << 31;

/// Flag beside a word's plain term: the word has terms limited to fields, too.
pub(crate) const LIMITED: u32 = 1 << 31;

/// Longest word that has a key, in bytes: with its length it fills 16.
pub(crate) const SHORT_BYTES_MAX: usize = 15;

/// The writer's services to the compiler of queries.
pub(crate) trait Terms {
    /// The term of a word or pattern, numbered now if it is new.
    fn intern(&mut self, word: &Word) -> TermId;
    /// The term of two or more words that follow each other in one of the fields, numbered now if it is new.
    fn phrase(&mut self, words: &[&str], fields: FieldSet) -> TermId;
    /// Cost of filing an entry under a term; see `frequency::Costs`.
    fn cost(&self, term: TermId) -> u64;
}

/// A word of at most 15 bytes: its bytes, zeros, and in the last byte its length and [`USED`]. Equal keys are equal
/// words, so finding a key needs no look at the text. Never 0.
pub(crate) type Key = [u64; 2];

/// Flag in the last byte of every key, so that no key is 0.
pub(crate) const USED: u64 = 0x80;

/// The dictionary's entry of a word: its plain term, which may stand in any field, and the flag [`LIMITED`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Plain(pub(crate) u32);

impl Plain {
    /// The plain term, or [`UNKNOWN`].
    #[inline(always)]
    pub(crate) fn term(self) -> TermId {
        self.0 & !LIMITED
    }

    /// Whether the word has terms limited to fields.
    #[inline(always)]
    pub(crate) fn is_limited(self) -> bool {
        self.0 & LIMITED != 0
    }
}

/// The key of a word; `None` if it is longer than [`SHORT_BYTES_MAX`].
#[inline]
pub(crate) fn short_key(buffer: &[u8], word: Range<usize>) -> Option<Key> {
    (word.len() <= SHORT_BYTES_MAX).then(|| key_in(buffer, word))
}

/// A hash of a word, the same in every process. Used to count words that may not be in a dictionary.
#[inline]
pub(crate) fn hash_word(buffer: &[u8], word: Range<usize>) -> u64 {
    if word.len() <= SHORT_BYTES_MAX {
        return hash_key(key_in(buffer, word));
    }
    FxBuildHasher.hash_one(buffer.get(word))
}

/// Reads 16 bytes and blanks those behind the word. It does not branch on the length, which no processor could
/// predict. The key of a longer word means nothing.
#[inline(always)]
pub(crate) fn key_in(buffer: &[u8], word: Range<usize>) -> Key {
    let length = word.len();
    let bytes = buffer.get(word.start..word.start + 16);
    if let Some(bytes) = bytes.and_then(<[u8]>::first_chunk::<16>) {
        return masked(u128::from_le_bytes(*bytes), length);
    }
    match buffer.last_chunk::<16>() {
        Some(last) => {
            let before = word.start + last.len() - buffer.len();
            masked(u128::from_le_bytes(*last) >> ((before * 8) & 127), length)
        }
        None => masked(padded(buffer.get(word).unwrap_or_default()), length),
    }
}

#[inline(always)]
fn masked(bytes: u128, length: usize) -> Key {
    let kept = KEPT[length & SHORT_BYTES_MAX];
    let (low, high) = (bytes as u64, (bytes >> 64) as u64);
    [low & kept[0], high & kept[1] | (length as u64 | USED) << 56]
}

/// Reads a word from a buffer of fewer than 16 bytes.
#[cold]
fn padded(word: &[u8]) -> u128 {
    let bytes = word.iter().rev();
    bytes.fold(0, |bytes, byte| bytes << 8 | u128::from(*byte))
}

/// By a word's length: a mask of its bytes.
const KEPT: [Key; SHORT_BYTES_MAX + 1] = {
    let mut kept = [[0, 0]; SHORT_BYTES_MAX + 1];
    let mut length = 0;
    while length <= SHORT_BYTES_MAX {
        let ones = (1_u128 << (8 * length)) - 1;
        kept[length] = [ones as u64, (ones >> 64) as u64];
        length += 1;
    }
    kept
};

/// Added to the four quarters of a key before they are multiplied.
pub(crate) const HASH_ADDED: [u32; 4] = [0x9e37_79b9, 0x7f4a_7c15, 0xd1b5_4a32, 0xd192_ed03];

/// The last multiplier of the hash; odd, so that no bit is lost.
pub(crate) const HASH_FACTOR: u64 = 0x9fb2_1c65_1e98_df25;

/// The hash of a key: two products of halves, mixed. It uses only operations that AVX-512 has for eight numbers at
/// once.
#[inline(always)]
pub(crate) fn hash_key(key: Key) -> u64 {
    let quarter = |number: u64, place: usize| (number as u32).wrapping_add(HASH_ADDED[place]);
    let product = |half: u64, place| {
        u64::from(quarter(half, place)) * u64::from(quarter(half >> 32, place + 1))
    };
    let sum = product(key[0], 0).wrapping_add(product(key[1], 2));
    let mixed = (sum ^ sum >> 32).wrapping_mul(HASH_FACTOR);
    mixed ^ mixed >> 32
}
