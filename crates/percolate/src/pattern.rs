//! The pattern table: wildcards and regular expressions as terms. A document holds such a term if a word of it
//! matches.
//!
//! Every matcher remembers which patterns a word matches (`memo.rs`), so a known word costs one look-up however many
//! patterns there are. A new word is compared only with the patterns whose literal it holds.
//!
//! Example: a layer with four patterns.
//!
//! ```text
//! place  term  pattern         literal         filed in
//! 0      20    storm*          storm           prefixes
//! 1      21    *burg           burg            suffixes
//! 2      22    *land*          land            infixes
//! 3      23    REGEX(/\d+/)    none            rest
//! ```
//!
//! The new word `hamburg` looks up its first 5 bytes, `hambu`, in `prefixes`, its last 4, `burg`, in `suffixes`, and
//! each stretch of 4 bytes in `infixes`. Only lengths that occur are tried. It is compared with the patterns 1 and 3,
//! and matches the term 21.
//!
//! Patterns lie in layers, each at least [`LAYER_RATIO`] times as long as the next, so a change copies the smallest
//! alone.
//!
//! Invariants:
//! - Every word that a pattern matches holds the pattern's literal: else matches would be missed.
//! - Terms of patterns rise with the order of adding, across layers and within them. So the memo compares a known
//!   word with the later patterns alone.
//! - The states of one `family` form one line: each came of the one before by adding patterns. If two copies of a state
//!   both added patterns, one term would stand for two patterns in a matcher's memo.

mod literals;
mod memo;

#[cfg(test)]
mod tests;

use std::{
    hash::BuildHasher,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use hashbrown::{HashMap, HashTable};
use language::pattern::{Literal, Matcher};
use language::tree::{FieldSet, Form, Node, Word};
use literals::Literals;
use rustc_hash::FxBuildHasher;

use crate::term::TermId;
pub(crate) use memo::Memo;

/// Least ratio of the lengths of neighbouring layers.
const LAYER_RATIO: usize = 4;

/// A pattern that a query names.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// The pattern as the query names it, anywhere in its fields.
    pub(crate) word: Word,
    pub(crate) term: TermId,
    /// `None` if the text does not compile; it then matches nothing.
    matcher: Option<Matcher>,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    patterns: Vec<Arc<Pattern>>,
    /// Indexes in `patterns`, by the pattern's word.
    known: HashTable<u32>,
    prefixes: Literals,
    suffixes: Literals,
    infixes: Literals,
    /// Indexes of the patterns without a literal.
    rest: Vec<u32>,
}

impl Layer {
    fn add(&mut self, pattern: Arc<Pattern>) {
        let place = self.patterns.len() as u32;
        let patterns = &self.patterns;
        self.known
            .insert_unique(hash_of(&pattern.word), place, |place| {
                let pattern = patterns.get(*place as usize);
                pattern.map_or(0, |pattern| hash_of(&pattern.word))
            });
        match pattern.matcher.as_ref().map(Matcher::literal) {
            Some(Literal::Prefix(text)) => self.prefixes.add(text.as_bytes(), place, false),
            Some(Literal::Suffix(text)) => self.suffixes.add(text.as_bytes(), place, true),
            Some(Literal::Infix(text)) => self.infixes.add(text.as_bytes(), place, false),
            Some(Literal::None) => self.rest.push(place),
            None => {}
        }
        self.patterns.push(pattern);
    }

    fn find(&self, word: &Word) -> Option<&Pattern> {
        let same = |place: &u32| self.patterns[*place as usize].word == *word;
        let place = self.known.find(hash_of(word), same)?;
        self.patterns.get(*place as usize).map(|found| &**found)
    }

    /// See [`Patterns::each_match`].
    fn each_match(&self, text: &str, from: TermId, visit: &mut dyn FnMut(FieldSet, TermId)) -> u64 {
        let mut compared = 0;
        let mut tried = |places: &[u32]| {
            compared += places.len() as u64;
            for place in places {
                let pattern = &self.patterns[*place as usize];
                let matcher = pattern.matcher.as_ref();
                if pattern.term >= from && matcher.is_some_and(|matcher| matcher.is_match(text)) {
                    visit(pattern.word.fields, pattern.term);
                }
            }
        };
        tried(&self.rest);
        self.prefixes.at_start(text.as_bytes(), &mut tried);
        self.suffixes.at_end(text.as_bytes(), &mut tried);
        self.infixes.anywhere(text.as_bytes(), &mut tried);
        compared
    }
}

fn hash_of(word: &Word) -> u64 {
    FxBuildHasher.hash_one(word)
}

