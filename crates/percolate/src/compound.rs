//! The terms of documents that are not single words: pairs of neighbours, and patterns.
//!
//! They are found for a group of documents at once, in rounds. A round first prefetches all that it reads and then
//! reads it, so no look-up waits for another. The first round looks up neighbours, each further one the pairs of the
//! round before with the word behind them.
//!
//! Example: queries name `"storm warning system"`, and the documents are `storm warning system` and `storm warning`.
//!
//! ```text
//! round 1  storm warning → 8, of document 0    storm warning → 8, of document 1
//! round 2  8 system → 9, of document 0
//! ```
//!
//! [`CompoundTerms::each_of`] hands out the terms document by document: of document 0 the terms 8 and 9, of document 1
//! the term 8.
//!
//! Invariant: in each round documents rise, since a round keeps the order of the round before.

use std::ops::Range;

use language::analysis::Words;

use crate::{
    dictionary::Dictionary,
    fetch::Fetch,
    limits::PATTERN_STEPS,
    pairs::Pairs,
    pattern::Memo,
    term::{Plain, TermId, UNKNOWN},
};

/// Buffers for finding them. A matcher's own.
#[derive(Debug, Default)]
pub(crate) struct CompoundTerms {
    places: Vec<Place>,
    /// The round at hand, and the next one.
    open: Vec<Open>,
    following: Vec<Open>,
    /// The pairs found, each with its document's number in the group, and the rounds' stretches of the list.
    pairs: Vec<(TermId, u32)>,
    rounds: Vec<Range<usize>>,
    /// The patterns that words match, one document after the other, some more than once; and by document where its
    /// patterns end.
    patterns: Vec<TermId>,
    pattern_ends: Vec<usize>,
    /// Also used where checks ask for the places of patterns.
    pub(crate) memo: Memo,
}

/// The place of a word in its group: its document's number from bit 40 on, its field from bit 32 on, its position.
type Place = u64;

const FIELD_SHIFT: u32 = 32;
const DOCUMENT_SHIFT: u32 = 40;

/// A place that no word has, nor the place before it.
const NOWHERE: Place = Place::MAX;

/// Words that are compared with the bitmap of pairs before the likely pairs among them are prefetched: few, so that
/// memory answers while further words are compared.
const FETCHED_AT_ONCE: usize = 32;

/// A term that a pair may begin with, and the number in the group of the term's last word. The term is a word, or a
/// pair that phrases go on from.
type Open = (TermId, u32);

/// A group of documents with its words.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) documents: &'a [Words],
    /// The dictionary's entries of their words.
    pub(crate) plain: &'a [Plain],
    /// The masks of all terms, of which those found are prefetched.
    pub(crate) masks: &'a [u64],
}

