//! Blocks of columns: the values of some rows of a page, read together.

use std::ops::Range;

use query::expression::WEIGHT_SLOT;

use super::values::ID;
use crate::error::Result;
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
    let numbers = of_rows(written, lows);
    let mut numbers: Vec<i64> = numbers.map(i64::from_le_bytes).collect();
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

/// The ids of rows, as [`integers`]. Errors: `Io`, `Corrupt` of one of these ids.
pub(super) fn ids(part: &Part, first: u32, lows: &[u16]) -> Result<Vec<u64>> {
    // Where a block of the column is damaged, rows in other blocks can be read all the same.
    if let Ok(Some(column)) = part.id_column(docs(first, lows)) {
        return Ok(of_rows(column, lows).map(u64::from_le_bytes).collect());
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
fn of_rows<'c>(column: &'c [[u8; 8]], lows: &'c [u16]) -> impl Iterator<Item = [u8; 8]> + 'c {
    let start = lows.first().copied().unwrap_or(0);
    lows.iter().map(move |low| column[usize::from(low - start)])
}
