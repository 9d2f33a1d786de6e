//! An OR of words on one page: its rows, and those among them that can still enter the answer.
//!
//! Let the words be sorted by what a row can get for each. The last of them are together worth less than the threshold: a row
//! that has none but those cannot enter. The others are essential. So what can enter has an essential word, and either another
//! word beside it, which bitmaps tell, or a code that is good enough alone, which codes tell. All other rows are counted and never
//! looked at.

use super::lists::View;
use super::rows::set;
use crate::postings::{Bitmap, Page};

/// The words of an OR as they stand to a threshold.
pub(super) struct Split<'s> {
    /// Words that are not enough by themselves.
    pub(super) rest: &'s [u32],
    /// The others.
    pub(super) essential: &'s [Essential<'s>],
}

/// A word that can bring a row into the answer, with words of lower bounds or alone.
pub(super) struct Essential<'s> {
    pub(super) word: u32,
    /// What each code of it is worth.
    pub(super) table: &'s [i32; 256],
    /// What it must be worth where words of lower bounds may stand beside it.
    pub(super) least: i64,
    /// What it must be worth alone.
    pub(super) least_alone: i64,
}

impl Essential<'_> {
    #[inline(always)]
    fn passes(&self, least: i64) -> [bool; 256] {
        let least = i32::try_from(least).unwrap_or(if least < 0 { i32::MIN } else { i32::MAX });
        std::array::from_fn(|code| self.table[code] >= least)
    }
}

/// Adds every row of the page to `matched`, and to `several` those that have an essential word and another one, as far as what
/// the highest of them is worth leaves a chance. Both are empty before.
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

/// Adds the rows that the word alone may bring in.
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
