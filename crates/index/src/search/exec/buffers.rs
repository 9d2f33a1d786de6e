//! Bitmaps and vectors that are used again from page to page, to save allocations.

use crate::postings::{Bitmap, PAGE_WORDS};

/// Free bitmaps and vectors; their content is left over from earlier use.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) bitmaps: Vec<Box<Bitmap>>,
    pub(super) lows: Vec<Vec<u16>>,
}

impl Buffers {
    /// A bitmap of zeroes.
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
}
