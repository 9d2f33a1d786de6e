//! The rows of many words, ranked by their marks: `marks.rs`.
//!
//! One pass over the postings of a page finds the rows that match, counts them, and tells which of them may enter. Those of the highest
//! marks are weighed first, and raise the threshold for the others. Example with LIMIT 1, an OR of nine or more words and steps of 4:
//!
//! ```text
//! row        3    9    17    20          rows that match: 4
//! mark       7    4     3     1
//! weighed    3 first, 21; then those from mark 21 / 4 + 1 = 6 on: none
//! ```

use super::super::plan::Plan;
use super::by_weight::ByWeight;
use super::enter;
use super::essential::EITHER_WORDS;
use super::job::Out;
use super::lists::ByWord;
use super::marks::Marks;
use super::page::PageRun;
use super::rank;
use super::rows::Rows;
use super::score::Scorer;
use crate::error::Result;

/// Postings of a page from which on marks pay for their passes over all rows of the page.
const MARKED_FROM: usize = 512;

/// Most postings that are marked one by one where `either.rs` can find the rows by bitmaps.
const HEAVY_MOST: usize = 16_384;

/// Most rows that may enter for which no band of higher marks is weighed first.
const BAND_ROWS: usize = 256;

/// Rows from which on those of low marks are looked for, to be dropped.
const DROPPED_FROM: usize = 256;

/// The light words of an OR, whose postings are marked one by one.
pub(super) type Light = ByWord<bool>;

/// The light words of an OR of many, where marks are the shortest way.
pub(super) fn light(plan: &Plan, scorer: &Scorer<'_>) -> Option<Light> {
    if !scorer.tells_weights() || !scorer.is_of_many() || scorer.highest() == 0 {
        return None;
    }
    let (light, postings) = scorer.light();
    let most = match plan.words() {
        0..=EITHER_WORDS => HEAVY_MOST,
        _ => usize::MAX,
    };
    (MARKED_FROM..=most).contains(&postings).then_some(light)
}

/// Counts the rows of an OR of many words, and takes those that reach the threshold.
pub(super) fn run<'r>(
    on: &PageRun<'r, '_>,
    light: Light,
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
) -> Result<()> {
    let mut marks = std::mem::take(&mut out.scratch.marks);
    scorer.mark(&light, &mut marks);
    let mut matched = out.scratch.bitmap();
    matched.fill(u64::MAX);
    marks.keep(1, u8::MAX, &mut matched);
    let matched = on.total(matched, out)?;
    let lowest = marks.lowest(scorer.least());
    let mut rows = between(&marks, lowest, u8::MAX, &matched, out);
    if rows.len() > BAND_ROWS {
        let band = marks.reached_by(band(on), &rows, lowest);
        out.scratch.give(rows);
        rows = between(&marks, band, u8::MAX, &matched, out);
        rank::rank(on, &rows, scorer, out)?;
        out.scratch.give(rows);
        scorer.raise(enter::threshold(on, out)?);
        scorer.restart();
        let lowest = marks.lowest(scorer.least());
        rows = between(&marks, lowest, band - 1, &matched, out);
    }
    rank::rank(on, &rows, scorer, out)?;
    out.scratch.give(rows);
    out.scratch.give(matched);
    out.scratch.marks = marks;
    Ok(())
}

/// Rows that give the thread a threshold once they are weighed.
fn band(on: &PageRun<'_, '_>) -> usize {
    let keep = on.job.keep.and_then(|keep| usize::try_from(keep).ok());
    ByWeight::rows_of_cut(keep.unwrap_or(usize::MAX))
}

/// Those of `rows` whose marks lie between `low` and `high`; none where `high` is the lower one.
fn between(marks: &Marks, low: u8, high: u8, rows: &Rows, out: &mut Out<'_>) -> Rows {
    let mut bitmap = out.scratch.bitmap();
    rows.unite(&mut bitmap);
    marks.keep(low, high, &mut bitmap);
    Rows::Many(bitmap)
}

/// Drops rows that stay below the threshold, by their marks. `bound`: upper bound of the weight of a row, by its sum; it rises
/// with the sum.
pub(super) fn drop_low(
    rows: &mut Rows,
    scorer: &Scorer<'_>,
    bound: impl Fn(i64) -> i64,
    out: &mut Out<'_>,
) {
    let (light, postings) = scorer.light();
    if rows.len() < DROPPED_FROM || postings < MARKED_FROM {
        return;
    }
    let Some(least) = scorer.least_by(bound) else {
        return;
    };
    let mut marks = std::mem::take(&mut out.scratch.marks);
    scorer.mark(&light, &mut marks);
    let entering = between(&marks, marks.lowest(least), u8::MAX, rows, out);
    out.scratch.give(std::mem::replace(rows, entering));
    out.scratch.marks = marks;
}
