//! The trait of anything that matches documents for a benchmark, and its counts.

use std::ops::Range;

use crate::error::Result;

/// A thread in this process, or a connection to a server.
pub(super) trait Caller: Send {
    /// Matches the workload's documents with these indexes, and counts the hits.
    fn call(&mut self, documents: Range<usize>) -> Result<()>;

    /// Counts of all calls so far.
    fn counts(&self) -> Counts;
}

/// Counts of a caller. A count that a caller cannot see stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Count of pairs of a query and a document that hits it.
    pub(super) pairs: u64,
    /// Sum over the calls of the queries with a hit.
    pub(super) rows: u64,
    pub(super) candidates: u64,
    pub(super) visits: u64,
}
