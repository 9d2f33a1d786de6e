//! How often words come, in the stream of documents and in the queries: what choosing an anchor is guided by.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use query::analysis::Words;

use crate::term::{TermId, hash_word};

/// Counters of the stream. Words share one where their hashes fall together: a rare word may then look common and
/// be passed over as an anchor, which costs time and nothing else.
const COUNTERS: usize = 1 << 16;

/// Every so many slices of a matcher one is learned from, once the first documents have been seen whole.
const LEARN_EVERY: u64 = 64;
const LEARN_ALL_BELOW: u64 = 4_096;

/// The queries' own statistics count as much as this many documents of the stream.
const PRIOR_DOCUMENTS: u64 = 16;

/// The past counts half each time so many documents have been learned from.
const DECAY_DOCUMENTS: u64 = 1 << 20;

/// A pair of neighbours is taken to come an eighth as often as its rarer word.
const PAIR_HALVINGS: u8 = 3;

/// A pattern is taken to come half as often for each byte of its literal, up to so many.
const PATTERN_HALVINGS_MAX: usize = 12;

/// What matchers have seen of the stream. Shared by every snapshot of a set; counters only, so no matcher waits.
#[derive(Debug)]
pub(crate) struct Stream {
    documents: AtomicU64,
    /// Documents that matchers were asked about, learned from or not, roughly.
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
    /// Documents learned from; the past counts half from time to time.
    pub(crate) fn documents(&self) -> u64 {
        self.documents.load(Relaxed)
    }

    /// Documents that matchers were asked about, roughly.
    pub(crate) fn matched(&self) -> u64 {
        self.matched.load(Relaxed)
    }

    /// Counts the words of these documents, or of none of them: `turn` is a matcher's own count of slices.
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

    /// Lets the past count half when it has grown large, so that a word that has gone out of use is forgotten.
    /// Counts that matchers add meanwhile may be lost.
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

/// What the writer keeps of one term.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// Its word's counter in the stream; for a phrase, that of its rarest word.
    counter: u16,
    /// It comes as often as the counter says, halved so many times.
    halvings: u8,
    /// A pattern: no counter, so often as there are documents.
    is_pattern: bool,
    /// Times a query named it, removed ones included.
    named: u32,
}

/// How often terms are asked for. The writer's own; a job has a copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    terms: Vec<Use>,
    named: u64,
}

impl Uses {
    /// Counts one more naming of the term of this word.
    pub(crate) fn add(&mut self, term: TermId, word: &str) {
        self.count(term).counter = counter_of_word(word);
    }

    /// Counts one more naming of words that follow each other: much rarer than the rarest of them.
    pub(crate) fn add_phrase(&mut self, term: TermId, words: &[&str], stream: &Stream) {
        let counters = words.iter().map(|word| counter_of_word(word));
        let rarest = counters.min_by_key(|counter| stream.count(*counter));
        let counted = self.count(term);
        counted.counter = rarest.unwrap_or_default();
        counted.halvings = PAIR_HALVINGS;
    }

    /// Counts one more naming of a pattern: the longer its literal, the rarer its words.
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

    /// Takes over what was kept of a term under its number elsewhere, beside what is kept of it here.
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

/// The cost of filing an entry under a term: how many documents will make us look at it.
pub(crate) struct Costs<'a> {
    stream: &'a Stream,
    uses: &'a Uses,
}

impl<'a> Costs<'a> {
    /// Costs as of now.
    pub(crate) fn new(stream: &'a Stream, uses: &'a Uses) -> Costs<'a> {
        Costs { stream, uses }
    }

    /// Expected documents, in a unit that is the same for all terms: what the stream showed, and what the
    /// queries themselves suggest (a word often asked for is often written) as if seen in a few documents.
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
