//! What a matcher knows of the words it has met: the patterns that each of them matches.

use std::ops::Range;

use hashbrown::{HashMap, HashTable};
use query::tree::FieldSet;
use rustc_hash::FxBuildHasher;

use super::Patterns;
use crate::{
    fetch::Fetch,
    term::{Key, TermId, hash_key, short_key},
};

/// Words known at most; then all are forgotten.
const WORDS_MAX: usize = 1 << 17;

/// Patterns of all those words at most.
const MATCHES_MAX: usize = 1 << 21;

/// See above. Good for any patterns: it begins anew when it is asked about another family, and compares words with the
/// patterns that have come since.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    family: u64,
    /// Words that are their own keys.
    short: HashTable<(Key, Met)>,
    long: HashMap<String, Met, FxBuildHasher>,
    /// By term: words that queries ask for, too, which need no key.
    terms: Vec<Met>,
    /// Of each word, the newest patterns first.
    matches: Vec<(FieldSet, TermId)>,
    /// Patterns that words were compared with since this was asked last.
    compared: u64,
}

/// What is known of a word: a stretch of the matches, of patterns below a term.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    start: u32,
    end: u32,
    below: TermId,
}

impl Memo {
    /// The patterns that a word matches, with their fields. The word is a stretch of a buffer.
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

    /// How many patterns words were compared with since this was called last.
    #[inline]
    pub(crate) fn take_compared(&mut self) -> u64 {
        std::mem::take(&mut self.compared)
    }

    /// Asks for the memory of what is known of a term.
    #[inline(always)]
    pub(crate) fn fetch(&self, steps: impl Fetch, term: TermId) {
        steps.fetch(&self.terms, term as usize);
    }

    /// Asks for the memory of the patterns that a term matches, as far as is known.
    #[inline(always)]
    pub(crate) fn fetch_matches(&self, steps: impl Fetch, term: TermId) {
        let met = self.terms.get(term as usize).copied().unwrap_or_default();
        steps.fetch(&self.matches, met.start as usize);
    }

    /// The same for a word that has a plain term in the patterns' dictionary.
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

    /// Forgets what is of no use or too much.
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
        // An older copy of the patterns does not have those that came since. They lie first.
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
