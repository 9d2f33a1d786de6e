//! Weighs rows of a tree that the places of words decide.
//!
//! A row's words, their codes and the number of their places bound its weight (`Weigher::bound_places`). Rows are weighed from
//! the highest bound down: `by_bound.rs`.

use super::super::plan::{Placed, Plan, TwoOperator, WIDE_WORDS, every_field};
use super::super::rank::{Hit, Occurrences};
use super::bounds::Bounded;
use super::by_bound;
use super::enter;
use super::job::Out;
use super::listed;
use super::marked;
use super::near::NearRows;
use super::page::PageRun;
use super::places::{Places, RowPlaces};
use super::rank;
use super::rows::Rows;
use super::score::Scorer;
use crate::error::{Error, Result};

/// Rows of a NEAR that are weighed before the threshold may rise.
const NEAR_ROWS: usize = 256;

/// A plan whose rows are weighed by places, and its tree.
#[derive(Clone, Copy)]
struct Tree<'p> {
    plan: &'p Plan,
    placed: &'p Placed,
}

/// Weighs rows and takes those that reach the threshold. Some of the others may be dropped from `rows`.
pub(super) fn rank_placed<'r>(
    on: &PageRun<'r, '_>,
    rows: &mut Rows,
    plan: &Plan,
    placed: &Placed,
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
) -> Result<()> {
    if scorer.tells_weights() {
        return rank::rank_simply(on, rows, scorer, out);
    }
    if plan.words() > WIDE_WORDS {
        let run: i64 = placed.times.iter().sum();
        let fields = every_field(on.view.texts.shape.text_columns());
        let bound = |sum| plan.weigher().bound_places(sum, i64::MAX, fields, |_| run);
        marked::drop_low(rows, scorer, bound, out);
    }
    if rank_near(on, rows, plan, placed, scorer, out)? {
        return Ok(());
    }
    let mut bounds = std::mem::take(&mut out.scratch.bounds);
    let mut lows = out.scratch.lows();
    let by_fields = scorer.tells_bounds();
    if by_fields {
        rank::bound_rows(on, rows, scorer, &mut bounds, out)?;
    } else {
        rows.each(|low| lows.push(low));
        let index = &mut out.scratch.places.index;
        bounds.find(&lows, plan, placed, scorer.threshold(), &on.view, index)?;
    }
    let tree = Tree { plan, placed };
    by_bound::rank_by_bounds(
        on,
        &mut bounds,
        scorer,
        out,
        |batch, scorer, out, weighed| {
            lows.clear();
            lows.extend(batch.iter().map(|row| row.low));
            let threshold = scorer.threshold();
            let mut next = batch.iter();
            let may_enter = |document: &RowPlaces<'_, '_>| {
                let row = next.next();
                let bound = |row| bound(row, plan, placed, document);
                row.is_some_and(|row| by_fields || bound(row) >= threshold)
            };
            let (occurrences, places) = (scorer.occurrences(), &mut out.scratch.places);
            let add = |low, weight| {
                weighed.push((low, weight));
                Ok(())
            };
            weigh_placed(on, &lows, tree, occurrences, places, may_enter, add)?;
            weighed.retain(|(_, weight)| *weight >= threshold);
            Ok(())
        },
    )?;
    out.scratch.bounds = bounds;
    out.scratch.give(Rows::Few(lows));
    Ok(())
}

/// As [`PageRun::rank_placed`] of a NEAR of two words and a ranker by runs; `false` for any other.
fn rank_near<'r>(
    on: &PageRun<'r, '_>,
    rows: &Rows,
    plan: &Plan,
    placed: &Placed,
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
) -> Result<bool> {
    let (Some(two), Some(weights)) = (&placed.two, plan.weigher().by_runs()) else {
        return Ok(false);
    };
    let TwoOperator::Near(distance) = two.operator else {
        return Ok(false);
    };
    let Some(mut near) = NearRows::new(two, distance, weights, &on.view) else {
        return Ok(false);
    };
    let mut lows = out.scratch.lows();
    rows.each(|low| lows.push(low));
    for lows in lows.chunks(NEAR_ROWS) {
        let mut threshold = scorer.threshold();
        let mut weighed = std::mem::take(&mut out.scratch.weighed);
        near.weigh(lows, threshold, &mut weighed)?;
        enter::enter(on, &mut weighed, &mut threshold, out)?;
        scorer.raise(threshold);
        out.scratch.weighed = weighed;
    }
    out.scratch.give(Rows::Few(lows));
    Ok(true)
}

