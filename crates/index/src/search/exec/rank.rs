//! Weighs rows of a page and takes those that reach the threshold.

use super::bounds::{Bounded, Bounds};
use super::by_bound;
use super::enter;
use super::job::Out;
use super::lists::View;
use super::page::PageRun;
use super::rows::{Rows, RowsRef};
use super::score::{ManyRows, Scorer, WordsOfRows};
use crate::error::Result;
use crate::wide::wide;

/// Rows from which on the pairs of the page are read, to read the places of fewer rows.
const PAIRS_FROM: usize = 128;

/// Rows that are gathered before they are weighed; after each batch the threshold may rise.
const WEIGHED_ROWS: usize = 256;

/// Units of a row that is weighed by the codes of its words, and of one that is weighed by their places.
const WEIGHED_UNITS: u64 = 10;
const PLACED_UNITS: u64 = 300;

/// Weighs those of `rows` that [`PageRun::total`] returned.
pub(super) fn rank_accepted<'r>(
    on: &PageRun<'r, '_>,
    mut rows: Rows,
    accepted: &Rows,
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
) -> Result<()> {
    rows.intersect(accepted, true);
    rank(on, &rows, scorer, out)?;
    out.scratch.give(rows);
    Ok(())
}

/// Weighs rows and takes those that reach the threshold.
pub(super) fn rank<'r>(
    on: &PageRun<'r, '_>,
    rows: &Rows,
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
) -> Result<()> {
    if scorer.tells_weights() {
        return rank_simply(on, rows, scorer, out);
    }
    if scorer.tells_bounds() {
        return rank_bounded(on, rows, scorer, out);
    }
    let mut result = Ok(());
    for stretch in rows.stretches() {
        if !scorer.may_enter() {
            break;
        }
        stretch.each(|low| {
            if result.is_ok() {
                result = rank_row(on, low, scorer, out);
            }
        });
    }
    result
}

/// Transposes the page where it pays for these rows.
pub(super) fn transpose(rows: &Rows, scorer: &mut Scorer<'_>, out: &mut Out<'_>) {
    if scorer.is_wide(|| rows.len()) {
        let mut lows = out.scratch.lows();
        rows.stretches().for_each(|rows| gather(rows, &mut lows));
        transposed(scorer, &lows, &mut out.scratch.many_rows);
        out.scratch.give(Rows::Few(lows));
    }
}

/// Weighs rows whose fields or places decide, from the highest bound down.
fn rank_bounded<'r>(
    on: &PageRun<'r, '_>,
    rows: &Rows,
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
) -> Result<()> {
    let mut bounds = std::mem::take(&mut out.scratch.bounds);
    bound_rows(on, rows, scorer, &mut bounds, out)?;
    by_bound::rank_by_bounds(
        on,
        &mut bounds,
        scorer,
        out,
        |batch, scorer, out, weighed| {
            if scorer.is_transposed() {
                return weigh_wide(on, batch, scorer, out, weighed);
            }
            scorer.restart();
            for row in batch {
                if let Some(weight) = weigh_one(on, row.low, scorer)? {
                    weighed.push((row.low, weight));
                }
            }
            Ok(())
        },
    )?;
    out.scratch.bounds = bounds;
    Ok(())
}

/// Sets `bounds` to the rows whose upper bounds reach the threshold.
pub(super) fn bound_rows<'r>(
    on: &PageRun<'r, '_>,
    rows: &Rows,
    scorer: &mut Scorer<'r>,
    bounds: &mut Bounds,
    out: &mut Out<'_>,
) -> Result<()> {
    transpose(rows, scorer, out);
    if rows.len() > PAIRS_FROM {
        scorer.read_pairs(&on.view);
    }
    let mut lows = out.scratch.lows();
    let mut bounded = std::mem::take(&mut out.scratch.weighed);
    for stretch in rows.stretches() {
        gather(stretch, &mut lows);
        on.shared.control.spend(WEIGHED_UNITS * lows.len() as u64)?;
        weigh_many(scorer, &lows, &mut out.scratch.many_rows, &mut bounded);
        lows.clear();
    }
    out.scratch.give(Rows::Few(lows));
    bounds.set(&mut bounded);
    out.scratch.weighed = bounded;
    Ok(())
}

