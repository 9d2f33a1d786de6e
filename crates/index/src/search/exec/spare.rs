//! Memory for the work on one page, used again for the next page and the next search of a thread.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

use super::joined::Joined;
use super::rows::Rows;
use super::score::Picking;
use super::waiting::Waiting;
use crate::postings::{Bitmap, PAGE_WORDS};

/// Bitmaps and vectors to be used again.
#[derive(Default)]
pub(super) struct Spare {
    bitmaps: Vec<Box<Bitmap>>,
    lows: Vec<Vec<u16>>,
    pub(super) joined: Joined,
    /// Rows of a page with their weights.
    pub(super) picked: Vec<(u16, i64)>,
    pub(super) picking: Picking,
    pub(super) waiting: Waiting,
}

impl Spare {
    /// An empty bitmap.
    pub(super) fn bitmap(&mut self) -> Box<Bitmap> {
        match self.bitmaps.pop() {
            Some(mut bitmap) => {
                bitmap.fill(0);
                bitmap
            }
            None => Box::new([0; PAGE_WORDS]),
        }
    }

    /// An empty vector.
    pub(super) fn lows(&mut self) -> Vec<u16> {
        let mut lows = self.lows.pop().unwrap_or_default();
        lows.clear();
        lows
    }

    pub(super) fn give(&mut self, rows: Rows) {
        match rows {
            Rows::Few(lows) => self.lows.push(lows),
            Rows::Many(bitmap) => self.bitmaps.push(bitmap),
        }
    }
}

/// Bitmaps, and vectors of rows, that a thread keeps between two searches.
const KEPT: usize = 8;

thread_local! {
    /// That of the last search which ended on the thread.
    static LAST: Cell<Option<Box<Spare>>> = const { Cell::new(None) };
}

/// The spare memory of a thread while a search has it.
pub(super) struct ThreadSpare(Box<Spare>);

impl ThreadSpare {
    pub(super) fn take() -> ThreadSpare {
        ThreadSpare(LAST.take().unwrap_or_default())
    }
}

impl Drop for ThreadSpare {
    fn drop(&mut self) {
        let mut spare = std::mem::take(&mut self.0);
        spare.bitmaps.truncate(KEPT);
        spare.lows.truncate(KEPT);
        spare.waiting.clear();
        LAST.set(Some(spare));
    }
}

impl Deref for ThreadSpare {
    type Target = Spare;

    fn deref(&self) -> &Spare {
        &self.0
    }
}

impl DerefMut for ThreadSpare {
    fn deref_mut(&mut self) -> &mut Spare {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::waiting::Row;
    use super::ThreadSpare;

    #[test]
    fn a_search_begins_without_the_rows_of_one_that_did_not_end() {
        let (weight, part, doc) = (1, 0, 7);
        let mut spare = ThreadSpare::take();
        spare.waiting.push(Row { weight, part, doc });
        drop(spare);
        assert_eq!(ThreadSpare::take().waiting.rows(), []);
    }
}
