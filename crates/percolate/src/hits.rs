//! The answer of one call: which queries were hit, by which documents.
//!
//! Example: query 4 is hit by the documents 0 and 2, query 9 by document 2. Query 4 lies in level 0, query 9 in level
//! 1.
//!
//! ```text
//! rows       (level 0, query 0, 0..2)   (level 1, query 0, 2..3)     largest_len = 1
//! documents  0 2 2
//! ```
//!
//! Invariants:
//! - The first `largest_len` rows are of level 0, the others of all other levels. Both runs are in the order of ids.
//!   [`Ordered`] merges them while they are read.
//! - A row's documents are a range of `documents`: rising, each once, never empty.

use std::sync::Arc;

use crate::{
    hit_pairs::{HitPair, HitPairs, document_of, grow, query_of},
    level::Level,
    limits::PAIRS_MAX,
    live_level::LiveLevel,
    standing::{Ordinal, StandingQuery},
    unfinished::TooManyPairs,
};

/// Work that one call did, counted rather than timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Pairs of an entry and a document that holds the entry's anchor. An entry is one conjunction of a query; most
    /// queries have one.
    pub candidates: u64,
    /// Comparisons of an entry with one document, or with up to 64 documents at once.
    pub visits: u64,
    /// Pairs of a query and a document that it matches.
    pub matches: u64,
    /// Steps, as [`Documents::steps_max`](crate::Documents::steps_max) bounds them.
    pub steps: u64,
}

/// The hits of one [`Snapshot::matches`](crate::Snapshot::matches) call. The caller keeps it for the next call, which
/// then allocates only while buffers grow. It keeps the levels of the snapshot alive.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    levels: Vec<Arc<Level>>,
    /// The first `rows_len` are the answer; the rest is room of earlier calls.
    rows: Vec<Row>,
    rows_len: usize,
    /// The number of leading rows that are of level 0, the largest.
    largest_len: usize,
    documents: Vec<u32>,
    documents_len: usize,
    pub(crate) work: Work,
}

/// A query that was hit.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    level: u32,
    query: Ordinal,
    /// Start of its documents in `Hits::documents`.
    start: u32,
    end: u32,
}

impl Hits {
    /// An empty answer.
    #[must_use]
    pub fn new() -> Hits {
        Hits::default()
    }

    /// A row for each query that was hit, by query id ascending: the query, and the indexes of the documents that hit
    /// it. Indexes are those of the call's slice of documents: rising, each once, never empty.
    pub fn rows(&self) -> impl Iterator<Item = (&Arc<StandingQuery>, &[u32])> {
        self.named().map(|(_, query, documents)| (query, documents))
    }

    /// The rows with the query's id before it. Reading the id alone does not touch the query's memory.
    pub fn named(&self) -> impl Iterator<Item = (u64, &Arc<StandingQuery>, &[u32])> {
        self.ordered().map(|row| {
            let level = &self.levels[row.level as usize];
            let query = &level.queries[row.query as usize];
            let id = level.ids[row.query as usize];
            (id, query, self.documents_of(row))
        })
    }

    /// The rows with the query's id alone. Does not touch the queries' memory.
    pub fn ids(&self) -> impl Iterator<Item = (u64, &[u32])> {
        self.ordered()
            .map(|row| (self.id_of(row), self.documents_of(row)))
    }

