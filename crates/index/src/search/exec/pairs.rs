//! Finds the rows of a phrase by the pairs of a page; `segment/pairs.rs` says what they are.
//!
//! Example: `"of the black cat"` on a page that keeps all pairs but that of black and cat:
//!
//! ```text
//! lists    of the    the black    cat, which is in none of the pairs
//! rows     those in all of them; the places of the words are read in these
//! ```
//!
//! The rows of `"of the"` are those of its pair: no place is read.

use smallvec::SmallVec;

use super::super::plan::Fields;
use super::lists::View;
use super::rows::set;
use crate::postings::{Bitmap, Page};
use crate::segment::PairRows;
use crate::wide::wide;

/// Lists that together hold every word of a phrase.
pub(super) struct Pairs<'v> {
    lists: SmallVec<[Found<'v>; 4]>,
    /// Whether the phrase stands in each row that all lists have.
    pub(super) is_exact: bool,
}

enum Found<'v> {
    Word(&'v Page<'v>),
    Pair(PairRows<'v>),
}

impl Found<'_> {
    fn len(&self) -> usize {
        match self {
            Found::Word(page) => page.len(),
            Found::Pair(rows) => rows.len(),
        }
    }
}

impl<'v> Pairs<'v> {
    /// The lists of a phrase on the page of a view; `None` where no pair of the phrase is kept. `words`: number and distance from
    /// the phrase's start of each.
    pub(super) fn find(
        words: &[(usize, u32)],
        fields: Fields,
        view: &'v View<'_>,
    ) -> Option<Pairs<'v>> {
        let mut pairs = Pairs {
            lists: SmallVec::new(),
            is_exact: false,
        };
        let mut end = 0; // behind the last word that is in a list
        for at in 0..words.len() {
            if let Some(rows) = pair(words, at, view) {
                pairs.is_exact = words.len() == 2 && fields.every;
                pairs.lists.push(Found::Pair(rows));
                end = at + 2;
            } else if end <= at {
                pairs.lists.push(Found::Word(view.word(words[at].0)));
            }
        }
        (end > 0).then_some(pairs)
    }

    /// The rows that all lists have, rising.
    pub(super) fn rows(&mut self, lows: &mut Vec<u16>) {
        lows.clear();
        self.lists.sort_by_key(Found::len);
        for (at, list) in self.lists.iter().enumerate() {
            match (at, list) {
                (0, Found::Word(page)) => page.each(|low| lows.push(low)),
                (0, Found::Pair(rows)) => gather(rows, lows),
                (_, Found::Word(page)) => narrow_by_word(page, lows),
                (_, Found::Pair(rows)) => narrow(rows, lows),
            }
            if lows.is_empty() {
                return;
            }
        }
    }
}

/// The rows of the pair of a phrase's word and the next one; `None` where it is not kept.
pub(super) fn pair<'v>(
    words: &[(usize, u32)],
    at: usize,
    view: &'v View<'_>,
) -> Option<PairRows<'v>> {
    let [left, right] = *words.get(at..)?.first_chunk()?;
    let number = |(word, _)| view.lists().in_pairs(word);
    let page = view.pairs.filter(|_| are_kept(left, right, view))?;
    Some(page.rows(number(left)?, number(right)?))
}

/// Whether two words of a phrase, given with their distances, are a pair that the page keeps.
pub(super) fn are_kept(left: (usize, u32), right: (usize, u32), view: &View<'_>) -> bool {
    let lengths = [left, right].map(|(word, _)| view.word(word).len() as u32);
    let is_numbered = |(word, _)| view.lists().in_pairs(word).is_some();
    let is_kept = view.pairs.is_some_and(|page| page.keeps(lengths));
    left.1 + 1 == right.1 && is_kept && is_numbered(left) && is_numbered(right)
}

wide! {
    fn gather(rows: &PairRows<'_>, lows: &mut Vec<u16>) = push_all
}

wide! {
    pub(super) fn unite(rows: &PairRows<'_>, into: &mut Bitmap) = add_all
}

wide! {
    fn narrow(rows: &PairRows<'_>, lows: &mut Vec<u16>) = PairRows::narrow
}

wide! {
    fn narrow_by_word(page: &Page<'_>, lows: &mut Vec<u16>) = keep_inside
}

/// Adds the rows of a pair to a bitmap.
#[inline(always)]
fn add_all(rows: &PairRows<'_>, into: &mut Bitmap) {
    rows.each(|low| set(into, low));
}

#[inline(always)]
fn push_all(rows: &PairRows<'_>, lows: &mut Vec<u16>) {
    rows.each(|low| lows.push(low));
}

#[inline(always)]
fn keep_inside(page: &Page<'_>, lows: &mut Vec<u16>) {
    page.narrow(lows, true);
}
