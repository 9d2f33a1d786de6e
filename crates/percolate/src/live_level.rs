//! A level as a snapshot has it.

use std::sync::Arc;

use crate::{
    level::Level,
    limits::HOLLOW_PART,
    removed::Removed,
    standing::{Ordinal, StandingQuery},
};

/// A level and what has been removed from it.
#[derive(Clone, Debug)]
pub(crate) struct LiveLevel {
    pub(crate) level: Arc<Level>,
    pub(crate) removed: Arc<Removed>,
}

/// Memory of a query in a level: itself and its count of holders, its place, and what its four texts are rounded up by.
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
            return None; // ids are often given out rising
        }
        self.level
            .find(id)
            .filter(|query| !self.removed.holds(*query))
    }

    pub(crate) fn len(&self) -> usize {
        self.level.len() - self.removed.len()
    }

    /// Whether so many of its queries were removed that it is worth rewriting: their memory is no longer counted.
    pub(crate) fn is_hollow(&self) -> bool {
        self.removed.len() * HOLLOW_PART > self.level.len()
    }

    /// Memory of its queries without their texts. That of the removed ones is left out, as room for new ones; a merge gives
    /// it back before it is more than one part in [`HOLLOW_PART`].
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

    /// Queries with an entry that is filed under no word.
    pub(crate) fn always_len(&self) -> usize {
        let queries = self.level.always.chunk_by(|a, b| a.query() == b.query());
        queries
            .filter(|entries| entries.iter().all(|e| !self.removed.holds(e.query())))
            .count()
    }
}

/// The id of a query, by the number of its level among these and its place there.
pub(crate) fn id_in(levels: &[LiveLevel]) -> impl Fn(usize, Ordinal) -> Option<u64> {
    |level, query| levels.get(level)?.level.ids.get(query as usize).copied()
}