impl CompoundTerms {
    /// Forgets the group before.
    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
        self.rounds.clear();
        self.patterns.clear();
        self.pattern_ends.clear();
    }

    /// Finds the pairs and patterns of a group. `spend` counts the steps; once it returns false, the rest is skipped.
    #[inline(always)]
    pub(crate) fn find(
        &mut self,
        steps: impl Fetch,
        dictionary: &Dictionary,
        group: Group<'_>,
        mut spend: impl FnMut(u64) -> bool,
    ) {
        self.clear();
        if !dictionary.pairs.is_empty() {
            self.find_pairs(steps, &dictionary.pairs, group, &mut spend);
        }
        if !dictionary.patterns.is_empty() {
            self.find_patterns(steps, dictionary, group, &mut spend);
        }
    }

    /// Calls `visit` with the pairs and patterns of a document of the group, some more than once. Documents are asked
    /// for in rising order.
    #[inline(always)]
    pub(crate) fn each_of(&mut self, document: usize, mut visit: impl FnMut(TermId)) {
        for round in &mut self.rounds {
            let left = &self.pairs[round.clone()];
            let own = left.iter().take_while(|(_, of)| *of as usize == document);
            round.start += own.map(|(pair, _)| visit(*pair)).count();
        }
        if let Some(end) = self.pattern_ends.get(document) {
            let before = document.checked_sub(1);
            let start = before.map_or(0, |before| self.pattern_ends[before]);
            self.patterns[start..*end]
                .iter()
                .for_each(|term| visit(*term));
        }
    }

    #[inline(always)]
    fn find_pairs(
        &mut self,
        steps: impl Fetch,
        pairs: &Pairs,
        Group {
            documents,
            plain,
            masks,
        }: Group<'_>,
        spend: &mut impl FnMut(u64) -> bool,
    ) {
        let CompoundTerms {
            places,
            open,
            following,
            ..
        } = self;
        list_places(documents, places);
        let right = |index: usize| plain.get(index + 1).copied().unwrap_or_default().term();
        // Whether a pair may begin with a term whose last word is `index`. There is no branch. Where several words
        // share the next place, or this one, the question is left to the look-up.
        let may_begin = |left: TermId, index: usize| {
            let (at, next, after) = (places[index], places[index + 1], places[index + 2]);
            let right = right(index);
            let is_likely = (after == next) | (right != UNKNOWN) & pairs.may_hold(left, right);
            (left != UNKNOWN) & ((next == at) | (next == at + 1) & is_likely)
        };
        open.clear();
        open.resize(plain.len(), (UNKNOWN, 0));
        let fetch = |open: &[Open]| {
            for (left, index) in open {
                pairs.fetch(steps, *left, right(*index as usize));
            }
        };
        let mut count = 0;
        for (words, number) in plain.chunks(FETCHED_AT_ONCE).zip(0..) {
            let before = count;
            for (left, index) in words.iter().zip(number * FETCHED_AT_ONCE as u32..) {
                open[count] = (left.term(), index);
                count += usize::from(may_begin(left.term(), index as usize));
            }
            fetch(&open[before..count]);
        }
        open.truncate(count);
        while !open.is_empty() {
            let start = self.pairs.len();
            following.clear();
            for (left, index) in &*open {
                let (at, mut tried) = (places[*index as usize], 1);
                let next = (*index as usize + 1..).skip_while(|next| places[*next] == at);
                for next in next.take_while(|next| places[*next] == at + 1) {
                    let field = (at >> FIELD_SHIFT) as u8;
                    tried += 1;
                    pairs.each(*left, plain[next].term(), field, |pair| {
                        tried += 1;
                        steps.fetch(masks, pair as usize);
                        self.pairs.push((pair, (at >> DOCUMENT_SHIFT) as u32));
                        if pairs.begins(pair) && may_begin(pair, next) {
                            following.push((pair, next as u32));
                        }
                    });
                }
                if !spend(tried) {
                    return;
                }
            }
            self.rounds.push(start..self.pairs.len());
            std::mem::swap(open, following);
            fetch(open);
        }
    }

    #[inline(always)]
    fn find_patterns(
        &mut self,
        steps: impl Fetch,
        dictionary: &Dictionary,
        Group {
            documents,
            plain,
            masks,
        }: Group<'_>,
        spend: &mut impl FnMut(u64) -> bool,
    ) {
        let patterns = &dictionary.patterns;
        let terms = || plain.iter().map(|plain| plain.term());
        terms().for_each(|term| self.memo.fetch(steps, term));
        let mut rest = plain;
        for document in documents {
            let (own, others) = rest.split_at(document.len());
            rest = others;
            for ((word, _), plain) in document.spans().zip(own) {
                match plain.term() {
                    UNKNOWN => self.memo.fetch_word(steps, document.buffer(), word),
                    term => self.memo.fetch_matches(steps, term),
                }
            }
        }
        let mut rest = plain;
        for document in documents {
            let (own, others) = rest.split_at(document.len());
            rest = others;
            for ((word, field), plain) in document.spans().zip(own) {
                let text = || document.text(word.clone());
                let matches = match plain.term() {
                    UNKNOWN => self
                        .memo
                        .of(patterns, document.buffer(), word.clone(), text()),
                    term => self.memo.of_term(patterns, term, text),
                };
                let found = matches.len() as u64;
                matches.each(field, |term| {
                    steps.fetch(masks, term as usize);
                    self.patterns.push(term);
                });
                if !spend(found + self.memo.take_compared() * PATTERN_STEPS) {
                    return;
                }
            }
            self.pattern_ends.push(self.patterns.len());
        }
    }
}

/// Lists the places of the words of a group, with two places behind them that no word has.
fn list_places(documents: &[Words], places: &mut Vec<Place>) {
    places.clear();
    for (document, number) in documents.iter().zip(0_u64..) {
        places.extend(document.places().map(|(field, position)| {
            number << DOCUMENT_SHIFT | u64::from(field) << FIELD_SHIFT | u64::from(position)
        }));
    }
    places.extend([NOWHERE; 2]);
}
