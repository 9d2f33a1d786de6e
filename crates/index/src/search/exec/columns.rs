//! The places of terms in neighbouring rows, read from posting lists.
//!
//! A *window* is some rows of a page that are asked for together, so that each list is walked once for all of them. Example: the
//! window of rows 3, 17 and 90, and the terms `big` and `bl*`, which stands for black and blue:
//!
//! ```text
//! rows    3                  17            90
//! big     field 0: 2, 9      -             field 1: 4
//! bl*     field 0: 3 black   field 0: 1    field 0: 7 blue, field 1: 2 black
//! ```
//!
//! Invariants:
//! - `starts` has an entry for each row of the window and one for the end.
//! - A row's spans rise, each once. A row's words of a pattern rise by place; two may stand at one.

use std::cell::RefCell;

use language::reference::Span;

use super::super::plan::TermWords;
use super::lists::View;
use super::row_index::RowIndex;
use crate::text_ends::TextEnds;
use crate::wide::wide;

/// Field and position of a place.
const POSITION: u32 = (1 << 24) - 1;
/// The posting of a row that does not hold the word.
const NONE: u32 = u32::MAX;

/// Places of terms, by number of the term.
#[derive(Default)]
pub(super) struct Columns {
    /// The row of the part whose ends were read last, since the window began, and these ends.
    pub(super) ends: RefCell<(Option<u32>, TextEnds)>,
    columns: Vec<Column>,
    /// Number of terms.
    terms: usize,
}

/// One term in the rows of a window.
#[derive(Default)]
struct Column {
    starts: Vec<u32>,
    spans: Vec<Span>,
    /// Of a word, by row: number of its posting in the page, or [`NONE`].
    postings: Vec<u32>,
    /// Of a pattern: by row, where its entries of `words` begin; then the end.
    word_starts: Vec<u32>,
    /// Of a pattern: place, word and posting.
    words: Vec<(u32, u32, u32)>,
    /// Memory: rows of the window that hold a word, and their postings.
    held: Vec<(usize, u32)>,
}

/// A word in a row of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) word: usize,
    /// Number of its posting in the page.
    pub(super) posting: usize,
}

impl Columns {
    /// Reads the places of terms in the rows `lows` (rising). Stops, and returns `false`, where they are more than `most` and the
    /// rows more than one: the caller must ask for fewer rows. `index`: an index without rows.
    pub(super) fn read(
        &mut self,
        terms: &[TermWords],
        lows: &[u16],
        most: usize,
        view: &View<'_>,
        index: &mut RowIndex,
    ) -> bool {
        self.terms = terms.len();
        self.ends.get_mut().0 = None;
        if self.columns.len() < terms.len() {
            self.columns.resize_with(terms.len(), Column::default);
        }
        let mut places = 0;
        for (column, words) in self.columns.iter_mut().zip(terms) {
            match words[..] {
                [word] => read_word(column, word, lows, view),
                _ => column.read_pattern(words, lows, view, index),
            }
            places += column.spans.len() + column.words.len();
            if places > most && lows.len() > 1 {
                return false;
            }
        }
        true
    }

    /// The places of a term in the `row`-th row of the window.
    pub(super) fn spans(&self, term: usize, row: usize) -> &[Span] {
        let column = self.columns[..self.terms].get(term);
        column.map_or(&[], |column| cut(&column.spans, &column.starts, row))
    }

    /// Calls `visit` with the words of a term in the `row`-th row, and with a set of the fields that they stand in; a word of a
    /// pattern comes once for each place. `words`: those that the term stands for.
    pub(super) fn each_word(
        &self,
        term: usize,
        words: &TermWords,
        row: usize,
        mut visit: impl FnMut(Standing, u64),
    ) {
        let Some(column) = self.columns[..self.terms].get(term) else {
            return;
        };
        if let [word] = words[..] {
            let posting = column.postings.get(row).copied().unwrap_or(NONE);
            if posting != NONE {
                let posting = posting as usize;
                let spans = cut(&column.spans, &column.starts, row).iter();
                let fields = spans.fold(0, |fields, span| fields | 1 << (span.field & 63));
                visit(Standing { word, posting }, fields);
            }
            return;
        }
        for (place, word, posting) in cut(&column.words, &column.word_starts, row) {
            let (word, posting) = (*word as usize, *posting as usize);
            visit(Standing { word, posting }, 1 << (place >> 24 & 63));
        }
    }
}