/// The upper bound of a row's weight, lower where its places tell how long a run may be.
fn bound(row: &Bounded, plan: &Plan, placed: &Placed, document: &RowPlaces<'_, '_>) -> i64 {
    let longest = |field: usize| placed.verifier.longest_run(document, field as u8);
    if !plan.weigher().asks_runs() || longest(0).is_none() {
        return row.bound;
    }
    let run = |field| longest(field).map_or(i64::MAX, |run| i64::try_from(run).unwrap_or(i64::MAX));
    let weigher = plan.weigher();
    let bound = weigher.bound_places(row.sum, i64::MAX, row.fields, run);
    bound.min(row.bound)
}

/// Offers rows with their weights to the collector, for an order that is not by weight alone.
pub(super) fn list_placed(
    on: &PageRun<'_, '_>,
    lows: &[u16],
    plan: &Plan,
    placed: &Placed,
    scorer: &mut Scorer<'_>,
    out: &mut Out<'_>,
) -> Result<()> {
    let mut places = std::mem::take(&mut out.scratch.places);
    let occurrences = scorer.occurrences();
    let offer = |low, weight| listed::offer(on, low, weight, out);
    let result = weigh_placed(
        on,
        lows,
        Tree { plan, placed },
        occurrences,
        &mut places,
        |_| true,
        offer,
    );
    out.scratch.places = places;
    result
}

/// Calls `visit` with those of the rows `lows`, all of which match, that `is_asked` accepts, and their weights.
fn weigh_placed(
    on: &PageRun<'_, '_>,
    lows: &[u16],
    tree: Tree<'_>,
    occurrences: &mut Occurrences,
    places: &mut Places,
    mut is_asked: impl FnMut(&RowPlaces<'_, '_>) -> bool,
    mut visit: impl FnMut(u16, i64) -> Result<()>,
) -> Result<()> {
    places.each_window(tree.placed, lows, &on.view, |places, window| {
        for (row, low) in window.iter().enumerate() {
            if !is_asked(&RowPlaces::new(&places.columns, row, *low, &on.view)) {
                continue;
            }
            let weight = weight(on, row, *low, tree, occurrences, places)?;
            visit(*low, weight)?;
        }
        Ok(())
    })
}

/// The weight of the `row`-th row of the window.
fn weight(
    on: &PageRun<'_, '_>,
    row: usize,
    low: u16,
    Tree { plan, placed }: Tree<'_>,
    occurrences: &mut Occurrences,
    places: &mut Places,
) -> Result<i64> {
    let Places {
        columns,
        buffers,
        counts,
        ..
    } = places;
    let document = RowPlaces::new(columns, row, low, &on.view);
    if !placed.verifier.count(&document, buffers, counts) {
        return Err(Error::TooManyOccurrences);
    }
    occurrences.clear();
    for hit in &counts.hits {
        let at = u32::from(hit.field) << 24 | hit.start;
        let Some(term) = hit.term.map(|term| term as usize) else {
            occurrences.add_unit(Hit {
                at,
                word: plan.words() as u32 + hit.place,
                place: hit.place,
                span: hit.span,
                weight: hit.weight,
            });
            continue;
        };
        columns.words_at(term, &placed.terms[term], row, at, |word| {
            occurrences.add_places(word, std::iter::once(at));
        });
    }
    let weigher = plan.weigher();
    let fields = match weigher.takes_found_fields() {
        true => counts.fields,
        false => occurrences.placed(),
    };
    let mut sum = 0;
    for (term, rare) in counts
        .rare
        .iter()
        .enumerate()
        .filter(|(_, rare)| **rare != 0)
    {
        let words = &placed.terms[term];
        columns.each_word(term, words, row, |standing, fields_of_word| {
            if fields_of_word & rare != 0 && !occurrences.holds(standing.word) {
                let (word, posting) = (standing.word, standing.posting);
                let hits = on.view.hits(word, posting);
                let known = on.view.word(word).codes.get(posting);
                let known = known.copied().unwrap_or(0);
                occurrences.add(word, hits, fields);
                sum += weigher.value(word, known, hits);
            }
        });
    }
    let weight = weigher.weigh(occurrences, sum, &mut |field| {
        language::verify::Document::last(&document, field).unwrap_or(0)
    });
    occurrences.check()?;
    document.check().map(|()| weight)
}
