//! The answer of one call: which queries were hit, by which documents.

use std::sync::Arc;

use crate::{level::Ordinal, limits::SLICE_DOCUMENTS, set::Held, standing::StandingQuery};

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

/// Documents of one slice that satisfy one entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Level, query, slice; ordered so.
    key: u64,
    mask: u64,
}

const SLICE_BITS: u32 = 24;
const LEVEL_SHIFT: u32 = SLICE_BITS + Ordinal::BITS;

/// Most documents of one call: their slices are numbered in 24 bits.
pub(crate) const DOCUMENTS_MAX: usize = SLICE_DOCUMENTS << SLICE_BITS;

impl Found {
    #[inline]
    pub(crate) fn new(level: usize, query: Ordinal, slice: usize, mask: u64) -> Found {
        let key = (level as u64) << LEVEL_SHIFT | u64::from(query) << SLICE_BITS | slice as u64;
        Found { key, mask }
    }

    fn level(self) -> usize {
        (self.key >> LEVEL_SHIFT) as usize
    }

    fn query(self) -> Ordinal {
        (self.key >> SLICE_BITS) as Ordinal
    }

    fn slice(self) -> u32 {
        self.key as u32 & ((1 << SLICE_BITS) - 1)
    }
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

    /// Takes over what was found in these levels, in any order, as rows by query id.
    pub(crate) fn collect(&mut self, levels: &[Held], found: &mut [Found]) {
        self.levels.extend_from_slice(levels);
        found.sort_unstable_by_key(|found| found.key);
        let mut runs: Vec<&[Found]> = found.chunk_by(|a, b| a.level() == b.level()).collect();
        let id = |run: &[Found]| {
            run.first().map_or(u64::MAX, |head| {
                levels[head.level()].level.ids[head.query() as usize]
            })
        };
        while runs.len() > 1 {
            let least = (0..runs.len())
                .min_by_key(|number| id(runs[*number]))
                .unwrap_or(0);
            runs[least] = self.take_query(runs[least]);
            if runs[least].is_empty() {
                runs.swap_remove(least);
            }
        }
        let mut last = runs.pop().unwrap_or_default();
        while !last.is_empty() {
            last = self.take_query(last);
        }
        self.work.matches = self.documents.len() as u64;
    }

    /// Takes what was found of the first query, if it has not been removed; returns what follows.
    fn take_query<'f>(&mut self, found: &'f [Found]) -> &'f [Found] {
        let Some(head) = found.first() else {
            return found;
        };
        let of_head = |other: &Found| other.key >> SLICE_BITS == head.key >> SLICE_BITS;
        let count = found.iter().take_while(|other| of_head(other)).count();
        let (mine, rest) = found.split_at(count);
        if self.levels[head.level()].removed.holds(head.query()) {
            return rest;
        }
        let start = self.documents.len() as u32;
        for same_slice in mine.chunk_by(|a, b| a.key == b.key) {
            let Some(slice) = same_slice.first().map(|found| found.slice()) else {
                continue;
            };
            let mut mask = same_slice.iter().fold(0, |mask, found| mask | found.mask);
            while mask != 0 {
                self.documents
                    .push(slice * SLICE_DOCUMENTS as u32 + mask.trailing_zeros());
                mask &= mask - 1;
            }
        }
        let end = self.documents.len() as u32;
        self.rows.push(Row {
            level: head.level() as u32,
            query: head.query(),
            start,
            end,
        });
        rest
    }
}
