//! The words of one tail, numbered in the order of arrival.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use hashbrown::{DefaultHashBuilder, HashTable};
use language::analysis::Words;
use language::pattern::Literal;
use std::hash::BuildHasher;

use crate::error::Result;

/// Words that a reader visits under one lock: some microseconds.
const WORDS_READ: usize = 1_024;

/// Bytes of a word that fit into its key.
const KEY_BYTES: usize = 15;

/// Length byte of a word that does not fit into its key.
const LONG: u64 = 0xff;

/// Bit of a key's second number at which the length byte starts.
const LENGTH_SHIFT: usize = 8 * (KEY_BYTES - 8);

/// Words and their numbers, shared by the writer and the readers of its snapshots.
///
/// A reader may find the number of a word that came after its snapshot. That number has no posting
/// in any chunk of the snapshot, so the reader finds no row. The writer holds the lock for the
/// words of one row, a reader for one word; neither calls another module under it.
#[derive(Default)]
pub(crate) struct Dictionary {
    interned: RwLock<Interned>,
}

/// The words, one behind another in one buffer.
#[derive(Default)]
pub(crate) struct Interned {
    numbers: HashTable<Entry>,
    hasher: DefaultHashBuilder,
    text: Vec<u8>,
    /// End of each word in `text`, by number.
    ends: Vec<usize>,
}

/// The first [`KEY_BYTES`] bytes of a word, filled up with zeroes, and its length or [`LONG`]. Two
/// numbers, since one of 128 bits would leave gaps in the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key(u64, u64);

/// A word in the table. Most words are compared by key alone, without a look at their text.
struct Entry {
    key: Key,
    number: u32,
}

impl Dictionary {
    /// The number of a word; `None` if the tail has never held it.
    pub(crate) fn find(&self, word: &str) -> Option<u32> {
        self.read()
            .find(key_of(word.as_bytes(), 0..word.len()), word.as_bytes())
    }

    /// Calls `visit(number, field, position)` for every word of a document. New words get the next
    /// numbers; returns how many are new.
    pub(crate) fn intern(&self, words: &Words, mut visit: impl FnMut(u32, u8, u32)) -> usize {
        let mut interned = self
            .interned
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let buffer = words.buffer();
        let before = interned.ends.len();
        for ((span, _), (field, position)) in words.spans().zip(words.places()) {
            visit(interned.number(buffer, span), field, position);
        }
        interned.ends.len() - before
    }

    /// Calls `visit`, without a lock, with the number and the text of every word that holds the literal. The writer waits for at most
    /// [`WORDS_READ`] words at a time. Errors: the first of `visit`.
    pub(crate) fn each(
        &self,
        literal: &Literal,
        visit: &mut dyn FnMut(u32, &str) -> Result<()>,
    ) -> Result<()> {
        let (mut next, mut text, mut found) = (0, Vec::new(), Vec::new());
        loop {
            text.clear();
            found.clear();
            let interned = self.read();
            let count = interned.ends.len();
            for number in next..count.min(next + WORDS_READ) {
                let word = interned.text_of(number as u32);
                if literal.is_in(word) {
                    text.extend_from_slice(word);
                    found.push((number as u32, text.len()));
                }
            }
            drop(interned);
            let mut start = 0;
            for (number, end) in &found {
                let word = std::str::from_utf8(&text[start..*end]);
                start = *end;
                if let Ok(word) = word {
                    visit(*number, word)?;
                }
            }
            next += WORDS_READ;
            if next >= count {
                return Ok(());
            }
        }
    }

    /// Locks the dictionary against new words; for a frozen tail, which gets none.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Interned> {
        self.interned.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Interned {
    /// The bytes of a word, by its number.
    pub(crate) fn text_of(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = if number == 0 {
            0
        } else {
            self.ends[number - 1]
        };
        &self.text[start..self.ends[number]]
    }

    #[inline]
    fn find(&self, key: Key, word: &[u8]) -> Option<u32> {
        let same = |entry: &Entry| {
            entry.key == key && (!is_long(key) || self.text_of(entry.number) == word)
        };
        let found = self.numbers.find(self.hasher.hash_one(key), same);
        found.map(|entry| entry.number)
    }

    #[inline]
    fn number(&mut self, buffer: &[u8], span: Range<usize>) -> u32 {
        let key = key_of(buffer, span.clone());
        let word = &buffer[span];
        match self.find(key, word) {
            Some(number) => number,
            None => self.add(key, word),
        }
    }

    #[cold]
    fn add(&mut self, key: Key, word: &[u8]) -> u32 {
        let number = self.ends.len() as u32;
        self.text.extend_from_slice(word);
        self.ends.push(self.text.len());
        let hasher = &self.hasher;
        let hash_of = |entry: &Entry| hasher.hash_one(entry.key);
        self.numbers
            .insert_unique(hasher.hash_one(key), Entry { key, number }, hash_of);
        number
    }
}

fn is_long(key: Key) -> bool {
    key.1 >> LENGTH_SHIFT == LONG
}

/// The key of a word in a buffer. Reads 16 bytes at once where the buffer has them, and masks the
/// bytes behind the word away.
#[inline]
fn key_of(buffer: &[u8], span: Range<usize>) -> Key {
    let length = span.len();
    let taken = match buffer.get(span.start..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => u128::from_le_bytes(*bytes),
        None => {
            let mut bytes = [0; KEY_BYTES + 1];
            let word = &buffer[span];
            let fits = word.len().min(bytes.len());
            bytes[..fits].copy_from_slice(&word[..fits]);
            u128::from_le_bytes(bytes)
        }
    };
    let (kept, shown) = match length {
        0..=KEY_BYTES => (length, length as u64),
        _ => (KEY_BYTES, LONG),
    };
    let word = taken & ((1 << (8 * kept)) - 1);
    Key(
        word as u64,
        (word >> u64::BITS) as u64 | shown << LENGTH_SHIFT,
    )
}

#[cfg(test)]
mod tests {
    use language::analysis::Analyzer;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn interned(dictionary: &Dictionary, text: &str) -> Vec<u32> {
        let mut words = Words::new();
        words.push_field(&Analyzer::default(), 0, text);
        let mut numbers = Vec::new();
        dictionary.intern(&words, |number, _, _| numbers.push(number));
        numbers
    }

    proptest! {
        /// Long words with a common beginning, words that begin other words, and words at the end
        /// of the text.
        #[test]
        fn a_word_has_one_number_and_no_other_word_has_it(texts in vec(vec("[ab]{1,3}|a{13,18}[ab]{0,3}", 1..9), 1..9)) {
            let dictionary = Dictionary::default();
            let mut known: Vec<String> = Vec::new();
            for words in texts {
                let numbers = interned(&dictionary, &words.join(" "));
                prop_assert_eq!(numbers.len(), words.len());
                for (number, word) in numbers.into_iter().zip(words) {
                    let place = known.iter().position(|other| *other == word);
                    let place = place.unwrap_or_else(|| {
                        known.push(word.clone());
                        known.len() - 1
                    });
                    prop_assert_eq!(number as usize, place);
                    prop_assert_eq!(dictionary.find(&word), Some(number));
                    let read = dictionary.read();
                    prop_assert_eq!(read.text_of(number), word.as_bytes());
                }
            }
            prop_assert_eq!(dictionary.find("c"), None);
            prop_assert_eq!(dictionary.find(""), None);
        }
    }
}
