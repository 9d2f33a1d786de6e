//! The words of one tail, numbered in the order in which they came.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use hashbrown::{DefaultHashBuilder, HashTable};
use query::analysis::Words;
use std::hash::BuildHasher;

/// Words that a reader goes through under one lock: some microseconds.
const WORDS_READ: usize = 1_024;

/// Words and their numbers, shared by the writer and by the readers of its snapshots.
///
/// A reader may find the number of a word whose rows it cannot see: the number then leads to no posting of its snapshot.
/// The lock is held for one row's words by the writer and for one word by a reader, and never across a call elsewhere.
#[derive(Default)]
pub(crate) struct Dictionary {
    interned: RwLock<Interned>,
}

/// The words in one buffer.
#[derive(Default)]
pub(crate) struct Interned {
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    text: Vec<u8>,
    /// End of each word in `text`.
    ends: Vec<usize>,
}

impl Dictionary {
    /// The number of a word, if it has one.
    pub(crate) fn find(&self, word: &str) -> Option<u32> {
        let interned = self.read();
        let hash = interned.hasher.hash_one(word.as_bytes());
        let same = |number: &u32| interned.text_of(*number) == word.as_bytes();
        interned.numbers.find(hash, same).copied()
    }

    /// Calls `visit(number, field, position)` for every word of a document, giving numbers to new words.
    pub(crate) fn intern(&self, words: &Words, mut visit: impl FnMut(u32, u8, u32)) {
        let mut interned = self
            .interned
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        for (word, field, position) in words.iter() {
            visit(interned.number(word.as_bytes()), field, position);
        }
    }

    /// Calls `visit` with every word that begins so. New words are held off for [`WORDS_READ`] words at a time.
    pub(crate) fn each(&self, prefix: &str, visit: &mut dyn FnMut(&str)) {
        let mut next = 0;
        loop {
            let interned = self.read();
            let count = interned.ends.len();
            for number in next..count.min(next + WORDS_READ) {
                let word = std::str::from_utf8(interned.text_of(number as u32)).unwrap_or_default();
                if word.starts_with(prefix) {
                    visit(word);
                }
            }
            next += WORDS_READ;
            if next >= count {
                return;
            }
        }
    }

    /// Holds off new words while the guard lives: for a frozen tail, which gets none.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Interned> {
        self.interned.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Interned {
    /// The bytes of the word of that number.
    pub(crate) fn text_of(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = if number == 0 {
            0
        } else {
            self.ends[number - 1]
        };
        &self.text[start..self.ends[number]]
    }

    fn number(&mut self, word: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(word);
        if let Some(number) = self
            .numbers
            .find(hash, |number| self.text_of(*number) == word)
        {
            return *number;
        }
        let number = self.ends.len() as u32;
        self.text.extend_from_slice(word);
        self.ends.push(self.text.len());
        let Interned {
            numbers,
            hasher,
            text,
            ends,
        } = self;
        numbers.insert_unique(hash, number, |number| {
            let number = *number as usize;
            let start = if number == 0 { 0 } else { ends[number - 1] };
            hasher.hash_one(&text[start..ends[number]])
        });
        number
    }
}
