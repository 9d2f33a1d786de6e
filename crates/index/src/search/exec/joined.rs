//! Rows of a page that hold each of some words, with the words' postings in them: what is found while lists are intersected
//! is not looked for again when rows are weighed or positions are read.

use super::super::plan::Fields;
use super::buffers::Buffers;
use super::lists::View;
use super::phrase::Phrase;
use super::rows::{Rows, each_bit};
use crate::wide::wide;

/// Such rows.
#[derive(Default)]
pub(super) struct Joined {
    /// The words, those with few rows on the page first.
    words: Vec<usize>,
    /// Rising.
    lows: Vec<u16>,
    /// By place in `words`: the numbers in the page of the postings of these rows.
    postings: Vec<Vec<u16>>,
    /// For whoever weighs the rows.
    pub(super) sums: Vec<i64>,
    /// For whoever looks at their positions.
    pub(super) begins: Vec<u32>,
}

impl Joined {
    /// Finds the rows of a page that hold each of these words, one of them at least, which may be named twice.
    #[inline(always)]
    pub(super) fn find(
        &mut self,
        words: &mut dyn Iterator<Item = usize>,
        view: &View<'_>,
        buffers: &mut Buffers,
    ) {
        self.words.clear();
        self.words.extend(words);
        self.words
            .sort_unstable_by_key(|word| (view.word(*word).len(), *word));
        self.words.dedup();
        self.postings.resize_with(self.words.len(), Vec::new);
        self.lows.clear();
        let Some(first) = self.words.first().map(|word| view.word(*word)) else {
            return;
        };
        match first.array() {
            Some(array) => {
                let lows = array.iter().map(|low| u16::from_le_bytes(*low));
                self.lows.extend(lows);
                for word in &self.words[1..] {
                    view.word(*word).narrow(&mut self.lows, true);
                }
            }
            None => self.intersect_dense(view, buffers),
        }
        // Looked for in the end, in the few rows that are left.
        for (word, postings) in self.words.iter().zip(&mut self.postings) {
            let (page, mut hint) = (view.word(*word), 0);
            postings.resize(self.lows.len(), 0);
            for (posting, low) in postings.iter_mut().zip(&self.lows) {
                *posting = page.probe(*low, &mut hint).0 as u16;
            }
        }
    }

    /// Takes the rows of all words, where each is kept as a bitmap: so are those behind the first, which have more rows.
    #[inline(always)]
    fn intersect_dense(&mut self, view: &View<'_>, buffers: &mut Buffers) {
        let mut all = buffers.bitmap();
        all.fill(u64::MAX);
        for words in self.words.iter().filter_map(|word| view.word(*word).bits()) {
            for (all, word) in all.iter_mut().zip(words) {
                *all &= u64::from_le_bytes(*word);
            }
        }
        for (at, word) in all.iter().enumerate() {
            each_bit(at, *word, |low| self.lows.push(low));
        }
        buffers.give(Rows::Many(all));
    }

    /// Keeps the rows of which `is_kept` says so, asked in rising order with their places.
    #[inline(always)]
    pub(super) fn retain(&mut self, mut is_kept: impl FnMut(&Joined, usize) -> bool) {
        let mut kept = 0;
        for row in 0..self.lows.len() {
            let is_kept = is_kept(self, row);
            self.lows[kept] = self.lows[row];
            for postings in &mut self.postings[..self.words.len()] {
                postings[kept] = postings[row];
            }
            kept += usize::from(is_kept);
        }
        self.lows.truncate(kept);
        for postings in &mut self.postings[..self.words.len()] {
            postings.truncate(kept);
        }
    }

    /// Leaves no row.
    pub(super) fn clear(&mut self) {
        self.lows.clear();
    }

    /// The words, those with few rows on the page first.
    pub(super) fn words(&self) -> &[usize] {
        &self.words
    }

    /// The rows, rising.
    pub(super) fn lows(&self) -> &[u16] {
        &self.lows
    }

    /// The postings of the rows, by the place of a word in [`Joined::words`].
    pub(super) fn postings(&self, at: usize) -> &[u16] {
        &self.postings[at]
    }
}

impl Joined {
    /// Finds the rows of a page that a phrase stands in.
    pub(super) fn find_phrase(
        &mut self,
        words: &[(usize, u32)],
        fields: Fields,
        view: &View<'_>,
        buffers: &mut Buffers,
    ) {
        let mut names = words.iter().map(|(word, _)| *word);
        join(self, &mut names, view, buffers);
        if !self.lows.is_empty() {
            let mut phrase = Phrase::new(words, fields, view);
            keep(&mut phrase, self, view);
        }
    }
}

wide! {
    /// [`Joined::find`].
    pub(super) fn join(joined: &mut Joined, words: &mut dyn Iterator<Item = usize>, view: &View<'_>, buffers: &mut Buffers) = Joined::find
}

wide! {
    fn keep(phrase: &mut Phrase<'_>, rows: &mut Joined, view: &View<'_>) = Phrase::keep
}
