//! Upper bounds of the weights of rows whose places decide what counts, from words, codes and numbers of places.

use std::cmp::Reverse;

use super::super::plan::{Placed, Plan};
use super::lists::View;
use super::row_index::RowIndex;
use super::score::bit;
use crate::error::Result;
use crate::wide::wide;

/// Rows of a page with what bounds their weights, in the order of the rows.
#[derive(Default)]
pub(super) struct Bounds {
    sums: Vec<i64>,
    /// By row: words whose values are in the sum.
    present: Vec<u64>,
    /// By row and term: the places of the term, and a set of their fields.
    standing: Vec<(u64, u64)>,
    bounds: Vec<Bounded>,
    /// How many of them were taken.
    taken: usize,
}

/// A row, and what is known of its weight.
#[derive(Clone, Copy)]
pub(super) struct Bounded {
    /// Upper bound of the weight.
    pub(super) bound: i64,
    /// Upper bound of the sum of the values of its words.
    pub(super) sum: i64,
    /// Set of the fields in which its words stand.
    pub(super) fields: u64,
    pub(super) low: u16,
}

/// Rows whose numbers of places are counted together, times the terms.
const COUNTED: usize = 1 << 18;

impl Bounds {
    /// Finds those of the rows `lows` that can reach the threshold. `index`: an index without rows. Errors:
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
            view.control.spend(2 * COUNTED as u64)?;
            index.set(lows);
            count(self, lows, plan, placed, view, index);
            index.clear(lows);
            self.add(lows, plan, placed, threshold);
        }
        self.taken = 0;
        Ok(())
    }

    /// Takes rows with upper bounds of their weights.
    pub(super) fn set(&mut self, rows: &mut Vec<(u16, i64)>) {
        self.bounds.clear();
        let bounded = |(low, bound)| Bounded {
            bound,
            sum: 0,
            fields: 0,
            low,
        };
        self.bounds.extend(rows.drain(..).map(bounded));
        self.taken = 0;
    }

    /// Replaces `into` by the next `most` of the rows found, each with the upper bound of its weight, in any order: no later row has a higher bound.
    pub(super) fn take(&mut self, most: usize, into: &mut Vec<Bounded>) {
        let rest = &mut self.bounds[self.taken..];
        let length = most.min(rest.len());
        if (1..rest.len()).contains(&length) {
            let falling = |row: &Bounded| (Reverse(row.bound), row.low);
            rest.select_nth_unstable_by_key(length - 1, falling);
        }
        self.taken += length;
        into.clear();
        into.extend_from_slice(&rest[..length]);
    }

    /// Counts the places of each term in some rows, and adds up the values of their words.
    #[inline(always)]
    fn count(
        &mut self,
        lows: &[u16],
        plan: &Plan,
        placed: &Placed,
        view: &View<'_>,
        index: &RowIndex,
    ) {
        let (weigher, terms) = (plan.weigher(), placed.terms.len());
        let asks_standing = weigher.asks_standing();
        self.sums.clear();
        self.sums.resize(lows.len(), 0);
        self.present.clear();
        self.present.resize(lows.len(), 0);
        self.standing.clear();
        self.standing.resize(lows.len() * terms, (0, 0));
        for (term, words) in placed.terms.iter().enumerate() {
            let asked = placed.fields[term];
            for word in words {
                let (page, number) = (view.word(*word), *word as u32);
                let (table, is_wanted) = (weigher.table(*word), plan.is_wanted(number));
                let rated = placed.rated[*word];
                let sets = view.field_sets(*word);
                index.each(page, lows, |row, posting| {
                    let code = page.codes.get(posting).copied().unwrap_or(0);
                    if asks_standing {
                        let hits = match code >> 5 {
                            0 => view.hits(*word, posting),
                            hits => u32::from(hits),
                        };
                        let standing = &mut self.standing[row * terms + term];
                        standing.0 += u64::from(hits);
                        let fields = match sets.and_then(|sets| sets.get(posting)) {
                            Some(fields) => u64::from(*fields),
                            None => view.fields(*word, posting),
                        };
                        standing.1 |= fields & asked;
                    }
                    let is_new = self.present[row] & bit(number) == 0 || number >= 63;
                    if is_wanted && is_new {
                        self.sums[row] += rated.of(i64::from(table[usize::from(code)]));
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
        // Where every place may count, a run is bounded by the terms alone.
        let is_free = is_of_words && placed.verifier.is_free() && !weigher.asks_counted();
        let counts = !is_free && weigher.asks_runs();
        let mut by_field = Vec::new();
        for (row, low) in lows.iter().enumerate() {
            let standing = &self.standing[row * terms..][..terms];
            let fields = standing.iter().fold(0, |all, (_, fields)| all | fields);
            let mut counted: i64 = i64::MAX;
            if counts {
                by_field.clear();
                by_field.resize((u64::BITS - fields.leading_zeros()) as usize, 0);
                counted = 0;
                for (field, words) in by_field.iter_mut().enumerate() {
                    if fields >> field & 1 == 1 {
                        *words = words_in(field, standing, placed);
                        counted = counted.saturating_add(*words);
                    }
                }
            }
            let run = |field: usize| match is_of_words {
                true if is_free => places_of_query(field, standing, placed),
                true => in_field(&by_field, field).min(places_of_query(field, standing, placed)),
                false => in_field(&by_field, field),
            };
            let sum = self.sums[row];
            let bound = weigher.bound_places(sum, counted, fields, run);
            if bound >= threshold {
                self.bounds.push(Bounded {
                    bound,
                    sum,
                    fields,
                    low: *low,
                });
            }
        }
    }
}

/// The words that count in a field, where they are counted.
fn in_field(by_field: &[i64], field: usize) -> i64 {
    by_field.get(field).copied().unwrap_or(i64::MAX)
}

/// Upper bound of the words that count in a field. `standing`: the places of each term in the row, and a set of their fields.
fn words_in(field: usize, standing: &[(u64, u64)], placed: &Placed) -> i64 {
    let places = |term: usize| match standing.get(term) {
        // Each other field has one of the places.
        Some((places, fields)) if fields >> field & 1 == 1 => {
            places.saturating_sub(u64::from(fields.count_ones()) - 1)
        }
        _ => 0,
    };
    let most = placed.verifier.most(field as u8, &places).words;
    i64::try_from(most).unwrap_or(i64::MAX)
}

/// The places of the query whose words stand in a field: a run of words has each of them once.
fn places_of_query(field: usize, standing: &[(u64, u64)], placed: &Placed) -> i64 {
    let terms = standing.iter().zip(&placed.times);
    let here = terms.filter(|((_, fields), _)| fields >> field & 1 == 1);
    here.map(|(_, times)| times).sum()
}

/// Terms up to which they are counted by field.
const FEW_TERMS: usize = 8;

wide! {
    fn count(bounds: &mut Bounds, lows: &[u16], plan: &Plan, placed: &Placed, view: &View<'_>, index: &RowIndex) = Bounds::count
}
