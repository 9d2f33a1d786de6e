//! Memory for the work on a page, kept by each thread for its next page and next search.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

use super::bounds::Bounds;
use super::buffers::Buffers;
use super::by_weight::ByWeight;
use super::joined::Joined;
use super::marks::Marks;
use super::places::Places;
use super::score::ManyRows;

/// The memory of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    buffers: Buffers,
    pub(super) joined: Joined,
    /// Rows of a page with their weights, on their way to [`ByWeight`].
    pub(super) weighed: Vec<(u16, i64)>,
    /// Rows of a page on their way to a collector that takes pages.
    pub(super) page_rows: Vec<u16>,
    /// Their weights; empty: each has that of a row without MATCH.
    pub(super) page_weights: Vec<i64>,
    pub(super) many_rows: ManyRows,
    pub(super) marks: Marks,
    pub(super) by_weight: ByWeight,
    pub(super) places: Places,
    pub(super) bounds: Bounds,
}

impl Deref for Scratch {
    type Target = Buffers;

    fn deref(&self) -> &Buffers {
        &self.buffers
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Buffers {
        &mut self.buffers
    }
}

/// Most bitmaps, and most vectors of rows, that a thread keeps between two searches.
const KEPT: usize = 8;

thread_local! {
    /// The memory of the last search that ended on this thread.
    static LAST: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// A thread's memory while a search uses it. Dropping it gives it back, without any rows.
pub(super) struct ThreadScratch(Box<Scratch>);

impl ThreadScratch {
    /// The thread's memory, or new memory where a search already has it.
    pub(super) fn take() -> ThreadScratch {
        ThreadScratch(LAST.take().unwrap_or_default())
    }
}

impl Drop for ThreadScratch {
    fn drop(&mut self) {
        let mut scratch = std::mem::take(&mut self.0);
        scratch.bitmaps.truncate(KEPT);
        scratch.lows.truncate(KEPT);
        scratch.by_weight.clear();
        scratch.weighed.clear();
        // An index without rows costs a pass over a page to make.
        let index = std::mem::take(&mut scratch.places.index);
        scratch.places = Places {
            index,
            ..Places::default()
        };
        scratch.bounds = Bounds::default();
        LAST.set(Some(scratch));
    }
}

impl Deref for ThreadScratch {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.0
    }
}

impl DerefMut for ThreadScratch {
    fn deref_mut(&mut self) -> &mut Scratch {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_weight::WeighedRow;
    use super::ThreadScratch;
    use crate::snapshot::PartIndex;

    #[test]
    fn a_search_begins_without_the_rows_of_one_that_did_not_end() {
        let (weight, part, doc) = (1, PartIndex(0), 7);
        let mut scratch = ThreadScratch::take();
        scratch.by_weight.push(WeighedRow { weight, part, doc });
        drop(scratch);
        assert_eq!(ThreadScratch::take().by_weight.rows(), []);
    }
}
