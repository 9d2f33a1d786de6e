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
    /// By row: words whose values are in the sum.
    present: Vec<u64>,
    /// By row and term: the places of the term, and a set of their fields.
    standing: Vec<(u64, u64)>,
    /// Upper bound of the weight, and the row.
    bounds: Vec<(i64, u16)>,
}

/// Rows whose numbers of places are counted together, times the terms.
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
            index.set(lows);
            self.count(lows, plan, placed, view, index);
            index.clear(lows);
            self.add(lows, plan, placed, threshold);
        }
        let falling = |(bound, low): &(i64, u16)| (Reverse(*bound), *low);
        self.bounds.sort_unstable_by_key(falling);
        Ok(())
    }

    /// The rows found, each with the upper bound of its weight.
    pub(super) fn rows(&self) -> &[(i64, u16)] {
        &self.bounds
    }

    /// Counts the places of each term in some rows, and adds up the values of their words.
    fn count(
        &mut self,
        lows: &[u16],
        plan: &Plan,
        placed: &Placed,
        view: &View<'_>,
        index: &RowIndex,
    ) {
        let (weigher, terms) = (plan.weigher(), placed.terms.len());
        self.sums.clear();
        self.sums.resize(lows.len(), 0);
        self.present.clear();
        self.present.resize(lows.len(), 0);
        self.standing.clear();
        self.standing.resize(lows.len() * terms, (0, 0));
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
                    let standing = &mut self.standing[row * terms + term];
                    standing.0 += u64::from(hits);
                    standing.1 |= view.fields(*word, posting);
                    let is_new = self.present[row] & bit(number) == 0 || number >= 63;
                    if is_wanted && is_new {
                        // A word that may not count must not lower the bound by a negative value.
                        self.sums[row] += i64::from(table[usize::from(code)]).max(0);
                        self.present[row] |= bit(number);
                    }
                });
            }
        }
    }

    /// Adds the rows that can reach the threshold.
    fn add(&mut self, lows: &[u16], plan: &Plan, placed: &Placed, threshold: i64) {
        let (weigher, terms) = (plan.weigher(), placed.terms.len());
        let is_of_words = placed.verifier.is_of_words() && terms <= FEW_TERMS;
        for (row, low) in lows.iter().enumerate() {
            let standing = &self.standing[row * terms..][..terms];
            let places = |term: usize| standing.get(term).map_or(0, |(places, _)| *places);
            let counted = placed.verifier.most(&places).words;
            let counted = i64::try_from(counted).unwrap_or(i64::MAX);
            let fields = standing.iter().fold(0, |all, (_, fields)| all | fields);
            // A run of words has each place of the query once.
            let run = |field: usize| {
                let terms = standing.iter().zip(&placed.times);
                let here = terms.filter(|((_, fields), _)| fields >> field & 1 == 1);
                here.map(|(_, times)| times).sum()
            };
            let run = |field: usize| match is_of_words {
                true => counted.min(run(field)),
                false => counted,
            };
            let bound = weigher.bound_places(self.sums[row], counted, fields, run);
            if bound >= threshold {
                self.bounds.push((bound, *low));
            }
        }
    }
}

/// Terms up to which they are counted by field.
const FEW_TERMS: usize = 8;
