//! The slowest queries.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::limits::SLOWEST_MAX;
use super::super::place::Place;
use super::super::time::LogTime;

/// One slow query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowQuery {
    /// Microseconds of the answer.
    pub real_us: u64,
    /// When its line was written.
    pub time: LogTime,
    /// Name of the server.
    pub server: String,
    /// Index list.
    pub index: String,
    /// The query or statement as written, cut.
    pub text: String,
    /// Its first line.
    pub place: Place,
}

/// The [`SLOWEST_MAX`] slowest queries. The heap's top is the query that the next slower one replaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slowest {
    heap: BinaryHeap<Reverse<BySlowness>>,
}

/// A query in the order of slowness: a longer time is higher, then an earlier place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BySlowness(SlowQuery);

impl BySlowness {
    fn rank(&self) -> (u64, Reverse<Place>) {
        (self.0.real_us, Reverse(self.0.place))
    }
}

impl Ord for BySlowness {
    fn cmp(&self, other: &BySlowness) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for BySlowness {
    fn partial_cmp(&self, other: &BySlowness) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Slowest {
    /// Whether a query would be kept.
    #[inline]
    pub(crate) fn takes(&self, real_us: u64, place: Place) -> bool {
        self.heap.len() < SLOWEST_MAX
            || self
                .heap
                .peek()
                .is_some_and(|Reverse(last)| (real_us, Reverse(place)) > last.rank())
    }

    /// Takes a query in and drops the least slow one above the bound.
    #[cold]
    pub(crate) fn push(&mut self, query: SlowQuery) {
        self.heap.push(Reverse(BySlowness(query)));
        if self.heap.len() > SLOWEST_MAX {
            self.heap.pop();
        }
    }

    pub(crate) fn merge(&mut self, other: Slowest) {
        other
            .heap
            .into_iter()
            .for_each(|Reverse(query)| self.push(query.0));
    }

    /// The slowest first.
    pub(crate) fn sorted(&self) -> Vec<SlowQuery> {
        let mut queries: Vec<&BySlowness> = self.heap.iter().map(|Reverse(query)| query).collect();
        queries.sort_unstable_by(|a, b| b.cmp(a));
        queries.into_iter().map(|query| query.0.clone()).collect()
    }
}
