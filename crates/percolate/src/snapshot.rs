//! The matcher's side: an immutable view of a set, and matching against it.
//!
//! Documents are taken 64 at a time. Each word of a slice sets its document's bit in the mask of its term; then only
//! the entries filed under words that occur are looked at, and each is decided for all documents of the slice at
//! once: a conjunction is an AND of masks, a negation an AND NOT.

use std::{hint, sync::Arc};

use query::analysis::Words;

use crate::{
    anchors::Run,
    check::Slice,
    dictionary::{Dictionary, TermId},
    documents::Documents,
    filter::Verdicts,
    found::{Found, Sorter},
    frequency::Stream,
    hits::{Hits, TooManyPairs, Work},
    level::{Entry, Level},
    limits::{DOCUMENTS_MAX, FOUND_MAX, SLICE_DOCUMENTS},
    set::Held,
};

/// Buffers of one matcher, kept from call to call. One per thread; good for any snapshot of any set.
#[derive(Debug, Default)]
pub struct Scratch {
    /// By term: the documents of the slice that hold it. Zero outside `touched`.
    masks: Vec<u64>,
    touched: Vec<TermId>,
    /// Of one level: the terms of the slice under which entries are filed.
    runs: Vec<(TermId, Run)>,
    /// Entries of one level that are left to verify, with the anchor each was found under.
    left: Vec<(u32, TermId)>,
    /// By level: what was found, slice by slice.
    found: Vec<Vec<Found>>,
    sorter: Sorter,
    verdicts: Verdicts,
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
    /// # Errors
    /// [`TooManyPairs`], with `hits` empty: fewer documents in a call are the way out.
    ///
    /// # Panics
    /// If there are more than 2^32 - 1 documents.
    pub fn matches(
        &self,
        documents: &Documents<'_>,
        scratch: &mut Scratch,
        hits: &mut Hits,
    ) -> Result<(), TooManyPairs> {
        assert!(
            documents.words.len() <= DOCUMENTS_MAX,
            "a call's documents fit into memory"
        );
        hits.clear();
        scratch.begin(self.levels.len());
        for (words, number) in documents.words.chunks(SLICE_DOCUMENTS).zip(0..) {
            scratch.mark(&self.dictionary, words);
            self.stream.learn(scratch.turn, words);
            scratch.turn += 1;
            for (level, held) in self.levels.iter().enumerate() {
                scratch.examine((level, &held.level), number, documents, &mut hits.work);
            }
            if scratch.found.iter().map(Vec::len).sum::<usize>() > FOUND_MAX {
                return Err(TooManyPairs);
            }
        }
        let Scratch { found, sorter, .. } = scratch;
        for (number, held) in self.levels.iter().enumerate() {
            sorter.sort(&mut found[number], held.level.len());
            hits.push_level(held, &found[number])
                .inspect_err(|_| hits.clear())?;
        }
        hits.order();
        Ok(())
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

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Forgets what was found before.
    fn begin(&mut self, levels: usize) {
        if self.found.len() < levels {
            self.found.resize_with(levels, Vec::new);
        }
        self.found.iter_mut().for_each(Vec::clear);
    }

    /// Sets the masks of these documents. Those of earlier ones are cleared first rather than last, so that a call
    /// that was broken off leaves nothing behind.
    fn mark(&mut self, dictionary: &Dictionary, documents: &[Words]) {
        self.verdicts.clear();
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
            for (word, field) in document.spans() {
                if let Some(plain) = dictionary.find(document.buffer(), word) {
                    mark(plain.term);
                    dictionary.limited(plain, field, &mut mark);
                }
            }
        }
    }

    /// Decides every entry of a level that is filed under a word of the slice, and those filed under none.
    fn examine(
        &mut self,
        held: (usize, &Level),
        number: u32,
        documents: &Documents<'_>,
        work: &mut Work,
    ) {
        let (level_number, level) = held;
        let first = number as usize * SLICE_DOCUMENTS;
        let words = &documents.words[first..];
        let words = &words[..words.len().min(SLICE_DOCUMENTS)];
        let slice = Slice {
            masks: &self.masks,
            documents: words,
        };
        let found = &mut self.found[level_number];
        // What lies far apart is fetched before anything is decided by it: a branch that is guessed wrong would keep the
        // processor from fetching the next. First the beginning of each run, below the entries that are left.
        self.runs.clear();
        let runs = self.touched.iter().map(|term| (*term, level.run(*term)));
        self.runs.extend(runs.filter(|(_, run)| run.len > 0));
        let runs = &self.runs;
        hint::black_box(
            runs.iter()
                .fold(0, |sum, (_, run)| sum ^ level.second(run.start)),
        );
        let mut count = 0;
        for (term, run) in runs {
            let holding = slice.mask(*term);
            work.candidates += u64::from(run.len) * u64::from(holding.count_ones());
            work.visits += u64::from(run.len);
            count = sift(level, *run, *term, slice, &mut self.left, count);
        }
        let left = &self.left[..count];
        hint::black_box(
            left.iter()
                .fold(0, |sum, (index, _)| sum ^ level.entry(*index).query),
        );
        let verdicts = &mut self.verdicts;
        let mut verify = |entry: &Entry, among: u64| {
            let mut mask = level.verify(entry, among, slice);
            if mask != 0
                && let Some(filter) = level.filter(entry.query)
            {
                mask = verdicts.accepted(filter, mask, documents, first);
            }
            if mask != 0 {
                found.push(Found {
                    query: entry.query,
                    slice: number,
                    mask,
                });
            }
        };
        for (index, anchor) in left {
            verify(level.entry(*index), slice.mask(*anchor));
        }
        let all = u64::MAX >> (SLICE_DOCUMENTS - words.len());
        work.candidates += (level.always.len() * words.len()) as u64;
        work.visits += level.always.len() as u64;
        level.always.iter().for_each(|entry| verify(entry, all));
    }
}

/// Sifts a run by the second terms alone. What is left goes behind the first `count` of `left`; gives how many those
/// are now.
fn sift(
    level: &Level,
    run: Run,
    anchor: TermId,
    slice: Slice<'_>,
    left: &mut Vec<(u32, TermId)>,
    mut count: usize,
) -> usize {
    let seconds = level.seconds(run);
    if left.len() < count + seconds.len() {
        left.resize(count + seconds.len(), (0, 0));
    }
    let holding = slice.mask(anchor);
    let mut keep = |second: TermId, index: u32| {
        left[count] = (index, anchor);
        count += usize::from(holding & slice.mask(second) != 0);
    };
    // Most candidates fall, so four are tried at once; of four that do not all fall, each is kept or not without a
    // branch that nobody could predict.
    let (fours, rest) = seconds.as_chunks::<4>();
    let mut index = run.start;
    for [a, b, c, d] in fours {
        let any = slice.mask(*a) | slice.mask(*b) | slice.mask(*c) | slice.mask(*d);
        if any & holding != 0 {
            keep(*a, index);
            keep(*b, index + 1);
            keep(*c, index + 2);
            keep(*d, index + 3);
        }
        index += 4;
    }
    for (second, index) in rest.iter().zip(index..) {
        keep(*second, index);
    }
    count
}
