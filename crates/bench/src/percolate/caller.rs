//! Who matches documents for a benchmark, and what it counts.

use std::ops::Range;

use crate::error::Result;

/// A thread in this process, or a connection to a server.
pub(super) trait Caller: Send {
    /// Matches the documents of the workload with these numbers, and counts.
    fn call(&mut self, documents: Range<usize>) -> Result<()>;

    /// What was counted in all calls so far.
    fn counts(&self) -> Counts;
}

/// What callers count. What a caller cannot see stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Pairs of a query and a document that it was hit by.
    pub(super) pairs: u64,
    /// Queries hit, call by call.
    pub(super) rows: u64,
    pub(super) candidates: u64,
    pub(super) visits: u64,
}
