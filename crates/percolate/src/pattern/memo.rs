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
//! - A word's stretch of `matches` holds all patterns below `below` that match it, the newest first.
//! - All entries are of one `family` of patterns; asked about another, the memo starts anew.

use std::ops::Range;

use hashbrown::{HashMap, HashTable};
use query::tree::FieldSet;
use rustc_hash::FxBuildHasher;

use super::Patterns;
use crate::{
    fetch::Fetch,
    term::{Key, TermId, hash_key, short_key},
};

/// Words without a plain term that are remembered. At this count the memo starts anew.
const WORDS_MAX: usize = 1 << 17;

/// Entries of `matches`. At this count the memo starts anew.
const MATCHES_MAX: usize = 1 << 21;

/// The memo of one matcher. Good for any patterns: asked about another family it starts anew, and it compares a word
/// with the patterns added since.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    family: u64,
    /// Words that have a key.
    short: HashTable<(Key, Met)>,
    long: HashMap<String, Met, FxBuildHasher>,
    /// By term: words that have a plain term, and so need no key.
    terms: Vec<Met>,
    /// The matches of all words, each word's newest pattern first.
    matches: Vec<(FieldSet, TermId)>,
    /// Patterns compared with words since [`Memo::take_compared`] was last called.
    compared: u64,
}

/// A word's entry: a stretch of `matches`, complete for patterns with terms below `below`.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    start: u32,
    end: u32,
    below: TermId,
}

impl Memo {
    /// The patterns that a word matches, with their fields. `word` is the stretch of `buffer` that holds `text`.
    pub(crate) fn of(
        &mut self,
        patterns: &Patterns,
        buffer: &[u8],
        word: Range<usize>,
        text: &str,
    ) -> &[(FieldSet, TermId)] {
        self.begin(patterns);
        let met = match short_key(buffer, word) {
            Some(key) => {
                let same = |(other, _): &(Key, Met)| *other == key;
                let hash = |(key, _): &(Key, Met)| hash_key(*key);
                let entry = self.short.entry(hash_key(key), same, hash);
                &mut entry.or_insert((key, Met::default())).into_mut().1
            }
            None => self.long.entry_ref(text).or_default(),
        };
        met.matches(patterns, || text, &mut self.matches, &mut self.compared)
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
        steps.fetch(&self.matches, met.start as usize);
    }

    /// As [`Memo::of`], for a word that has a plain term in the patterns' dictionary.
    #[inline]
    pub(crate) fn of_term<'w>(
        &mut self,
        patterns: &Patterns,
        term: TermId,
        text: impl FnOnce() -> &'w str,
    ) -> &[(FieldSet, TermId)] {
        self.begin(patterns);
        let term = term as usize;
        if self.terms.len() <= term {
            self.terms
                .resize((term + 1).next_power_of_two(), Met::default());
        }
        self.terms[term].matches(patterns, text, &mut self.matches, &mut self.compared)
    }

    /// Starts anew for patterns of another family, and when the memo is full.
    #[inline]
    fn begin(&mut self, patterns: &Patterns) {
        let words = self.short.len() + self.long.len();
        let is_full = words >= WORDS_MAX || self.matches.len() >= MATCHES_MAX;
        if self.family != patterns.family || is_full {
            self.family = patterns.family;
            self.short.clear();
            self.long.clear();
            self.terms.clear();
            self.matches.clear();
        }
    }
}

impl Met {
    #[inline]
    fn matches<'m, 'w>(
        &mut self,
        patterns: &Patterns,
        text: impl FnOnce() -> &'w str,
        matches: &'m mut Vec<(FieldSet, TermId)>,
        compared: &mut u64,
    ) -> &'m [(FieldSet, TermId)] {
        if self.below < patterns.end {
            *compared += self.compare(patterns, text(), matches);
        }
        let found = matches.get(self.start as usize..self.end as usize);
        let found = found.unwrap_or_default();
        if self.below == patterns.end {
            return found;
        }
        // An older copy of the patterns lacks the newer ones, which lie first.
        let newer = found.iter().take_while(|(_, term)| *term >= patterns.end);
        &found[newer.count()..]
    }

    #[cold]
    fn compare(
        &mut self,
        patterns: &Patterns,
        text: &str,
        matches: &mut Vec<(FieldSet, TermId)>,
    ) -> u64 {
        let before = self.start as usize..self.end as usize;
        let first = matches.len();
        let compared = patterns.each_match(text, self.below, &mut |fields, term| {
            matches.push((fields, term));
        });
        self.below = patterns.end;
        if let Some(newer @ [_, ..]) = matches.get_mut(first..) {
            newer.sort_unstable_by_key(|(_, term)| std::cmp::Reverse(*term));
            matches.extend_from_within(before);
            (self.start, self.end) = (first as u32, matches.len() as u32);
        }
        compared
    }
}
