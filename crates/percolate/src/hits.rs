//! The answer of one call: which queries were hit, by which documents.

use std::sync::Arc;

use crate::{
    hit_pairs::{HitPair, HitPairs, document_of, grow, query_of},
    level::Level,
    limits::PAIRS_MAX,
    live_level::LiveLevel,
    standing::{Ordinal, StandingQuery},
    unfinished::TooManyPairs,
};

/// Work done by one call, counted rather than timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Pairs of an entry and a document that holds a word under which the entry is filed (an entry is one
    /// conjunction of a query; most queries are one).
    pub candidates: u64,
    /// Entries compared with a document, or with up to 64 at once.
    pub visits: u64,
    /// Pairs of a query and a document that matched.
    pub matches: u64,
    /// What [`Documents::steps_max`](crate::Documents::steps_max) bounds.
    pub steps: u64,
}

/// The hits of one [`Snapshot::matches`](crate::Snapshot::matches) call. Kept by the caller and used again,
/// so that a call allocates nothing once its buffers have grown. It keeps the levels of the snapshot alive.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    levels: Vec<Arc<Level>>,
    /// The first so many of each are the answer; room once made is kept.
    rows: Vec<Row>,
    rows_len: usize,
    /// The first so many rows are of one level, in the order of ids; the others are of the other levels, likewise.
    largest_len: usize,
    documents: Vec<u32>,
    documents_len: usize,
    pub(crate) work: Work,
}

/// One query that was hit.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    level: u32,
    query: Ordinal,
    /// Its documents: a range of `Hits::documents`.
    start: u32,
    end: u32,
}

impl Hits {
    /// No hits.
    #[must_use]
    pub fn new() -> Hits {
        Hits::default()
    }

    /// One row for each query that was hit, by query id ascending: the query, and the indexes of the documents
    /// that hit it in the slice given to the call, ascending, never empty.
    pub fn rows(&self) -> impl Iterator<Item = (&Arc<StandingQuery>, &[u32])> {
        self.named().map(|(_, query, documents)| (query, documents))
    }

    /// The same rows with the query's id before it: who needs no more of a query than its id does not wait for its memory.
    pub fn named(&self) -> impl Iterator<Item = (u64, &Arc<StandingQuery>, &[u32])> {
        self.ordered().map(|row| {
            let level = &self.levels[row.level as usize];
            let query = &level.queries[row.query as usize];
            let id = level.ids[row.query as usize];
            (id, query, self.documents_of(row))
        })
    }

    /// The same rows with the query's id alone: does not touch the queries.
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

    /// Pairs of a query and a document: the documents of all rows.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.documents_len
    }

    /// Queries hit: the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows_len
    }

    /// Whether no query was hit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows_len == 0
    }

    /// What the call cost and gave.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// Forgets the hits, keeps the buffers.
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

    /// Forgets the hits of the call before and holds these levels. Those it holds already it leaves alone: to count holders
    /// is to write to memory that all matchers share.
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

    /// Adds what was found in a level of that number, in rising order, as rows. No branch on where one query ends and the next begins:
    /// most have one document or two, and nobody could predict which.
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

    /// Puts the rows of all levels but the first in the order of ids. Each level's are in order already, and the first
    /// level is the largest.
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

/// The rows by id: two runs become one as they are read. Most rows are of the largest level, and mostly all.
struct Ordered<'h> {
    hits: &'h Hits,
    largest: std::slice::Iter<'h, Row>,
    others: std::slice::Iter<'h, Row>,
    /// Of the next of the others.
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
