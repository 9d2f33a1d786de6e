//! Taking members of a refused [`crate::Command::Many`] back.
//!
//! Each member is applied before the next is decided, since it must see it. Nothing of that has left the engine's
//! thread: no record was appended, no snapshot published. So it is enough to put back what readers could tell apart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::TableId;
use crate::command::QueueStats;
use crate::error::Result;
use crate::record::Record;
use crate::state::{Counting, State};
use percolate::StandingQuery;
use queue::SENDERS;

/// How the tables were that the members have touched so far.
#[derive(Default)]
pub(crate) struct Undo {
    searches: BTreeMap<TableId, SearchBefore>,
    percolates: BTreeMap<TableId, PercolateBefore>,
    queues: BTreeMap<TableId, QueueBefore>,
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

struct QueueBefore {
    next: u64,
    changed: bool,
    received: [u64; SENDERS],
    /// Rows that were gone, and that its lanes had not been told of.
    gone: usize,
    /// Keys of `unique_by=` that are noted now, and when they were noted before.
    seen: Vec<(Vec<u8>, Option<i64>)>,
    stats: QueueStats,
    removed: Vec<u64>,
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
                    let keys = queue.unique_keys(rows).into_iter().flatten();
                    before
                        .seen
                        .extend(keys.map(|key| (key.clone(), queue.seen.get(&key))));
                }
            }
            Record::RemoveRows { table, rows } => self.queue(state, *table, rows),
            Record::Many(members) => members.iter().for_each(|member| self.note(state, member)),
            Record::Create { .. }
            | Record::Drop { .. }
            | Record::Load { .. }
            | Record::Expire { .. }
            | Record::ExpireSegments { .. }
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

    fn queue(&mut self, state: &State, table: TableId, removed: &[u64]) {
        let Some(queue) = state.queues.get(&table) else {
            return;
        };
        let before = self.queues.entry(table).or_insert_with(|| QueueBefore {
            next: queue.backlog.next(),
            changed: queue.changed,
            received: queue.received,
            gone: queue.gone.len(),
            seen: Vec::new(),
            stats: queue.stats,
            removed: Vec::new(),
        });
        before.removed.extend_from_slice(removed);
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
            let Some(queue) = state.queues.get_mut(&table) else {
                continue;
            };
            for row in before.removed {
                queue.restore(row);
            }
            queue.backlog.truncate(before.next);
            queue.changed = before.changed;
            queue.received = before.received;
            queue.gone.truncate(before.gone);
            for (key, at_us) in before.seen.into_iter().rev() {
                queue.seen.restore(&key, at_us);
            }
            queue.stats = before.stats;
        }
        Ok(())
    }
}
