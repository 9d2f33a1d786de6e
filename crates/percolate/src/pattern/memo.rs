//! A matcher's memo: the patterns that each word it has met matches.
//!
//! Example: the terms of patterns are below 24 when the word `hamburg` comes, and it matches 21. Later `ham*` is
//! added as term 30, and the word comes again.
//!
//! ```text
//! at first  matches [21]            hamburg: 0..1, below 24
//! later     matches [21, 30, 21]    hamburg: 1..3, below 31    compared with the terms 24 to 30 only
//! ```
//!
//! A call on an older snapshot, whose terms end at 24, skips the terms from 24 on, which lie first, and gets 21.
//!
//! Invariants:
//! - A word's stretch of the matches holds all patterns below `below` that match it, the newest first.
//! - All entries are of one `family` of patterns; asked about another, the memo starts anew.

mod short_words;

use std::ops::Range;

use hashbrown::HashMap;
use language::tree::FieldSet;
use rustc_hash::FxBuildHasher;
use short_words::ShortWords;

use super::Patterns;
use crate::{
    fetch::Fetch,
    term::{Key, LIMITED, TermId, hash_key, short_key},
};

/// Words without a plain term that are remembered. At this count the memo starts anew.
const WORDS_MAX: usize = 1 << 17;

/// Matches that are remembered. At this count the memo starts anew.
const MATCHES_MAX: usize = 1 << 21;

/// The memo of one matcher. Good for any patterns: asked about another family it starts anew, and it compares a word
/// with the patterns added since.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    family: u64,
    /// Words that have a key.
    short: ShortWords,
    long: HashMap<String, Met, FxBuildHasher>,
    /// By term: words that have a plain term, and so need no key.
    terms: Vec<Met>,
    lists: MatchLists,
    /// Patterns compared with words since [`Memo::take_compared`] was last called.
    compared: u64,
}

/// The matches of all words, each word's newest pattern first.
#[derive(Debug, Default)]
struct MatchLists {
    /// The patterns' terms, with the flag [`LIMITED`] where a pattern does not match in every field. The terms lie apart
    /// from the fields because most patterns match in every field: reading the terms alone takes a quarter of the memory.
    terms: Vec<u32>,
    /// Beside `terms`.
    fields: Vec<FieldSet>,
}

/// The patterns that a word matches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matches<'m> {
    terms: &'m [u32],
    fields: &'m [FieldSet],
}

impl Matches<'_> {
    /// The number of patterns, in whatever fields.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.terms.len()
    }

    /// Calls `visit` with the pattern of each match that counts in `field`.
    #[inline(always)]
    pub(crate) fn each(self, field: u8, mut visit: impl FnMut(TermId)) {
        for (term, index) in self.terms.iter().zip(0..) {
            let holds = |fields: &FieldSet| fields.holds(field);
            if term & LIMITED == 0 || self.fields.get(index).is_some_and(holds) {
                visit(term & !LIMITED);
            }
        }
    }
}

/// A word's entry: a stretch of the matches, complete for patterns with terms below `below`.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    start: u32,
    end: u32,
    below: TermId,
}

