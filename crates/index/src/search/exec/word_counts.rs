//! An OR of words on one page, its rows told apart by how many of the words they hold.
//!
//! Where weights need places, the words of a row say only what it can weigh at most, and the more words, the more. Most rows hold one.
//! So rows are weighed from those with the most words downwards: the threshold rises with the first ones, and those of too few words
//! are never looked at. They are counted in bits, a bitmap for each binary digit, a page of a list at a time.

use super::buffers::Buffers;
use super::rows::Rows;
use crate::postings::{Bitmap, Page};

/// Most words that are counted.
pub(super) const COUNTED_WORDS: usize = 8;

/// How many words each row of a page holds.
pub(super) struct Counted {
    /// Binary digits, the lowest first.
    digits: Vec<Box<Bitmap>>,
    carry: Box<Bitmap>,
}

impl Counted {
    /// Ready for so many words, none of which is counted.
    pub(super) fn new(words: usize, buffers: &mut Buffers) -> Counted {
        let digits = usize::BITS - words.leading_zeros();
        Counted {
            digits: (0..digits).map(|_| buffers.bitmap()).collect(),
            carry: buffers.bitmap(),
        }
    }

    /// Adds the rows of a word.
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

    /// The rows with a word or more.
    #[inline(always)]
    pub(super) fn matched(&self, out: &mut Bitmap) {
        out.fill(0);
        for digit in &self.digits {
            for (out, digit) in out.iter_mut().zip(&**digit) {
                *out |= digit;
            }
        }
    }

    /// The rows with precisely so many words.
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

    /// Gives back what it was made of.
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
