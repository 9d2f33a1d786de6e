//! Weighs rows from the highest upper bound of their weights down, some at a time, until the threshold excludes the rest.
//!
//! Example with LIMIT 1:
//!
//! ```text
//! rows by bound     17: 6,540    3: 4,512    90: 2,498    8: 2,498
//! weighed           17: 3,510    3: 4,512                          threshold 4,512: 90 and 8 cannot enter
//! ```

use super::bounds::{Bounded, Bounds};
use super::by_weight::WeighedRow;
use super::enter;
use super::job::Out;
use super::page::PageRun;
use super::score::Scorer;
use crate::error::Result;

/// Rows that are weighed before the threshold is compared, which may end the page; then twice as many, and so on.
const WEIGHED_ROWS: usize = 64;

/// Takes those of the rows in `bounds` that reach the threshold. `weigh` gets some of them by rising number, and adds those
/// whose weights it knows to reach the scorer's threshold, in this order.
pub(super) fn rank_by_bounds<'r>(
    on: &PageRun<'r, '_>,
    bounds: &mut Bounds,
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
    mut weigh: impl FnMut(&[Bounded], &mut Scorer<'r>, &mut Out<'_>, &mut Vec<(u16, i64)>) -> Result<()>,
) -> Result<()> {
    let (mut length, mut batch) = (WEIGHED_ROWS, Vec::new());
    loop {
        bounds.take(length, &mut batch);
        length *= 2;
        scorer.raise(enter::threshold(on, out)?);
        let mut threshold = scorer.threshold();
        let last = out.scratch.by_weight.last();
        batch.retain(|row| row.bound >= threshold && !comes_behind(on, row, last));
        if batch.is_empty() {
            return Ok(());
        }
        batch.sort_unstable_by_key(|row| row.low);
        let mut weighed = std::mem::take(&mut out.scratch.weighed);
        weigh(&batch, scorer, out, &mut weighed)?;
        enter::enter(on, &mut weighed, &mut threshold, out)?;
        out.scratch.weighed = weighed;
    }
}

/// Whether a row that reaches its bound comes behind the last row kept, which weighs as much, by its id. Common words give many
/// rows the same bound.
fn comes_behind(on: &PageRun<'_, '_>, row: &Bounded, last: Option<WeighedRow>) -> bool {
    last.is_some_and(|last| {
        let is_last = last.part == on.at && last.weight == row.bound;
        is_last && on.part.is_sorted() && on.view.doc(row.low) > last.doc
    })
}
