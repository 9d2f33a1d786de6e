//! The answer of one call: which queries were hit, by which documents.

use std::sync::Arc;

use crate::standing::StandingQuery;

/// Work done by one call, counted rather than timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// (query, document) pairs where the document held a word under which the query is filed.
    pub candidates: u64,
    /// Entries looked at; one look serves up to 64 documents.
    pub visits: u64,
    /// (query, document) pairs that matched.
    pub matches: u64,
}

/// The hits of one [`Snapshot::matches`](crate::Snapshot::matches) call. Kept by the caller and used again,
/// so that a call allocates nothing once its buffers have grown.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    rows: Vec<(Arc<StandingQuery>, u32, u32)>,
    documents: Vec<u32>,
    work: Work,
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
        self.rows.iter().map(|(query, start, end)| {
            (
                query,
                self.documents
                    .get(*start as usize..*end as usize)
                    .unwrap_or_default(),
            )
        })
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
        self.rows.clear();
        self.documents.clear();
        self.work = Work::default();
    }
}
