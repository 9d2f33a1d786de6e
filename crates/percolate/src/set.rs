//! The writer's side: queries are added, replaced and removed.
//!
//! New queries gather in `fresh`. A snapshot turns them into a level, and levels that have grown too alike in size
//! are merged, as in a log-structured merge tree.
//!
//! Example, with levels of 9,000, 700 and 60 queries (each at least 8 times the next):
//!
//! ```text
//! 10 queries, snapshot     9,000  700  60  10    60 < 8·10: merged here, 70 queries
//!                          9,000  700  70        700 ≥ 8·70
//! 20 queries, snapshot     9,000  700  70  20    70 < 8·20: merged, 90; 700 < 8·90: merged, 790
//! 400 queries, snapshot    9,000  790  400       790 < 8·400: merged, 1,190
//!                          9,000  1,190          9,000 < 8·1,190: 10,190 queries are a job
//! job installed            10,190
//! ```
//!
//! Until the job is installed, matchers look into both levels. To replace a query in the level of 9,000 sets its bit
//! in that level's `removed` and adds the new query to `fresh`.
//!
//! Invariants:
//! - A live id is in `fresh` or in exactly one level, where its `removed` bit is clear. Else a snapshot would show a
//!   query twice or not at all.
//! - Levels never change. A change of a level is a bit in its `removed`, or another level in its place.
//! - `published` is `None` whenever the set differs from it.
//! - A snapshot has at most [`LEVELS_MAX`](crate::limits::LEVELS_MAX) levels. The ratio of 8 is an aim: a slow job or
//!   [`QuerySet::load`] breaks it for a while.

mod levels;
mod load;

use std::{collections::BTreeMap, sync::Arc};

use language::tree::Node;
use relation::expression::Prepared;

use crate::{
    filter::Filters,
    frequency::Stream,
    level::{
        Level,
        builder::{Builder, Fresh},
    },
    limits::{FORGOTTEN_MIN, FORGOTTEN_PART, FRESH_MAX, FRESH_PART, LEARNED_FIRST, LEARNED_GROWTH},
    live_level::LiveLevel,
    merging::{MergeJob, Merged, Renumbering},
    pattern::Matchers,
    snapshot::Snapshot,
    standing::StandingQuery,
    vocabulary::Vocabulary,
};

pub use load::QueryBatch;

/// Memory of a query in `fresh` with its conjunctions, in bytes.
const FRESH_BYTES: usize = 1024;

/// Memory of a term in the vocabulary, in bytes: its text, its entries in tables that grow by doubling, its uses.
const TERM_BYTES: usize = 192;

/// A set of standing queries, owned by one writer.
///
/// [`snapshot`](QuerySet::snapshot) publishes the changes. Large merges are left to a
/// [`merge_job`](QuerySet::merge_job), which runs on another thread; an owner without such a thread calls
/// [`settle`](QuerySet::settle). A query is rewritten some fifty times on its way to the largest level of a million,
/// at about a tenth of a microsecond each time.
#[derive(Debug, Default)]
pub struct QuerySet {
    /// Largest first; see the ratio at the head of this file.
    levels: Vec<LiveLevel>,
    /// Queries that are in no level yet, by id.
    fresh: BTreeMap<u64, Fresh>,
    words: Vocabulary,
    filters: Filters,
    stream: Arc<Stream>,
    len: usize,
    /// Queries removed since the vocabulary was built. Their words are still in it.
    taken: usize,
    /// The stream's count of documents when all queries were last filed anew.
    filed_at: u64,
    /// The stream's count of matched documents when the largest level was last made.
    merged_at: u64,
    /// The job under way, if there is one. Its levels must not be merged by another.
    running: Option<Running>,
    /// Jobs begun so far: the number of the last one.
    jobs: u64,
    /// Large levels that were replaced and that a snapshot may still hold. A job drops them, since that takes long.
    retired: Vec<Arc<Level>>,
    /// The snapshot of the set as it is; `None` after a change.
    published: Option<Arc<Snapshot>>,
}

/// The job under way, as its set remembers it.
#[derive(Debug)]
struct Running {
    number: u64,
    /// The levels that it reads.
    levels: Vec<Arc<Level>>,
    /// Value of [`QuerySet::taken`] when it began.
    taken: usize,
}

impl QuerySet {
    /// An empty set.
    #[must_use]
    pub fn new() -> QuerySet {
        QuerySet::default()
    }

    /// Adds a query, or replaces the one with its id and returns that one. The query matches documents that `root`
    /// matches and `filter` accepts. A snapshot shows the old query or the new one, never both and never neither.
    pub fn insert(
        &mut self,
        query: Arc<StandingQuery>,
        root: &Node,
        filter: Option<Arc<Prepared>>,
    ) -> Option<Arc<StandingQuery>> {
        let replaced = self.take(query.id);
        let filter = filter.map(|filter| self.filters.intern(&query.filters, filter));
        let fresh = self.words.compiled(&self.stream, query, root, filter);
        self.fresh.insert(fresh.query.id, fresh);
        if self.fresh.len() >= FRESH_MAX.max(self.len / FRESH_PART) {
            self.push_fresh();
        }
        self.len += 1;
        self.published = None;
        replaced
    }

