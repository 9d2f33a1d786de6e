//! Rows of a page that hold every one of some words, with each word's posting in each row.
//!
//! "Joined" means intersected: AND and phrase queries join their words' posting lists. (In the
//! rankers the same word means several words that count as one unit.)
//!
//! Example: `cat` stands in rows 4, 9, 17, 30 of the page, `dog` in rows 2, 9, 30, 31, 40.
//!
//! ```text
//! words     cat   dog          by rising number of postings on the page
//! lows      9     30           rows that hold both
//! postings  cat:  1     3      rows 9 and 30 are postings 1 and 3 of cat's page
//!           dog:  1     2
//! ```
//!
//! Invariants:
//! - `words` has each word once, even if the query names it twice.
//! - `postings[at]` has one entry for each row in `lows`, in the same order. [`Joined::retain`]
//!   moves both; else a row would be weighed by the code of another.
//! - `lows` rises, as hints and the collectors expect.

use relation::processor::fetch_line;

use super::super::plan::Fields;
use super::buffers::Buffers;
use super::lists::View;
use super::pairs::Pairs;
use super::phrase::Phrase;
use super::rows::{Rows, has, push_bits, set};
use crate::postings::Page;
use crate::wide::wide;

/// An array of at most six times the rows left is read as a whole; in a longer one they are searched for.
const ALIKE: usize = 6;

/// The rows and their postings. Kept in the scratch memory and used again for each page.
#[derive(Default)]
pub(super) struct Joined {
    /// The words by rising number of postings on the page.
    words: Vec<usize>,
    /// The rows, rising.
    lows: Vec<u16>,
    /// By index in `words`: for each row, the number of the word's posting in the page.
    postings: Vec<Vec<u16>>,
    /// Memory for sums of values; used by `join.rs`.
    pub(super) sums: Vec<i64>,
    /// Memory for the starts of a phrase, each with the index of its row; used by `phrase.rs`.
    pub(super) starts: Vec<(u32, u32)>,
    /// Memory for the indexes of rows; used by `phrase.rs`.
    pub(super) left: Vec<u32>,
}

impl Joined {
    /// Finds the rows of a page that hold each of the words, and the postings. `words`: at least
    /// one; a word may come twice.
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
                for at in 1..self.words.len() {
                    let page = view.word(self.words[at]);
                    match page.array() {
                        Some(array) if array.len() <= self.lows.len() * ALIKE => {
                            self.narrow_alike(array, buffers);
                        }
                        _ => {
                            fetch_bits(page, &self.lows);
                            page.narrow(&mut self.lows, true);
                        }
                    }
                }
            }
            None => self.intersect_dense(view, buffers),
        }
        self.look_up(view);
    }

    /// Keeps the rows that an array of a like length has. The rows become a bitmap, in which the array's are looked for: no search
    /// and no branch depends on them.
    #[inline(always)]
    fn narrow_alike(&mut self, array: &[[u8; 2]], buffers: &mut Buffers) {
        let (mut bitmap, mut kept) = (buffers.bitmap(), buffers.lows());
        self.lows.iter().for_each(|low| set(&mut bitmap, *low));
        kept.resize(array.len(), 0);
        let mut count = 0;
        for low in array {
            let low = u16::from_le_bytes(*low);
            kept[count] = low;
            count += usize::from(has(&bitmap, low));
        }
        kept.truncate(count);
        std::mem::swap(&mut self.lows, &mut kept);
        buffers.give(Rows::Few(kept));
        buffers.give(Rows::Many(bitmap));
    }

    /// Looks up the words' postings in the rows: last, in the few that are left.
    #[inline(always)]
    fn look_up(&mut self, view: &View<'_>) {
        for (word, postings) in self.words.iter().zip(&mut self.postings) {
            let (page, mut hint) = (view.word(*word), 0);
            postings.resize(self.lows.len(), 0);
            for (posting, low) in postings.iter_mut().zip(&self.lows) {
                let at = page.probe(*low, &mut hint).0;
                fetch_line(page.codes.as_ptr().wrapping_add(at));
                *posting = at as u16;
            }
        }
    }

    /// Intersects pages that are all bitmaps: the shortest is one, and the others have more
    /// postings.
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
            push_bits(at, *word, &mut self.lows);
        }
        buffers.give(Rows::Many(all));
    }

    /// Keeps the rows for which `is_kept` is true. It is asked by rising row, with the row's index.
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

    /// Keeps the rows with these indexes, which rise.
    pub(super) fn keep(&mut self, left: &[u32]) {
        let to = |values: &mut Vec<u16>| {
            for (kept, row) in left.iter().enumerate() {
                values[kept] = values[*row as usize];
            }
            values.truncate(left.len());
        };
        to(&mut self.lows);
        self.postings[..self.words.len()].iter_mut().for_each(to);
    }

    /// Drops all rows.
    pub(super) fn clear(&mut self) {
        self.lows.clear();
    }

    /// The words by rising number of postings on the page.
    pub(super) fn words(&self) -> &[usize] {
        &self.words
    }

    /// The rows, rising.
    pub(super) fn lows(&self) -> &[u16] {
        &self.lows
    }

    /// For each row, the posting of one of the words.
    pub(super) fn postings_of(&self, word: usize) -> &[u16] {
        let at = self.words.iter().position(|own| *own == word);
        at.map_or(&[], |at| &self.postings[at])
    }

    /// For each row, the posting of the word at index `at` of [`Joined::words`].
    pub(super) fn postings(&self, at: usize) -> &[u16] {
        &self.postings[at]
    }
}

impl Joined {
    /// Finds the rows of a page that hold a phrase in one of `fields`. `words`: each word's number
    /// and distance from the phrase's start. Cost: the intersection, then the places of every row
    /// in it; less where the page has pairs. Postings are found only in a part without pairs.
    pub(super) fn find_phrase(
        &mut self,
        words: &[(usize, u32)],
        fields: Fields,
        view: &View<'_>,
        buffers: &mut Buffers,
    ) {
        match Pairs::find(words, fields, view) {
            Some(mut pairs) => {
                pairs.rows(&mut self.lows);
                if pairs.is_exact {
                    return;
                }
                self.words.clear();
                self.words.extend(words.iter().map(|(word, _)| *word));
                self.words.sort_unstable();
                self.words.dedup();
                self.postings.resize_with(self.words.len(), Vec::new);
                look_up(self, view);
            }
            None => {
                let mut names = words.iter().map(|(word, _)| *word);
                join(self, &mut names, view, buffers);
            }
        }
        if !self.lows.is_empty() {
            keep(&Phrase::new(words, fields, view), self, view);
        }
    }
}

/// Fetches the parts of a page's bitmap that tell whether it has these rows: the reads then wait for memory together.
#[inline(always)]
fn fetch_bits(page: &Page<'_>, lows: &[u16]) {
    if let Some(words) = page.bits() {
        lows.iter()
            .for_each(|low| fetch_line(&words[usize::from(low >> 6)]));
    }
}

wide! {
    /// [`Joined::find`].
    pub(super) fn join(joined: &mut Joined, words: &mut dyn Iterator<Item = usize>, view: &View<'_>, buffers: &mut Buffers) = Joined::find
}

wide! {
    fn look_up(joined: &mut Joined, view: &View<'_>) = Joined::look_up
}

wide! {
    fn keep(phrase: &Phrase<'_>, rows: &mut Joined, view: &View<'_>) = Phrase::keep
}
