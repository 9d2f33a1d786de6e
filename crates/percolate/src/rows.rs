//! Rows of bits: which second terms the entries of an anchor have.
//!
//! Each anchor of a level has one row. A bit of the row stands for the second terms whose number falls on it, and
//! each bit that is set has one place in the level's `entries`. A document's terms are compared with the rows of its
//! anchors, so most entries are dismissed without being read.
//!
//! Example: anchor 7 has an entry with second term 3. Anchor 9 has entries with second terms 4, 36 and 70. Both rows
//! take one 32-bit word, so 36 falls on the bit of 4 (36 mod 32) and 70 on bit 6.
//!
//! ```text
//! row of 7: start 0, last 0, entries 1    words[0]: bit 3         before[0] = 0
//! row of 9: start 1, last 0, entries 3    words[1]: bits 4 and 6  before[1] = 1
//!
//! bit     3 of words[0]   4 of words[1]               6 of words[1]
//! rank    0 + 0           1 + 0                       1 + 1          before, and bits set below in the word
//! entry   (7, 3)          group of (9, 4), (9, 36)    (9, 70)
//! ```
//!
//! A document holds the terms 9, 70 and 100. Of the row of 9 it meets bit 6 by 70 and bit 4 by 100 (100 mod 32). Rank
//! 2 is the entry (9, 70). Rank 1 is the group: its two entries are read, and their conditions dismiss them.
//!
//! Invariants:
//! - A row has a power of two of words. `last`, one less, is the mask that folds a second term into the row.
//! - The bit of every entry's second term is set, else the entry would never be tried. A spare bit only costs time.
//! - `before[n]` counts the bits of `words[..n]`, so the rank of a bit is the index of its entry. Entries do not
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
pub(crate) struct Row {
    /// Index of the row's first word in [`Rows::words`].
    pub(crate) start: u32,
    /// The number of words less one. The number of words is a power of two.
    pub(crate) last: u32,
    /// Entries filed under the anchor; 0 if the term is no anchor.
    pub(crate) entries: u32,
}

impl Row {
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

/// The rows of a level.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) words: Box<[u32]>,
    /// By word: how many bits are set in all words before it.
    pub(crate) before: Box<[u32]>,
}

impl Rows {
    /// Takes the words of all rows, one row after the other. Panics at 2^31 - 1 words, 8 GiB.
    pub(crate) fn of(words: Vec<u32>) -> Rows {
        let mut count = 0;
        let mut before = Vec::with_capacity(words.len());
        for word in &words {
            before.push(count);
            count += word.count_ones();
        }
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

    /// Prefetches the row's first words and their counts.
    #[inline(always)]
    pub(crate) fn fetch(&self, steps: impl Fetch, row: Row) {
        steps.fetch(&self.words, row.start as usize);
        steps.fetch(&self.before, row.start as usize);
    }

    /// The rank of a second term's bit in a row, and whether the bit is set. The rank is the index in the level's
    /// `entries` that belongs to the bit: how many set bits of all rows lie before it.
    #[inline(always)]
    pub(crate) fn probe(&self, row: Row, second: TermId) -> (u32, bool) {
        let index = (row.start + ((second / WORD) & row.last)) as usize;
        let word = self.words.get(index).copied().unwrap_or(0);
        let before = self.before.get(index).copied().unwrap_or(0);
        let bit = second % WORD;
        let rank = before + (word & ((1 << bit) - 1)).count_ones();
        (rank, word >> bit & 1 == 1)
    }

    /// The ranks of all bits set in a row; empty for the empty row.
    pub(crate) fn ranks(&self, row: Row) -> std::ops::Range<u32> {
        if row.entries == 0 {
            return 0..0;
        }
        let last = (row.start + row.last) as usize;
        self.before[row.start as usize]..self.before[last] + self.words[last].count_ones()
    }
}