    /// As [`QuerySet::insert`], with the regular expressions of `root` compiled before.
    pub fn insert_compiled(
        &mut self,
        query: Arc<StandingQuery>,
        root: &Node,
        filter: Option<Arc<Prepared>>,
        matchers: Matchers,
    ) -> Option<Arc<StandingQuery>> {
        self.words.dictionary.patterns.compiled = matchers;
        let replaced = self.insert(query, root, filter);
        self.words.dictionary.patterns.compiled = Matchers::default();
        replaced
    }

    /// Removes a query; false if the set has no query of that id.
    pub fn remove(&mut self, id: u64) -> bool {
        self.take(id).is_some()
    }

    /// The query of that id. Cost: a binary search in each level.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&Arc<StandingQuery>> {
        let fresh = self.fresh.get(&id).map(|fresh| &fresh.query);
        fresh.or_else(|| {
            let find = |held: &'_ LiveLevel| held.find(id);
            self.levels
                .iter()
                .find_map(|held| Some(&held.level.queries[find(held)? as usize]))
        })
    }

    /// Every query, by id ascending. Cost: collects and sorts a list of all queries first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<StandingQuery>> {
        let mut all: Vec<_> = self.levels.iter().flat_map(LiveLevel::live).collect();
        all.extend(self.fresh.values().map(|fresh| &fresh.query));
        all.sort_by_key(|query| query.id);
        all.into_iter()
    }

    /// The number of queries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Memory of the set in bytes, without the texts of its queries: measured for levels and patterns, estimated by
    /// counts for the rest. The level that a job makes is not included; see [`merging_bytes`](QuerySet::merging_bytes). Cost: a few
    /// steps a level.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let levels = self.levels.iter().map(LiveLevel::memory_bytes);
        levels.sum::<usize>()
            + self.fresh.len() * FRESH_BYTES
            + self.words.dictionary.len() * TERM_BYTES
            + self.words.dictionary.patterns.memory()
            + self.filters.bytes()
    }

    /// Most memory of the level that the job under way makes, in bytes: as much as the levels that it reads.
    #[must_use]
    pub fn merging_bytes(&self) -> usize {
        let levels = self.running.iter().flat_map(|running| &running.levels);
        levels.map(|level| level.hot_bytes()).sum()
    }

    /// Whether the set has no query.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether all queries are due to be filed anew: matchers have seen 1,024 documents, and eight times the count of
    /// the last refiling. [`merge_job`](QuerySet::merge_job) then returns that work.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.stream.documents() >= LEARNED_FIRST.max(self.filed_at * LEARNED_GROWTH)
    }

    /// A snapshot of the set as it is now. Returns the same `Arc` at once if nothing has changed. Call it once for
    /// each batch of changes and documents.
    ///
    /// Cost: microseconds for each query added since the last call; now and then a merge of a few thousand queries.
    /// It merges more only if [`merge_job`](QuerySet::merge_job) was not called for very long.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        if let Some(published) = &self.published {
            return Arc::clone(published);
        }
        self.push_fresh();
        self.merge_small();
        let snapshot = Arc::new(Snapshot {
            levels: self.levels.clone(),
            dictionary: self.words.dictionary.clone(),
            stream: Arc::clone(&self.stream),
            len: self.len,
        });
        self.published = Some(Arc::clone(&snapshot));
        snapshot
    }

    /// The work that is due and too long for the writer's thread; `None` if there is none or a job is under way. A
    /// job merges large levels, files all queries anew, rebuilds the vocabulary, merges the dictionary's layers, and
    /// frees old levels. End it with [`install`](QuerySet::install) or [`abandon`](QuerySet::abandon).
    pub fn merge_job(&mut self) -> Option<MergeJob> {
        if self.running.is_some() {
            return None;
        }
        let is_anew = self.is_outdated();
        if is_anew {
            self.filed_at = self.stream.documents();
        }
        let is_forgetting = self.taken > FORGOTTEN_MIN.max(self.len / FORGOTTEN_PART);
        let range = if is_anew || is_forgetting {
            0..self.levels.len()
        } else {
            self.due().unwrap_or_default()
        };
        if range.start == 0 && !range.is_empty() {
            self.merged_at = self.stream.matched();
        }
        let is_split = is_anew || is_forgetting || self.words.dictionary.is_split();
        let retired: Vec<_> = self
            .retired
            .extract_if(.., |level| Arc::strong_count(level) == 1)
            .collect();
        if range.is_empty() && !is_split && retired.is_empty() {
            return None;
        }
        let inputs = self.levels[range].to_vec();
        self.jobs += 1;
        self.running = Some(Running {
            number: self.jobs,
            levels: inputs.iter().map(|held| Arc::clone(&held.level)).collect(),
            taken: self.taken,
        });
        Some(MergeJob {
            number: self.jobs,
            inputs,
            is_anew,
            is_forgetting,
            stream: Arc::clone(&self.stream),
            uses: Arc::clone(&self.words.uses),
            dictionary: is_split.then(|| self.words.dictionary.clone()),
            retired,
        })
    }

    /// Replaces the levels that a job has read by the level that it made, less the queries removed meanwhile. Does
    /// nothing if the job was abandoned. Cost: a step for each query removed meanwhile; after a rebuilt vocabulary
    /// also the words, and the levels that the job has not seen.
    pub fn install(&mut self, merged: Merged) {
        let is_running = |running: &mut Running| running.number == merged.number;
        let Some(running) = self.running.take_if(is_running) else {
            return; // it was abandoned
        };
        if let Some(dictionary) = merged.dictionary {
            self.words.dictionary.install(dictionary);
            self.published = None;
        }
        let is_first = |held: &LiveLevel| {
            let first = merged.inputs.first();
            first.is_some_and(|first| Arc::ptr_eq(&first.level, &held.level))
        };
        let start = self.levels.iter().position(is_first).unwrap_or(0);
        let range = start..start + merged.inputs.len();
        let mut made = merged.level.map(LiveLevel::new);
        for (now, then) in self.levels[range.clone()].iter().zip(&merged.inputs) {
            for ordinal in now.removed.since(&then.removed) {
                let id = now.level.ids[ordinal as usize];
                if let Some(made) = &mut made
                    && let Some(ordinal) = made.level.find(id)
                {
                    Arc::make_mut(&mut made.removed).add(ordinal);
                }
            }
        }
        if let Some(renumbering) = merged.renumbering {
            self.taken -= running.taken;
            self.push_fresh();
            self.renumber(range.end, renumbering);
        }
        if !range.is_empty() {
            self.replace(range, made);
            self.published = None;
        }
    }

    /// Changes over to the vocabulary that a job has made. The job has not seen the levels from `first` on: they are
    /// renumbered here. Cost: one pass over the words and over those levels.
    fn renumber(&mut self, first: usize, mut renumbering: Renumbering) {
        if let Some(unseen) = self
            .levels
            .get_mut(first..)
            .filter(|levels| !levels.is_empty())
        {
            renumbering.learn(&self.words);
            for held in unseen {
                held.level = Arc::new(renumbering.level(&held.level));
            }
        }
        (self.words, self.filters) = (renumbering.words, renumbering.filters);
        self.published = None;
    }

    /// Pretends that many queries were removed.
    #[cfg(test)]
    pub(crate) fn outlive_words(&mut self) {
        self.taken += 1 << 20;
    }

    /// Pretends that matchers have seen much of the stream.
    #[cfg(test)]
    pub(crate) fn outdate(&mut self) {
        self.filed_at = 0;
        self.stream.pretend(LEARNED_FIRST);
    }

    /// Forgets the job under way: [`install`](QuerySet::install) will ignore its result.
    pub fn abandon(&mut self) {
        self.running = None;
    }

    /// Does all work that is due on the caller's thread. For use after a load, in tests and in tools.
    pub fn settle(&mut self) {
        self.snapshot();
        while let Some(job) = self.merge_job() {
            self.install(job.run());
        }
    }

    /// Removes a query and returns it.
    fn take(&mut self, id: u64) -> Option<Arc<StandingQuery>> {
        let taken = match self.fresh.remove(&id) {
            Some(fresh) => fresh.query,
            None => self.take_from_level(id)?,
        };
        self.published = None;
        self.len -= 1;
        self.taken += 1;
        Some(taken)
    }

    fn take_from_level(&mut self, id: u64) -> Option<Arc<StandingQuery>> {
        let found = |(number, held): (usize, &LiveLevel)| Some((number, held.find(id)?));
        let (number, ordinal) = self.levels.iter().enumerate().find_map(found)?;
        self.published = None; // a snapshot's share of `removed` would force a copy
        let held = &mut self.levels[number];
        Arc::make_mut(&mut held.removed).add(ordinal);
        Some(Arc::clone(&held.level.queries[ordinal as usize]))
    }

    fn push_fresh(&mut self) {
        if self.fresh.is_empty() {
            return;
        }
        let mut builder = Builder::default();
        let fresh = std::mem::take(&mut self.fresh);
        for fresh in fresh.into_values() {
            builder.add(fresh);
        }
        self.levels.push(LiveLevel::new(builder.finish()));
    }
}
