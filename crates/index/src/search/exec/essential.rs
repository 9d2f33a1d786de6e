//! An OR of few words, best rows by weight: the rows that a word alone, or two of them, may bring to the threshold. `either.rs` has the
//! loops over bitmaps.

use super::either::{self, Essential, Split};
use super::job::Out;
use super::lists::{ByWord, View};
use super::page::PageRun;
use super::rows::Rows;
use super::score::Scorer;
use crate::error::Result;
use crate::postings::{Bitmap, Page};
use crate::wide::wide;

/// Most words of an OR of few: sets of words are bits of a `u64`.
pub(super) const EITHER_WORDS: usize = 64;

/// Counts the rows of an OR of words, and returns those that may reach the threshold.
/// `either.rs` has a worked example.
pub(super) fn rows(on: &PageRun<'_, '_>, scorer: &Scorer<'_>, out: &mut Out<'_>) -> Result<Rows> {
    let wanted = on.view.lists().wanted();
    let count = scorer.essential();
    let essential: ByWord<Essential<'_>> = (0..count).map(|at| scorer.essential_at(at)).collect();
    let mut several = out.scratch.bitmap();
    for word in &essential {
        if on.view.lists().bound(word.word) >= word.least_alone {
            let page = on.view.word(word.word as usize);
            add_singles(page, word, &mut several);
        }
    }
    let drops_rows = !on.part.deleted.is_empty() || on.filter.is_some();
    let pages = wanted.iter().map(|word| on.view.word(*word as usize));
    let mut pages = pages.filter(|page| !page.is_empty());
    if let (Some(page), None, false) = (pages.next(), pages.next(), drops_rows) {
        // One word has rows here, and all of them count.
        out.collector.count(page.len() as u64);
        return Ok(Rows::Many(several));
    }
    let mut matched = out.scratch.bitmap();
    let split = Split {
        rest: &wanted[count..],
        essential: &essential,
    };
    if scorer.asks_three() {
        let mut two = out.scratch.bitmap();
        unite_three(&split, &on.view, &mut matched, &mut two, &mut several);
        out.scratch.give(Rows::Many(two));
    } else {
        unite(&split, &on.view, &mut matched, &mut several);
    }
    let matched = on.total(matched, out)?;
    let mut several = Rows::Many(several);
    if drops_rows {
        several.intersect(&matched, true);
    }
    out.scratch.give(matched);
    Ok(several)
}

wide! {
    pub(super) fn unite(split: &Split<'_>, view: &View<'_>, matched: &mut Bitmap, several: &mut Bitmap) = either::unite
}

wide! {
    fn unite_three(split: &Split<'_>, view: &View<'_>, matched: &mut Bitmap, two: &mut Bitmap, three: &mut Bitmap) = either::unite_three
}

wide! {
    fn add_singles(page: &Page<'_>, essential: &Essential<'_>, into: &mut Bitmap) = either::add_singles
}
