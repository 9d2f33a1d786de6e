//! Rows of an order that is not by weight alone, and rows of which all are wanted: they are offered to the collector, or handed over
//! page by page in a job that is `in_blocks`.

use super::super::blocks::BLOCK_ROWS;
use super::super::collect::{FoundPage, FoundRow, WEIGHT_WITHOUT_MATCH};
use super::super::values::RowValues;
use super::job::Out;
use super::page::PageRun;
use super::placed;
use super::rank::{self, gather, weigh_many};
use super::rows::Rows;
use super::score::Scorer;
use crate::error::Result;

/// Rows of a page whose ids are fetched from memory together.
const IDS_AHEAD: usize = 256;

/// Counts the rows of the page, and lists them.
pub(super) fn run<'r>(
    on: &PageRun<'r, '_>,
    scorer: Option<&mut Scorer<'r>>,
    out: &mut Out<'_>,
) -> Result<()> {
    let rows = on.counted(out)?;
    if on.job.keep != Some(0) {
        out.scratch.weighed.clear();
        out.scratch.page_rows.clear();
        list(on, &rows, scorer, out)?;
    }
    if on.job.in_blocks {
        hand_over(on, out)?;
    }
    out.scratch.give(rows);
    Ok(())
}

/// Offers rows to the collector, for an order that is not by weight alone.
pub(super) fn list<'r>(
    on: &PageRun<'r, '_>,
    rows: &Rows,
    mut scorer: Option<&mut Scorer<'r>>,
    out: &mut Out<'_>,
) -> Result<()> {
    if let Some(scorer) = &mut scorer {
        scorer.turn_page(&on.view);
        rank::transpose(rows, scorer, out);
    }
    let job = on.job;
    if job.in_blocks && scorer.as_ref().is_none_or(|scorer| scorer.tells_weights()) {
        return list_simply(rows, scorer, out);
    }
    // Rows come by rising id, so a row behind the last one kept cannot enter.
    let is_sorted = scorer.is_none() && on.part.is_sorted() && job.order.is_by_id();
    let is_behind = |last: &FoundRow| on.id_first.is_some_and(|id| id > last.id);
    if is_sorted && out.collector.last().is_some_and(is_behind) {
        return Ok(());
    }
    let left = match job.keep {
        Some(keep) if is_sorted => keep,
        _ => u64::MAX,
    };
    let mut lows = out.scratch.lows();
    rows.stretches().for_each(|rows| gather(rows, &mut lows));
    lows.truncate(usize::try_from(left).unwrap_or(usize::MAX));
    let mut entering = out.scratch.lows();
    let mut result = Ok(());
    for block in lows.chunks(BLOCK_ROWS) {
        entering.clear();
        let last = out.collector.last();
        let (first, meter) = (on.view.doc(0), &*on.shared.control.interrupt);
        job.entering(on.part, first, block, last, meter, &mut entering);
        result = list_block(on, &entering, scorer.as_deref_mut(), out);
        if result.is_err() {
            break;
        }
    }
    out.scratch.give(Rows::Few(lows));
    out.scratch.give(Rows::Few(entering));
    result
}

fn list_block<'r>(
    on: &PageRun<'r, '_>,
    lows: &[u16],
    mut scorer: Option<&mut Scorer<'r>>,
    out: &mut Out<'_>,
) -> Result<()> {
    if let Some(scorer) = &mut scorer
        && scorer.tells_weights()
    {
        return list_weighed(on, lows, scorer, out);
    }
    if let Some(scorer) = &mut scorer
        && let Some(plan) = &on.job.plan
        && let Some(placed) = plan.placed()
    {
        return placed::list_placed(on, lows, plan, placed, scorer, out);
    }
    for lows in lows.chunks(IDS_AHEAD) {
        let ahead = lows.iter();
        ahead.for_each(|low| on.part.fetch_id(on.view.doc(*low)));
        for low in lows {
            list_row(on, *low, scorer.as_deref_mut(), out)?;
        }
    }
    Ok(())
}

/// Offers rows that [`Scorer::weigh_many`] weighs.
fn list_weighed<'r>(
    on: &PageRun<'r, '_>,
    lows: &[u16],
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
) -> Result<()> {
    let mut weighed = std::mem::take(&mut out.scratch.weighed);
    weigh_many(scorer, lows, &mut out.scratch.many_rows, &mut weighed);
    let mut offered = weighed.iter();
    let result = offered.try_for_each(|(low, weight)| offer(on, *low, *weight, out));
    weighed.clear();
    out.scratch.weighed = weighed;
    result
}

/// Weighs rows by codes and fields, or not at all, on their way to [`PageRun::hand_over`].
fn list_simply(rows: &Rows, scorer: Option<&mut Scorer<'_>>, out: &mut Out<'_>) -> Result<()> {
    let scratch = &mut *out.scratch;
    let lows = &mut scratch.page_rows;
    rows.stretches().for_each(|rows| gather(rows, lows));
    if let Some(scorer) = scorer {
        let found = &mut scratch.weighed;
        weigh_many(scorer, lows, &mut scratch.many_rows, found);
        lows.clear();
    }
    Ok(())
}

/// Gives the rows of the page to the collector, in a job that is `in_blocks`.
pub(super) fn hand_over(on: &PageRun<'_, '_>, out: &mut Out<'_>) -> Result<()> {
    let scratch = &mut *out.scratch;
    scratch.page_weights.clear();
    for (low, weight) in &scratch.weighed {
        scratch.page_rows.push(*low);
        scratch.page_weights.push(*weight);
    }
    let found = FoundPage {
        at: on.at,
        part: on.part,
        first: on.view.doc(0),
        lows: &scratch.page_rows,
        weights: &scratch.page_weights,
    };
    out.collector.take_page(&found, on.shared.control)
}

fn list_row(
    on: &PageRun<'_, '_>,
    low: u16,
    scorer: Option<&mut Scorer<'_>>,
    out: &mut Out<'_>,
) -> Result<()> {
    let weight = match scorer {
        Some(scorer) => rank::weigh_one(on, low, scorer)?,
        None => Some(WEIGHT_WITHOUT_MATCH),
    };
    offer(on, low, weight.unwrap_or(0), out)
}

/// Offers a row to the collector, or, in a job that is `in_blocks`, gathers it for [`PageRun::hand_over`].
pub(super) fn offer(on: &PageRun<'_, '_>, low: u16, weight: i64, out: &mut Out<'_>) -> Result<()> {
    if on.job.in_blocks {
        out.scratch.weighed.push((low, weight));
        return Ok(());
    }
    let row = RowValues::new(on.part, on.view.doc(low), &on.shared.control.interrupt);
    on.job.offer(on.at, &row, weight, on.shared.control, out)
}
