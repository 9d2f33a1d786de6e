//! The words of a query that count in one row.

use std::sync::Arc;

use super::factors::{Hit, Runs};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::limits::ROW_OCCURRENCES_MAX;

/// The words of a query that count in a row, recorded by the executor. Made once for a search and
/// cleared for each row.
///
/// These count:
/// - A word with which the row satisfies the query, outside of negations, in the fields where it
///   may stand.
/// - Every alternative of an OR or quorum that the row matches.
/// - A phrase, as one unit, where the whole of it stands.
///
/// A word counts once, even if the query asks for it twice. "Joined" words are units of several
/// words, such as two operands of NEAR; [`Hit`] describes one.
pub(crate) struct Occurrences {
    words: Vec<Occurring>,
    /// Numbers of the words that count, each once: entries of `words` that [`Occurrences::clear`]
    /// resets.
    matched: Vec<u32>,
    /// `(field << 24 | position, number)`, in any order, possibly twice. Numbers behind those of
    /// the words are phrases.
    places: Vec<(u32, u32)>,
    /// Units of several words, in any order.
    units: Vec<Hit>,
    /// Memory lent to `factors.rs`.
    runs: Runs,
    /// Whether the row has more places and units than are kept.
    is_full: bool,
    /// Says whether to stop.
    interrupt: Arc<Interrupt>,
}

/// One word in one row.
#[derive(Clone, Copy, Default)]
pub(crate) struct Occurring {
    /// Occurrences in the whole row; 0 if the word does not count.
    pub(crate) hits: u32,
    /// Set of the fields in which it counts.
    pub(crate) fields: u64,
    /// Set of the fields in which its places were recorded.
    placed: u64,
}

/// A place and the word that stands there. Sorted by field, then position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WordPlace(u64);

impl WordPlace {
    /// `place`: `field << 24 | position`. `word`: the word's number.
    #[inline]
    pub(crate) fn new(place: u32, word: u32) -> WordPlace {
        WordPlace(u64::from(place) << 32 | u64::from(word))
    }

    #[inline]
    pub(super) fn word(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub(super) fn field(self) -> u8 {
        (self.0 >> 56) as u8
    }

    #[inline]
    pub(super) fn position(self) -> u32 {
        (self.0 >> 32) as u32 & 0xFF_FFFF
    }
}

impl Occurrences {
    /// Memory for a query of `words` distinct words. `interrupt` stops the work on a row of many places.
    pub(crate) fn new(words: usize, interrupt: Arc<Interrupt>) -> Occurrences {
        Occurrences {
            words: vec![Occurring::default(); words],
            matched: Vec::new(),
            places: Vec::new(),
            units: Vec::new(),
            runs: Runs::default(),
            is_full: false,
            interrupt,
        }
    }

    /// Whether the row's weight is of use: it has not more places than are kept, and nobody has stopped the search. Errors:
    /// `TooManyOccurrences`, `Interrupted`.
    pub(crate) fn check(&self) -> Result<()> {
        match (self.is_full, self.interrupt.reason()) {
            (true, _) => Err(Error::TooManyOccurrences),
            (false, None) => Ok(()),
            (false, Some(reason)) => Err(Error::Interrupted { reason }),
        }
    }

    /// Whether the work on the row may end at once: [`Occurrences::check`] will fail.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_full || self.interrupt.reason().is_some()
    }

    /// Clears everything for the next row.
    pub(crate) fn clear(&mut self) {
        for word in self.matched.drain(..) {
            self.words[word as usize] = Occurring::default();
        }
        self.places.clear();
        self.units.clear();
        self.is_full = false;
    }

    /// Records that a word counts. `hits`: its occurrences in the whole row, at least 1. `fields`:
    /// where it counts. A word recorded twice counts in the fields of both.
    pub(crate) fn add(&mut self, word: usize, hits: u32, fields: u64) {
        let known = &mut self.words[word];
        if known.hits == 0 {
            known.hits = hits;
            self.matched.push(word as u32);
        }
        known.fields |= fields;
    }

