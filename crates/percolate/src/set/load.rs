//! Loading many queries at once, as at a restart: several threads compile them, each into a batch with a vocabulary
//! of its own, and each batch is filed once.

use std::{
    mem::take,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use language::tree::Node;
use relation::expression::Prepared;

use super::QuerySet;
use crate::{
    filter::Filters,
    frequency::{Costs, Stream},
    level::builder::Builder,
    live_level::LiveLevel,
    merging::Renumbering,
    standing::StandingQuery,
    vocabulary::Vocabulary,
};

/// Compiled queries on their way into a set. Each thread that parses queries fills one batch; [`QuerySet::load`]
/// takes all batches.
#[derive(Debug)]
pub struct QueryBatch {
    words: Vocabulary,
    filters: Filters,
    stream: Arc<Stream>,
    builder: Builder,
}

impl QueryBatch {
    /// Adds a query, as [`QuerySet::insert`] does. Its id must be new: not in the set, not in another batch, not
    /// earlier in this one.
    pub fn insert(
        &mut self,
        query: Arc<StandingQuery>,
        root: &Node,
        filter: Option<Arc<Prepared>>,
    ) {
        let filter = filter.map(|filter| self.filters.intern(&query.filters, filter));
        let fresh = self.words.compiled(&self.stream, query, root, filter);
        self.builder.add(fresh);
    }
}

impl QuerySet {
    /// An empty batch, to be filled on any thread.
    #[must_use]
    pub fn part(&self) -> QueryBatch {
        QueryBatch {
            words: Vocabulary::default(),
            filters: Filters::default(),
            stream: Arc::clone(&self.stream),
            builder: Builder::default(),
        }
    }

    /// Takes over the queries of all batches. Each batch becomes a level, filed by the word counts of all batches, on
    /// one thread a batch; a [`merge_job`](QuerySet::merge_job) merges these levels later. Cost: about 0.2 µs a
    /// query, and one pass over the words of every batch but the first.
    pub fn load(&mut self, parts: Vec<QueryBatch>) {
        let mut builders: Vec<Builder> = Vec::with_capacity(parts.len());
        for part in parts {
            let (words, filters, mut builder) = (part.words, part.filters, part.builder);
            if builder.len() == 0 {
                continue;
            }
            if self.words.dictionary.is_empty() && self.is_empty() {
                (self.words, self.filters) = (words, filters);
                self.abandon(); // a job under way has the old vocabulary
            } else {
                let (ours, filters) = (take(&mut self.words), take(&mut self.filters));
                let mut renumbering = Renumbering::into(ours, filters);
                renumbering.learn(&words);
                renumbering.unfiled(&mut builder);
                (self.words, self.filters) = (renumbering.words, renumbering.filters);
            }
            self.len += builder.len();
            builders.push(builder);
        }
        self.words.dictionary.compact();
        self.file(builders);
        self.published = None;
    }

    /// Makes a level of each builder. If a thread cannot be started, the other threads do its work.
    fn file(&mut self, builders: Vec<Builder>) {
        let costs = Costs::new(&self.stream, &self.words.uses);
        let threads = builders.len();
        let (waiting, made) = (Mutex::new(builders), Mutex::new(Vec::new()));
        let next = || {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.pop()
        };
        let work = || {
            while let Some(builder) = next() {
                let held = LiveLevel::new(builder.finish_anew(&costs));
                let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
                made.push(held);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        made.sort_by_key(|held| std::cmp::Reverse(held.len()));
        self.levels.extend(made); // at the end: a job under way covers a range of the others
    }
}
