//! Publishing: readers see the tables as the batch left them. It follows `settle`, which syncs the batch if its tables ask for a
//! sync (`sync.rs`).

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use arc_swap::ArcSwap;

use super::Engine;
use queue::QueueReport;

use crate::catalog::{Catalog, TableId};
use crate::snapshot::{PercolateView, SearchView, Snapshot, View};
use crate::table::search::SearchTable;
use crate::table::standing::PercolateTable;

/// The views of the last snapshot. The next snapshot shares those that have not changed.
#[derive(Default)]
pub(super) struct Views {
    catalog: Arc<Catalog>,
    views: BTreeMap<TableId, View>,
    /// Of all queues: their rows; memory of the rows that are in no file; memory of marks, such as deliveries and delays.
    queue_rows: u64,
    queue_bytes: u64,
    queue_marks_bytes: u64,
    /// Rows that are held, of all queues.
    pub(super) queue_held: u64,
}

impl Views {
    /// Drops the views of tables that are gone.
    fn retain(&mut self, catalog: &Catalog) {
        let Views {
            queue_rows,
            queue_bytes,
            queue_marks_bytes,
            queue_held,
            views,
            ..
        } = self;
        views.retain(|table, view| {
            let stays = catalog.get(*table).is_some();
            if let (false, View::Queue(cell)) = (stays, view) {
                let before = cell.load();
                *queue_rows -= before.rows;
                *queue_bytes -= before.memory_bytes;
                *queue_marks_bytes -= before.marks_bytes;
                *queue_held -= before.owned;
            }
            stays
        });
    }

    /// Stores a queue's new counts. True if the queue has no view yet, so a snapshot must be made.
    fn put_queue(&mut self, table: TableId, view: QueueReport) -> bool {
        self.queue_rows += view.rows;
        self.queue_bytes += view.memory_bytes;
        self.queue_marks_bytes += view.marks_bytes;
        self.queue_held += view.owned;
        if let Some(View::Queue(cell)) = self.views.get(&table) {
            let before = cell.load();
            self.queue_rows -= before.rows;
            self.queue_bytes -= before.memory_bytes;
            self.queue_marks_bytes -= before.marks_bytes;
            self.queue_held -= before.owned;
            if **before != view {
                cell.store(Arc::new(view));
            }
            return false;
        }
        let cell = Arc::new(ArcSwap::from_pointee(view));
        self.views.insert(table, View::Queue(cell));
        true
    }
}

impl Engine {
    /// Publishes a snapshot if a table of documents or queries, or the catalog, has changed. A queue only gets new counts: this
    /// thread alone reads its rows. Cost: a snapshot of each changed table, and a reference for each other one.
    pub(super) fn publish(&mut self) {
        let mut changed = false;
        if std::mem::take(&mut self.state.is_loss_unpublished) || self.state.is_catalog_unpublished
        {
            self.shared.upheavals.fetch_add(1, Ordering::Release);
        }
        if std::mem::take(&mut self.state.is_catalog_unpublished) {
            self.views.catalog = Arc::new(self.state.catalog.clone());
            self.views.retain(&self.state.catalog);
            changed = true;
        }
        for (table, search) in &mut self.state.searches {
            if std::mem::take(&mut search.is_unpublished) {
                self.views.views.insert(*table, search_view(search));
                changed = true;
            }
        }
        for (table, pq) in &mut self.state.percolates {
            if std::mem::take(&mut pq.is_unpublished) {
                self.views.views.insert(*table, percolate_view(pq));
                changed = true;
            }
        }
        let fresh = self.state.collected.take_fresh();
        // A follower and an engine that only reads could note no position.
        if !fresh.is_empty() && !self.is_follower && !self.options.read_only {
            self.shared.handover.push(fresh);
        }
        for table in self.state.queues.take_touched() {
            let Some(queue) = self.state.queues.get_settled_mut(&table) else {
                continue; // dropped
            };
            let report = queue.report(self.now.unix_us);
            changed |= self.views.put_queue(table, report);
        }
        if changed {
            let snapshot = Snapshot::new(Arc::clone(&self.views.catalog), self.views.views.clone());
            self.shared.snapshot.store(Arc::new(snapshot));
        }
        self.discard();
    }

    /// The last snapshot with the tables that have changed since. No reader gets it but the session whose transaction is applied.
    pub(super) fn unpublished(&mut self) -> Snapshot {
        let mut views = self.views.views.clone();
        for (table, search) in &mut self.state.searches {
            if search.is_unpublished {
                views.insert(*table, search_view(search));
            }
        }
        for (table, pq) in &mut self.state.percolates {
            if pq.is_unpublished {
                views.insert(*table, percolate_view(pq));
            }
        }
        Snapshot::new(Arc::new(self.state.catalog.clone()), views)
    }

    /// Brings the counters up to date and shows them.
    pub(super) fn publish_status(&mut self) {
        let journal = self.journal.log().status();
        let state = &self.state;
        let status = &mut self.status;
        status.syncs_total = journal.sync_count;
        status.sync_us_total = journal.sync_us;
        status.journal_stall_us_total = journal.stall_us;
        status.unsynced_records = self.unsynced.records;
        status.disk_full = self.journal_full || self.folds_full;
        status.journal_bytes = journal.disk_bytes;
        status.position = state.position;
        status.hits_total = self.work.hit_count;
        status.candidates_total = self.work.candidate_count;
        status.matching_steps_total = self.work.step_count;
        status.costly_total = self.work.costly_count;
        status.queries = state
            .percolates
            .values()
            .map(|pq| pq.set.len() as u64)
            .sum();
        status.query_bytes = state
            .percolates
            .values()
            .map(PercolateTable::memory_bytes)
            .sum();
        status.query_merging_bytes = state
            .percolates
            .values()
            .map(|pq| pq.set.merging_bytes() as u64)
            .sum();
        status.tail_bytes = state
            .searches
            .values()
            .map(|search| search.table.memory_bytes())
            .sum();
        status.messages_pending = state.collected.above_count();
        status.messages_pending_bytes = state.collected.above_bytes();
        status.queue_rows = self.views.queue_rows;
        status.queue_bytes = self.views.queue_bytes;
        status.queue_marks_bytes = self.views.queue_marks_bytes;
        status.queue_waiting = self.sessions.waiting() as u64;
        (status.altering_rows, status.altered_rows) = self.alters.progress(&state.searches);
        *self
            .shared
            .status
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = *status;
    }
}

fn search_view(search: &mut SearchTable) -> View {
    View::Search(Arc::new(SearchView {
        definition: Arc::clone(&search.definition),
        analyzer: Arc::clone(&search.analyzer),
        rows: search.table.snapshot(),
        shards: search.table.shard_status(),
        folded: search.folded,
    }))
}

fn percolate_view(pq: &mut PercolateTable) -> View {
    View::Percolate(Arc::new(PercolateView {
        definition: Arc::clone(&pq.definition),
        analyzer: Arc::clone(&pq.analyzer),
        queries: pq.set.snapshot(),
        lost: Arc::clone(&pq.lost),
        text_bytes: pq.text_bytes,
        refused: pq.refused,
        folded: pq.folded,
    }))
}