    /// Whether a word was recorded.
    pub(crate) fn holds(&self, word: usize) -> bool {
        self.words[word].hits > 0
    }

    /// Records the places at which a word counts.
    pub(crate) fn add_places(&mut self, word: usize, places: impl Iterator<Item = u32>) {
        self.places.extend(places.map(|place| (place, word as u32)));
        self.bound();
    }

    /// Those of `fields` in which the places of a word that counts were not recorded yet. The caller records them.
    pub(crate) fn unplaced(&mut self, word: usize, fields: u64) -> u64 {
        let word = &mut self.words[word];
        let unplaced = fields & !word.placed;
        word.placed |= fields;
        unplaced
    }

    /// Drops the places of a row that has too many.
    fn bound(&mut self) {
        if self.places.len() + self.units.len() > ROW_OCCURRENCES_MAX {
            self.places.clear();
            self.units.clear();
            self.is_full = true;
        }
    }

    /// Records a phrase that begins at `starts` (rising) and covers `span` positions. A start
    /// before the end of the last counted one does not count. `number` is behind those of all
    /// words.
    pub(crate) fn add_phrase(&mut self, number: usize, starts: &[u32], span: u32) {
        let mut end = 0;
        for start in starts {
            if *start >= end {
                end = start + span;
                self.places.push((*start, number as u32));
            }
        }
        self.bound();
    }

    /// Records a unit of several words.
    pub(crate) fn add_unit(&mut self, hit: Hit) {
        self.units.push(hit);
        self.bound();
    }

    /// The words that count, with their numbers.
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, Occurring)> + '_ {
        let word = |word: &u32| (*word as usize, self.words[*word as usize]);
        self.matched.iter().map(word)
    }

    /// Set of the fields in which a word counts.
    pub(super) fn fields(&self) -> u64 {
        self.words()
            .fold(0, |fields, (_, word)| fields | word.fields)
    }

    /// Set of the words that count, as [`super::Weigher::bound`] takes it.
    pub(super) fn present(&self) -> u64 {
        let bits = self.matched.iter().map(|word| 1 << (*word).min(63));
        bits.fold(0, |present: u64, bit: u64| present | bit)
    }

    /// Number of words that count in a field.
    pub(super) fn words_in(&self, field: u8) -> i64 {
        let here = self
            .words()
            .filter(|(_, word)| word.fields >> field & 1 == 1);
        here.count() as i64
    }

    /// Sorts places and units, and keeps each once.
    pub(super) fn sort(&mut self) {
        if !self.places.is_sorted() {
            self.places.sort_unstable();
        }
        self.places.dedup();
        if !self.units.is_sorted() {
            self.units.sort_unstable();
        }
        self.units.dedup();
    }

    /// Each place at which a word or a phrase counts, with its number; sorted after [`Occurrences::sort`].
    pub(super) fn places(&self) -> &[(u32, u32)] {
        &self.places
    }

    /// The units of several words, as [`Occurrences::places`].
    pub(super) fn units(&self) -> &[Hit] {
        &self.units
    }

    /// Set of the fields of all places and units.
    pub(crate) fn placed(&self) -> u64 {
        let places = self.places.iter().map(|(at, _)| *at);
        let units = self.units.iter().map(|hit| hit.at);
        places
            .chain(units)
            .fold(0, |fields, at| fields | 1 << (at >> 24))
    }

    /// Lends the memory for runs; return it with [`Occurrences::give_runs`].
    pub(super) fn take_runs(&mut self) -> Runs {
        std::mem::take(&mut self.runs)
    }

    pub(super) fn give_runs(&mut self, runs: Runs) {
        self.runs = runs;
    }

    /// The words that count: number, and occurrences in the row.
    pub(crate) fn hits(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.words().map(|(number, word)| (number, word.hits))
    }
}
