//! What a matcher knows of the words it has met: the patterns that each of them matches.

use hashbrown::{HashTable, hash_table::Entry};
use query::tree::FieldSet;

use super::Patterns;
use crate::dictionary::{TermId, hash_word};

/// Words known at most; then all are forgotten.
const WORDS_MAX: usize = 1 << 16;

/// Patterns of all those words at most.
const MATCHES_MAX: usize = 1 << 21;

/// See above. Good for any patterns: it begins anew when it is asked about others.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    generation: u64,
    words: HashTable<Met>,
    texts: Vec<u8>,
    matches: Vec<(FieldSet, TermId)>,
}

/// A word, and its stretch of the matches.
#[derive(Debug)]
struct Met {
    hash: u64,
    text: (u32, u32),
    matches: (u32, u32),
}

fn stretch<T>(of: &[T], (start, end): (u32, u32)) -> &[T] {
    of.get(start as usize..end as usize).unwrap_or_default()
}

impl Memo {
    /// The patterns that a word matches, with their fields.
    pub(crate) fn of(&mut self, patterns: &Patterns, text: &str) -> &[(FieldSet, TermId)] {
        let is_full = self.words.len() >= WORDS_MAX || self.matches.len() >= MATCHES_MAX;
        if self.generation != patterns.generation || is_full {
            self.generation = patterns.generation;
            self.words.clear();
            self.texts.clear();
            self.matches.clear();
        }
        let hash = hash_word(text.as_bytes(), 0..text.len());
        let same =
            |met: &Met| met.hash == hash && stretch(&self.texts, met.text) == text.as_bytes();
        let found = match self.words.entry(hash, same, |met| met.hash) {
            Entry::Occupied(met) => met.get().matches,
            Entry::Vacant(free) => {
                let start = self.texts.len() as u32;
                self.texts.extend_from_slice(text.as_bytes());
                let first = self.matches.len() as u32;
                let matches = &mut self.matches;
                patterns.each_match(text, &mut |fields, term| matches.push((fields, term)));
                let found = (first, matches.len() as u32);
                free.insert(Met {
                    hash,
                    text: (start, self.texts.len() as u32),
                    matches: found,
                });
                found
            }
        };
        stretch(&self.matches, found)
    }
}
