//! What a matcher knows of the words it has met: the patterns that each of them matches.

use std::ops::Range;

use hashbrown::{HashMap, HashTable, hash_table::Entry};
use query::tree::FieldSet;
use rustc_hash::FxBuildHasher;

use super::Patterns;
use crate::dictionary::{Key, TermId, hash_key, short_key};

/// Words known at most; then all are forgotten.
const WORDS_MAX: usize = 1 << 17;

/// Patterns of all those words at most.
const MATCHES_MAX: usize = 1 << 21;

/// See above. Good for any patterns: it begins anew when it is asked about others.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    generation: u64,
    /// Words that are their own keys, with their stretches of the matches.
    short: HashTable<(Key, Stretch)>,
    long: HashMap<Box<str>, Stretch, FxBuildHasher>,
    matches: Vec<(FieldSet, TermId)>,
}

type Stretch = (u32, u32);

impl Memo {
    /// The patterns that a word matches, with their fields. The word is a stretch of a buffer.
    pub(crate) fn of(
        &mut self,
        patterns: &Patterns,
        buffer: &[u8],
        word: Range<usize>,
        text: &str,
    ) -> &[(FieldSet, TermId)] {
        let words = self.short.len() + self.long.len();
        let is_full = words >= WORDS_MAX || self.matches.len() >= MATCHES_MAX;
        if self.generation != patterns.generation || is_full {
            self.generation = patterns.generation;
            self.short.clear();
            self.long.clear();
            self.matches.clear();
        }
        let matches = &mut self.matches;
        let mut compare = || {
            let first = matches.len() as u32;
            patterns.each_match(text, &mut |fields, term| matches.push((fields, term)));
            (first, matches.len() as u32)
        };
        let (start, end) = match short_key(buffer, word) {
            Some(key) => {
                let same = |(other, _): &(Key, Stretch)| *other == key;
                let hash = |(key, _): &(Key, Stretch)| hash_key(*key);
                match self.short.entry(hash_key(key), same, hash) {
                    Entry::Occupied(met) => met.get().1,
                    Entry::Vacant(free) => free.insert((key, compare())).get().1,
                }
            }
            None => match self.long.get(text) {
                Some(met) => *met,
                None => {
                    let found = compare();
                    self.long.insert(text.into(), found);
                    found
                }
            },
        };
        self.matches
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }
}
