//! The matcher's side: an immutable view of a set, and matching against it.
//!
//! Documents are taken 64 at a time. Each word of a slice sets its document's bit in the mask of its term. Then the
//! matcher compares each document's terms with the rows of bits of its anchors, which leaves few entries. Masks
//! decide most of these; a check decides the rest.

use std::sync::Arc;

use crate::{
    dictionary::Dictionary,
    documents::Documents,
    frequency::Stream,
    hits::Hits,
    limits::{DOCUMENTS_MAX, SLICE_DOCUMENTS},
    live_level::LiveLevel,
    scratch::{Batch, Scratch, Steps},
    standing::StandingQuery,
    unfinished::Unfinished,
    wide,
};

/// The standing queries as they were at one moment. Never changes; any number of matchers share it.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub(crate) levels: Vec<LiveLevel>,
    pub(crate) dictionary: Dictionary,
    pub(crate) stream: Arc<Stream>,
    pub(crate) len: usize,
}

impl Snapshot {
    /// Puts the queries that each document hits into `hits`, and forgets what it held before. The answer does not
    /// depend on how documents are grouped into calls. Larger calls are faster, up to some hundreds of documents.
    ///
    /// Takes no lock. Allocates only while buffers grow and for checks of places.
    ///
    /// # Errors
    /// `TooManyPairs`: retry with fewer documents in a call. `Stopped`: [`Documents::goes_on`] returned false.
    /// `TooCostly`: the call reached [`Documents::steps_max`] or [`QUERY_STEPS_MAX`](crate::QUERY_STEPS_MAX). `hits`
    /// is empty after an error.
    ///
    /// # Panics
    /// Above 2^32 - 1 documents.
    pub fn matches(
        &self,
        documents: &Documents<'_>,
        scratch: &mut Scratch,
        hits: &mut Hits,
    ) -> Result<(), Unfinished> {
        assert!(
            documents.words.len() <= DOCUMENTS_MAX,
            "a call's documents fit into memory"
        );
        wide::matches(self, documents, scratch, hits).inspect_err(|_| hits.clear())
    }

    /// Does the work of [`Snapshot::matches`]; [`wide`] compiles it for several kinds of processor.
    #[inline(always)]
    pub(crate) fn matches_by(
        &self,
        steps: impl Steps,
        documents: &Documents<'_>,
        scratch: &mut Scratch,
        hits: &mut Hits,
    ) -> Result<(), Unfinished> {
        hits.begin(&self.levels);
        scratch.begin(self.levels.len(), documents.steps_max);
        let slices = documents.words.chunks(SLICE_DOCUMENTS);
        for (words, number) in slices.zip(0..) {
            let batch = Batch {
                documents,
                words,
                first: number * SLICE_DOCUMENTS as u32,
            };
            scratch.mark(steps, &self.dictionary, batch, &self.levels)?;
            self.stream.learn(scratch.turn, words);
            scratch.turn += 1;
            for number in 0..self.levels.len() {
                if !(documents.goes_on)() {
                    return Err(Unfinished::Stopped);
                }
                let level = (number, &*self.levels);
                scratch.examine(steps, &self.dictionary, level, batch, &mut hits.work)?;
            }
        }
        hits.work.steps = scratch.steps();
        let Scratch {
            hit_pairs, sorter, ..
        } = scratch;
        for ((held, hit_pairs), number) in self.levels.iter().zip(hit_pairs).zip(0..) {
            sorter.sort(hit_pairs, held.level.len(), documents.words.len());
            hits.push_level((number, held), hit_pairs)?;
        }
        hits.order();
        Ok(())
    }

    /// The query of that id. Cost: a binary search in each level.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&Arc<StandingQuery>> {
        self.levels.iter().find_map(|held| held.get(id))
    }

    /// Every query, by id ascending. Cost: collects and sorts a list of all queries first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<StandingQuery>> {
        let mut all: Vec<_> = self.levels.iter().flat_map(LiveLevel::live).collect();
        all.sort_by_key(|query| query.id);
        all.into_iter()
    }

    /// The number of queries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no query.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of queries that have no term to be filed under (`Node::All` and the like): every document is tried
    /// against each of them. Cost: a step for each entry of such queries.
    #[must_use]
    pub fn always_len(&self) -> usize {
        self.levels.iter().map(LiveLevel::always_len).sum()
    }

    /// Memory of the queries that matching reads, in bytes: the part that is worth keeping in fast memory. Without
    /// the dictionary, which grows with the vocabulary, and without texts.
    #[must_use]
    pub fn hot_bytes(&self) -> usize {
        self.levels.iter().map(|held| held.level.hot_bytes()).sum()
    }

    /// The number of levels. A matcher looks into each, so few are better.
    #[must_use]
    pub fn levels_len(&self) -> usize {
        self.levels.len()
    }
}
