//! Which second terms the entries of an anchor have: a row of bits for each anchor, and an entry for each bit set.
//!
//! A document is compared with the rows of its terms, not with entries: a bit of a row says that an entry is filed
//! under the anchor and a second term that falls on that bit. The terms' numbers are their own hash, for they are dense.
//! A row as long as the vocabulary is exact; a shorter one has [`BITS_MIN`] or more bits for each second term.

use crate::{fetch::Fetch, term::TermId};

/// Bits of a word.
const WORD: u32 = u32::BITS;

/// Bits of a row for each second term, at least; at most twice as many.
const BITS_MIN: usize = 8;

/// A row of one anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// Its first word.
    pub(crate) start: u32,
    /// One less than its words, which are a power of two.
    pub(crate) last: u32,
    /// Entries filed under the anchor; 0 if there is no row.
    pub(crate) entries: u32,
}

/// Where a bit lies, counted from the first row's first.
pub(crate) type BitPlace = u32;

impl Row {
    /// How many words a row takes for so many second terms, the largest of which is given.
    pub(crate) fn words_for(seconds: usize, largest: TermId) -> u32 {
        let words = (seconds * BITS_MIN).div_ceil(WORD as usize);
        let all = largest / WORD + 1;
        (words as u32)
            .next_power_of_two()
            .min(all.next_power_of_two())
    }

    /// The bit of a second term, in a row of so many words.
    pub(crate) fn bit_in(words: u32, second: TermId) -> u32 {
        second & (words * WORD - 1)
    }
}

/// The rows of a level.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) words: Box<[u32]>,
    /// By word: how many bits are set before it.
    pub(crate) before: Box<[u32]>,
}

impl Rows {
    /// From the words of all rows.
    pub(crate) fn of(words: Vec<u32>) -> Rows {
        let mut count = 0;
        let mut before = Vec::with_capacity(words.len());
        for word in &words {
            before.push(count);
            count += word.count_ones();
        }
        assert!(
            words.len() < (1 << 27),
            "a bit's place is a number of 32 bits"
        );
        Rows {
            words: words.into(),
            before: before.into(),
        }
    }

    /// Bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.words) + size_of_val(&*self.before)
    }

    /// Asks for the memory of a row's first words.
    #[inline(always)]
    pub(crate) fn fetch(&self, steps: impl Fetch, row: Row) {
        steps.fetch(&self.words, row.start as usize);
    }

    /// Where the bit of a second term lies in a row, and whether it is set.
    #[inline(always)]
    pub(crate) fn probe(&self, row: Row, second: TermId) -> (BitPlace, bool) {
        let index = row.start + ((second / WORD) & row.last);
        let word = self.words.get(index as usize).copied().unwrap_or(0);
        let bit = second % WORD;
        (index * WORD + bit, word >> bit & 1 == 1)
    }

    /// Which of all the bits set it is, counted from the first row.
    #[inline(always)]
    pub(crate) fn rank(&self, place: BitPlace) -> u32 {
        let (index, bit) = ((place / WORD) as usize, place % WORD);
        let word = self.words.get(index).copied().unwrap_or(0);
        let before = self.before.get(index).copied().unwrap_or(0);
        before + (word & ((1 << bit) - 1)).count_ones()
    }

    /// Calls `visit` with where each bit of a row lies.
    #[inline]
    pub(crate) fn each(&self, row: Row, mut visit: impl FnMut(BitPlace)) {
        for index in row.start..=row.start + row.last {
            let mut word = self.words[index as usize];
            while word != 0 {
                visit(index * WORD + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }

    /// The ranks of all the bits of a row.
    pub(crate) fn ranks(&self, row: Row) -> std::ops::Range<u32> {
        if row.entries == 0 {
            return 0..0;
        }
        let last = (row.start + row.last) as usize;
        self.before[row.start as usize]..self.before[last] + self.words[last].count_ones()
    }
}