    fn ordered(&self) -> Ordered<'_> {
        let (largest, others) = self.rows[..self.rows_len].split_at(self.largest_len);
        let other_id = others.first().map(|row| self.id_of(row));
        Ordered {
            hits: self,
            largest: largest.iter(),
            others: others.iter(),
            other_id,
        }
    }

    fn id_of(&self, row: &Row) -> u64 {
        self.levels[row.level as usize].ids[row.query as usize]
    }

    fn documents_of(&self, row: &Row) -> &[u32] {
        &self.documents[row.start as usize..row.end as usize]
    }

    /// The number of pairs of a query and a document.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.documents_len
    }

    /// The number of queries that were hit.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows_len
    }

    /// Whether no query was hit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows_len == 0
    }

    /// The work that the call did.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// Forgets the hits and lets go of the snapshot's levels, but keeps the buffers.
    pub fn clear(&mut self) {
        self.levels.clear();
        self.forget();
    }

    fn forget(&mut self) {
        self.rows_len = 0;
        self.largest_len = 0;
        self.documents_len = 0;
        self.work = Work::default();
    }

    /// Forgets the hits of the call before and holds these levels. It leaves alone levels that it holds already,
    /// because counting a holder writes to memory that all matchers share.
    pub(crate) fn begin(&mut self, levels: &[LiveLevel]) {
        self.forget();
        self.levels.truncate(levels.len());
        for (number, held) in levels.iter().enumerate() {
            match self.levels.get_mut(number) {
                Some(level) if Arc::ptr_eq(level, &held.level) => {}
                Some(level) => *level = Arc::clone(&held.level),
                None => self.levels.push(Arc::clone(&held.level)),
            }
        }
    }

    /// Adds the sorted pairs of one level as rows, without removed queries and repeated pairs. It does not branch on
    /// where one query ends and the next begins: most queries have one document or two, which no processor can
    /// predict.
    #[inline(always)]
    pub(crate) fn push_level(
        &mut self,
        (level, held): (u32, &LiveLevel),
        hit_pairs: &mut HitPairs,
    ) -> Result<(), TooManyPairs> {
        if held.removed.len() > 0 {
            let mut is_removed = held.removed.rising();
            hit_pairs.retain_from(0, |pair| !is_removed(query_of(pair)));
        }
        let pairs = hit_pairs.pairs();
        let (mut rows, mut documents) = (self.rows_len, self.documents_len);
        if documents + pairs.len() > PAIRS_MAX {
            return Err(TooManyPairs);
        }
        grow(&mut self.rows, rows + pairs.len());
        grow(&mut self.documents, documents + pairs.len());
        let (mut before, mut start) = (HitPair::MAX, 0);
        for pair in pairs {
            let query = query_of(*pair);
            let is_new = query != query_of(before);
            rows += usize::from(is_new);
            start = if is_new { documents } else { start };
            documents += usize::from(*pair != before);
            self.documents[documents - 1] = document_of(*pair);
            self.rows[rows - 1] = Row {
                level,
                query,
                start: start as u32,
                end: documents as u32,
            };
            before = *pair;
        }
        (self.rows_len, self.documents_len) = (rows, documents);
        self.work.matches = documents as u64;
        Ok(())
    }

    /// Sorts the rows of all levels but the first by id. Those of each level are sorted already.
    pub(crate) fn order(&mut self) {
        let levels = &self.levels;
        let rows = &mut self.rows[..self.rows_len];
        self.largest_len = rows.partition_point(|row| row.level == 0);
        let others = &mut rows[self.largest_len..];
        if others.chunk_by(|a, b| a.level == b.level).nth(1).is_some() {
            others.sort_by_key(|row| levels[row.level as usize].ids[row.query as usize]);
        }
    }
}

/// The rows by id: a merge of two runs. Most rows, often all, are of the largest level.
struct Ordered<'h> {
    hits: &'h Hits,
    largest: std::slice::Iter<'h, Row>,
    others: std::slice::Iter<'h, Row>,
    /// The id of the next row of `others`.
    other_id: Option<u64>,
}

impl<'h> Iterator for Ordered<'h> {
    type Item = &'h Row;

    #[inline]
    fn next(&mut self) -> Option<&'h Row> {
        let Some(other_id) = self.other_id else {
            return self.largest.next();
        };
        let next = self.largest.as_slice().first();
        if next.is_some_and(|row| self.hits.id_of(row) < other_id) {
            return self.largest.next();
        }
        let found = self.others.next();
        let following = self.others.as_slice().first();
        self.other_id = following.map(|row| self.hits.id_of(row));
        found
    }
}
