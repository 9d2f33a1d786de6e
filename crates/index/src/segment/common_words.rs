//! The common words of a segment, in a hash table in memory.
//!
//! A look-up in the files reads three places: keys, a block of words, the word's entry. For a word
//! of many rows one slot of this table, one line of the processor's cache, has the result of all
//! three. Example, in a segment of 1,000,000 rows, where a common word has at least 244 rows:
//!
//! ```text
//! slot    hash & (slots - 1), or the next free one
//!         length 3, "cat", number 1, documents 5,000, start and bytes of both its lists
//! ```
//!
//! Invariants:
//! - More than a third of the slots are empty: a search for a missing word ends at an empty slot.
//! - A word is in the table, or the files decide: a missing word costs time and is never an error.

use std::hash::Hasher;

use relation::processor::fetch;
use rustc_hash::FxHasher;

use super::dictionary::Dictionary;
use super::words::{SegmentWord, WordEntry, Words};
use crate::error::Result;

/// A word is common if one row in 4,096 holds it, which bounds the size of the table, …
const ROWS_SHARE: u32 = 4_096;
/// … and if at least 128 rows hold it.
const ROWS_MIN: u32 = 128;

/// Longest word in the table, in bytes. Longer words are rarely common.
const TEXT_BYTES: usize = 19;

/// The common words of one segment.
pub(super) struct CommonWords {
    /// A power of two, more than a third of them empty. A word is in the slot of its hash, or in
    /// one of the next up to the first empty slot.
    slots: Vec<Slot>,
}

/// One word, in one line of the processor's cache.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Slot {
    /// Bytes of the word; 0 in an empty slot.
    length: u8,
    text: [u8; TEXT_BYTES],
    number: u32,
    documents: u32,
    postings_bytes: u32,
    positions_bytes: u32,
    hits: u64,
    postings: u64,
    positions: u64,
}

const _: () = assert!(size_of::<Slot>() == 64, "one line each");

/// Least number of rows that make a word common, in a segment of `rows` rows.
pub(super) fn least(rows: u32) -> u32 {
    ROWS_MIN.max(rows / ROWS_SHARE)
}

/// Hash of a word, for [`CommonWords::find`].
pub(super) fn hash(word: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(word);
    hasher.finish()
}

impl CommonWords {
    /// Reads the words that at least `least` rows hold. Cost: reads all words of the segment.
    /// Errors: `Corrupt`.
    pub(super) fn read(dictionary: &Dictionary, words: &Words, least: u32) -> Result<Self> {
        let mut common = Vec::new();
        let mut stream = dictionary.from(b"")?;
        words.each(&mut |number, entry| {
            if stream.advance()? && entry.documents >= least {
                common.extend(Slot::new(stream.word(), number, &entry));
            }
            Ok(())
        })?;
        let mut all = CommonWords {
            slots: vec![Slot::default(); (common.len() * 3 / 2 + 1).next_power_of_two()],
        };
        for slot in common {
            let at = all.place(hash(slot.text()), slot.text());
            all.slots[at] = slot;
        }
        Ok(all)
    }

    /// Tells the processor to fetch the first slot of a hash.
    pub(super) fn fetch(&self, hash: u64) {
        let at = self.first(hash);
        fetch(&self.slots[at..=at]);
    }

    /// A word; `None` if it is not in the table.
    pub(super) fn find(&self, hash: u64, word: &[u8]) -> Option<SegmentWord> {
        self.slots[self.place(hash, word)].word()
    }

    /// The slot of a word, or the empty slot in which it would be.
    fn place(&self, hash: u64, word: &[u8]) -> usize {
        let mut at = self.first(hash);
        while self.slots[at].length > 0 && self.slots[at].text() != word {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    fn first(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }
}

impl Slot {
    /// A slot of a word; `None` for a word or a list that is too long for it.
    fn new(word: &[u8], number: u32, entry: &WordEntry) -> Option<Slot> {
        let mut text = [0; TEXT_BYTES];
        text.get_mut(..word.len())?.copy_from_slice(word);
        (!word.is_empty()).then_some(Slot {
            length: word.len() as u8,
            text,
            number,
            documents: entry.documents,
            postings_bytes: u32::try_from(entry.postings.len()).ok()?,
            positions_bytes: u32::try_from(entry.positions.len()).ok()?,
            hits: entry.hits,
            postings: entry.postings.start as u64,
            positions: entry.positions.start as u64,
        })
    }

    fn text(&self) -> &[u8] {
        &self.text[..usize::from(self.length)]
    }

    fn word(&self) -> Option<SegmentWord> {
        let range = |start: u64, bytes: u32| start as usize..start as usize + bytes as usize;
        (self.length > 0).then(|| SegmentWord {
            number: self.number,
            entry: WordEntry {
                documents: self.documents,
                hits: self.hits,
                postings: range(self.postings, self.postings_bytes),
                positions: range(self.positions, self.positions_bytes),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use disk::MemoryDisk;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::super::checked::{CheckedFile, SummedWriter};
    use super::super::dictionary::DictionaryWriter;
    use super::super::words::WordsWriter;
    use super::*;

    /// A dictionary and its entries: each word is held by as many rows as it has bytes.
    fn files(words: &BTreeSet<String>) -> (Dictionary, Words) {
        let disk = MemoryDisk::new();
        let create = |name| SummedWriter::create(&disk, name).unwrap();
        let (mut dictionary, mut entries) = (
            DictionaryWriter::new(create("dictionary")),
            WordsWriter::new(create("words")),
        );
        for word in words {
            dictionary.push(word.as_bytes()).unwrap();
            let rows = word.len();
            entries
                .push(rows as u32, rows as u64 + 1, rows * 3, rows * 5)
                .unwrap();
        }
        let open = |name: &str, mut writer: SummedWriter| {
            CheckedFile::open(&disk, name.to_owned(), writer.finish().unwrap()).unwrap()
        };
        let dictionary = open("dictionary", dictionary.close().unwrap());
        let dictionary = Dictionary::new(dictionary, words.len() as u32).unwrap();
        let entries = open("words", entries.close().unwrap());
        let entries = Words::new(entries, words.len() as u32, 5).unwrap();
        (dictionary, entries)
    }

    proptest! {
        #[test]
        fn it_holds_what_the_files_say_of_common_words_and_no_other(
            words in btree_set("[ab]{0,24}", 0..200),
            others in btree_set("[ab]{0,24}", 0..50),
            least in 0..12u32,
        ) {
            let (dictionary, entries) = files(&words);
            let common = CommonWords::read(&dictionary, &entries, least).unwrap();
            for word in words.union(&others) {
                let number = words.iter().position(|other| other == word);
                let is_common = word.len() >= least as usize && (1..=TEXT_BYTES).contains(&word.len());
                let expected = number.filter(|_| is_common).map(|number| {
                    (number as u32, entries.read(number as u32).unwrap())
                });
                let found = common.find(hash(word.as_bytes()), word.as_bytes());
                prop_assert_eq!(found.map(|found| (found.number, found.entry)), expected);
            }
        }
    }

    #[test]
    fn what_makes_a_word_common_grows_with_the_segment() {
        assert_eq!([100, 65_000, 4_096_000].map(least), [128, 128, 1_000]);
    }
}