impl Memo {
    /// The patterns that a word matches, with their fields. `word` is the stretch of `buffer` that holds `text`.
    #[inline]
    pub(crate) fn of(
        &mut self,
        patterns: &Patterns,
        buffer: &[u8],
        word: Range<usize>,
        text: &str,
    ) -> Matches<'_> {
        match short_key(buffer, word) {
            Some(key) => self.of_key(patterns, key, text),
            None => self.of_long(patterns, text),
        }
    }

    #[inline]
    fn of_key(&mut self, patterns: &Patterns, key: Key, text: &str) -> Matches<'_> {
        let hash = hash_key(key);
        let known = self.short.find(key, hash);
        if let Some(met) = known.filter(|met| self.is_current(met, patterns)) {
            return self.lists.matches_of(met);
        }
        self.begin(patterns);
        let met = self.short.entry(key, hash);
        met.matches(patterns, text, &mut self.lists, &mut self.compared)
    }

    #[cold]
    fn of_long(&mut self, patterns: &Patterns, text: &str) -> Matches<'_> {
        self.begin(patterns);
        let met = self.long.entry_ref(text).or_default();
        met.matches(patterns, text, &mut self.lists, &mut self.compared)
    }

    /// The patterns compared with words since the last call.
    #[inline]
    pub(crate) fn take_compared(&mut self) -> u64 {
        std::mem::take(&mut self.compared)
    }

    /// Prefetches the entry of a term.
    #[inline(always)]
    pub(crate) fn fetch(&self, steps: impl Fetch, term: TermId) {
        steps.fetch(&self.terms, term as usize);
    }

    /// Prefetches the matches of a term.
    #[inline(always)]
    pub(crate) fn fetch_matches(&self, steps: impl Fetch, term: TermId) {
        let met = self.terms.get(term as usize).copied().unwrap_or_default();
        steps.fetch(&self.lists.terms, met.start as usize);
    }

    /// Prefetches the entry of a word that has no plain term. `word` is a stretch of `buffer`.
    #[inline]
    pub(crate) fn fetch_word(&self, steps: impl Fetch, buffer: &[u8], word: Range<usize>) {
        if let Some(key) = short_key(buffer, word) {
            self.short.fetch(steps, hash_key(key));
        }
    }

    /// As [`Memo::of`], for a word that has a plain term in the patterns' dictionary.
    #[inline(always)]
    pub(crate) fn of_term<'w>(
        &mut self,
        patterns: &Patterns,
        term: TermId,
        text: impl FnOnce() -> &'w str,
    ) -> Matches<'_> {
        let known = self.terms.get(term as usize).copied();
        match known.filter(|met| self.is_current(met, patterns)) {
            Some(met) => self.lists.matches_of(met),
            None => self.learn_term(patterns, term, text()),
        }
    }

    #[cold]
    fn learn_term(&mut self, patterns: &Patterns, term: TermId, text: &str) -> Matches<'_> {
        self.begin(patterns);
        let term = term as usize;
        if self.terms.len() <= term {
            self.terms
                .resize((term + 1).next_power_of_two(), Met::default());
        }
        self.terms[term].matches(patterns, text, &mut self.lists, &mut self.compared)
    }

    /// Whether an entry is complete for these patterns, and has none that they lack.
    #[inline(always)]
    fn is_current(&self, met: &Met, patterns: &Patterns) -> bool {
        (met.below == patterns.end) & (self.family == patterns.family)
    }

    /// Starts anew for patterns of another family, and when the memo is full.
    fn begin(&mut self, patterns: &Patterns) {
        let words = self.short.len() + self.long.len();
        let is_full = words >= WORDS_MAX || self.lists.terms.len() >= MATCHES_MAX;
        if self.family != patterns.family || is_full {
            self.family = patterns.family;
            self.short.clear();
            self.long.clear();
            self.terms.clear();
            self.lists.terms.clear();
            self.lists.fields.clear();
        }
    }
}

impl MatchLists {
    #[inline(always)]
    fn matches_of(&self, met: Met) -> Matches<'_> {
        let stretch = met.start as usize..met.end as usize;
        Matches {
            terms: self.terms.get(stretch.clone()).unwrap_or_default(),
            fields: self.fields.get(stretch).unwrap_or_default(),
        }
    }
}

impl Met {
    #[cold]
    fn matches<'f>(
        &mut self,
        patterns: &Patterns,
        text: &str,
        lists: &'f mut MatchLists,
        compared: &mut u64,
    ) -> Matches<'f> {
        if self.below < patterns.end {
            *compared += self.compare(patterns, text, lists);
        }
        let all = lists.matches_of(*self);
        // An older copy of the patterns lacks the newer ones, which lie first.
        let newer = all.terms.iter();
        let newer = newer.take_while(|term| **term & !LIMITED >= patterns.end);
        let newer = newer.count();
        Matches {
            terms: &all.terms[newer..],
            fields: &all.fields[newer..],
        }
    }

    fn compare(&mut self, patterns: &Patterns, text: &str, lists: &mut MatchLists) -> u64 {
        let before = self.start as usize..self.end as usize;
        let first = lists.terms.len();
        let mut newer = Vec::new();
        let compared = patterns.each_match(text, self.below, &mut |fields, term| {
            newer.push((term, fields));
        });
        self.below = patterns.end;
        if newer.is_empty() {
            return compared;
        }
        newer.sort_unstable_by_key(|(term, _)| std::cmp::Reverse(*term));
        for (term, fields) in newer {
            let limited = if fields == FieldSet::ALL { 0 } else { LIMITED };
            lists.terms.push(term | limited);
            lists.fields.push(fields);
        }
        lists.terms.extend_from_within(before.clone());
        lists.fields.extend_from_within(before);
        (self.start, self.end) = (first as u32, lists.terms.len() as u32);
        compared
    }
}
