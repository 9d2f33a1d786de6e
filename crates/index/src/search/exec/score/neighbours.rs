//! Which rows of a page hold neighbours of the query side by side, by the pairs of the page.
//!
//! `segment/pairs.rs` says which pairs a page keeps. A row that is in none of the lists has no run of two neighbours. Example: `the of`
//! by `proximity_bm25`. Most rows hold both words, and "the of" stands in a few: the places of all others need not be read.

use super::super::super::rank::Neighbours;
use super::super::lists::View;
use super::super::pairs;
use crate::postings::{Bitmap, PAGE_WORDS};

/// The pairs of one page.
pub(super) struct PairsHere<'s> {
    neighbours: &'s Neighbours,
    /// By pair of neighbours: the rows that have it, where the page keeps it.
    rows: Vec<Option<Box<Bitmap>>>,
    /// Bitmaps of earlier pages.
    free: Vec<Box<Bitmap>>,
}

impl<'s> PairsHere<'s> {
    /// On no page yet.
    pub(super) fn new(neighbours: &'s Neighbours) -> PairsHere<'s> {
        PairsHere {
            neighbours,
            rows: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Forgets the rows of the last page: any row may have any pair.
    pub(super) fn clear(&mut self) {
        self.free.extend(self.rows.drain(..).flatten());
    }

    /// Reads the lists of the page.
    pub(super) fn read(&mut self, view: &View<'_>) {
        self.clear();
        for [left, right] in &self.neighbours.pairs {
            let pair = [(*left as usize, 0), (*right as usize, 1)];
            let rows = pairs::pair(&pair, 0, view).map(|rows| {
                let new = || Box::new([0; PAGE_WORDS]);
                let mut bitmap = self.free.pop().unwrap_or_else(new);
                bitmap.fill(0);
                pairs::unite(&rows, &mut bitmap);
                bitmap
            });
            self.rows.push(rows);
        }
    }

    /// The most words of a run in a row.
    #[inline(always)]
    pub(super) fn longest(&self, low: u16) -> usize {
        let mut held = usize::MAX;
        for (pair, rows) in self.rows.iter().enumerate() {
            if let Some(rows) = rows {
                let is_held = rows[usize::from(low >> 6)] >> (low & 63) & 1;
                held &= !(usize::from(is_held == 0) << pair);
            }
        }
        self.neighbours
            .longest(held & ((1 << self.neighbours.pairs.len()) - 1))
    }
}
