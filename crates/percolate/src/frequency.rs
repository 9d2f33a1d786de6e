//! How often words occur in documents and in queries: the costs by which anchors are chosen.
//!
//! Example: 1,000 documents were learned from, and queries have named terms 100 times. `storm` was counted 40 times
//! and named 3 times: filing under it costs 40 · 100 + 16 · 3 = 4,048. `gulf` was counted 10 times and named 20
//! times: 1,320. `gulf` is the better anchor. Before any document is seen, only the second summand counts.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use language::analysis::Words;

use crate::term::{TermId, hash_word};

/// Counters of the stream. Words whose hashes fall together share a counter: a rare word may then look common and be
/// passed over as an anchor, which only costs time.
const COUNTERS: usize = 1 << 16;

/// One slice in this many is learned from, once `LEARN_ALL_BELOW` documents were. Below that all slices are.
const LEARN_EVERY: u64 = 64;
const LEARN_ALL_BELOW: u64 = 4_096;

/// The queries count like this many documents: a term with a tenth of all namings as if a tenth of them held it.
const PRIOR_DOCUMENTS: u64 = 16;

/// The past is halved each time this many documents have been learned from.
const DECAY_DOCUMENTS: u64 = 1 << 20;

/// A pair of neighbours is estimated at an eighth of its rarer word.
const PAIR_HALVINGS: u8 = 3;

/// A pattern's estimate is halved for each byte of its literal, up to this many bytes.
const PATTERN_HALVINGS_MAX: usize = 12;

/// Counts of the documents that matchers have seen. All snapshots of a set share it; it has only atomic counters, so
/// no matcher waits.
#[derive(Debug)]
pub(crate) struct Stream {
    documents: AtomicU64,
    /// Documents that matchers were asked about, learned from or not. An estimate.
    matched: AtomicU64,
    counters: Box<[AtomicU32]>,
}

impl Default for Stream {
    fn default() -> Stream {
        let counters = (0..COUNTERS).map(|_| AtomicU32::new(0)).collect();
        Stream {
            documents: AtomicU64::new(0),
            matched: AtomicU64::new(0),
            counters,
        }
    }
}

impl Stream {
    /// Documents learned from, halved when the past is.
    pub(crate) fn documents(&self) -> u64 {
        self.documents.load(Relaxed)
    }

    /// Estimate of the documents that matchers were asked about. Never falls.
    pub(crate) fn matched(&self) -> u64 {
        self.matched.load(Relaxed)
    }

    /// Counts the words of a slice, or skips the slice. `turn` is the matcher's own count of slices.
    pub(crate) fn learn(&self, turn: u64, documents: &[Words]) {
        if !turn.is_multiple_of(LEARN_EVERY) && self.documents() >= LEARN_ALL_BELOW {
            return;
        }
        for document in documents {
            for (word, _) in document.spans() {
                let counter = counter_of(hash_word(document.buffer(), word));
                self.counters[usize::from(counter)].fetch_add(1, Relaxed);
            }
        }
        let seen = documents.len() as u64;
        let before = self.documents.fetch_add(seen, Relaxed);
        let stands_for = if before < LEARN_ALL_BELOW {
            1
        } else {
            LEARN_EVERY
        };
        self.matched.fetch_add(seen * stands_for, Relaxed);
    }

    #[cfg(test)]
    pub(crate) fn pretend(&self, documents: u64) {
        self.documents.store(documents, Relaxed);
    }

    /// Halves all counts once [`DECAY_DOCUMENTS`] documents were learned from, so that a word that went out of use is
    /// forgotten. Counts that matchers add meanwhile may be lost.
    pub(crate) fn decay(&self) {
        if self.documents() < DECAY_DOCUMENTS {
            return;
        }
        for counter in &self.counters {
            counter.store(counter.load(Relaxed) / 2, Relaxed);
        }
        self.documents.store(self.documents() / 2, Relaxed);
    }

    fn count(&self, counter: u16) -> u64 {
        u64::from(self.counters[usize::from(counter)].load(Relaxed))
    }
}

fn counter_of_word(word: &str) -> u16 {
    counter_of(hash_word(word.as_bytes(), 0..word.len()))
}

fn counter_of(hash: u64) -> u16 {
    (hash >> 40) as u16
}

/// The writer's figures of one term.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// The word's counter in the stream; for a phrase, the counter of its rarest word.
    counter: u16,
    /// The term is estimated at the counter's value, halved this many times.
    halvings: u8,
    /// Whether it is a pattern: the number of documents then takes the place of a counter.
    is_pattern: bool,
    /// How often queries named it, removed queries included.
    named: u32,
}

/// How often queries name each term. The writer's own; a job has a copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    terms: Vec<Use>,
    named: u64,
}

impl Uses {
    /// Counts one naming of a word's term.
    pub(crate) fn add(&mut self, term: TermId, word: &str) {
        self.count(term).counter = counter_of_word(word);
    }

    /// Counts one naming of a phrase's term, which is much rarer than its rarest word.
    pub(crate) fn add_phrase(&mut self, term: TermId, words: &[&str], stream: &Stream) {
        let counters = words.iter().map(|word| counter_of_word(word));
        let rarest = counters.min_by_key(|counter| stream.count(*counter));
        let counted = self.count(term);
        counted.counter = rarest.unwrap_or_default();
        counted.halvings = PAIR_HALVINGS;
    }

    /// Counts one naming of a pattern: the longer its literal, the rarer its words.
    pub(crate) fn add_pattern(&mut self, term: TermId, literal_bytes: usize) {
        let counted = self.count(term);
        counted.is_pattern = true;
        counted.halvings = literal_bytes.min(PATTERN_HALVINGS_MAX) as u8;
    }

    fn count(&mut self, term: TermId) -> &mut Use {
        let term = term as usize;
        if self.terms.len() <= term {
            self.terms.resize(term + 1, Use::default());
        }
        self.named += 1;
        let counted = &mut self.terms[term];
        counted.named = counted.named.saturating_add(1);
        counted
    }

    /// Adds a term's figures from `old` to those of its number here.
    pub(crate) fn take_over(&mut self, old: &Uses, old_term: TermId, term: TermId) {
        let Some(counted) = old.terms.get(old_term as usize) else {
            return;
        };
        if self.terms.len() <= term as usize {
            self.terms.resize(term as usize + 1, Use::default());
        }
        let place = &mut self.terms[term as usize];
        let named = place.named.saturating_add(counted.named);
        *place = Use { named, ..*counted };
        self.named += u64::from(counted.named);
    }
}

/// The cost of filing an entry under a term: how many documents will make the matcher look at it.
pub(crate) struct Costs<'a> {
    stream: &'a Stream,
    uses: &'a Uses,
}

impl<'a> Costs<'a> {
    /// Costs by the counts of this moment.
    pub(crate) fn new(stream: &'a Stream, uses: &'a Uses) -> Costs<'a> {
        Costs { stream, uses }
    }

    /// Expected documents, in a unit common to all terms: documents that the stream showed, and documents that the
    /// queries suggest. For a word that is often asked for is often written. 0 for a term that no query has named.
    pub(crate) fn of(&self, term: TermId) -> u64 {
        let Some(counted) = self.uses.terms.get(term as usize) else {
            return 0;
        };
        let counted_in = match counted.is_pattern {
            true => self.stream.documents(),
            false => self.stream.count(counted.counter),
        };
        let seen = counted_in >> counted.halvings;
        seen * self.uses.named.max(1) + PRIOR_DOCUMENTS * u64::from(counted.named)
    }
}
