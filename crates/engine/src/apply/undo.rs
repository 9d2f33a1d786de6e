//! Taking members of a refused [`crate::Command::Many`] back.
//!
//! Each member is applied before the next is decided, since it must see it. Nothing of that has left the engine's
//! thread: no record was appended, no snapshot published. So it is enough to put back what readers could tell apart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use percolate::StandingQuery;
use queue::{Before, RowNumber};

use crate::catalog::TableId;
use crate::error::Result;
use crate::record::Record;
use crate::state::{Counting, State};

/// How the tables were that the members have touched so far.
#[derive(Default)]
pub(crate) struct Undo {
    searches: BTreeMap<TableId, SearchBefore>,
    percolates: BTreeMap<TableId, PercolateBefore>,
    queues: BTreeMap<TableId, Before>,
    /// Queries that were counted: by how many documents, and when they were hit last before.
    counted: Vec<(Arc<StandingQuery>, u64, i64)>,
}

struct SearchBefore {
    mark: index::Mark,
    highest: u64,
    touched: BTreeSet<u64>,
}

struct PercolateBefore {
    highest: u64,
    queries: BTreeMap<u64, Option<Arc<StandingQuery>>>,
}

impl Undo {
    /// Notes what a record is about to change.
    pub(crate) fn note(&mut self, state: &mut State, record: &Record) {
        match record {
            Record::Documents(documents) => {
                let ids = documents.documents.iter().map(|document| document.id);
                self.search(state, documents.table, ids);
                for hits in &documents.hits {
                    self.queue(state, hits.queue, &[]);
                }
            }
            Record::Hits(hits) => {
                for hits in &hits.hits {
                    self.queue(state, hits.queue, &[]);
                }
            }
            Record::DeleteDocuments { table, ids } => {
                self.search(state, *table, ids.iter().copied())
            }
            Record::Queries { table, queries } => {
                self.percolate(state, *table, queries.iter().map(|row| row.id));
            }
            Record::DeleteQueries { table, ids } => {
                self.percolate(state, *table, ids.iter().copied())
            }
            Record::Rows { table, rows, .. } => {
                self.queue(state, *table, &[]);
                if let (Some(before), Some(queue)) =
                    (self.queues.get_mut(table), state.queues.get(table))
                {
                    before.note_keys(queue, rows);
                }
            }
            Record::RemoveRows { table, rows } => self.queue(state, *table, rows),
            Record::Many(members) => members.iter().for_each(|member| self.note(state, member)),
            Record::Create { .. }
            | Record::Drop { .. }
            | Record::Load { .. }
            | Record::Retire { .. }
            | Record::RetireSegments { .. }
            | Record::Alter { .. }
            | Record::Returned { .. }
            | Record::Done { .. }
            | Record::Clear { .. }
            | Record::Pause { .. } => {} // never members
        }
    }

    fn search(&mut self, state: &mut State, table: TableId, ids: impl Iterator<Item = u64>) {
        let Some(search) = state.searches.get_mut(&table) else {
            return;
        };
        let before = self.searches.entry(table).or_insert_with(|| SearchBefore {
            mark: search.table.mark(),
            highest: search.highest,
            touched: BTreeSet::new(),
        });
        before.touched.extend(ids);
    }

    fn percolate(&mut self, state: &State, table: TableId, ids: impl Iterator<Item = u64>) {
        let Some(pq) = state.percolates.get(&table) else {
            return;
        };
        let empty = || PercolateBefore {
            highest: pq.highest,
            queries: BTreeMap::new(),
        };
        let before = self.percolates.entry(table).or_insert_with(empty);
        for id in ids {
            before
                .queries
                .entry(id)
                .or_insert_with(|| pq.set.get(id).cloned());
        }
    }

    fn queue(&mut self, state: &State, table: TableId, removed: &[RowNumber]) {
        let Some(queue) = state.queues.get(&table) else {
            return;
        };
        let before = self.queues.entry(table).or_insert_with(|| queue.before());
        before.note_removed(removed);
    }

    /// Notes what is about to be counted.
    pub(crate) fn note_counts(&mut self, counting: &[Counting]) {
        for (query, documents) in counting.iter().flat_map(|counting| &counting.queries) {
            let (_, last_s) = query.count.get();
            self.counted.push((Arc::clone(query), *documents, last_s));
        }
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// Those of a segment that cannot be read: the engine must end.
    pub(crate) fn run(self, state: &mut State) -> Result<()> {
        for (query, documents, last_s) in self.counted.into_iter().rev() {
            let (counted, _) = query.count.get();
            query.count.set(counted - documents, last_s);
        }
        for (table, before) in self.searches {
            if let Some(search) = state.searches.get_mut(&table) {
                search.table.rewind(before.mark, before.touched);
                search.highest = before.highest;
            }
        }
        for (table, before) in self.percolates {
            let Some(pq) = state.percolates.get_mut(&table) else {
                continue;
            };
            for (id, query) in before.queries {
                match query {
                    Some(query) => pq.restore(query)?,
                    None => pq.remove(id),
                }
            }
            pq.highest = before.highest;
        }
        for (table, before) in self.queues {
            if let Some(queue) = state.queues.get_mut(&table) {
                queue.undo(before);
            }
        }
        Ok(())
    }
}
