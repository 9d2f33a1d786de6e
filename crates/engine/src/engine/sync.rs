//! When the journal is synced: at the end of the batch, at a time that was promised, or never by this rule. docs/adr/024.
//!
//! Example: table `a` has `sync='always'`, table `b` `sync='100ms'`. A batch at 0 ms with a row for `b` alone is appended and
//! answered; its sync is due at 100 ms. A batch at 40 ms with rows for both asks for the stricter mode, so it is synced
//! before its replies. A sync makes everything appended durable, so it serves the row of `b` too, and nothing is due any more.

use disk::Stopwatch;
use journal::Position;

use super::Engine;
use crate::catalog::TableId;
use crate::error::{Error, Result};
use crate::record::{Documents, QueueRecord, Record};
use crate::sync_mode::SyncMode;

/// From this number of rows on, the sync runs on another thread while this one prepares the rows for readers, which takes some
/// hundred microseconds.
const ROWS_BESIDE: u64 = 256;

/// The records that were appended and not yet synced, and the sync that their replies promised.
#[derive(Default)]
pub(super) struct Unsynced {
    /// The strictest mode of the records of this batch; `None`: it has none.
    asked: Option<SyncMode>,
    /// Records appended since the last sync.
    pub(super) records: u64,
    /// Rows in those records.
    pub(super) rows: u64,
    /// When the sync must come, on the steady clock.
    pub(super) due_us: Option<u64>,
}

impl Engine {
    /// Notes the sync mode that a record of this batch asks for.
    pub(super) fn note_sync(&mut self, record: &Record, mode: SyncMode) {
        let asked = &mut self.unsynced.asked;
        *asked = Some(asked.map_or(mode, |before| before.min(mode)));
        self.unsynced.rows += record.rows();
    }

    /// The mode of the strictest of the tables that a record changes; never stricter than the server's.
    pub(super) fn sync_mode(&self, record: &Record) -> SyncMode {
        let of = |table: &TableId| {
            let definition = self.state.catalog.get(*table);
            let asked = definition.and_then(|definition| definition.sync);
            asked.map_or(self.options.sync, |asked| asked.max(self.options.sync))
        };
        let of_documents = |documents: &Documents| {
            let queues = documents.hits.iter().map(|hits| of(&hits.queue));
            queues.fold(of(&documents.table), SyncMode::min)
        };
        match record {
            Record::Documents(documents) => of_documents(documents),
            // Stored documents are not changed by a backfill; the queues of their hits are.
            Record::Hits(hits) => hits
                .hits
                .iter()
                .map(|hits| of(&hits.queue))
                .min()
                .unwrap_or_default(),
            Record::DeleteDocuments { table, .. }
            | Record::Update { table, .. }
            | Record::Queries { table, .. }
            | Record::DeleteQueries { table, .. }
            | Record::Load { table, .. }
            | Record::Retire { table, .. }
            | Record::RetireSegments { table, .. }
            | Record::Queue(QueueRecord::Rows { table, .. })
            | Record::Queue(QueueRecord::RemoveRows { table, .. })
            | Record::Queue(QueueRecord::Returned { table, .. })
            | Record::Queue(QueueRecord::Done { table, .. })
            | Record::Queue(QueueRecord::Clear { table, .. } | QueueRecord::Pause { table, .. }) => {
                of(table)
            }
            Record::Many(members) => members
                .iter()
                .map(|member| self.sync_mode(member))
                .min()
                .unwrap_or_default(),
            // Files on disk hang on definitions, and there are few.
            Record::Catalog(_) | Record::Queue(QueueRecord::Alter { .. }) => SyncMode::Always,
            // The caller of `admit_with` says the mode of these.
            Record::Messages(_) | Record::Collected { .. } => self.options.sync,
        }
    }

    /// Ends a batch: its frame is handed to the system, and made durable if one of its records, or an earlier promise,
    /// asks for that now.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.append_frame()?;
        match self.unsynced.asked.take() {
            None | Some(SyncMode::Never) => {}
            Some(SyncMode::Always) => return self.sync(),
            Some(SyncMode::Within { ms }) => {
                let due_us = self.now.steady_us.saturating_add(ms.saturating_mul(1_000));
                let earlier = self.unsynced.due_us.unwrap_or(u64::MAX);
                self.unsynced.due_us = Some(due_us.min(earlier));
            }
        }
        let is_due = |due_us| due_us <= self.now.steady_us;
        if self.unsynced.due_us.is_some_and(is_due) {
            return self.sync();
        }
        Ok(())
    }

    /// Makes everything appended durable; nothing to do where it is.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.unsynced.due_us = None;
        if std::mem::take(&mut self.unsynced.records) == 0 {
            return Ok(());
        }
        let stopwatch = Stopwatch::start();
        let synced = self.sync_journal();
        let synced = synced.map_err(|error| Error::Poisoned {
            why: error.to_string(),
        })?;
        if synced < Position(self.state.position) {
            return Err(Error::Poisoned {
                why: format!("synced up to {synced} only"),
            });
        }
        let rows = std::mem::take(&mut self.unsynced.rows);
        self.status.rows_synced_total += rows;
        self.shared.work.sync_us.add(stopwatch.elapsed_us());
        self.shared.work.sync_rows.add(rows);
        Ok(())
    }

    /// Syncs the journal. Where many rows wait for readers the disk does it beside this thread, which meanwhile puts them
    /// into the form that readers will see once it is done.
    fn sync_journal(&mut self) -> journal::Result<Position> {
        let searches = &mut self.state.searches;
        let rows = searches.values().map(|one| one.table.rows_unpublished());
        if rows.sum::<u64>() < ROWS_BESIDE {
            return self.journal.log_mut().sync();
        }
        let log = self.journal.log_mut();
        std::thread::scope(|scope| {
            let syncing = scope.spawn(|| log.sync());
            for search in searches.values_mut() {
                search.table.prepare_snapshot();
            }
            match syncing.join() {
                Ok(synced) => synced,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}
