//! Finds the rows of a list among the rows of a window.

use crate::postings::{PAGE_ROWS, Page};

/// By row of the page, its index in a window. Kept from window to window.
#[derive(Default)]
pub(super) struct RowIndex {
    /// [`NONE`] for the rows that are not in the window. Empty before the first window.
    at: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl RowIndex {
    /// Sets the rows of the window.
    pub(super) fn set(&mut self, lows: &[u16]) {
        self.at.resize(PAGE_ROWS as usize, NONE);
        for (low, row) in lows.iter().zip(0..) {
            self.at[usize::from(*low)] = row;
        }
    }

    /// Forgets the rows that were set.
    pub(super) fn clear(&mut self, lows: &[u16]) {
        for low in lows {
            self.at[usize::from(*low)] = NONE;
        }
    }

    /// Calls `visit` with each row of the window that a page has, by its index, and the number of its posting in the page. `lows`:
    /// the rows that are set. Cost: the shorter of both, where the page is a bitmap; else the page's rows between the first and
    /// the last of the window.
    #[inline(always)]
    pub(super) fn each(&self, page: &Page<'_>, lows: &[u16], mut visit: impl FnMut(usize, usize)) {
        let (Some(first), Some(last)) = (lows.first(), lows.last()) else {
            return;
        };
        match page.array() {
            Some(array) => {
                let start = array.partition_point(|low| u16::from_le_bytes(*low) < *first);
                for (posting, low) in array.iter().enumerate().skip(start) {
                    let low = u16::from_le_bytes(*low);
                    if low > *last {
                        break;
                    }
                    let row = self.at[usize::from(low)];
                    if row != NONE {
                        visit(row as usize, posting);
                    }
                }
            }
            None => {
                for (row, low) in lows.iter().enumerate() {
                    if let (posting, true) = page.probe(*low, &mut 0) {
                        visit(row, posting);
                    }
                }
            }
        }
    }
}