/// Regular expressions of a query that were compiled before it is inserted, by their text. Each takes milliseconds. `None`: there
/// are none, as in nearly every query.
#[derive(Clone, Debug, Default)]
pub struct Matchers(Option<Box<HashMap<Box<str>, Matcher, FxBuildHasher>>>);

impl Matchers {
    /// Compiles the regular expressions in a tree. One that does not compile is left out.
    #[must_use]
    pub fn of(root: &Node) -> Matchers {
        let mut found: HashMap<Box<str>, Matcher, FxBuildHasher> = HashMap::default();
        root.each_term(&mut |term| {
            if term.form == Form::Regex
                && !found.contains_key(&term.text)
                && let Ok(matcher) = Matcher::new(term)
            {
                found.insert(term.text.clone(), matcher);
            }
        });
        Matchers((!found.is_empty()).then(|| Box::new(found)))
    }

    /// Memory that they take at most, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        let all = self.0.iter().flat_map(|found| found.values());
        all.map(Matcher::memory).sum()
    }

    fn take(&mut self, word: &Word) -> Option<Matcher> {
        match word.term.form {
            Form::Regex => self.0.as_mut()?.remove(&word.term.text),
            Form::Whole | Form::Pattern => None,
        }
    }
}

/// All patterns that queries name. A clone shares the layers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patterns {
    layers: Vec<Arc<Layer>>,
    /// Those of the query that is being inserted, if they are compiled.
    pub(crate) compiled: Matchers,
    /// Memory of all patterns, in bytes.
    memory: usize,
    /// A number that copies share which came of one another by adding patterns; 0 without patterns.
    family: u64,
    /// All terms of patterns are below this; patterns added later have higher terms.
    end: TermId,
}

static FAMILIES: AtomicU64 = AtomicU64::new(1);

impl Patterns {
    /// Whether there is no pattern.
    pub(crate) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Memory of the patterns at most, in bytes, without their texts.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// The term of a pattern, if it was added.
    pub(crate) fn find(&self, word: &Word) -> Option<TermId> {
        let mut found = self.layers.iter().filter_map(|layer| layer.find(word));
        found.next().map(|found| found.term)
    }

    /// Bytes of a pattern's literal, 0 without one. `None` for a whole word and for a pattern that was not added.
    pub(crate) fn literal_bytes(&self, word: &Word) -> Option<usize> {
        if word.term.form == Form::Whole {
            return None;
        }
        let found = self.layers.iter().find_map(|layer| layer.find(word))?;
        let matcher = found.matcher.as_ref();
        Some(matcher.map_or(0, |matcher| matcher.literal().text().len()))
    }

    /// Adds a pattern, which must be new; its term is above all others. Cost: compiling the pattern, unless it is compiled.
    pub(crate) fn add(&mut self, word: &Word, term: TermId) {
        let compiled = self.compiled.take(word);
        let matcher = compiled.or_else(|| Matcher::new(&word.term).ok());
        let compiled = matcher.as_ref().map_or(0, Matcher::memory);
        self.memory += size_of::<Pattern>() + compiled;
        let pattern = Arc::new(Pattern {
            word: word.clone(),
            term,
            matcher,
        });
        if self.family == 0 {
            self.family = FAMILIES.fetch_add(1, Relaxed);
        }
        self.end = term + 1;
        // A layer that a snapshot shares must not change.
        let own = self.layers.pop_if(|layer| Arc::get_mut(layer).is_some());
        let mut layer = own.unwrap_or_default();
        Arc::make_mut(&mut layer).add(pattern);
        while let Some(before) = self
            .layers
            .pop_if(|before| before.patterns.len() < layer.patterns.len() * LAYER_RATIO)
        {
            let (mut large, small) = (before, layer);
            let merged = Arc::make_mut(&mut large);
            for pattern in &small.patterns {
                merged.add(Arc::clone(pattern));
            }
            layer = large;
        }
        self.layers.push(layer);
    }

    /// All patterns, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Pattern> {
        let patterns = self.layers.iter().flat_map(|layer| &layer.patterns);
        patterns.map(|pattern| &**pattern)
    }

    /// Calls `visit` once with the fields and the term of each pattern that the word matches, among those whose term
    /// is at least `from`. Returns the number of patterns compared.
    fn each_match(&self, text: &str, from: TermId, visit: &mut dyn FnMut(FieldSet, TermId)) -> u64 {
        let mut compared = 0;
        for layer in &self.layers {
            // Patterns lie in the order of adding, so the last term of a layer is its highest.
            if layer.patterns.last().is_some_and(|last| last.term >= from) {
                compared += layer.each_match(text, from, visit);
            }
        }
        compared
    }
}
