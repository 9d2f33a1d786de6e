//! A snapshot: the catalog and every table as one batch left them. It never changes, except for the counts of queues.
//!
//! `Engine::publish` makes a snapshot once `settle` has appended the batch and, with `sync='always'`, synced it. It stores the
//! snapshot in a cell that all threads read without a lock. A reader loads the cell once a statement and keeps the snapshot until
//! its last row is sent.
//!
//! Example: batch 7 inserts into `news`. Its snapshot has a new [`View::Search`] for `news` and shares the views of all other
//! tables with the snapshot of batch 6. A SELECT that began before still reads the snapshot of batch 6. Segments and tails that
//! only that one names are freed when the SELECT ends; their files stay until then.
//!
//! A queue is not read here: its rows belong to the engine's thread. Its view is one cell of counts, which every snapshot shares,
//! so SHOW QUEUES tells the counts of the last batch.

mod backfill;
mod call_pq;
mod distributed;
mod make;
mod marker;
mod select;
mod source;
mod status;
mod update;

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
pub use call_pq::{PqAnswer, PqDocument, PqHits, PqRequest, PqScratch, goes_on};
use language::analysis::Analyzer;
pub use marker::Marker;
use queue::QueueReport;
pub use select::PARSE;
pub use source::JoinControl;

use crate::catalog::{Catalog, TableId, of_several, settings, show_create};
use crate::command::{Damaged, Definition, Kind};
use crate::error::{Error, Result};
use crate::table::standing::lost::LostQueries;

/// Every table as of one batch. Readers hold it as long as they like; the engine goes on meanwhile.
#[derive(Default)]
pub struct Snapshot {
    catalog: Arc<Catalog>,
    views: BTreeMap<TableId, View>,
}

/// A table as readers see it.
#[derive(Clone)]
pub(crate) enum View {
    Search(Arc<SearchView>),
    Percolate(Arc<PercolateView>),
    /// The counts of the last batch, not of the snapshot's.
    Queue(Arc<ArcSwap<QueueReport>>),
}

pub(crate) struct SearchView {
    pub(crate) definition: Arc<Definition>,
    pub(crate) analyzer: Arc<Analyzer>,
    pub(crate) rows: Arc<index::Snapshot>,
    /// Counts of each shard.
    pub(crate) shards: Vec<index::Status>,
    pub(crate) folded: u64,
}

pub(crate) struct PercolateView {
    pub(crate) definition: Arc<Definition>,
    pub(crate) analyzer: Arc<Analyzer>,
    pub(crate) queries: Arc<percolate::Snapshot>,
    pub(crate) lost: Arc<LostQueries>,
    pub(crate) text_bytes: u64,
    /// Queries with a filter that an earlier build accepted and this one refuses, since the start.
    pub(crate) refused: u64,
    pub(crate) folded: u64,
}

impl Snapshot {
    pub(crate) fn new(catalog: Arc<Catalog>, views: BTreeMap<TableId, View>) -> Snapshot {
        Snapshot { catalog, views }
    }

    /// The queues, by name.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueReport> {
        let reports = self.views.values().filter_map(|view| match view {
            View::Queue(cell) => Some(QueueReport::clone(&cell.load())),
            _ => None,
        });
        let mut reports: Vec<QueueReport> = reports.collect();
        reports.sort_by(|a, b| a.queue.cmp(&b.queue));
        reports
    }

    /// The damaged files that hold standing queries which cannot be read, of all pq tables.
    #[must_use]
    pub fn damaged_queries(&self) -> Damaged {
        let damaged = self.views.values().filter_map(|view| match view {
            View::Percolate(view) => Some(view.lost.damaged(&view.definition.name)),
            View::Search(_) | View::Queue(_) => None,
        });
        Damaged::of_parts(damaged.collect())
    }

    /// Names and types (`rt`, `percolate`, `queue`) of the tables, by name.
    #[must_use]
    pub fn tables(&self) -> Vec<(String, &'static str)> {
        let mut tables: Vec<_> = self
            .catalog
            .iter()
            .map(|(_, table)| (table.name.clone(), kind_name(&table.kind)))
            .collect();
        tables.sort();
        tables
    }

    /// A table as stored, by its name in any case. A name of several tables ([`relation::request::together`]) is that of a
    /// distributed table which nobody stored.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` for several tables that cannot be searched as one, naming the first; `Limit` for too many.
    pub fn definition(&self, name: &str) -> Result<Arc<Definition>> {
        match name.starts_with('`') {
            true => of_several(&self.catalog, name),
            false => self.catalog.named(name),
        }
    }

    /// The CREATE TABLE statement that makes the table again.
    ///
    /// # Errors
    /// `NoSuchTable`.
    pub fn show_create(&self, name: &str) -> Result<String> {
        self.definition(name)
            .map(|definition| show_create(&definition))
    }

    /// The options of CREATE TABLE that a table has, without ENGINE.
    ///
    /// # Errors
    /// `NoSuchTable`.
    pub fn settings(&self, name: &str) -> Result<Vec<(String, String)>> {
        self.definition(name)
            .map(|definition| settings(&definition))
    }

    fn view(&self, name: &str) -> Result<&View> {
        let table = self.catalog.find(name)?;
        self.views
            .get(&table)
            .ok_or_else(|| Error::NoSuchTable(name.to_lowercase()))
    }
}

/// As SHOW TABLES names it.
fn kind_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Search(_) => "rt",
        Kind::Distributed { .. } => "distributed",
        Kind::Percolate { .. } => "percolate",
        Kind::Queue(_) => "queue",
    }
}
