//! A matcher's buffers, and the steps from documents to pairs of a query and a document.
//!
//! For each slice of 64 documents:
//! 1. `mark`: look up the words of each document, find its pairs and patterns, and set its bit in the mask of each term.
//! 2. `gather`: list the rows of bits of each document's anchors.
//! 3. `probe`: meet each row with the document's terms. This gives indexes of entries.
//! 4. `decide`: decide simple entries by masks. Set aside entries with a tail, and groups.
//! 5. `decide_others`, `decide_large`, `decide_always`: decide the rest, running checks where masks are not enough.
//! 6. `filter`: drop pairs whose document the query's filter refuses.
//!
//! Each step runs over a whole slice before the next begins, and writes a list as long as what is left. No branch
//! depends on whether a word, a second term or an entry fits, and memory that lies far apart is prefetched many items
//! at a time.

mod marks;
mod steps;
mod survivors;

use language::analysis::Words;
use marks::Marks;

use crate::{
    check::{Slice, Workspace},
    dictionary::Dictionary,
    documents::Documents,
    filter::Verdicts,
    hit_pairs::{HitPairs, Sorter, document_of, query_of},
    hits::Work,
    level::Level,
    limits::{GROUP_WORDS, PAIRS_MAX},
    live_level::{LiveLevel, id_in},
    meter::Meter,
    unfinished::Unfinished,
};
pub(crate) use steps::{Candidates, LANES, Met, Plain, Steps};
use survivors::{Survivors, decide_always};

/// Buffers of one matcher, kept from call to call. Each thread has its own; good for any snapshot of any set.
#[derive(Debug, Default)]
pub struct Scratch {
    marks: Marks,
    survivors: Survivors,
    /// By level: the pairs found.
    pub(crate) hit_pairs: Vec<HitPairs>,
    pub(crate) sorter: Sorter,
    verdicts: Verdicts,
    checking: Workspace,
    /// Slices matched since the buffers were made.
    pub(crate) turn: u64,
}

/// A slice of a call's documents: at most 64.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(crate) documents: &'a Documents<'a>,
    pub(crate) words: &'a [Words],
    /// Index in the call of its first document.
    pub(crate) first: u32,
}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Forgets the pairs of the call before and begins one of at most `steps_max` steps.
    pub(crate) fn begin(&mut self, levels: usize, steps_max: u64) {
        self.checking.meter.begin(steps_max);
        if self.hit_pairs.len() < levels {
            self.hit_pairs.resize_with(levels, HitPairs::default);
        }
        self.hit_pairs.iter_mut().for_each(HitPairs::clear);
    }

    /// Steps of the call so far.
    pub(crate) fn steps(&self) -> u64 {
        self.checking.meter.spent()
    }

    /// Marks the terms of a slice's documents. `levels` name the query in an error.
    ///
    /// # Errors
    /// `Stopped`, `TooCostly`.
    #[inline(always)]
    pub(crate) fn mark(
        &mut self,
        steps: impl Steps,
        dictionary: &Dictionary,
        batch: Batch<'_>,
        levels: &[LiveLevel],
    ) -> Result<(), Unfinished> {
        let goes_on = batch.documents.goes_on;
        self.verdicts.clear();
        self.checking.clear();
        self.marks.clear(dictionary.len());
        let mut rest = batch.words;
        while !rest.is_empty() {
            let (group, others) = rest.split_at(group_len(rest));
            rest = others;
            let checking = &mut self.checking;
            self.marks.mark(steps, dictionary, group, checking, goes_on);
            checking.meter.check(id_in(levels))?;
        }
        Ok(())
    }

    /// Finds the pairs of the marked documents in level `number`.
    ///
    /// # Errors
    /// Those of the call.
    #[inline(always)]
    pub(crate) fn examine(
        &mut self,
        steps: impl Steps,
        dictionary: &Dictionary,
        (number, levels): (usize, &[LiveLevel]),
        batch: Batch<'_>,
        work: &mut Work,
    ) -> Result<(), Unfinished> {
        let LiveLevel { level, removed } = &levels[number];
        let goes_on = batch.documents.goes_on;
        let Scratch {
            marks,
            survivors,
            hit_pairs,
            verdicts,
            checking,
            ..
        } = self;
        let slice = Slice {
            masks: &marks.masks,
            documents: batch.words,
            word_terms: &marks.word_terms,
            dictionary,
            removed,
            goes_on,
        };
        checking.meter.enter(number, batch.first);
        let hit_pairs = &mut hit_pairs[number];
        let (found_before, visits_before) = (hit_pairs.len(), work.visits);
        survivors.scan(
            steps,
            level,
            slice,
            batch.first,
            checking,
            (hit_pairs, work),
        );
        survivors.probe(steps, level, marks, batch.first, hit_pairs, work);
        work.visits += survivors.ranks.len as u64;
        let steps_left = survivors.others.len + level.always.len() + level.scanned.entries.len();
        hit_pairs.mixed |= level.has_alternatives && steps_left > 0;
        work.visits +=
            survivors.decide_others(steps, level, slice, batch.first, checking, hit_pairs);
        survivors.decide_large(level, slice, batch.first, checking, hit_pairs, work)?;
        decide_always(level, slice, batch.first, checking, hit_pairs, work)?;
        let meter = &mut checking.meter;
        meter.visit(work.visits - visits_before, goes_on);
        if level.has_filters() {
            filter(
                steps,
                level,
                batch,
                (hit_pairs, found_before),
                verdicts,
                meter,
            );
        }
        meter.check(id_in(levels))?;
        match hit_pairs.len() {
            pairs @ 0..=PAIRS_MAX if (batch.documents.has_room)(pairs) => Ok(()),
            _ => Err(Unfinished::TooManyPairs),
        }
    }
}

/// The number of leading documents whose words are looked up together. They have at least [`GROUP_WORDS`] words, unless
/// all documents together have fewer.
fn group_len(documents: &[Words]) -> usize {
    let mut words = 0;
    let enough = documents.iter().position(|document| {
        words += document.len();
        words >= GROUP_WORDS
    });
    enough.map_or(documents.len(), |last| last + 1)
}

/// Pairs between a pair whose filter is asked and the pair whose filter is prefetched.
const FETCHED_AHEAD: usize = 16;

/// Keeps the pairs before `from`, and those behind whose document the query's filter accepts.
#[inline(always)]
fn filter(
    steps: impl Steps,
    level: &Level,
    batch: Batch<'_>,
    (hit_pairs, from): (&mut HitPairs, usize),
    verdicts: &mut Verdicts,
    meter: &mut Meter,
) {
    let first = batch.first as usize;
    let fetch_place = |pair| level.fetch_filter_place(steps, query_of(pair));
    let fetch = |pair| level.fetch_filter(steps, query_of(pair));
    hit_pairs.retain_ahead::<FETCHED_AHEAD>(from, fetch_place, fetch, |pair| {
        let index = (document_of(pair) - batch.first) as usize;
        let documents = (batch.documents, first);
        let accepts = |filter| verdicts.accepts(filter, index, documents, meter);
        level.filter(query_of(pair)).is_none_or(accepts)
    });
}
