//! Rows that the places of a tree's words decide ([`Placed`]).
//!
//! The rows that hold the words are known from bitmaps. Their places are read window by window ([`Columns`]); then
//! `language::verify` answers for each row whether it matches, and what of it counts.

use std::cell::RefCell;
use std::sync::Arc;

use language::reference::Span;
use language::tree::Unit;
use language::verify::{Buffers, Counts, Document};

use super::super::plan::Placed;
use super::columns::Columns;
use super::lists::View;
use super::row_index::RowIndex;
use crate::error::{Error, Result};
use crate::text_ends::TextEnds;

/// Places that a window should have: enough that its lists are walked in longer steps, and few enough for the processor's cache.
const WINDOW_PLACES: usize = 16 << 10;
/// Places for each word, so that the search for a window's begin in each list is a small part of the work.
const PLACES_A_WORD: usize = 64;
/// Most places of a window.
const WINDOW_PLACES_MAX: usize = 1 << 20;
/// A window with more than this times its places is made smaller.
const SLACK: usize = 4;

/// Memory for the work on windows.
#[derive(Default)]
pub(super) struct Places {
    pub(super) columns: Columns,
    pub(super) index: RowIndex,
    pub(super) buffers: Buffers,
    pub(super) counts: Counts,
    /// Why the work on a page stopped; the page's run returns it.
    pub(super) failure: Option<Error>,
}

/// A row of a window as a document.
pub(super) struct RowPlaces<'w, 'l> {
    columns: &'w Columns,
    row: usize,
    low: u16,
    view: &'w View<'l>,
    failure: RefCell<Option<Error>>,
}

impl<'w, 'l> RowPlaces<'w, 'l> {
    /// The `row`-th row of the window that `columns` has.
    pub(super) fn new(columns: &'w Columns, row: usize, low: u16, view: &'w View<'l>) -> Self {
        RowPlaces {
            columns,
            row,
            low,
            view,
            failure: RefCell::new(None),
        }
    }

    /// The bounds of the sentence or paragraph of a position, by where they end.
    fn unit_by_ends(&self, unit: Unit, field: u8, position: u32) -> (u32, u32) {
        let doc = self.view.doc(self.low);
        let (of, ends) = &mut *self.columns.ends.borrow_mut();
        if of.replace(doc) != Some(doc)
            && let Err(error) = self.view.texts.ends(doc, ends)
        {
            (*of, *ends) = (None, TextEnds::default());
            self.failure.replace(Some(error));
        }
        ends.unit_bounds(unit, field, position)
    }

    /// The error of the first ends that could not be read.
    pub(super) fn check(&self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

impl Document for RowPlaces<'_, '_> {
    fn standing(&self, term: usize) -> &[Span] {
        self.columns.spans(term, self.row)
    }

    fn last(&self, field: u8) -> Option<u32> {
        let last = self.view.texts.last(self.view.doc(self.low), field);
        last.unwrap_or_else(|error| {
            self.failure.replace(Some(error));
            None
        })
    }

    fn unit_bounds(&self, unit: Unit, field: u8, position: u32) -> (u32, u32) {
        match self.view.texts.shape.analyzer.settings().units() {
            true => self.unit_by_ends(unit, field, position),
            false => (0, u32::MAX),
        }
    }
}

impl Places {
    /// Calls `visit` for each window of the rows `lows`, once the window's places are read. Errors: `Interrupted`, and those of
    /// `visit`.
    pub(super) fn each_window(
        &mut self,
        placed: &Placed,
        lows: &[u16],
        view: &View<'_>,
        mut visit: impl FnMut(&mut Places, &[u16]) -> Result<()>,
    ) -> Result<()> {
        let interrupt = Arc::clone(&view.control.interrupt);
        self.buffers.stop_by(interrupt);
        let words = placed.terms.iter().map(|words| words.len()).sum::<usize>();
        let wanted = (words * PLACES_A_WORD).clamp(WINDOW_PLACES, WINDOW_PLACES_MAX);
        let postings = placed.terms.iter().flatten();
        let postings: usize = postings.map(|word| view.word(*word).len()).sum();
        // Postings of a row of the page.
        let of_row = postings.div_ceil(view.rows.max(1) as usize).max(1);
        let mut length = (wanted / of_row).max(1);
        let mut rest = lows;
        while !rest.is_empty() {
            view.control.spend(2 * wanted as u64)?;
            let (window, behind) = rest.split_at(length.min(rest.len()));
            let most = wanted * SLACK;
            let terms = &placed.terms;
            if !self
                .columns
                .read(terms, window, most, view, &mut self.index)
            {
                length = window.len().div_ceil(2);
                continue;
            }
            visit(self, window)?;
            rest = behind;
        }
        Ok(())
    }
}
