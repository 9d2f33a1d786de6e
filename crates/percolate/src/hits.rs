//! The answer of one call: which queries were hit, by which documents.

use std::sync::Arc;

use crate::{
    found::Found,
    level::Ordinal,
    limits::{PAIRS_MAX, SLICE_DOCUMENTS},
    set::Held,
    standing::StandingQuery,
};

/// A call found more than [`PAIRS_MAX`] pairs, or so many entries that it might.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyPairs;

/// Work done by one call, counted rather than timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Pairs of an entry and a document that holds a word under which the entry is filed (an entry is one
    /// conjunction of a query; most queries are one).
    pub candidates: u64,
    /// Entries looked at; one look serves up to 64 documents.
    pub visits: u64,
    /// Pairs of a query and a document that matched.
    pub matches: u64,
}

/// The hits of one [`Snapshot::matches`](crate::Snapshot::matches) call. Kept by the caller and used again,
/// so that a call allocates nothing once its buffers have grown. It keeps the levels of the snapshot alive.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    levels: Vec<Held>,
    rows: Vec<Row>,
    documents: Vec<u32>,
    pub(crate) work: Work,
}

/// One query that was hit.
#[derive(Clone, Copy, Debug)]
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
        self.rows.iter().map(|row| {
            let query = &self.levels[row.level as usize].level.queries[row.query as usize];
            (query, self.documents_of(row))
        })
    }

    /// The same rows with the query's id alone: does not touch the queries.
    pub fn ids(&self) -> impl Iterator<Item = (u64, &[u32])> {
        self.rows.iter().map(|row| {
            let id = self.levels[row.level as usize].level.ids[row.query as usize];
            (id, self.documents_of(row))
        })
    }

    fn documents_of(&self, row: &Row) -> &[u32] {
        &self.documents[row.start as usize..row.end as usize]
    }

    /// Queries hit: the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no query was hit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What the call cost and gave.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// Forgets the hits, keeps the buffers.
    pub fn clear(&mut self) {
        self.levels.clear();
        self.rows.clear();
        self.documents.clear();
        self.work = Work::default();
    }

    /// Adds what was found in a level, in the order of queries, as rows.
    pub(crate) fn push_level(&mut self, held: &Held, found: &[Found]) -> Result<(), TooManyPairs> {
        let level = self.levels.len() as u32;
        self.levels.push(held.clone());
        for of_query in found.chunk_by(|a, b| a.query == b.query) {
            let Some(query) = of_query.first().map(|found| found.query) else {
                continue;
            };
            if held.removed.holds(query) {
                continue;
            }
            let start = self.documents.len() as u32;
            self.push_documents(of_query);
            if self.documents.len() > PAIRS_MAX {
                return Err(TooManyPairs);
            }
            self.rows.push(Row {
                level,
                query,
                start,
                end: self.documents.len() as u32,
            });
        }
        self.work.matches = self.documents.len() as u64;
        Ok(())
    }

    fn push_documents(&mut self, mut of_query: &[Found]) {
        while let Some((first, rest)) = of_query.split_first() {
            of_query = rest;
            let mut mask = first.mask;
            while let Some((same, rest)) = of_query.split_first()
                && same.slice == first.slice
            {
                mask |= same.mask;
                of_query = rest;
            }
            while mask != 0 {
                self.documents
                    .push(first.slice * SLICE_DOCUMENTS as u32 + mask.trailing_zeros());
                mask &= mask - 1;
            }
        }
    }

    /// Puts the rows of all levels in the order of ids. Each level's are in order already.
    pub(crate) fn order(&mut self) {
        let levels = &self.levels;
        if self
            .rows
            .chunk_by(|a, b| a.level == b.level)
            .nth(1)
            .is_some()
        {
            self.rows
                .sort_by_key(|row| levels[row.level as usize].level.ids[row.query as usize]);
        }
    }
}
