//! What a matcher knows of the words it has met: the patterns that each of them matches.

use std::ops::Range;

use hashbrown::{HashMap, HashTable};
use query::tree::FieldSet;
use rustc_hash::FxBuildHasher;

use super::Patterns;
use crate::dictionary::{Key, TermId, hash_key, short_key};

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
    matches: Vec<(FieldSet, TermId)>,
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
    ) -> impl Iterator<Item = (FieldSet, TermId)> {
        let words = self.short.len() + self.long.len();
        let is_full = words >= WORDS_MAX || self.matches.len() >= MATCHES_MAX;
        if self.family != patterns.family || is_full {
            self.family = patterns.family;
            self.short.clear();
            self.long.clear();
            self.matches.clear();
        }
        let met = match short_key(buffer, word) {
            Some(key) => {
                let same = |(other, _): &(Key, Met)| *other == key;
                let hash = |(key, _): &(Key, Met)| hash_key(*key);
                let entry = self.short.entry(hash_key(key), same, hash);
                &mut entry.or_insert((key, Met::default())).into_mut().1
            }
            None => self.long.entry_ref(text).or_default(),
        };
        if met.below < patterns.end {
            met.compare(patterns, text, &mut self.matches);
        }
        let found = self.matches.get(met.start as usize..met.end as usize);
        // An older copy of the patterns does not have those that came since.
        let below = patterns.end;
        let found = found.unwrap_or_default().iter().copied();
        found.filter(move |(_, term)| *term < below)
    }
}

impl Met {
    #[cold]
    fn compare(&mut self, patterns: &Patterns, text: &str, matches: &mut Vec<(FieldSet, TermId)>) {
        let before = self.start as usize..self.end as usize;
        let first = matches.len();
        patterns.each_match(text, self.below, &mut |fields, term| {
            matches.push((fields, term));
        });
        self.below = patterns.end;
        if matches.len() > first {
            matches.extend_from_within(before);
            (self.start, self.end) = (first as u32, matches.len() as u32);
        }
    }
}
