//! An OR of words on one page: all its rows, and the rows that may reach the threshold.
//!
//! The words are sorted by falling upper bound. The last words, whose bounds together are below the
//! threshold, are the *rest*: a row of these alone cannot enter. The others are *essential*.
//!
//! Example: `the | cat | siamese`, threshold 4, upper bounds 1, 3 and 5 (weight = sum of values):
//!
//! ```text
//!           bound  with all later words              least          least_alone
//! siamese     5      9 >= 4: essential      0 = 4 - (3 + 1)              4
//! cat         3      4 >= 4: essential      3 = 4 - 1                    4
//! the         1      1 <  4: rest
//!
//! the row holds         values   marked in    because
//! the                   1        matched      no essential word
//! the, cat              1 + 2    matched      cat is worth 2, less than its `least`
//! the, cat              1 + 3    several      cat is worth its `least`
//! cat                   3        matched      cat's bound is below its `least_alone`
//! the, siamese          1 + 1    several      siamese's `least` is 0; weighed, then dropped
//! siamese               5        several      by `add_singles`: 5 is not below `least_alone`
//! ```
//!
//! Where even the two highest bounds together are below the threshold, a row must hold three words (`unite_three`).
//!
//! All rows are in `matched`, which is only counted. The rows in `several` are weighed. `unite`
//! tests codes only in pages that are arrays; it marks a row of a bitmap without a test.
//!
//! Invariants:
//! - Words are united from the lowest bound to the highest. So when a word is added, `matched`
//!   holds the rows of words with lower bounds, and `least` may count on no others.
//! - A row whose highest word is `w` weighs at most the value of `w` plus the bounds of all later
//!   words. So `least` drops no row that could enter.

use super::lists::View;
use super::rows::set;
use crate::postings::{Bitmap, Page};

/// The words of an OR, split by a threshold.
pub(super) struct Split<'s> {
    /// Words whose bounds together are below the threshold.
    pub(super) rest: &'s [u32],
    /// The words from the highest bound down that are not in `rest`.
    pub(super) essential: &'s [Essential<'s>],
}

/// A word that can lift a row to the threshold, alone or with words of lower bounds.
pub(super) struct Essential<'s> {
    pub(super) word: u32,
    /// Value of each code of the word.
    pub(super) table: &'s [i32; 256],
    /// Least value of the word in a row that also holds words of lower bounds, and none of higher
    /// ones.
    pub(super) least: i64,
    /// Least value of the word in a row that holds no other word of the query.
    pub(super) least_alone: i64,
}

impl Essential<'_> {
    /// For each code, whether its value is at least `least`.
    #[inline(always)]
    fn passes(&self, least: i64) -> [bool; 256] {
        let least = i32::try_from(least).unwrap_or(if least < 0 { i32::MIN } else { i32::MAX });
        std::array::from_fn(|code| self.table[code] >= least)
    }
}

/// Adds every row of the page to `matched`, which must be empty. Adds to `several` the rows that hold an essential word
/// and a word of a lower bound, unless the essential word's code is worth too little.
#[inline(always)]
pub(super) fn unite(
    split: &Split<'_>,
    view: &View<'_>,
    matched: &mut Bitmap,
    several: &mut Bitmap,
) {
    for word in split.rest {
        view.word(*word as usize).unite(matched);
    }
    for essential in split.essential.iter().rev() {
        let page = view.word(essential.word as usize);
        if let Some(words) = page.bits() {
            let both = matched.iter_mut().zip(several.iter_mut());
            for ((matched, several), word) in both.zip(words) {
                let word = u64::from_le_bytes(*word);
                *several |= *matched & word;
                *matched |= word;
            }
        }
        let passes = essential.passes(essential.least);
        for (low, code) in page.array().unwrap_or_default().iter().zip(page.codes) {
            let low = u16::from_le_bytes(*low);
            let (at, shift) = (usize::from(low >> 6), low & 63);
            several[at] |= matched[at] & u64::from(passes[usize::from(*code)]) << shift;
            matched[at] |= 1 << shift;
        }
    }
}

/// As [`unite`] where rows of two words stay below the threshold: adds to `three` the rows that hold an essential word and two words
/// of lower bounds. `two`, which must be empty, gets the rows of at least two words.
#[inline(always)]
pub(super) fn unite_three(
    split: &Split<'_>,
    view: &View<'_>,
    matched: &mut Bitmap,
    two: &mut Bitmap,
    three: &mut Bitmap,
) {
    for word in split.rest {
        let page = view.word(*word as usize);
        add_to_two(page, matched, two);
    }
    for essential in split.essential.iter().rev() {
        let page = view.word(essential.word as usize);
        if let Some(words) = page.bits() {
            for ((three, two), word) in three.iter_mut().zip(two.iter()).zip(words) {
                *three |= *two & u64::from_le_bytes(*word);
            }
        }
        let passes = essential.passes(essential.least);
        for (low, code) in page.array().unwrap_or_default().iter().zip(page.codes) {
            let low = u16::from_le_bytes(*low);
            let (at, shift) = (usize::from(low >> 6), low & 63);
            three[at] |= two[at] & u64::from(passes[usize::from(*code)]) << shift;
        }
        add_to_two(page, matched, two);
    }
}

/// Adds the rows of a page to `one`, and those that are there already to `two`.
#[inline(always)]
pub(super) fn add_to_two(page: &Page<'_>, one: &mut Bitmap, two: &mut Bitmap) {
    if let Some(words) = page.bits() {
        for ((one, two), word) in one.iter_mut().zip(two.iter_mut()).zip(words) {
            let word = u64::from_le_bytes(*word);
            *two |= *one & word;
            *one |= word;
        }
    }
    for low in page.array().unwrap_or_default() {
        let low = u16::from_le_bytes(*low);
        let (at, bit) = (usize::from(low >> 6), 1 << (low & 63));
        two[at] |= one[at] & bit;
        one[at] |= bit;
    }
}

/// Adds the rows in which the word's value is at least [`Essential::least_alone`].
#[inline(always)]
pub(super) fn add_singles(page: &Page<'_>, essential: &Essential<'_>, into: &mut Bitmap) {
    let passes = essential.passes(essential.least_alone);
    let passes = |code: &u8| passes[usize::from(*code)];
    let passing = page.codes.iter().filter(|code| passes(code)).count();
    if passing == 0 {
        return;
    }
    if passing == page.len() {
        return page.unite(into);
    }
    if passing < page.len() / 16 {
        for (at, _) in page
            .codes
            .iter()
            .enumerate()
            .filter(|(_, code)| passes(code))
        {
            if let Some(low) = page.low(at) {
                set(into, low);
            }
        }
        return;
    }
    let mut codes = page.codes.iter();
    page.each(|low| {
        if codes.next().is_some_and(passes) {
            set(into, low);
        }
    });
}
