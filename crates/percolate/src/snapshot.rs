//! The matcher's side: an immutable view of a set, and matching against it.

use query::analysis::Words;

use crate::hits::Hits;

/// Buffers of one matcher, kept from call to call. One per thread; good for any snapshot of any set.
#[derive(Debug, Default)]
pub struct Scratch {}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Scratch {
        Scratch::default()
    }
}

/// The standing queries as they were at one moment. Never changes; shared by any number of matchers.
#[derive(Debug, Default)]
pub struct Snapshot {
    len: usize,
}

impl Snapshot {
    pub(crate) fn of(len: usize) -> Snapshot {
        Snapshot { len }
    }

    /// Finds the queries that each document hits, into `hits` (what it held before is forgotten).
    pub fn matches(&self, documents: &[Words], scratch: &mut Scratch, hits: &mut Hits) {
        let _ = (documents, scratch);
        hits.clear();
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
    /// tried against each of them.
    #[must_use]
    pub fn always_len(&self) -> usize {
        0
    }
}
