//! The writer's side: queries added, replaced and removed.

mod levels;
mod load;

use std::{collections::BTreeMap, sync::Arc};

use query::{expression::Prepared, tree::Node};

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
    snapshot::Snapshot,
    standing::StandingQuery,
    vocabulary::Vocabulary,
};

pub use load::QueryBatch;

/// Memory of a query that is in no level yet, with its conjunctions.
const FRESH_BYTES: usize = 1024;

/// Memory of a term in the vocabulary: its text, its places in tables that grow by doubling, its uses.
const TERM_BYTES: usize = 192;

/// A set of standing queries, owned by one writer.
///
/// New queries gather until [`snapshot`](QuerySet::snapshot) is called; then they become a small level, and small levels
/// that have grown too alike in size are merged. Larger ones are left to a [`merge_job`](QuerySet::merge_job), which runs
/// on another thread; an owner without one calls [`settle`](QuerySet::settle). A query is rewritten some fifty times on
/// its way to the largest of a million, at about a tenth of a microsecond each.
#[derive(Debug, Default)]
pub struct QuerySet {
    /// Largest first; each at least [`LEVEL_RATIO`] times the next.
    levels: Vec<LiveLevel>,
    /// Not in a level yet.
    fresh: BTreeMap<u64, Fresh>,
    words: Vocabulary,
    filters: Filters,
    stream: Arc<Stream>,
    len: usize,
    /// Queries taken out since the vocabulary was begun: their words are still in it.
    taken: usize,
    /// Documents that the stream had shown when all queries were last filed anew.
    filed_at: u64,
    /// Documents that matchers had been asked about when the largest level was last made.
    merged_at: u64,
    /// The job under way.
    running: Option<Running>,
    /// Jobs begun.
    jobs: u64,
    /// Large levels that were merged into others and that a snapshot may still hold.
    retired: Vec<Arc<Level>>,
    /// The set as it is, unless it has changed since.
    published: Option<Arc<Snapshot>>,
}

/// A job under way.
#[derive(Debug)]
struct Running {
    number: u64,
    /// What it merges.
    levels: Vec<Arc<Level>>,
    /// Queries taken out before it began.
    taken: usize,
}

impl QuerySet {
    /// An empty set.
    #[must_use]
    pub fn new() -> QuerySet {
        QuerySet::default()
    }

    /// Adds a query that asks for `root`, of documents that its filter accepts, or puts it in the place of the one with
    /// its id: a snapshot shows the old one or the new one, never both and never neither. Returns the one replaced.
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

    /// Removes a query; false if there is none of that id.
    pub fn remove(&mut self, id: u64) -> bool {
        self.take(id).is_some()
    }

    /// The query of that id.
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

    /// Every query, by id ascending. Cost: gathers and sorts a list of all first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<StandingQuery>> {
        let mut all: Vec<_> = self.levels.iter().flat_map(LiveLevel::live).collect();
        all.extend(self.fresh.values().map(|fresh| &fresh.query));
        all.sort_by_key(|query| query.id);
        all.into_iter()
    }

    /// How many queries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Memory of the set without the texts of its queries, in bytes: that of the levels counted, that of the rest by its
    /// number. While levels are merged, what they become is there besides. Cost: a few steps a level.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let levels = self.levels.iter().map(LiveLevel::memory_bytes);
        levels.sum::<usize>()
            + self.fresh.len() * FRESH_BYTES
            + self.words.dictionary.len() * TERM_BYTES
            + self.filters.bytes()
    }

    /// Memory of what the job under way makes, at most: as much as it reads.
    #[must_use]
    pub fn merging_bytes(&self) -> usize {
        let levels = self.running.iter().flat_map(|running| &running.levels);
        levels.map(|level| level.hot_bytes()).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether all queries are to be filed anew, because matchers have seen much more of the stream than when that
    /// was last done: [`merge_job`](QuerySet::merge_job) then gives the work.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.stream.documents() >= LEARNED_FIRST.max(self.filed_at * LEARNED_GROWTH)
    }

    /// The set as it is now. The same `Arc` again, at once, if nothing has changed: call it once for each batch of
    /// changes and documents.
    ///
    /// Cost: microseconds for each query added since the last call, a merge of at most some thousand queries now and
    /// then, and larger ones only if [`merge_job`](QuerySet::merge_job) was not asked for very long.
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

    /// The work that is due and too long for the writer's thread, if there is any and none is under way: merging large
    /// levels, filing all queries anew when matchers have learned eight times as much of the stream as before (first at
    /// 1,024 documents), giving back memory. [`install`](QuerySet::install) takes its result, or
    /// [`abandon`](QuerySet::abandon) ends it.
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

    /// Puts what a job made in the place of what it read, less the queries removed meanwhile. Cost: that of removing
    /// those.
    pub fn install(&mut self, merged: Merged) {
        let is_running = |running: &mut Running| running.number == merged.number;
        let Some(running) = self.running.take_if(is_running) else {
            return; // it was given up
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

    /// Goes over to the vocabulary that a job has made, with the levels from `first` on, which it has not seen. Cost: that
    /// of looking through the words, and of merging those levels.
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

    /// As if many queries had been taken out.
    #[cfg(test)]
    pub(crate) fn outlive_words(&mut self) {
        self.taken += 1 << 20;
    }

    /// As if matchers had seen much of the stream.
    #[cfg(test)]
    pub(crate) fn outdate(&mut self) {
        self.filed_at = 0;
        self.stream.pretend(LEARNED_FIRST);
    }

    /// Forgets the job under way, whose result will not come.
    pub fn abandon(&mut self) {
        self.running = None;
    }

    /// Does all that is due, on this thread: after a load, in tests and tools.
    pub fn settle(&mut self) {
        self.snapshot();
        while let Some(job) = self.merge_job() {
            self.install(job.run());
        }
    }

    /// Takes a query out.
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
        self.published = None; // else its share of the set would force a copy
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
