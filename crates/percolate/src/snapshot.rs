//! The matcher's side: an immutable view of a set, and matching against it.
//!
//! Documents are taken 64 at a time. Each word of a slice sets its document's bit in the mask of its term. Then each
//! document's terms are compared with the rows of bits of those among them that are anchors, which leaves few entries;
//! each of these is decided by masks.

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

/// The standing queries as they were at one moment. Never changes; shared by any number of matchers.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub(crate) levels: Vec<LiveLevel>,
    pub(crate) dictionary: Dictionary,
    pub(crate) stream: Arc<Stream>,
    pub(crate) len: usize,
}

impl Snapshot {
    /// HitPairs the queries that each document hits, into `hits` (what it held before is forgotten). The answer does
    /// not depend on how documents are grouped into calls; larger calls are faster up to some hundreds.
    ///
    /// Takes no lock and allocates only while its buffers grow, except for checks of phrases.
    ///
    /// # Errors
    /// `TooManyPairs`: fewer documents in a call are the way out. `Stopped`, by [`Documents::goes_on`]. `TooCostly`, by
    /// [`Documents::steps_max`] or [`QUERY_STEPS_MAX`](crate::QUERY_STEPS_MAX). `hits` is empty then.
    ///
    /// # Panics
    /// If there are more than 2^32 - 1 documents.
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

    /// What [`Snapshot::matches`] does, for [`wide`] to compile for more than one kind of processor.
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

    /// The query of that id.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&Arc<StandingQuery>> {
        self.levels.iter().find_map(|held| held.get(id))
    }

    /// Every query, by id ascending. Cost: gathers and sorts a list of all first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<StandingQuery>> {
        let mut all: Vec<_> = self.levels.iter().flat_map(LiveLevel::live).collect();
        all.sort_by_key(|query| query.id);
        all.into_iter()
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
        self.levels.iter().map(LiveLevel::always_len).sum()
    }

    /// Bytes that matching reads of the queries: what is worth keeping in fast memory. Not the dictionary, which grows with
    /// the vocabulary, nor the texts.
    #[must_use]
    pub fn hot_bytes(&self) -> usize {
        self.levels.iter().map(|held| held.level.hot_bytes()).sum()
    }

    /// How many runs its queries lie in. A matcher looks into each; few are better.
    #[must_use]
    pub fn levels_len(&self) -> usize {
        self.levels.len()
    }
}
