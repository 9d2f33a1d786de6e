//! Counts, for each row of a page, how many words of an OR it holds.
//!
//! Rankers by positions weigh a row higher the more query words it holds, and most rows hold one.
//! So a page weighs its rows from the highest number of words down. The first rows raise the
//! threshold; rows of too few words are never weighed.
//!
//! The counts are binary numbers, one bitmap a digit; adding a page is one addition with carry for
//! 64 rows at a time. Example: `a` stands in rows 1, 2, 3; `b` in rows 2, 3; `c` in row 3:
//!
//! ```text
//! row                 1  2  3
//! digit 1 (twos)      0  1  1
//! digit 0 (ones)      1  0  1       row 3 holds 2 + 1 = 3 words
//! ```
//!
//! Invariant: there are enough digits for the number of words given to [`Counted::new`]. A further
//! word could carry out of the last digit, and the row would seem to hold none.

use super::buffers::Buffers;
use super::rows::Rows;
use crate::postings::{Bitmap, Page};

/// Most words of an OR that this module counts.
pub(super) const COUNTED_WORDS: usize = 8;

/// The number of words that each row of a page holds.
pub(super) struct Counted {
    /// Binary digits, the lowest first.
    digits: Vec<Box<Bitmap>>,
    carry: Box<Bitmap>,
}

impl Counted {
    /// All counts are 0; takes at most `words` words.
    pub(super) fn new(words: usize, buffers: &mut Buffers) -> Counted {
        let digits = usize::BITS - words.leading_zeros();
        Counted {
            digits: (0..digits).map(|_| buffers.bitmap()).collect(),
            carry: buffers.bitmap(),
        }
    }

    /// Adds 1 to the count of each row of a word's page. Call it once for each word.
    #[inline(always)]
    pub(super) fn add(&mut self, page: &Page<'_>) {
        for low in page.array().unwrap_or_default() {
            let low = u16::from_le_bytes(*low);
            let (at, mut carry) = (usize::from(low >> 6), 1 << (low & 63));
            for digit in &mut self.digits {
                let both = digit[at] & carry;
                digit[at] ^= carry;
                carry = both;
                if carry == 0 {
                    break;
                }
            }
        }
        if let Some(words) = page.bits() {
            for (carry, word) in self.carry.iter_mut().zip(words) {
                *carry = u64::from_le_bytes(*word);
            }
            for digit in &mut self.digits {
                for (digit, carry) in digit.iter_mut().zip(&mut *self.carry) {
                    let both = *digit & *carry;
                    *digit ^= *carry;
                    *carry = both;
                }
            }
        }
    }

    /// Sets `out` to the rows that hold at least one word.
    #[inline(always)]
    pub(super) fn matched(&self, out: &mut Bitmap) {
        out.fill(0);
        for digit in &self.digits {
            for (out, digit) in out.iter_mut().zip(&**digit) {
                *out |= digit;
            }
        }
    }

    /// Sets `out` to the rows that hold exactly `words` words.
    #[inline(always)]
    pub(super) fn rows(&self, words: usize, out: &mut Bitmap) {
        out.fill(u64::MAX);
        for (at, digit) in self.digits.iter().enumerate() {
            let flip = if words >> at & 1 == 1 { 0 } else { u64::MAX };
            for (out, digit) in out.iter_mut().zip(&**digit) {
                *out &= digit ^ flip;
            }
        }
    }

    /// Returns the bitmaps to the buffers.
    pub(super) fn end(self, buffers: &mut Buffers) {
        for bitmap in self.digits.into_iter().chain([self.carry]) {
            buffers.give(Rows::Many(bitmap));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rows::has;
    use super::*;
    use crate::postings::{List, Plain};

    proptest! {
        #[test]
        fn rows_are_told_apart_by_their_words(
            docs in proptest::collection::vec(proptest::collection::btree_set(0..500u32, 0..300), 1..=COUNTED_WORDS),
        ) {
            let list = |docs: &std::collections::BTreeSet<u32>| {
                List::of_memory(500, docs.iter().copied(), vec![32; docs.len()], &[], Plain::default())
            };
            let lists: Vec<List<'_>> = docs.iter().map(list).collect();
            let mut buffers = Buffers::default();
            let mut counted = Counted::new(lists.len(), &mut buffers);
            lists.iter().for_each(|list| counted.add(&list.page(0)));
            let mut matched = buffers.bitmap();
            counted.matched(&mut matched);
            for count in 1..=lists.len() {
                let mut rows = buffers.bitmap();
                counted.rows(count, &mut rows);
                for low in 0..600u16 {
                    let words = docs.iter().filter(|docs| docs.contains(&low.into())).count();
                    prop_assert_eq!(has(&rows, low), words == count);
                    prop_assert_eq!(has(&matched, low), words > 0);
                }
            }
        }
    }
}