/// Weighs rows by codes and fields, at least [`WEIGHED_ROWS`] at a time.
pub(super) fn rank_simply<'r>(
    on: &PageRun<'r, '_>,
    rows: &Rows,
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
) -> Result<()> {
    transpose(rows, scorer, out);
    let mut lows = out.scratch.lows();
    for stretch in rows.stretches() {
        gather(stretch, &mut lows);
        if lows.len() >= WEIGHED_ROWS {
            weigh_lows(on, &mut lows, scorer, out)?;
        }
    }
    weigh_lows(on, &mut lows, scorer, out)?;
    out.scratch.give(Rows::Few(lows));
    Ok(())
}

fn weigh_lows(
    on: &PageRun<'_, '_>,
    lows: &mut Vec<u16>,
    scorer: &mut Scorer<'_>,
    out: &mut Out<'_>,
) -> Result<()> {
    on.shared.control.spend(WEIGHED_UNITS * lows.len() as u64)?;
    let mut weighed = std::mem::take(&mut out.scratch.weighed);
    weigh_many(scorer, lows, &mut out.scratch.many_rows, &mut weighed);
    lows.clear();
    let mut threshold = scorer.threshold();
    enter::enter(on, &mut weighed, &mut threshold, out)?;
    scorer.raise(threshold);
    out.scratch.weighed = weighed;
    Ok(())
}

fn rank_row(
    on: &PageRun<'_, '_>,
    low: u16,
    scorer: &mut Scorer<'_>,
    out: &mut Out<'_>,
) -> Result<()> {
    let Some(weight) = weigh_one(on, low, scorer)? else {
        return Ok(());
    };
    let mut weighed = std::mem::take(&mut out.scratch.weighed);
    weighed.push((low, weight));
    let mut threshold = scorer.threshold();
    enter::enter(on, &mut weighed, &mut threshold, out)?;
    scorer.raise(threshold);
    out.scratch.weighed = weighed;
    Ok(())
}

pub(super) fn weigh_one(
    on: &PageRun<'_, '_>,
    low: u16,
    scorer: &mut Scorer<'_>,
) -> Result<Option<i64>> {
    with_lasts(on, low, scorer, |scorer, last| {
        weigh(scorer, low, &on.view, last)
    })
}

/// Weighs rows of a transposed page, each by the words that it holds.
fn weigh_wide(
    on: &PageRun<'_, '_>,
    rows: &[Bounded],
    scorer: &mut Scorer<'_>,
    out: &mut Out<'_>,
    weighed: &mut Vec<(u16, i64)>,
) -> Result<()> {
    let (mut lows, mut words) = (out.scratch.lows(), WordsOfRows::default());
    for rows in rows.chunks(scorer.rows_at_once()) {
        on.shared.control.spend(PLACED_UNITS * rows.len() as u64)?;
        lows.clear();
        lows.extend(rows.iter().map(|row| row.low));
        scorer.words_of(&lows, &mut out.scratch.places.index, &mut words);
        for (row, low) in lows.iter().enumerate() {
            let weight = with_lasts(on, *low, scorer, |scorer, last| {
                scorer.weigh_row_of(words.of(row), *low, &on.view, last)
            })?;
            weighed.extend(weight.map(|weight| (*low, weight)));
        }
    }
    out.scratch.give(Rows::Few(lows));
    Ok(())
}

/// Calls `weigh` with a reader of the last position of a row's field. Errors: those of reading one, and of the scorer.
fn with_lasts<'s>(
    on: &PageRun<'_, '_>,
    low: u16,
    scorer: &mut Scorer<'s>,
    weigh: impl FnOnce(&mut Scorer<'s>, &mut dyn FnMut(u8) -> u32) -> Option<i64>,
) -> Result<Option<i64>> {
    let mut read = Ok(());
    let mut last = |field| match on.view.texts.last(on.view.doc(low), field) {
        Ok(last) => last.unwrap_or(0),
        Err(error) => {
            read = Err(error);
            0
        }
    };
    let weight = weigh(scorer, &mut last);
    scorer.check()?;
    read.map(|()| weight)
}

wide! {
    pub(super) fn gather(rows: RowsRef<'_>, lows: &mut Vec<u16>) = RowsRef::gather
}

wide! {
    pub(super) fn weigh_many(scorer: &mut Scorer<'_>, rows: &[u16], many_rows: &mut ManyRows, out: &mut Vec<(u16, i64)>) = Scorer::weigh_many
}

wide! {
    fn transposed(scorer: &mut Scorer<'_>, lows: &[u16], many_rows: &mut ManyRows) = Scorer::transpose
}

wide! {
    fn weigh(scorer: &mut Scorer<'_>, low: u16, view: &View<'_>, last: &mut dyn FnMut(u8) -> u32) -> Option<i64> = Scorer::weigh
}
