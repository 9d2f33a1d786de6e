//! Upper bounds of the weights of rows whose places decide what counts, from words, codes and numbers of places.

use std::cmp::Reverse;

use super::super::plan::{Placed, Plan};
use super::lists::View;
use super::row_index::RowIndex;
use super::score::bit;
use crate::error::Result;

/// Rows of a page with what bounds their weights, in the order of the rows.
#[derive(Default)]
pub(super) struct Bounds {
    sums: Vec<i64>,
    present: Vec<u64>,
    /// By row and term: the places of the term.
    standing: Vec<u64>,
    /// Upper bound of the weight, and the row.
    bounds: Vec<(i64, u16)>,
}

/// Rows whose numbers of places are counted together, divided by the terms.
const COUNTED: usize = 1 << 18;

impl Bounds {
    /// Finds those of the rows `lows` that can reach the threshold, by falling bound. `index`: an index without rows. Errors:
    /// `Interrupted`.
    pub(super) fn find(
        &mut self,
        lows: &[u16],
        plan: &Plan,
        placed: &Placed,
        threshold: i64,
        view: &View<'_>,
        index: &mut RowIndex,
    ) -> Result<()> {
        self.bounds.clear();
        let window = COUNTED / placed.terms.len().max(1);
        for lows in lows.chunks(window.max(1)) {
            view.control.check()?;
            self.add(lows, plan, placed, threshold, view, index);
        }
        let falling = |(bound, low): &(i64, u16)| (Reverse(*bound), *low);
        self.bounds.sort_unstable_by_key(falling);
        Ok(())
    }

    /// The rows found, each with the upper bound of its weight.
    pub(super) fn rows(&self) -> &[(i64, u16)] {
        &self.bounds
    }

    /// Adds the bounds of some rows that can reach the threshold.
    fn add(
        &mut self,
        lows: &[u16],
        plan: &Plan,
        placed: &Placed,
        threshold: i64,
        view: &View<'_>,
        index: &mut RowIndex,
    ) {
        let (weigher, terms) = (plan.weigher(), placed.terms.len());
        self.sums.clear();
        self.sums.resize(lows.len(), 0);
        self.present.clear();
        self.present.resize(lows.len(), 0);
        self.standing.clear();
        self.standing.resize(lows.len() * terms, 0);
        index.set(lows);
        for (term, words) in placed.terms.iter().enumerate() {
            for word in words {
                let (page, number) = (view.word(*word), *word as u32);
                let (table, is_wanted) = (weigher.table(*word), plan.is_wanted(number));
                index.each(page, lows, |row, posting| {
                    let code = page.codes.get(posting).copied().unwrap_or(0);
                    let hits = match code >> 5 {
                        0 => view.hits(*word, posting),
                        hits => u32::from(hits),
                    };
                    self.standing[row * terms + term] += u64::from(hits);
                    let is_new = self.present[row] & bit(number) == 0 || number >= 63;
                    if is_wanted && is_new {
                        // A word that may not count must not lower the bound by a negative value.
                        self.sums[row] += i64::from(table[usize::from(code)]).max(0);
                        self.present[row] |= bit(number);
                    }
                });
            }
        }
        index.clear(lows);
        let is_of_words = placed.verifier.is_of_words();
        for (row, low) in lows.iter().enumerate() {
            let standing = &self.standing[row * terms..][..terms];
            let most = placed
                .verifier
                .most(&|term| standing.get(term).copied().unwrap_or(0));
            let words = i64::try_from(most.words).unwrap_or(i64::MAX);
            let bound = weigher.bound_places(self.present[row], self.sums[row], words, is_of_words);
            if bound >= threshold {
                self.bounds.push((bound, *low));
            }
        }
    }
}
