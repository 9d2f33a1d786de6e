//! The matcher's side: an immutable view of a set, and matching against it.
//!
//! Documents are taken 64 at a time. Each word of a slice sets its document's bit in the mask of its term; then only
//! the entries filed under words that occur are looked at, and each is decided for all documents of the slice at
//! once: a conjunction is an AND of masks, a negation an AND NOT.

use std::sync::Arc;

use query::analysis::Words;

use crate::{
    check::Slice,
    dictionary::{Dictionary, TermId},
    frequency::Stream,
    hits::{DOCUMENTS_MAX, Found, Hits, Work},
    level::{Level, Run},
    limits::SLICE_DOCUMENTS,
    set::Held,
};

/// Candidates sifted at a time.
const SIFT: usize = 256;

/// Buffers of one matcher, kept from call to call. One per thread; good for any snapshot of any set.
#[derive(Debug, Default)]
pub struct Scratch {
    /// By term: the documents of the slice that hold it. Zero outside `touched`.
    masks: Vec<u64>,
    touched: Vec<TermId>,
    found: Vec<Found>,
    /// Slices seen so far.
    turn: u64,
}

/// The standing queries as they were at one moment. Never changes; shared by any number of matchers.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub(crate) levels: Vec<Held>,
    pub(crate) dictionary: Dictionary,
    pub(crate) stream: Arc<Stream>,
    pub(crate) len: usize,
}

impl Snapshot {
    /// Finds the queries that each document hits, into `hits` (what it held before is forgotten). The answer does
    /// not depend on how documents are grouped into calls; larger calls are faster up to some hundreds.
    ///
    /// Takes no lock and allocates only while its buffers grow, except for checks of phrases.
    ///
    /// # Panics
    /// If there are more than 2^30 documents.
    pub fn matches(&self, documents: &[Words], scratch: &mut Scratch, hits: &mut Hits) {
        assert!(
            documents.len() <= DOCUMENTS_MAX,
            "a call's documents fit into memory"
        );
        hits.clear();
        scratch.found.clear();
        for (number, documents) in documents.chunks(SLICE_DOCUMENTS).enumerate() {
            scratch.mark(&self.dictionary, documents);
            self.stream.learn(scratch.turn, documents);
            scratch.turn += 1;
            for (level, held) in self.levels.iter().enumerate() {
                let examined = Examined {
                    level: &held.level,
                    number: level,
                    slice: number,
                };
                scratch.examine(examined, documents, &mut hits.work);
            }
        }
        hits.collect(&self.levels, &mut scratch.found);
    }

    /// How many queries it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many of its queries have no word that must be there (`Node::All` and the like): every document is
    /// tried against each of them. Cost: as many steps.
    #[must_use]
    pub fn always_len(&self) -> usize {
        self.levels.iter().map(Held::always_len).sum()
    }

    /// How many runs its queries lie in. A matcher looks into each; few are better.
    #[must_use]
    pub fn levels_len(&self) -> usize {
        self.levels.len()
    }
}

/// A level looked at with one slice.
#[derive(Clone, Copy)]
struct Examined<'a> {
    level: &'a Level,
    number: usize,
    slice: usize,
}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Sets the masks of these documents. Those of earlier ones are cleared first rather than last, so that a call
    /// that was broken off leaves nothing behind.
    fn mark(&mut self, dictionary: &Dictionary, documents: &[Words]) {
        let Scratch { masks, touched, .. } = self;
        for term in touched.drain(..) {
            masks[term as usize] = 0;
        }
        if masks.len() < dictionary.len() {
            masks.resize(dictionary.len(), 0);
        }
        for (index, document) in documents.iter().enumerate() {
            let mut mark = |term: TermId| {
                let mask = &mut masks[term as usize];
                if *mask == 0 {
                    touched.push(term);
                }
                *mask |= 1 << index;
            };
            for (word, field, _) in document.iter() {
                if let Some(slot) = dictionary.find(word) {
                    mark(slot.term);
                    dictionary.limited(slot, field, &mut mark);
                }
            }
        }
    }

    /// Decides every entry of a level that is filed under a word of the slice, and those filed under none.
    fn examine(&mut self, examined: Examined<'_>, documents: &[Words], work: &mut Work) {
        let Scratch {
            masks,
            touched,
            found,
            ..
        } = self;
        let slice = Slice { masks, documents };
        for term in touched {
            if let Some(run) = examined.level.run(*term) {
                let holding = slice.mask(*term);
                work.candidates += u64::from(run.len) * u64::from(holding.count_ones());
                work.visits += u64::from(run.len);
                examined.sift(run, holding, slice, found);
            }
        }
        let all = u64::MAX >> (SLICE_DOCUMENTS - documents.len());
        let always = &examined.level.always;
        work.candidates += (always.len() * documents.len()) as u64;
        work.visits += always.len() as u64;
        for entry in always {
            let mask = examined.level.verify(entry, all, slice);
            if mask != 0 {
                found.push(Found::new(
                    examined.number,
                    entry.query,
                    examined.slice,
                    mask,
                ));
            }
        }
    }
}

impl Examined<'_> {
    /// Sifts a run by the second terms alone, without a branch that depends on them, then verifies what is left.
    fn sift(&self, run: Run, holding: u64, slice: Slice<'_>, found: &mut Vec<Found>) {
        let mut left = [0_u32; SIFT];
        let mut first = run.start;
        for seconds in self.level.seconds(run).chunks(SIFT) {
            let mut count = 0;
            for (second, index) in seconds.iter().zip(first..) {
                left[count] = index;
                count += usize::from(holding & slice.mask(*second) != 0);
            }
            for index in &left[..count] {
                let entry = self.level.entry(*index);
                let mask = self.level.verify(entry, holding, slice);
                if mask != 0 {
                    found.push(Found::new(self.number, entry.query, self.slice, mask));
                }
            }
            first += seconds.len() as u32;
        }
    }
}
