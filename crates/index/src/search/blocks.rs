//! Blocks of columns: the values of some rows of a page, read together.

use crate::part::Part;

/// Most rows of a block: what several blocks of numbers take fits the processor's cache.
pub(super) const BLOCK_ROWS: usize = 1024;

/// A column of rows, if it is kept as integers and all values set since are integers. The rows are `first` plus each of `lows`,
/// which rise. `None` also where a part of the column cannot be read.
pub(super) fn integers(part: &Part, column: usize, first: u32, lows: &[u16]) -> Option<Vec<i64>> {
    let doc = |low: &u16| first + u32::from(*low);
    let docs = match lows {
        [start, .., end] => doc(start)..doc(end) + 1,
        [only] => doc(only)..doc(only) + 1,
        [] => return Some(Vec::new()),
    };
    let written = part.integers(column, docs.clone()).ok()??;
    let numbers = lows.iter().map(|low| {
        let at = (doc(low) - docs.start) as usize;
        i64::from_le_bytes(written[at])
    });
    let mut numbers: Vec<i64> = numbers.collect();
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
