//! A level beside the set of its removed queries, as a snapshot holds it.

use std::sync::Arc;

use crate::{
    level::Level,
    limits::HOLLOW_PART,
    removed::Removed,
    standing::{Ordinal, StandingQuery},
};

/// A level and the ordinals of its queries that were removed since it was built.
#[derive(Clone, Debug)]
pub(crate) struct LiveLevel {
    pub(crate) level: Arc<Level>,
    pub(crate) removed: Arc<Removed>,
}

/// Memory of a query in a level, in bytes: itself, the two counters of its `Arc`, and the rounding of its four texts.
const QUERY_BYTES: usize = size_of::<StandingQuery>() + 2 * size_of::<usize>() + 64;

impl LiveLevel {
    pub(crate) fn new(level: Level) -> LiveLevel {
        LiveLevel {
            level: Arc::new(level),
            removed: Arc::default(),
        }
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Arc<StandingQuery>> {
        Some(&self.level.queries[self.find(id)? as usize])
    }

    pub(crate) fn find(&self, id: u64) -> Option<Ordinal> {
        if self.level.ids.last().is_none_or(|last| *last < id) {
            return None; // a new id is often above all others
        }
        self.level
            .find(id)
            .filter(|query| !self.removed.holds(*query))
    }

    pub(crate) fn len(&self) -> usize {
        self.level.len() - self.removed.len()
    }

    /// Whether more than one in [`HOLLOW_PART`] of its queries was removed, so that it is worth rewriting.
    pub(crate) fn is_hollow(&self) -> bool {
        self.removed.len() * HOLLOW_PART > self.level.len()
    }

    /// Memory of its live queries in bytes, without their texts. Removed queries count as free room: a merge returns
    /// their memory before it exceeds one part in [`HOLLOW_PART`].
    pub(crate) fn memory_bytes(&self) -> usize {
        let all = self.level.hot_bytes() + self.level.len() * QUERY_BYTES;
        all * self.len() / self.level.len().max(1)
    }

    pub(crate) fn live(&self) -> impl Iterator<Item = &Arc<StandingQuery>> {
        let numbered = self.level.queries.iter().zip(0..);
        numbered
            .filter(|(_, ordinal)| !self.removed.holds(*ordinal))
            .map(|(query, _)| query)
    }

    /// The number of live queries with an entry that has no anchor.
    pub(crate) fn always_len(&self) -> usize {
        let queries = self.level.always.chunk_by(|a, b| a.query() == b.query());
        queries
            .filter(|entries| entries.iter().all(|e| !self.removed.holds(e.query())))
            .count()
    }
}

/// Returns a function from a level's number among `levels` and a query's ordinal to the query's id.
pub(crate) fn id_in(levels: &[LiveLevel]) -> impl Fn(usize, Ordinal) -> Option<u64> {
    |level, query| levels.get(level)?.level.ids.get(query as usize).copied()
}
