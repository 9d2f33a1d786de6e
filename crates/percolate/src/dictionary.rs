//! The dictionary: the words that standing queries name, as numbers.
//!
//! Example: queries name `storm`, `gulf`, then `@title storm`, then `flood`; the layers were merged after the first
//! two.
//!
//! ```text
//! base    storm → 2   gulf → 3
//! recent  storm → 2 + LIMITED   flood → 5   limited: 2 → (term 4, fields {title})
//! ```
//!
//! A document with `storm` in its title has the terms 2 and 4; with `storm` in its body, 2 alone. So matching needs
//! no other test of fields.
//!
//! Invariants:
//! - A term keeps its meaning in every later snapshot: words are added and never removed, so compiled entries stay
//!   good. [`crate::merging::Renumbering`] alone gives new numbers, in a new dictionary.
//! - An entry in `recent` replaces the entry of the same word in `base`.
//! - `base` is large and rarely copied. `recent` is small: a change copies it while a snapshot shares it.
//! - `compactions` counts merges of the layers. [`Dictionary::install`] takes a job's `base` only if the writer has
//!   merged none meanwhile: else words would be lost.

pub(crate) mod table;

use std::{hint::select_unpredictable, ops::Range, sync::Arc};

use hashbrown::HashMap;
use language::tree::{FieldSet, Form, Word};
use rustc_hash::FxBuildHasher;
use table::Table;

use crate::{
    pairs::Pairs,
    pattern::Patterns,
    term::{
        FIRST, LIMITED, NEVER, Plain, SHORT_BYTES_MAX, TERMS_MAX, TermId, UNKNOWN, USED, hash_key,
        key_in,
    },
};

/// When the small layer is due to be merged into the large one: it has more words than this, and more than one in
/// `RECENT_PART` of the large one's. Each change under a snapshot copies it.
const RECENT_WORDS_MIN: usize = 512;
const RECENT_PART: usize = 256;

/// When the writer merges it itself, even if it must copy the large layer: it has more words than this, and more than
/// one in `CROWDED_PART`. The job thread is then behind.
const CROWDED_WORDS_MIN: usize = 1 << 15;
const CROWDED_PART: usize = 8;

/// A word's term that is limited to fields.
#[derive(Clone, Copy, Debug)]
struct Limited {
    term: TermId,
    fields: FieldSet,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    short: Table,
    long: HashMap<Arc<[u8]>, u32, FxBuildHasher>,
    /// By plain term: all terms of the word that are limited to fields.
    limited: HashMap<TermId, Box<[Limited]>, FxBuildHasher>,
}

impl Layer {
    fn len(&self) -> usize {
        self.short.len() + self.long.len() + self.limited.len()
    }

    fn put(&mut self, word: &[u8], plain: Plain) {
        if word.len() <= SHORT_BYTES_MAX {
            self.short.put(key_in(word, 0..word.len()), plain.0);
        } else {
            self.long.insert(Arc::from(word), plain.0);
        }
    }
}

/// The numbered words, pairs and patterns. A clone shares both layers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary {
    base: Arc<Layer>,
    recent: Arc<Layer>,
    terms: TermId,
    /// How often the layers were merged.
    compactions: u64,
    pub(crate) pairs: Pairs,
    pub(crate) patterns: Patterns,
}

/// The word, pattern or pair that a term stands for.
#[derive(Clone, Debug)]
pub(crate) enum Named {
    /// A word or a pattern.
    Word(Word),
    /// A word behind a word or behind a pair, by their terms.
    Pair(TermId, TermId, FieldSet),
}

impl Dictionary {
    /// Every term is below this number.
    pub(crate) fn len(&self) -> usize {
        (FIRST + self.terms) as usize
    }

