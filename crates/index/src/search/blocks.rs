//! Blocks of columns: the values of some rows of a page, read together.

use std::ops::Range;
use std::sync::Arc;

use relation::expression::WEIGHT_SLOT;
use relation::rows::Texts;

use super::values::ID;
use crate::error::Result;
use crate::integers::Integers;
use crate::part::Part;

/// Most rows of a block: what several blocks of numbers take fits the processor's cache.
pub(super) const BLOCK_ROWS: usize = 1024;

/// The ids of rows, or a column of them, by its slot. `None`: as [`integers`], or the slot is the weight.
pub(super) fn of_slot(part: &Part, slot: usize, first: u32, lows: &[u16]) -> Option<Vec<i64>> {
    match slot {
        WEIGHT_SLOT => None,
        ID => {
            let ids = ids(part, first, lows).ok()?.into_iter();
            ids.map(|id| i64::try_from(id).ok()).collect()
        }
        slot => integers(part, slot - 1, first, lows),
    }
}

/// A column of rows, if it is kept as integers and all values set since are integers. The rows are `first` plus each of `lows`,
/// which rise. `None` also where a part of the column cannot be read.
pub(super) fn integers(part: &Part, column: usize, first: u32, lows: &[u16]) -> Option<Vec<i64>> {
    let docs = docs(first, lows);
    let written = part.integers(column, docs.clone()).ok()??;
    let mut numbers = of_rows(&written, lows);
    let mut put = |doc: u32, number| {
        if let Ok(at) = lows.binary_search(&((doc - first) as u16)) {
            numbers[at] = number;
        }
    };
    match part.changed(column) {
        Some(changed) if !changed.numbers(docs, &mut put) => None,
        _ => Some(numbers),
    }
}

/// The floats of rows; `None` where the segment does not keep the column as floats, or cannot read it, and where values were set since.
/// The rows are as in [`integers`].
pub(super) fn floats(part: &Part, column: usize, first: u32, lows: &[u16]) -> Option<Vec<f64>> {
    if part.changed(column).is_some() {
        return None;
    }
    let written = part.floats(column, docs(first, lows)).ok()??;
    let start = lows.first().copied().unwrap_or(0);
    let of_row = |low: &u16| f64::from_le_bytes(written[usize::from(low - start)]);
    Some(lows.iter().map(of_row).collect())
}

/// The texts of rows, each by its place in a list; a place behind the last text is NULL. `None` where the segment has no list of the
/// column, or cannot read it, and where values were set since. The rows are as in [`integers`].
pub(super) fn listed(
    part: &Part,
    column: usize,
    first: u32,
    lows: &[u16],
) -> Option<(Vec<u32>, Arc<Texts>)> {
    if part.changed(column).is_some() {
        return None;
    }
    let listed = part.listed(column, docs(first, lows)).ok()??;
    let places = of_rows(&listed.places, lows).into_iter();
    Some((
        places.map(|place| place as u32).collect(),
        Arc::clone(listed.texts),
    ))
}

/// The ids of rows, as [`integers`]. Errors: `Io`, `Corrupt` of one of these ids.
pub(super) fn ids(part: &Part, first: u32, lows: &[u16]) -> Result<Vec<u64>> {
    // Where a block of the column is damaged, rows in other blocks can be read all the same.
    if let Ok(Some(column)) = part.id_column(docs(first, lows)) {
        let ids = of_rows(&column, lows).into_iter();
        return Ok(ids.map(i64::cast_unsigned).collect());
    }
    let ids = lows.iter().map(|low| part.id(first + u32::from(*low)));
    ids.collect()
}

/// The rows from the first to the last of some.
fn docs(first: u32, lows: &[u16]) -> Range<u32> {
    let doc = |low: &u16| first + u32::from(*low);
    match (lows.first(), lows.last()) {
        (Some(start), Some(end)) => doc(start)..doc(end) + 1,
        _ => first..first,
    }
}

/// The numbers of some rows out of those of all rows from the first to the last of them.
fn of_rows(column: &Integers<'_>, lows: &[u16]) -> Vec<i64> {
    column.of_rows(lows.first().copied().unwrap_or(0), lows)
}
