//! A matcher's buffers, and the steps from documents to pairs of a query and a document.
//!
//! Each step runs over a whole slice before the next begins, and writes a list that is as long as what is left: no branch
//! depends on whether a word, a second term or an entry fits, and what lies far apart is fetched many at a time.

mod marks;
mod steps;
mod survivors;

use query::analysis::Words;

use crate::{
    check::{Slice, Workspace},
    dictionary::Dictionary,
    documents::Documents,
    filter::Verdicts,
    found::{Finds, Sorter, document_of, query_of},
    hits::{TooManyPairs, Work},
    level::Level,
    limits::PAIRS_MAX,
};
use marks::Marks;
pub(crate) use steps::{Candidates, LANES, Met, Plain, Steps};
use survivors::{Survivors, decide_always};

/// Buffers of one matcher, kept from call to call. One per thread; good for any snapshot of any set.
#[derive(Debug, Default)]
pub struct Scratch {
    marks: Marks,
    survivors: Survivors,
    /// By level: what was found.
    pub(crate) finds: Vec<Finds>,
    pub(crate) sorter: Sorter,
    verdicts: Verdicts,
    checking: Workspace,
    /// Slices seen so far.
    pub(crate) turn: u64,
}

/// A slice of a call's documents.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) documents: &'a Documents<'a>,
    pub(crate) words: &'a [Words],
    /// Index of its first document.
    pub(crate) first: u32,
}
impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Forgets what was found before.
    pub(crate) fn begin(&mut self, levels: usize) {
        if self.finds.len() < levels {
            self.finds.resize_with(levels, Finds::default);
        }
        self.finds.iter_mut().for_each(Finds::clear);
    }

    /// Marks the words of these documents.
    #[inline(always)]
    pub(crate) fn mark(&mut self, steps: impl Steps, dictionary: &Dictionary, words: &[Words]) {
        self.verdicts.clear();
        self.checking.clear();
        self.marks.clear(dictionary.len());
        let has_further = dictionary.has_further();
        for (index, document) in words.iter().enumerate() {
            self.marks.mark(steps, dictionary, document, index);
            if has_further {
                let further = &mut self.checking.further;
                self.marks
                    .mark_further(steps, dictionary, document, index, further);
            }
        }
    }

    /// Finds what the marked documents hit in a level.
    #[inline(always)]
    pub(crate) fn examine(
        &mut self,
        steps: impl Steps,
        dictionary: &Dictionary,
        (number, level): (usize, &Level),
        part: Part<'_>,
        work: &mut Work,
    ) -> Result<(), TooManyPairs> {
        let Scratch {
            marks,
            survivors,
            finds,
            verdicts,
            checking,
            ..
        } = self;
        let slice = Slice {
            masks: &marks.masks,
            documents: part.words,
            dictionary,
        };
        let finds = &mut finds[number];
        let found_before = finds.len();
        survivors.scan(steps, level, slice, part.first, checking, (finds, work));
        survivors.probe(steps, level, marks, work);
        work.visits += survivors.places.len as u64;
        survivors.decide(steps, level, slice, part.first, finds);
        let steps_left = survivors.others.len + level.always.len() + level.scanned.entries.len();
        finds.mixed |= level.has_alternatives && steps_left > 0;
        work.visits += survivors.decide_others(steps, level, slice, part.first, checking, finds);
        survivors.decide_large(level, slice, part.first, checking, finds, work)?;
        decide_always(level, slice, part.first, checking, finds, work)?;
        if level.has_filters() {
            filter(steps, level, part, finds, found_before, verdicts);
        }
        match finds.len() {
            0..=PAIRS_MAX => Ok(()),
            _ => Err(TooManyPairs),
        }
    }
}
/// Pairs whose filters are fetched before the first is asked.
const FETCHED_AT_ONCE: usize = 16;

/// Of the pairs from `from` on, keeps those whose document the query's filter accepts.
#[inline(always)]
fn filter(
    steps: impl Steps,
    level: &Level,
    part: Part<'_>,
    finds: &mut Finds,
    from: usize,
    verdicts: &mut Verdicts,
) {
    let first = part.first as usize;
    let fetch = |pair| level.fetch_filter(steps, query_of(pair));
    finds.retain_ahead::<FETCHED_AT_ONCE>(from, fetch, |pair| {
        let index = (document_of(pair) - part.first) as usize;
        let accepts = |filter| verdicts.accepts(filter, index, part.documents, first);
        level.filter(query_of(pair)).is_none_or(accepts)
    });
}