impl Columns {
    /// Calls `visit` with the words of a term that stand at a place of the `row`-th row.
    pub(super) fn words_at(
        &self,
        term: usize,
        words: &TermWords,
        row: usize,
        at: u32,
        mut visit: impl FnMut(usize),
    ) {
        if let [word] = words[..] {
            return visit(word);
        }
        let column = self.columns[..self.terms].get(term);
        let of_row = column.map_or(&[][..], |column| {
            cut(&column.words, &column.word_starts, row)
        });
        let first = of_row.partition_point(|(place, ..)| *place < at);
        let here = of_row.iter().skip(first);
        here.take_while(|(place, ..)| *place == at)
            .for_each(|(_, word, _)| visit(*word as usize));
    }
}

/// The entries of a row.
fn cut<'c, T>(entries: &'c [T], starts: &[u32], row: usize) -> &'c [T] {
    match starts.get(row..row + 2) {
        Some([start, end]) => entries.get(*start as usize..*end as usize),
        _ => None,
    }
    .unwrap_or_default()
}

impl Column {
    fn clear(&mut self) {
        self.starts.clear();
        self.spans.clear();
        self.postings.clear();
        self.word_starts.clear();
        self.words.clear();
    }

    #[inline(always)]
    fn read_word(&mut self, word: usize, lows: &[u16], view: &View<'_>) {
        self.clear();
        let (page, mut hint) = (view.word(word), 0);
        let posting = |low: &u16| page.find(*low, &mut hint).map_or(NONE, |at| at as u32);
        self.postings.extend(lows.iter().map(posting));
        let Some(list) = view.lists().get(word) else {
            self.starts.resize(lows.len() + 1, 0);
            return;
        };
        let mut walk = list.places();
        for posting in &self.postings {
            self.starts.push(self.spans.len() as u32);
            if *posting != NONE {
                let first = self.spans.len();
                walk.row(page.first + posting).each(|place| {
                    // Damaged bytes may have a place twice.
                    let span = span_at(place);
                    if self.spans[first..].last() != Some(&span) {
                        self.spans.push(span);
                    }
                });
            }
        }
        self.starts.push(self.spans.len() as u32);
    }

    /// Counts the entries of each row, then puts each list's entries into place.
    fn read_pattern(
        &mut self,
        words: &[usize],
        lows: &[u16],
        view: &View<'_>,
        index: &mut RowIndex,
    ) {
        self.clear();
        index.set(lows);
        self.word_starts.resize(lows.len() + 2, 0);
        for word in words {
            let page = view.word(*word);
            index.each(page, lows, |row, posting| {
                self.word_starts[row + 2] += view.hits(*word, posting);
            });
        }
        let mut sum = 0;
        for start in &mut self.word_starts {
            sum += *start;
            *start = sum;
        }
        self.words.resize(sum as usize, (0, 0, 0));
        for word in words {
            let page = view.word(*word);
            let Some(list) = view.lists().get(*word) else {
                continue;
            };
            self.held.clear();
            index.each(page, lows, |row, posting| {
                self.held.push((row, posting as u32))
            });
            let mut walk = list.places();
            for (row, posting) in &self.held {
                let at = &mut self.word_starts[row + 1];
                walk.row(page.first + posting).each(|place| {
                    if let Some(entry) = self.words.get_mut(*at as usize) {
                        *entry = (place, *word as u32, *posting);
                    }
                    *at += 1;
                });
            }
        }
        index.clear(lows);
        self.word_starts.pop();
        for row in 0..lows.len() {
            self.starts.push(self.spans.len() as u32);
            let (start, end) = (self.word_starts[row], self.word_starts[row + 1]);
            let of_row = self.words.get_mut(start as usize..end as usize);
            let of_row = of_row.unwrap_or_default();
            of_row.sort_unstable();
            let first = self.spans.len();
            for (place, ..) in of_row {
                let span = span_at(*place);
                if self.spans[first..].last() != Some(&span) {
                    self.spans.push(span);
                }
            }
        }
        self.starts.push(self.spans.len() as u32);
    }
}

#[inline]
fn span_at(place: u32) -> Span {
    Span {
        field: (place >> 24) as u8,
        start: place & POSITION,
        end: place & POSITION,
    }
}

wide! {
    fn read_word(column: &mut Column, word: usize, lows: &[u16], view: &View<'_>) = Column::read_word
}
