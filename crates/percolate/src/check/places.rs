//! Places: where the terms of a slice's documents stand. A document is read when a check first asks about it.
//!
//! Example: the text `storm gulf storm` in field 0, where the terms are 9 and 70.
//!
//! ```text
//! terms   9  9  70
//! places  1  3  2       lasts 3
//! ```
//!
//! Invariants:
//! - Of each document, terms are sorted, and the places of a term rise, each once: two binary searches find a term.
//! - A document's patterns are listed only if `known_patterns` has its bit. Patterns are many and seldom needed.

use std::ops::Range;

use super::Slice;
use crate::{
    limits::{PATTERN_STEPS, SLICE_DOCUMENTS},
    meter::Meter,
    pattern::Memo,
    term::{TermId, UNKNOWN},
};

/// A place: the field in the upper 32 bits, the position in the lower.
pub(super) type At = u64;

/// Places that are kept, at most, 12 bytes each. Beyond that all are forgotten and read again when needed.
const PLACES_MAX: usize = 1 << 24;

/// The places of the documents that checks of this slice have asked about.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The documents of the slice that are listed, a bit each.
    known: u64,
    /// The listed documents whose patterns are listed, too.
    known_patterns: u64,
    ranges: Vec<Document>,
    /// Of each document, its terms and their places, sorted by term and then by place.
    terms: Vec<TermId>,
    places: Vec<At>,
    /// Of each document, the last place of each field that has words, rising.
    lasts: Vec<At>,
    /// Buffers: terms above the numbers of their words as one number, which sorts fastest; and the words' places.
    sorted: Vec<u64>,
    of_words: Vec<At>,
}

#[derive(Clone, Debug, Default)]
struct Document {
    places: Range<usize>,
    lasts: Range<usize>,
}

impl Places {
    /// Forgets all documents.
    pub(super) fn clear(&mut self) {
        self.known = 0;
        self.known_patterns = 0;
        self.terms.clear();
        self.places.clear();
        self.lasts.clear();
    }

    /// Lists a document of the slice, and its patterns if there is a memo. False if the call has ended.
    #[inline]
    pub(super) fn learn(
        &mut self,
        index: usize,
        slice: Slice<'_>,
        memo: Option<&mut Memo>,
        meter: &mut Meter,
    ) -> bool {
        let known = match memo {
            Some(_) => self.known_patterns,
            None => self.known,
        };
        known >> index & 1 == 1 || self.read(index, slice, memo, meter)
    }

    fn read(
        &mut self,
        index: usize,
        slice: Slice<'_>,
        mut memo: Option<&mut Memo>,
        meter: &mut Meter,
    ) -> bool {
        if self.places.len() > PLACES_MAX {
            self.clear();
        }
        self.sorted.clear();
        self.of_words.clear();
        let first_last = self.lasts.len();
        let document = &slice.documents[index];
        let words = document.iter().zip(document.spans());
        for (((text, field, position), (word, _)), plain) in words.zip(slice.word_terms.of(index)) {
            let at = u64::from(field) << 32 | u64::from(position);
            match self.lasts[first_last..].last_mut() {
                Some(last) if *last >> 32 == at >> 32 => *last = at.max(*last),
                _ => self.lasts.push(at),
            }
            let number = self.of_words.len() as u64; // fits into 32 bits, as the text of a document does
            self.of_words.push(at);
            let sorted = &mut self.sorted;
            let before = sorted.len();
            let mut add = |term: TermId| sorted.push(u64::from(term) << 32 | number);
            if plain.term() != UNKNOWN {
                add(plain.term());
                slice.dictionary.limited(*plain, field, &mut add);
            }
            if let Some(memo) = &mut memo {
                let patterns = &slice.dictionary.patterns;
                let matches = match plain.term() {
                    UNKNOWN => memo.of(patterns, document.buffer(), word, text),
                    term => memo.of_term(patterns, term, || text),
                };
                matches.each(field, &mut add);
            }
            let terms = (sorted.len() - before) as u64;
            let compared = memo.as_mut().map_or(0, |memo| memo.take_compared());
            if !meter.spend(terms + compared * PATTERN_STEPS, slice.goes_on) {
                self.lasts.truncate(first_last);
                return false;
            }
        }
        self.known |= 1 << index;
        self.known_patterns |= u64::from(memo.is_some()) << index;
        self.sorted.sort_unstable();
        let first = self.places.len();
        let mut before = (UNKNOWN, 0);
        for one in &self.sorted {
            let term = (one >> 32) as TermId;
            let at = self.of_words[*one as u32 as usize];
            // A pattern may match two words of one place.
            if (term, at) != before {
                self.terms.push(term);
                self.places.push(at);
                before = (term, at);
            }
        }
        if self.ranges.is_empty() {
            self.ranges.resize(SLICE_DOCUMENTS, Document::default());
        }
        self.ranges[index] = Document {
            places: first..self.places.len(),
            lasts: first_last..self.lasts.len(),
        };
        true
    }

    /// Places of a term in a listed document, rising, each once. Empty if it is not there.
    pub(super) fn of(&self, index: usize, term: TermId) -> &[At] {
        let range = self.ranges[index].places.clone();
        let terms = &self.terms[range.clone()];
        let start = terms.partition_point(|other| *other < term);
        let rest = &terms[start..];
        let end = start + rest.partition_point(|other| *other == term);
        &self.places[range.start + start..range.start + end]
    }

    /// Whether a place is the last of its field.
    pub(super) fn is_last(&self, index: usize, at: At) -> bool {
        self.lasts[self.ranges[index].lasts.clone()].contains(&at)
    }
}
