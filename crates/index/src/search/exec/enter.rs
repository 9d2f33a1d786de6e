//! How weighed rows enter a thread's best rows, and how the threshold rises with them.
//!
//! Example: a thread keeps two rows; the last weighs 7 and has id 8. A row behind it in the same
//! segment has a higher id, so it must weigh 8. A row of another part needs 7, and its id decides.

use super::by_weight::WeighedRow;
use super::job::Out;
use super::page::PageRun;
use crate::error::Result;

/// Takes rows with their weights, by rising row, and empties `weighed`. Raises `threshold` to
/// the weight that later rows of the page must have. Errors: `SearchMemory`, `NoMemory`,
/// `Corrupt`.
pub(super) fn enter(
    on: &PageRun<'_, '_>,
    weighed: &mut Vec<(u16, i64)>,
    threshold: &mut i64,
    out: &mut Out<'_>,
) -> Result<()> {
    let Some((last, _)) = weighed.last().copied() else {
        return Ok(());
    };
    for (low, weight) in weighed.drain(..) {
        if weight < *threshold {
            continue;
        }
        let (part, doc) = (on.at, on.view.doc(low));
        let row = WeighedRow { weight, part, doc };
        match is_behind(on, row, out)? {
            true if on.part.is_sorted() => *threshold = weight + 1,
            true => {}
            false => out.scratch.by_weight.push(row),
        }
    }
    out.scratch.by_weight.pay(&on.shared.control.memory)?;
    let keep = on.job.keep.map_or(usize::MAX, |keep| keep as usize);
    if out.scratch.by_weight.is_full(keep) {
        out.scratch.by_weight.cut(keep, on.job.snapshot)?;
        *threshold = threshold_from(on, on.view.doc(last).saturating_add(1), out)?;
    }
    Ok(())
}

/// Whether a row weighs the same as the last row kept and has a higher id.
fn is_behind(on: &PageRun<'_, '_>, row: WeighedRow, out: &mut Out<'_>) -> Result<bool> {
    match out.scratch.by_weight.last() {
        Some(last) if last.weight == row.weight => {}
        _ => return Ok(false),
    }
    are_behind(on, row.doc, || on.part.id(row.doc).map(Some), out)
}

/// Whether a row of the last kept row's weight would come behind it. In a part with rising ids
/// this then holds for every later row. `id`: the row's id, or a lower bound of it.
fn are_behind(
    on: &PageRun<'_, '_>,
    doc: u32,
    id: impl FnOnce() -> Result<Option<u64>>,
    out: &mut Out<'_>,
) -> Result<bool> {
    let by_weight = &mut out.scratch.by_weight;
    let Some(last) = by_weight.last() else {
        return Ok(false);
    };
    let at = on.at;
    if on.job.snapshot.ids_rise || last.part == at && on.part.is_sorted() {
        return Ok((at, doc) > (last.part, last.doc));
    }
    let last_id = by_weight.last_id(on.job.snapshot)?;
    Ok(id()?.map(|id| (id, at)) > last_id.map(|id| (id, last.part)))
}

/// Least weight of a row of the page that can enter.
pub(super) fn threshold(on: &PageRun<'_, '_>, out: &mut Out<'_>) -> Result<i64> {
    threshold_from(on, on.view.doc(0), out)
}

/// Least weight of the page's rows from `doc` on. The thread's own threshold is one above the
/// last row's weight where equal weights cannot enter. The shared one never is: it speaks for
/// all parts.
fn threshold_from(on: &PageRun<'_, '_>, doc: u32, out: &mut Out<'_>) -> Result<i64> {
    let Some(last) = out.scratch.by_weight.last() else {
        return Ok(on.shared.threshold());
    };
    on.shared.raise(last.weight);
    let is_behind = on.part.is_sorted() && are_behind(on, doc, || Ok(on.id_first), out)?;
    let own = last.weight.saturating_add(i64::from(is_behind));
    Ok(own.max(on.shared.threshold()))
}
