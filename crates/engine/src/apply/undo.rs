//! Takes the members of a refused [`crate::Command::Many`] back. Its caller is `engine/write.rs::many`.
//!
//! A later member sees the effects of an earlier one, so each member is applied before the next one is decided. If the third is
//! refused, the first two are in the state. No record of them was appended, no snapshot published, no waiter served. So [`Undo`]
//! restores only what a reader or a later command could see.
//!
//! A single command needs no undo: everything that can refuse it comes before its first change. A failed sync is not undone
//! either. Records of the batch may be on the device, so the engine is poisoned, the process ends, and recovery reads them.
//!
//! # Example
//! The pq table `alerts` listens to `news`; its hits go into the queue `mail`. Before the unit `alerts` has query 2, `news` has
//! document 7, and `mail` has rows 3 to 11. [`Undo::note`] and [`Undo::note_counts`] run before each member is applied:
//!
//! 1. INSERT of query 3 into `alerts`. Noted in `percolates`: highest id 2, query 3 `None`. Applied: query 3, highest id 3.
//! 2. INSERT of document 8 into `news`, which hits query 2. Noted in `searches`: a mark, highest id 7, touched {8}; in `queues`:
//!    next row 12; in `counted`: query 2, 1 document, its last hit. Applied: document 8, row 12 of `mail`, the count of query 2.
//! 3. DELETE of row 3 of `mail`. Noted in `queues`: removed row 3. Applied: row 3 is gone.
//! 4. INSERT into a table that does not exist. It is refused; nothing is noted.
//!
//! [`Undo::run`] then subtracts 1 from the count of query 2, rewinds `news` to the mark, removes query 3, restores row 3 and cuts
//! `mail` at row 12. The next document of `news` gets id 8 again.
//!
//! # Invariants
//! - A record is noted before it is applied: afterwards the old query, key or row is no longer there to be noted.
//! - The first note of a table, and of a query's id, stays; later members only add ids and rows. A second mark would hold the
//!   first member.
//! - Counts are restored last to first, so that a query that two members hit gets its oldest time back.
//! - Between the first note and `run` nothing is sealed, merged or served: a segment or a worker would have the unit's rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use percolate::StandingQuery;
use queue::{Before, RowNumber};

use crate::catalog::TableId;
use crate::error::Result;
use crate::record::{QueueRecord, Record};
use crate::state::{Counting, State};
use crate::table::standing::lost::LostQueries;

/// The tables that the members have changed, as they were before the unit. [The module](self) has an example.
#[derive(Default)]
pub(crate) struct Undo {
    searches: BTreeMap<TableId, SearchBefore>,
    percolates: BTreeMap<TableId, PercolateBefore>,
    queues: BTreeMap<TableId, Before>,
    /// In the order of the members: a query, the documents that hit it, and its last hit before, in seconds since 1970-01-01 UTC.
    counted: Vec<(Arc<StandingQuery>, u64, i64)>,
}

struct SearchBefore {
    mark: index::Mark,
    highest: u64,
    /// Ids that the members inserted, replaced or deleted.
    touched: BTreeSet<u64>,
}

struct PercolateBefore {
    highest: u64,
    lost: Arc<LostQueries>,
    /// Each id that the members stored or deleted, with its query before the unit; `None`: there was no query.
    queries: BTreeMap<u64, Option<Arc<StandingQuery>>>,
}