    /// Whether it has no term.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms == 0
    }

    /// A view for looking up many words.
    #[inline(always)]
    pub(crate) fn view(&self) -> View<'_> {
        let recent = self.recent.short.view();
        View {
            dictionary: self,
            base: self.base.short.view(),
            recent: (!recent.is_empty()).then_some(recent),
        }
    }

    fn find(&self, word: &[u8]) -> Plain {
        self.view().find(word, 0..word.len())
    }

    #[cold]
    fn find_long(&self, word: &[u8]) -> Plain {
        let recent = self.recent.long.get(word);
        let found = recent.or_else(|| self.base.long.get(word));
        Plain(found.copied().unwrap_or(UNKNOWN))
    }

    /// Calls `visit` with every term of a word that is limited to fields which include `field`.
    pub(crate) fn limited(&self, plain: Plain, field: u8, mut visit: impl FnMut(TermId)) {
        for limited in self.all_limited(plain) {
            if limited.fields.holds(field) {
                visit(limited.term);
            }
        }
    }

    /// The term of a query's word or pattern, numbered now if it is new.
    pub(crate) fn intern(&mut self, word: &Word) -> TermId {
        if word.term.form != Form::Whole {
            return self.patterns.find(word).unwrap_or_else(|| {
                let term = self.number();
                self.patterns.add(word, term);
                term
            });
        }
        let bytes = word.term.text.as_bytes();
        let plain = match self.find(bytes) {
            Plain(UNKNOWN) => self.add_plain(bytes),
            plain => plain,
        };
        if word.fields == FieldSet::ALL {
            return plain.term();
        }
        let same = |limited: &&Limited| limited.fields == word.fields;
        match self.all_limited(plain).iter().find(same) {
            Some(limited) => limited.term,
            None => self.add_limited(bytes, word.fields, plain),
        }
    }

    /// The term of words that follow each other in one of the fields, numbered now if it is new. Two words are a
    /// pair. More are a pair whose left part is the pair of all words but the last. One word is its own plain term.
    pub(crate) fn intern_phrase(&mut self, words: &[&str], fields: FieldSet) -> TermId {
        let plain = |text: &&str| Word::whole(*text, FieldSet::ALL);
        let Some((first, others)) = words.split_first() else {
            return NEVER;
        };
        let first = self.intern(&plain(first));
        others.iter().fold(first, |left, word| {
            let right = self.intern(&plain(word));
            self.intern_pair(left, right, fields)
        })
    }

    fn intern_pair(&mut self, left: TermId, right: TermId, fields: FieldSet) -> TermId {
        self.pairs.find(left, right, fields).unwrap_or_else(|| {
            let term = self.number();
            self.pairs.add(left, right, fields, term);
            term
        })
    }

    /// Whether it has pairs or patterns.
    #[inline]
    pub(crate) fn has_compound(&self) -> bool {
        !self.pairs.is_empty() || !self.patterns.is_empty()
    }

    /// What each term stands for, by number.
    pub(crate) fn named(&self) -> Vec<Named> {
        let mut named = vec![Named::Pair(UNKNOWN, UNKNOWN, FieldSet::ALL); self.len()];
        let mut name = |text: &[u8], plain: Plain| {
            let text = String::from_utf8_lossy(text);
            named[plain.term() as usize] = Named::Word(Word::whole(&*text, FieldSet::ALL));
            for limited in self.all_limited(plain) {
                named[limited.term as usize] = Named::Word(Word::whole(&*text, limited.fields));
            }
        };
        for layer in [&self.base, &self.recent] {
            layer.short.each(|key, plain| {
                let bytes = (u128::from(key[1]) << 64 | u128::from(key[0])).to_le_bytes();
                let (text, length) = bytes.split_at(SHORT_BYTES_MAX);
                let length = length
                    .first()
                    .map_or(0, |length| u64::from(*length) & !USED);
                name(
                    text.get(..length as usize).unwrap_or_default(),
                    Plain(plain),
                );
            });
            for (text, plain) in &layer.long {
                name(text, Plain(*plain));
            }
        }
        for pattern in self.patterns.iter() {
            named[pattern.term as usize] = Named::Word(pattern.word.clone());
        }
        for pair in self.pairs.iter() {
            named[pair.term as usize] = Named::Pair(pair.left, pair.right, pair.fields);
        }
        named
    }

    /// The term of this dictionary with the meaning of `term` in another, whose terms are `named`.
    pub(crate) fn adopt(&mut self, term: TermId, named: &[Named]) -> TermId {
        match named.get(term as usize) {
            _ if term < FIRST => term,
            None => NEVER,
            Some(Named::Word(word)) => self.intern(word),
            Some(Named::Pair(left, right, fields)) => {
                let left = self.adopt(*left, named);
                let right = self.adopt(*right, named);
                self.intern_pair(left, right, *fields)
            }
        }
    }

    fn all_limited(&self, plain: Plain) -> &[Limited] {
        if !plain.is_limited() {
            return &[];
        }
        let recent = self.recent.limited.get(&plain.term());
        let found = recent.or_else(|| self.base.limited.get(&plain.term()));
        found.map_or(&[], |limited| limited)
    }

    fn add_plain(&mut self, word: &[u8]) -> Plain {
        let plain = Plain(self.number());
        Arc::make_mut(&mut self.recent).put(word, plain);
        self.settle();
        plain
    }

    fn add_limited(&mut self, word: &[u8], fields: FieldSet, plain: Plain) -> TermId {
        let term = self.number();
        let mut limited = self.all_limited(plain).to_vec();
        limited.push(Limited { term, fields });
        let recent = Arc::make_mut(&mut self.recent);
        recent.limited.insert(plain.term(), limited.into());
        recent.put(word, Plain(plain.term() | LIMITED));
        self.settle();
        term
    }

    fn number(&mut self) -> TermId {
        let term = FIRST + self.terms;
        assert!(term < TERMS_MAX, "fewer than 2^31 terms fit into memory");
        self.terms += 1;
        term
    }

    /// Whether the small layer has outgrown its part. Another thread is to merge the layers by
    /// [`compact`](Dictionary::compact), for [`install`](Dictionary::install).
    pub(crate) fn is_split(&self) -> bool {
        self.recent.len() > RECENT_WORDS_MIN.max(self.base.len() / RECENT_PART)
    }

    /// Merges the layers if the small one has outgrown its part and no copy is needed, or if it is crowded.
    fn settle(&mut self) {
        if self.is_split() {
            let is_shared = Arc::get_mut(&mut self.base).is_none();
            let crowded = CROWDED_WORDS_MIN.max(self.base.len() / CROWDED_PART);
            if !is_shared || self.recent.len() > crowded {
                self.compact();
            }
        }
    }

    /// Takes over the merged layer of an older copy of this dictionary. Words added since the copy stay in the small
    /// layer. Does nothing if this dictionary was compacted meanwhile: its large layer then has words that the copy's
    /// has not.
    pub(crate) fn install(&mut self, compacted: Dictionary) {
        if self.compactions + 1 != compacted.compactions {
            return;
        }
        let is_new = |term: TermId| term >= FIRST + compacted.terms;
        let recent = Arc::make_mut(&mut self.recent);
        let has_new = |limited: &[Limited]| limited.iter().any(|limited| is_new(limited.term));
        recent.limited.retain(|_, limited| has_new(limited));
        let limited = &recent.limited;
        let stays = |plain: u32| {
            let term = Plain(plain).term();
            is_new(term) || limited.contains_key(&term)
        };
        recent.short.retain(stays);
        recent.long.retain(|_, plain| stays(*plain));
        self.base = compacted.base;
    }

    /// Merges the small layer into the large one, so that a look-up reads one layer. Cost: linear in all words if a
    /// snapshot shares the large layer, else in the words of the small one.
    pub(crate) fn compact(&mut self) {
        self.compactions += 1;
        let recent = std::mem::take(&mut self.recent);
        let base = Arc::make_mut(&mut self.base);
        recent.short.each(|key, plain| base.short.put(key, plain));
        let long = recent.long.iter();
        base.long
            .extend(long.map(|(word, plain)| (Arc::clone(word), *plain)));
        let limited = recent.limited.iter();
        base.limited
            .extend(limited.map(|(term, limited)| (*term, limited.clone())));
    }
}

/// A dictionary as a matcher reads it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    dictionary: &'a Dictionary,
    pub(crate) base: table::View<'a>,
    /// `None` if the layer is empty.
    pub(crate) recent: Option<table::View<'a>>,
}

impl View<'_> {
    /// The entry of a word, which is a stretch of `buffer`. It does not branch on whether queries name the word,
    /// which no processor could predict.
    #[inline(always)]
    pub(crate) fn find(self, buffer: &[u8], word: Range<usize>) -> Plain {
        if word.len() > SHORT_BYTES_MAX {
            let word = buffer.get(word).unwrap_or_default();
            return self.dictionary.find_long(word);
        }
        let key = key_in(buffer, word);
        let hash = hash_key(key);
        let base = self.base.find(key, hash);
        let Some(recent) = self.recent else {
            return Plain(base);
        };
        let recent = recent.find(key, hash);
        Plain(select_unpredictable(recent == UNKNOWN, base, recent))
    }
}

#[cfg(test)]
mod tests;
