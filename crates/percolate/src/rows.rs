//! Rows of bits: which second terms the entries of an anchor have.
//!
//! Each anchor of a level has one row. A bit of the row stands for the second terms whose number falls on it, and
//! each bit that is set has one place in the level's `entries`. A document's terms are compared with the rows of its
//! anchors, so most entries are dismissed without being read.
//!
//! Example: anchor 7 has an entry with second term 3. Anchor 9 has entries with second terms 4, 36, 70, 80 and 90. The
//! row of 7 is one word, which lies in the row itself. The row of 9 has two words in a list, so 4 falls on bit 4, 36 on
//! bit 36, and 70 on bit 6 (70 mod 64).
//!
//! ```text
//! row of 7: place = a word with bit 3, first 0, last 0, entries 1
//! row of 9: place 0, first 1, last 1, entries 5
//! words[0]  bits 4, 6, 16 and 26    before[0] = 1
//! words[1]  bit 4                   before[1] = 5
//!
//! bit     3 of the row of 7   4 of words[0]   6 of words[0]   4 of words[1]
//! rank    0 + 0               1 + 0           1 + 1           5 + 0             first or before, and bits set below
//! entry   (7, 3)              (9, 4)          (9, 70)         (9, 36)
//! ```
//!
//! A document holds the terms 9, 70 and 100. Of the row of 9 it meets bit 6 by 70 and bit 36 by 100 (100 mod 64). Rank
//! 2 is the entry (9, 70). Rank 5 is the entry (9, 36): it is read, and its condition dismisses it. Entries that share
//! a bit are a group, which has one rank.
//!
//! Invariants:
//! - A row has a power of two of words. `last`, one less, is the mask that folds a second term into the row.
//! - A row of one word has it in `place`, so that reading such a row reads no further memory. Most rows are so short.
//! - The bit of every entry's second term is set, else the entry would never be tried. A spare bit only costs time.
//! - Ranks count the bits of all rows in the order of their anchors, so the rank of a bit is the index of its entry.
//!   `first` is the rank of a row's first bit, and `before[n]` that of the first bit of `words[n]`. Entries do not
//!   repeat their anchor: a wrong rank tries an entry whose anchor the document may lack, and gives a wrong hit.
//! - An entry without a second term uses its anchor as one, and the document always meets that bit.
//!
//! A row has at least 8 bits for each second term, rounded up to a power of two of words. It has no more words than its
//! largest second term needs. In a row of that length no two second terms share a bit.

use crate::{fetch::Fetch, term::TermId};

/// Bits of a word of a row.
const WORD: u32 = u32::BITS;

/// Bits of a row for each second term, at least, before they are rounded up to a power of two of words.
const BITS_MIN: usize = 8;

/// The row of one anchor. The default is the empty row of a term that is no anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(16))]
pub(crate) struct Row {
    /// The word of a row of one word. Of a longer row, the index of its first word in [`Rows::words`].
    pub(crate) place: u32,
    /// Rank of the row's first bit.
    pub(crate) first: u32,
    /// The number of words less one. The number of words is a power of two.
    pub(crate) last: u32,
    /// Entries filed under the anchor; 0 if the term is no anchor.
    pub(crate) entries: u32,
}

const _: () = assert!(size_of::<Row>() == 16, "no row lies in two cache lines");

impl Row {
    /// Whether the row is one word, or empty.
    #[inline(always)]
    pub(crate) fn is_short(&self) -> bool {
        self.last == 0
    }

    /// Words of a row for `seconds` different second terms of which `largest` is the largest. A power of two.
    pub(crate) fn words_for(seconds: usize, largest: TermId) -> u32 {
        let words = (seconds * BITS_MIN).div_ceil(WORD as usize);
        let all = largest / WORD + 1;
        (words as u32)
            .next_power_of_two()
            .min(all.next_power_of_two())
    }

    /// The bit on which a second term falls in a row of `words` words.
    pub(crate) fn bit_in(words: u32, second: TermId) -> u32 {
        second & (words * WORD - 1)
    }
}

/// The rank of a single bit of a word whose first bit has the rank `before`.
#[inline(always)]
pub(crate) fn rank_in(word: u32, before: u32, bit: u32) -> u32 {
    before + (word & ((1 << bit) - 1)).count_ones()
}

/// The rows of one document that are one word each, as two lists of equal length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortRows<'a> {
    pub(crate) words: &'a [u32],
    /// The ranks of the words' first bits.
    pub(crate) firsts: &'a [u32],
}

/// The words of a level's rows of two or more words.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) words: Box<[u32]>,
    /// By word: the rank of its first bit.
    pub(crate) before: Box<[u32]>,
}

impl Rows {
    /// Takes the words of all rows, one row after the other, and their ranks. Panics at 2^31 - 1 words, 8 GiB.
    pub(crate) fn of(words: Vec<u32>, before: Vec<u32>) -> Rows {
        assert_eq!(words.len(), before.len());
        assert!(
            words.len() < i32::MAX as usize,
            "vector code takes indexes of words as signed numbers of 32 bits"
        );
        Rows {
            words: words.into(),
            before: before.into(),
        }
    }

    /// Memory of the rows, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.words) + size_of_val(&*self.before)
    }

    /// Prefetches the first and the last words of a row. It does not branch on the row's length, which no processor
    /// could predict: of a short row it fetches the first line of the list, which stays near.
    #[inline(always)]
    pub(crate) fn fetch(&self, steps: impl Fetch, row: Row) {
        let place = if row.is_short() {
            0
        } else {
            row.place as usize
        };
        steps.fetch(&self.words, place);
        steps.fetch(&self.words, place + row.last as usize);
    }

    /// The rank of a second term's bit in a row of two or more words, and whether the bit is set.
    #[inline(always)]
    pub(crate) fn probe(&self, row: Row, second: TermId) -> (u32, bool) {
        let index = (row.place + ((second / WORD) & row.last)) as usize;
        let word = self.words.get(index).copied().unwrap_or(0);
        let before = self.before.get(index).copied().unwrap_or(0);
        let bit = second % WORD;
        (rank_in(word, before, bit), word >> bit & 1 == 1)
    }

    /// The ranks of all bits set in a row; empty for the empty row.
    pub(crate) fn ranks(&self, row: Row) -> std::ops::Range<u32> {
        let (word, before) = match row.is_short() {
            true => (row.place, row.first),
            false => {
                let last = (row.place + row.last) as usize;
                (self.words[last], self.before[last])
            }
        };
        row.first..before + word.count_ones()
    }
}