impl Undo {
    /// Notes the parts of the state that a record changes. The record is not applied yet.
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
            Record::Update { table, rows } => self.search(state, *table, rows.ids.iter().copied()),
            Record::DeleteDocuments { table, ids } => {
                self.search(state, *table, ids.iter().copied())
            }
            Record::Queries { table, queries } => {
                self.percolate(state, *table, queries.iter().map(|row| row.id));
            }
            Record::DeleteQueries { table, ids } => {
                self.percolate(state, *table, ids.iter().copied())
            }
            Record::Queue(QueueRecord::Rows { table, rows, .. }) => {
                self.queue(state, *table, &[]);
                if let (Some(before), Some(queue)) =
                    (self.queues.get_mut(table), state.queues.get(table))
                {
                    before.note_keys(queue, rows);
                }
            }
            Record::Queue(QueueRecord::RemoveRows { table, rows }) => {
                self.queue(state, *table, rows)
            }
            Record::Many(members) => members.iter().for_each(|member| self.note(state, member)),
            Record::Catalog(_)
            | Record::Load { .. }
            | Record::Retire { .. }
            | Record::RetireSegments { .. }
            | Record::Queue(
                QueueRecord::Alter { .. }
                | QueueRecord::Returned { .. }
                | QueueRecord::Done { .. }
                | QueueRecord::Clear { .. }
                | QueueRecord::Pause { .. },
            )
            | Record::Collected { .. } => {} // never members
            Record::Messages(_) => {} // applied once nothing can refuse the unit
        }
    }

    fn search(&mut self, state: &mut State, table: TableId, ids: impl Iterator<Item = u64>) {
        let Some(search) = state.searches.get_mut(&table) else {
            return;
        };
        let before = self.searches.entry(table).or_insert_with(|| {
            search.recent.hold();
            SearchBefore {
                mark: search.table.mark(),
                highest: search.highest,
                touched: BTreeSet::new(),
            }
        });
        before.touched.extend(ids);
    }

    fn percolate(&mut self, state: &mut State, table: TableId, ids: impl Iterator<Item = u64>) {
        let Some(pq) = state.percolates.get_mut(&table) else {
            return;
        };
        let empty = || {
            pq.recent.hold();
            PercolateBefore {
                highest: pq.highest,
                lost: Arc::clone(&pq.lost),
                queries: BTreeMap::new(),
            }
        };
        let before = self.percolates.entry(table).or_insert_with(empty);
        for id in ids {
            before
                .queries
                .entry(id)
                .or_insert_with(|| pq.set.get(id).cloned());
        }
    }

    fn queue(&mut self, state: &mut State, table: TableId, removed: &[RowNumber]) {
        let Some(queue) = state.queues.get_mut(&table) else {
            return;
        };
        let before = self.queues.entry(table).or_insert_with(|| queue.before());
        before.note_removed(removed);
    }

    /// Notes the queries whose counts rise when the record is applied. The record is not applied yet.
    pub(crate) fn note_counts(&mut self, counting: &[Counting]) {
        for (query, documents) in counting.iter().flat_map(|counting| &counting.queries) {
            let (_, last_s) = query.count.get();
            self.counted.push((Arc::clone(query), *documents, last_s));
        }
    }

    /// The members stay: nothing takes them back any more.
    pub(crate) fn keep(self, state: &mut State) {
        for table in self.searches.keys() {
            if let Some(search) = state.searches.get_mut(table) {
                search.recent.release();
            }
        }
        for table in self.percolates.keys() {
            if let Some(pq) = state.percolates.get_mut(table) {
                pq.recent.release();
            }
        }
        for table in self.queues.keys() {
            if let Some(queue) = state.queues.get_mut(table) {
                queue.keep();
            }
        }
    }

    /// Restores the state of before the first note.
    ///
    /// # Errors
    /// Those of a standing query that is not accepted again: a bug. The state is half restored, so the engine must end.
    pub(crate) fn run(self, state: &mut State) -> Result<()> {
        for (query, documents, last_s) in self.counted.into_iter().rev() {
            let (counted, _) = query.count.get();
            query.count.set(counted - documents, last_s);
        }
        for (table, before) in self.searches {
            if let Some(search) = state.searches.get_mut(&table) {
                search.table.rewind(before.mark, before.touched);
                search.recent.take_back();
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
            pq.recent.take_back();
            pq.highest = before.highest;
            pq.lost = before.lost;
        }
        for (table, before) in self.queues {
            if let Some(queue) = state.queues.get_mut(&table) {
                queue.undo(before);
            }
        }
        Ok(())
    }
}
