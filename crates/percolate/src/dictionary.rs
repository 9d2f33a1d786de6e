//! The words that standing queries ask for, numbered.
//!
//! Words are added by the writer and never taken out; a number keeps its meaning in every later snapshot, so entries
//! compiled once stay good. A snapshot shares the table: it is two layers, a large one that is rarely copied and a
//! small one that holds what came since, copied whenever it changes under a snapshot.
//!
//! A word limited to fields is a term of its own beside the plain word's: words outside the chosen fields then never
//! set its mask, and matching needs no other test of fields.

pub(crate) mod table;

use std::{hint::select_unpredictable, ops::Range, sync::Arc};

use hashbrown::HashMap;
use query::tree::{FieldSet, Form, Word};
use rustc_hash::FxBuildHasher;

use crate::{
    pairs::Pairs,
    pattern::Patterns,
    term::{
        FIRST, LIMITED, NEVER, Plain, SHORT_BYTES_MAX, TERMS_MAX, TermId, UNKNOWN, USED, hash_key,
        key_in,
    },
};
use table::Table;

/// The small layer is to be merged into the large one when it has so many words, or this part of the large one's:
/// every change under a snapshot copies it.
const RECENT_WORDS_MIN: usize = 512;
const RECENT_PART: usize = 256;

/// With so many words, or this part, it is merged even if that copies the large one: nobody else does it.
const CROWDED_WORDS_MIN: usize = 1 << 15;
const CROWDED_PART: usize = 8;

/// A term limited to fields.
#[derive(Clone, Copy, Debug)]
struct Limited {
    term: TermId,
    fields: FieldSet,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    short: Table,
    long: HashMap<Arc<[u8]>, u32, FxBuildHasher>,
    /// By plain term: every term of the word that is limited to fields.
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

/// The numbered words. A clone shares both layers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary {
    base: Arc<Layer>,
    recent: Arc<Layer>,
    terms: TermId,
    /// How often the small layer was merged into the large one.
    compactions: u64,
    pub(crate) pairs: Pairs,
    pub(crate) patterns: Patterns,
}

/// What a term stands for.
#[derive(Clone, Debug)]
pub(crate) enum Named {
    /// A word or a pattern.
    Word(Word),
    /// A word behind another or behind a pair, by their terms.
    Pair(TermId, TermId, FieldSet),
}

impl Dictionary {
    /// Every term is below this.
    pub(crate) fn len(&self) -> usize {
        (FIRST + self.terms) as usize
    }

    /// Whether no term was ever numbered.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms == 0
    }

    /// For looking up many words.
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

    /// Calls `visit` with every further term of that word which standing in `field` satisfies.
    pub(crate) fn limited(&self, plain: Plain, field: u8, mut visit: impl FnMut(TermId)) {
        for limited in self.all_limited(plain) {
            if limited.fields.holds(field) {
                visit(limited.term);
            }
        }
    }

    /// The term of a query's word, numbered now if it is new.
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

    /// The term of words that follow each other in one of the fields, numbered now if it is new: that of a pair for two,
    /// and for more that of a pair whose left part is all but the last word. A single word is itself.
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

    /// Whether documents have terms that are more than a word looked up.
    #[inline]
    pub(crate) fn has_compound(&self) -> bool {
        !self.pairs.is_empty() || !self.patterns.is_empty()
    }

    /// By number, what each term stands for.
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

    /// The term that stands for the same in this dictionary as one of those in another.
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

    /// Whether the small layer has outgrown its part: another thread is to merge it, by
    /// [`compact`](Dictionary::compact) and [`install`](Dictionary::install).
    pub(crate) fn is_split(&self) -> bool {
        self.recent.len() > RECENT_WORDS_MIN.max(self.base.len() / RECENT_PART)
    }

    /// Merges the small layer into the large one if it has outgrown its part and that is cheap, or has grown out of all
    /// proportion.
    fn settle(&mut self) {
        if self.is_split() {
            let is_shared = Arc::get_mut(&mut self.base).is_none();
            let crowded = CROWDED_WORDS_MIN.max(self.base.len() / CROWDED_PART);
            if !is_shared || self.recent.len() > crowded {
                self.compact();
            }
        }
    }

    /// Takes over the layer of an older copy of this dictionary, which was compacted since. What was added after the
    /// copy was made stays in the small layer. Nothing is done if this one was compacted meanwhile: its large layer then
    /// has words that the copy's has not.
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

    /// Merges the small layer into the large one: a look-up then has one layer to look into. What the small one holds
    /// wins, it is newer. Cost: linear in all words if a snapshot shares the large layer, else in those of the small.
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

/// A dictionary that is read.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    dictionary: &'a Dictionary,
    pub(crate) base: table::View<'a>,
    /// None if empty.
    pub(crate) recent: Option<table::View<'a>>,
}

impl View<'_> {
    /// What there is of a word, which is a stretch of a buffer. No branch tells words that are asked for from others:
    /// nobody could predict it.
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
