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
    pub(super) essential: &'s [u32],
}

/// Adds every row of the page to `matched`, and to `several` those that have an essential word and another one. Both are
/// empty before.
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
    for word in split.essential {
        let page = view.word(*word as usize);
        if let Some(words) = page.bits() {
            let both = matched.iter_mut().zip(several.iter_mut());
            for ((matched, several), word) in both.zip(words) {
                let word = u64::from_le_bytes(*word);
                *several |= *matched & word;
                *matched |= word;
            }
        }
        for low in page.array().unwrap_or_default() {
            let low = u16::from_le_bytes(*low);
            let (at, bit) = (usize::from(low >> 6), 1 << (low & 63));
            several[at] |= matched[at] & bit;
            matched[at] |= bit;
        }
    }
}

/// Adds the rows whose code alone is worth `least`.
#[inline(always)]
pub(super) fn add_singles(page: &Page<'_>, table: &[i32; 256], least: i64, into: &mut Bitmap) {
    let passes: [bool; 256] = std::array::from_fn(|code| i64::from(table[code]) >= least);
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
