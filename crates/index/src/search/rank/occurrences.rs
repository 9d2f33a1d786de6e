//! What of a query counts in one row.

use super::factors::{Hit, Runs};

/// The words of a query that count in a row, told by whoever steps through the rows. Made once for a search and used
/// again for each row.
///
/// What counts: a word that the row satisfies the query with, outside of negations, in the fields where it may stand; of an OR or a
/// quorum every alternative that the row matches; a phrase as one where the whole of it stands. A word counts once,
/// however often it is asked for.
pub(crate) struct Occurrences {
    words: Vec<Occurring>,
    /// Numbers of the words that count, each once.
    matched: Vec<u32>,
    /// `(field << 24 | position, word)`, in any order, perhaps some twice. Behind the words' numbers are those of phrases.
    places: Vec<(u32, u32)>,
    /// Words that count as one, in any order.
    joined: Vec<Hit>,
    runs: Runs,
}

/// One word in one row.
#[derive(Clone, Copy, Default)]
pub(crate) struct Occurring {
    /// Times it stands in the row, wherever; 0 if it does not count.
    pub(crate) hits: u32,
    /// A bit for each field in which it counts.
    pub(crate) fields: u64,
}

/// Where a word stands in a row; in order of fields, then positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WordPlace(u64);

impl WordPlace {
    /// `place`: `field << 24 | position`. `word`: its number.
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
    /// For a query of so many distinct words.
    pub(crate) fn new(words: usize) -> Occurrences {
        Occurrences {
            words: vec![Occurring::default(); words],
            matched: Vec::new(),
            places: Vec::new(),
            joined: Vec::new(),
            runs: Runs::default(),
        }
    }

    /// Makes it ready for another row.
    pub(crate) fn clear(&mut self) {
        for word in self.matched.drain(..) {
            self.words[word as usize] = Occurring::default();
        }
        self.places.clear();
        self.joined.clear();
    }

    /// A word counts: it stands so many times in the whole row (at least once), and counts in these fields, at these
    /// places (which may be left out where no ranker asks). A word that is told of twice counts wherever it did either time.
    pub(crate) fn add(&mut self, word: usize, hits: u32, fields: u64) {
        let known = &mut self.words[word];
        if known.hits == 0 {
            known.hits = hits;
            self.matched.push(word as u32);
        }
        known.fields |= fields;
    }

    /// Where a word counts.
    pub(crate) fn add_places(&mut self, word: usize, places: impl Iterator<Item = u32>) {
        self.places.extend(places.map(|place| (place, word as u32)));
    }

    /// Where a phrase begins that covers so many positions, rising: it counts where the one before has ended. Its number is behind those of
    /// all words.
    pub(crate) fn add_phrase(&mut self, number: usize, starts: &[u32], span: u32) {
        let mut end = 0;
        for start in starts {
            if *start >= end {
                end = start + span;
                self.places.push((*start, number as u32));
            }
        }
    }

    /// Words that count as one.
    pub(crate) fn add_joined(&mut self, hit: Hit) {
        self.joined.push(hit);
    }

    /// The words that count, with their numbers.
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, Occurring)> + '_ {
        let word = |word: &u32| (*word as usize, self.words[*word as usize]);
        self.matched.iter().map(word)
    }

    /// Bits of the fields in which any word counts.
    pub(super) fn fields(&self) -> u64 {
        self.words()
            .fold(0, |fields, (_, word)| fields | word.fields)
    }

    /// Bits of the words that count, as [`super::Weigher::bound`] takes them.
    pub(super) fn present(&self) -> u64 {
        let bits = self.matched.iter().map(|word| 1 << (*word).min(63));
        bits.fold(0, |present: u64, bit: u64| present | bit)
    }

    /// How many words count in a field.
    pub(super) fn words_in(&self, field: u8) -> i64 {
        let here = self
            .words()
            .filter(|(_, word)| word.fields >> field & 1 == 1);
        here.count() as i64
    }

    /// Every place at which a word or a phrase counts, with its number.
    pub(super) fn places(&self) -> &[(u32, u32)] {
        &self.places
    }

    pub(super) fn joined(&self) -> &[Hit] {
        &self.joined
    }

    /// Bits of the fields of all places.
    pub(crate) fn placed(&self) -> u64 {
        let places = self.places.iter().map(|(at, _)| *at);
        let joined = self.joined.iter().map(|hit| hit.at);
        places
            .chain(joined)
            .fold(0, |fields, at| fields | 1 << (at >> 24))
    }

    pub(super) fn take_runs(&mut self) -> Runs {
        std::mem::take(&mut self.runs)
    }

    pub(super) fn give_runs(&mut self, runs: Runs) {
        self.runs = runs;
    }

    /// By word: its number, hits in the row.
    pub(crate) fn hits(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.words().map(|(number, word)| (number, word.hits))
    }
}
