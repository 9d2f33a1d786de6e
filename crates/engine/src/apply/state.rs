//! The catalog and all tables, and the one function that applies a record to them: [`State::apply`].
//!
//! A record holds outcomes, so applying decides nothing. The writer applies a record after deciding; recovery and a follower
//! apply it after reading it from the journal. With two functions a restart could come to another state than the one that readers
//! saw. With one, each test of an INSERT tests recovery too. [`Prepared`] only spares the writer work that deciding has done
//! already.
//!
//! # Example
//! `news` is a search table, `mail` a queue. The journal has five records:
//!
//! | position | record | changes |
//! |---|---|---|
//! | 1 | `Create` | the catalog, `news` |
//! | 2 | `Create` | the catalog, `mail` |
//! | 3 | `Documents`: document 7 | `news` |
//! | 4 | `Rows`: row 1 | `mail` |
//! | 5 | `DeleteDocuments`: document 7 | `news` |
//!
//! After record 3 the engine seals `news`: `news.folded` is 3. A manifest is begun after record 4. [`State::advance_clean_views`]
//! sets `news.folded` to 4, since `news` has nothing pending; `mail.folded` stays 2, since row 1 is in no file. Once the manifest
//! is durable, `catalog_folded` is 4. [`State::lowest_folded`] is 2, so the journal may forget records 1 and 2. The process is
//! killed after record 5. A restart reads the manifest and applies the records from 3 on:
//!
//! - 3: `news` skips it, 3 ≤ 4. Applied again, document 7 would be in the segment and in the tail.
//! - 4: `mail` takes it, 4 > 2. Row 1 is back.
//! - 5: `news` takes it: document 7 is deleted.
//!
//! # Invariants
//! - A view holds exactly the effects of the records up to `position`; its files those of the records up to its `folded`.
//! - A view takes a record above its `folded` and skips one at or below it.
//! - The journal keeps every record above `lowest_folded`. A clean view that did not advance would keep the journal for ever.
//! - `apply` never refuses. A record that does not fit, such as queue rows that do not begin at the next number, ends the engine.

mod alters;
mod counts;
mod loads;
mod queue_records;
mod renames;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use disk::Disk;
use journal::Position;
use language::analysis::Words;
use percolate::StandingQuery;
use queue::{Backlog, Queue};
use relation::schema::Column;

pub(crate) use loads::Loads;

use crate::apply::collected::Collected;
use crate::catalog::{Catalog, TableId, Webhook};
use crate::command::{Definition, Kind};
use crate::error::{Error, Result};
use crate::failure;
use crate::into::Into;
use crate::made::{Compiled, RowWords};
use crate::record::{CatalogRecord, Documents, QueryRow, Record, UpdatedRows};
use crate::table::in_manifest::InManifest;
use crate::table::queues::Queues;
use crate::table::search::{SearchTable, analyse, shape};
use crate::table::standing::{Listener, PercolateTable, ReadAgain};

/// The catalog and all tables: the journal's records from the first to the one at `position`, applied in order.
pub(crate) struct State {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) catalog: Catalog,
    /// Records up to this position are in the catalog of the durable manifest.
    pub(crate) catalog_folded: u64,
    /// For each load that is not over, the rows that are stored.
    pub(crate) loads: Loads,
    /// Collected messages, and how far the collector is.
    pub(crate) collected: Collected,
    pub(crate) searches: BTreeMap<TableId, SearchTable>,
    pub(crate) percolates: BTreeMap<TableId, PercolateTable>,
    pub(crate) queues: Queues,
    /// Position of the last record applied.
    pub(crate) position: u64,
    /// The catalog changed since readers last got a snapshot.
    pub(crate) is_catalog_unpublished: bool,
    /// A TRUNCATE or DROP may have taken rows from sessions that owned them, and readers were not told yet.
    pub(crate) is_loss_unpublished: bool,
    /// Queues whose rows changed since the end of the last turn.
    pub(crate) touched_queues: BTreeSet<TableId>,
    /// Queues with waiters whose rows may have become free: `Sessions::wake` looks at them.
    pub(crate) freed: BTreeSet<TableId>,
    /// Queues of which a wait's search has to go on in the next turn.
    pub(crate) searching: BTreeSet<TableId>,
    /// Queues that may hold a lease or a delay, which ends without a command.
    pub(crate) timed: BTreeSet<TableId>,
}

/// Results of deciding that applying needs again. Empty in recovery and in a follower: applying then makes them itself.
#[derive(Default)]
pub(crate) struct Prepared {
    /// The words of the record's documents, in their order. There may be more entries than documents: spare ones.
    pub(crate) words: RowWords,
    /// The record's standing queries, parsed and compiled, in their order.
    pub(crate) queries: Vec<Compiled>,
    /// The new search table of a `Create`, with its files.
    pub(crate) table: Option<index::Table>,
    /// What the hits add to the counts of queries. `None`: applying counts the hits of the record.
    pub(crate) counting: Option<Vec<Counting>>,
    /// An UPDATE that a reader has worked out, and the number of rows at the head of the record that are its own.
    pub(crate) planned: Option<(Arc<index::PlannedChange>, usize)>,
    /// The rows of an `Alter` in their new columns.
    pub(crate) altered: Option<index::AlteredTable>,
    /// The standing queries that an `Alter` has read again in the new columns. `None`: applying reads them.
    pub(crate) read_again: Option<ReadAgain>,
}

/// How often one command's documents hit the queries of one pq table.
pub(crate) struct Counting {
    /// The pq table.
    pub(crate) from: TableId,
    /// Seconds since 1970-01-01 UTC.
    pub(crate) hit_at: i64,
    /// Each query that was hit, with the number of documents that hit it.
    pub(crate) queries: Vec<(Arc<StandingQuery>, u64)>,
}

impl State {
    pub(crate) fn new(disk: Arc<dyn Disk>) -> State {
        State {
            disk,
            catalog: Catalog::default(),
            catalog_folded: 0,
            loads: Loads::default(),
            collected: Collected::default(),
            searches: BTreeMap::new(),
            percolates: BTreeMap::new(),
            queues: Queues::default(),
            position: 0,
            is_catalog_unpublished: true,
            is_loss_unpublished: false,
            touched_queues: BTreeSet::new(),
            freed: BTreeSet::new(),
            searching: BTreeSet::new(),
            timed: BTreeSet::new(),
        }
    }

    /// Applies the record at `position`. A view whose files hold the record skips it. True if a view took it.
    ///
    /// # Errors
    /// Those of the disk; `Internal` for a record that does not fit the state. The record may be half applied, so the engine must
    /// end.
    pub(crate) fn apply(
        &mut self,
        record: &Record,
        position: u64,
        prepared: &mut Prepared,
    ) -> Result<bool> {
        self.position = self.position.max(position);
        if let Some(counting) = prepared.counting.take() {
            self.count(&counting);
            prepared.counting = Some(Vec::new()); // the hits in the record are counted: `apply_hits` leaves them out
        }
        match record {
            Record::Load { .. } | Record::Collected { .. } if position <= self.catalog_folded => {
                Ok(false)
            }
            Record::Catalog(record) => self.apply_to_catalog(record, position, prepared),
            Record::Documents(documents) => {
                let queued = self.apply_hits(documents, position, prepared)?;
                let stored = self.apply_documents(documents, position, &prepared.words)?;
                Ok(queued || stored)
            }
            Record::Hits(hits) => self.apply_hits(hits, position, prepared),
            Record::DeleteDocuments { table, ids } => self.apply_deletes(*table, ids, position),
            Record::Update { table, rows } => {
                self.apply_update(*table, rows, prepared.planned.take(), position)
            }
            Record::Queries { table, queries } => {
                let compiled = std::mem::take(&mut prepared.queries);
                self.apply_queries(*table, queries, compiled, position)
            }
            Record::DeleteQueries { table, ids } => self.apply_query_deletes(*table, ids, position),
            Record::Retire { table, ids } => {
                self.retire(*table, position, |rows| rows.delete_all(ids).map(drop))
            }
            Record::RetireSegments { table, segments } => self.retire(*table, position, |rows| {
                rows.drop_segments(segments);
                Ok(())
            }),
            Record::Load { table, load, place } => {
                self.loads.note(*table, *load, *place, Position(position));
                Ok(true)
            }
            Record::Messages(messages) => Ok(self.collected.add(messages, position)),
            Record::Collected { upto, cursors } => Ok(self.collected.note(*upto, cursors)),
            Record::Many(members) => self.apply_many(members, position, prepared),
            Record::Queue(record) => self.apply_queue_record(record, position, prepared),
        }
    }

    /// As [`State::apply`], for a record that makes, renames or drops tables. The manifest holds the catalog, so its checkpoint
    /// decides.
    fn apply_to_catalog(
        &mut self,
        record: &CatalogRecord,
        position: u64,
        prepared: &mut Prepared,
    ) -> Result<bool> {
        if position <= self.catalog_folded {
            return Ok(false);
        }
        match record {
            CatalogRecord::Create { table, definition } => {
                self.create(*table, definition, position, prepared.table.take())?;
            }
            CatalogRecord::Drop { table } => self.drop_table(*table),
            CatalogRecord::Rename { names } => self.rename(names)?,
            CatalogRecord::Parts { table, definition } => {
                let definition = Arc::new(Definition::clone(definition));
                self.catalog.insert(*table, definition);
                self.is_catalog_unpublished = true;
            }
        }
        Ok(true)
    }

    /// Applies the members of a unit, in order. `prepared` belongs to the first member, but for `counting`, which is of all
    /// members.
    fn apply_many(
        &mut self,
        members: &[Record],
        position: u64,
        prepared: &mut Prepared,
    ) -> Result<bool> {
        let mut any = false;
        for (place, member) in members.iter().enumerate() {
            let counting = prepared.counting.as_ref().map(|_| Vec::new());
            let mut nothing = Prepared {
                counting,
                ..Prepared::default()
            };
            let of_member = if place == 0 {
                &mut *prepared
            } else {
                &mut nothing
            };
            any |= self.apply(member, position, of_member)?;
        }
        Ok(any)
    }

    fn create(
        &mut self,
        table: TableId,
        definition: &Definition,
        position: u64,
        made: Option<index::Table>,
    ) -> Result<()> {
        let definition = Arc::new(definition.clone());
        self.catalog.insert(table, Arc::clone(&definition));
        self.is_catalog_unpublished = true;
        match &definition.kind {
            Kind::Distributed { .. } => {}
            Kind::Search(_) => {
                let made = match made {
                    Some(made) => made,
                    None => create_index(&self.disk, table, &definition)?,
                };
                let files = index::Files {
                    position,
                    ..index::Files::default()
                };
                self.searches
                    .insert(table, SearchTable::new(definition, made, files, 0));
            }
            Kind::Percolate { .. } => {
                self.percolates
                    .insert(table, PercolateTable::new(definition, position));
            }
            Kind::Queue(options) => {
                let (name, columns) = (&definition.name, &definition.columns);
                let queue = Queue::new(name, columns, options, Backlog::new(), position);
                self.queues.insert(table, queue, InManifest::default());
            }
        }
        self.connect()
    }

    fn drop_table(&mut self, table: TableId) {
        self.catalog.remove(table);
        self.loads.forget(table);
        self.searches.remove(&table);
        self.percolates.remove(&table);
        self.queues.remove(&table);
        self.is_catalog_unpublished = true;
        for search in self.searches.values_mut() {
            Arc::make_mut(&mut search.listeners).retain(|listener| listener.table != table);
        }
    }

    /// Sets the listeners of every search table and of pq tables without `on=`, after a change of the catalog.
    ///
    /// # Errors
    /// `NoSuchTable` for a table of hits that is not there, and those of [`Into::resolve`].
    pub(crate) fn connect(&mut self) -> Result<()> {
        for search in self.searches.values_mut() {
            let mut listeners = Vec::new();
            for table in self.catalog.listeners(&search.definition.name) {
                if let Some(pq) = self.percolates.get(&table) {
                    let heard = &search.definition;
                    listeners.push(listener(&self.catalog, (table, &pq.definition), heard)?);
                }
            }
            search.listeners = Arc::new(listeners);
        }
        for (table, pq) in &mut self.percolates {
            let definition = &pq.definition;
            let hears_own = matches!(&definition.kind, Kind::Percolate { on, into: Some(_), .. } if on.is_empty());
            pq.hears = match hears_own {
                true => {
                    let own = listener(&self.catalog, (*table, definition), definition)?;
                    Some(Arc::new(own))
                }
                false => None,
            };
        }
        Ok(())
    }

    fn apply_documents(
        &mut self,
        record: &Documents,
        position: u64,
        words: &[Words],
    ) -> Result<bool> {
        let failed = failure::of_index;
        self.apply_to_search(record.table, position, |search| {
            let mut made = Words::new();
            for (place, document) in record.documents.iter().enumerate() {
                if document.replaces {
                    search.table.delete(document.id).map_err(failed)?;
                }
                let words = match words.get(place) {
                    Some(words) => words,
                    None => {
                        analyse(
                            &search.analyzer,
                            &search.definition.columns,
                            &document.row,
                            &mut made,
                        );
                        &made
                    }
                };
                let row = Arc::clone(&document.row);
                let inserted = search.table.insert(document.id, row, words);
                inserted.map_err(failed)?;
                search.recent.note(document.id);
                search.highest = search.highest.max(document.id);
            }
            Ok(())
        })
    }

    /// Removes rows that a search table need not keep any more. Segments without a row left go, so the files change.
    fn retire(
        &mut self,
        table: TableId,
        position: u64,
        remove: impl FnOnce(&mut index::Table) -> index::Result<()>,
    ) -> Result<bool> {
        let Some(search) = self.searches.get_mut(&table) else {
            return self.skip_dropped(table, position);
        };
        if position <= search.folded {
            return Ok(false);
        }
        remove(&mut search.table).map_err(failure::of_index)?;
        search.recent.forget();
        let files = search.table.files();
        search.take_files(files);
        search.is_unpublished = true;
        search.file_changes += 1;
        Ok(true)
    }

    /// Puts the hits of documents into their queues. In recovery and in a follower it also counts them.
    fn apply_hits(
        &mut self,
        record: &Documents,
        position: u64,
        prepared: &Prepared,
    ) -> Result<bool> {
        let mut any = false;
        for hits in &record.hits {
            let (batch, rows) = hits.batch(&record.documents);
            any |= self.apply_to_queue(hits.queue, position, hits.first_row, |queue| {
                queue.backlog.push_hits(batch, &rows);
            })?;
        }
        if prepared.counting.is_none() {
            self.count_again(record, position);
        }
        Ok(any)
    }

    fn apply_deletes(&mut self, table: TableId, ids: &[u64], position: u64) -> Result<bool> {
        self.apply_to_search(table, position, |search| {
            for id in ids {
                let deleted = search.table.delete(*id);
                deleted.map_err(failure::of_index)?;
                search.recent.note(*id);
            }
            Ok(())
        })
    }

    fn apply_query_deletes(&mut self, table: TableId, ids: &[u64], position: u64) -> Result<bool> {
        self.apply_to_percolate(table, position, |pq| {
            ids.iter().for_each(|id| pq.remove(*id));
            Ok(())
        })
    }

    fn apply_update(
        &mut self,
        table: TableId,
        rows: &UpdatedRows,
        planned: Option<(Arc<index::PlannedChange>, usize)>,
        position: u64,
    ) -> Result<bool> {
        self.apply_to_search(table, position, |search| {
            let mut taken = 0;
            if let Some((plan, own)) = planned {
                let done = search.table.take_planned(&plan);
                done.map_err(failure::of_index)?;
                taken = own;
            }
            rows.ids.iter().for_each(|id| search.recent.note(*id));
            for (row, id) in rows.ids.iter().enumerate().skip(taken) {
                let changed = search.table.change(*id, rows.of(row));
                changed.map_err(failure::of_index)?;
            }
            Ok(())
        })
    }

    fn apply_to_search(
        &mut self,
        table: TableId,
        position: u64,
        change: impl FnOnce(&mut SearchTable) -> Result<()>,
    ) -> Result<bool> {
        let Some(search) = self.searches.get_mut(&table) else {
            return self.skip_dropped(table, position);
        };
        if position <= search.folded {
            return Ok(false);
        }
        search.is_unpublished = true;
        change(search)?;
        Ok(true)
    }

    fn apply_queries(
        &mut self,
        table: TableId,
        rows: &[QueryRow],
        compiled: Vec<Compiled>,
        position: u64,
    ) -> Result<bool> {
        self.apply_to_percolate(table, position, |pq| {
            let mut compiled = compiled.into_iter();
            for row in rows {
                pq.store(row, compiled.next(), position)?;
            }
            Ok(())
        })
    }

    fn apply_to_percolate(
        &mut self,
        table: TableId,
        position: u64,
        change: impl FnOnce(&mut PercolateTable) -> Result<()>,
    ) -> Result<bool> {
        let Some(pq) = self.percolates.get_mut(&table) else {
            return self.skip_dropped(table, position);
        };
        if position <= pq.folded {
            return Ok(false);
        }
        change(pq)?;
        Ok(true)
    }

    /// Moves the checkpoint of every view with nothing pending to the last applied record: else it would keep the journal from
    /// being trimmed. No file changes: the view took none of the later records.
    pub(crate) fn advance_clean_views(&mut self) {
        let position = self.position;
        for search in self.searches.values_mut() {
            if search.table.is_saved() && !search.sealing {
                search.files.position = position;
                search.folded = position;
            }
        }
        for pq in self.percolates.values_mut() {
            if pq.changed.is_empty() && !pq.folding {
                pq.folded = position;
            }
            if !pq.counts_changed && pq.counting.is_none() {
                pq.counted = position;
            }
        }
        for table in self.queues.keys() {
            if let Some(queue) = self.queues.get_mut(&table)
                && !queue.changed
                && queue.folding.is_none()
                && queue.folded.position != position
            {
                queue.folded = queue.as_of(position);
            }
        }
    }

    /// Notes the checkpoints that go into the manifest that is begun now.
    pub(crate) fn begin_manifest(&mut self) {
        for search in self.searches.values_mut() {
            search.begin_manifest();
        }
        for pq in self.percolates.values_mut() {
            pq.manifests.begin(pq.folded);
        }
        self.queues.begin_manifest();
    }

    /// The manifest that was begun last is durable.
    pub(crate) fn end_manifest(&mut self) {
        for search in self.searches.values_mut() {
            search.end_manifest();
        }
        for pq in self.percolates.values_mut() {
            pq.manifests.end();
        }
        self.queues.end_manifest();
    }

    /// The lowest checkpoint of all views and of a catalog at `catalog_folded`: the journal must keep the records above it. A pq
    /// table with `into=` also has the checkpoint of its hit counts: records hold its hits.
    pub(crate) fn lowest_folded(&self, catalog_folded: u64) -> u64 {
        let searches = self.searches.values().map(|search| search.folded);
        let percolates = self.percolates.values().map(|pq| match pq.is_recorded() {
            true => pq.folded.min(pq.counted),
            false => pq.folded,
        });
        let queues = self.queues.values().map(|queue| queue.folded.position);
        searches
            .chain(percolates)
            .chain(queues)
            .chain(self.collected.folded())
            .min()
            .unwrap_or(catalog_folded)
            .min(catalog_folded)
    }

    /// The paths of all files of queues and pq tables that a manifest names. Search tables clean their own folders.
    pub(crate) fn named_files(&self) -> BTreeSet<String> {
        let percolates = self.percolates.values();
        let queries = percolates.flat_map(|pq| {
            let files = pq.files.iter().map(|file| &file.path);
            files.chain(&pq.counts_file).cloned()
        });
        let rows = self.queues.values().flat_map(|queue| queue.backlog.files());
        queries
            .chain(rows.map(|(file, _)| file.path().to_owned()))
            .collect()
    }

    /// A record of a table that is not there: skipped where the manifest's catalog knows that the table was dropped, else
    /// `Internal`.
    fn skip_dropped(&self, table: TableId, position: u64) -> Result<bool> {
        if position <= self.catalog_folded && table.0 <= self.catalog.highest {
            return Ok(false);
        }
        Err(Error::internal(format!(
            "record {position} is about table {table}, which is not there"
        )))
    }
}

/// The name of the table that takes a pq table's hits: that of `into=`, or the queue before its webhook. `None`: hits are only
/// counted.
fn target(pq: &Definition) -> Option<String> {
    let Kind::Percolate { into, .. } = &pq.kind else {
        return None;
    };
    Webhook::of(pq)
        .map(|webhook| webhook.queue)
        .or_else(|| into.clone())
}

/// How a pq table listens to rows with the columns of `heard`.
fn listener(
    catalog: &Catalog,
    (table, pq): (TableId, &Definition),
    heard: &Definition,
) -> Result<Listener> {
    let into = match target(pq) {
        Some(into) => {
            let queue = catalog.find(&into)?;
            let columns = catalog.get(queue).ok_or(Error::NoSuchTable(into))?;
            Some((queue, Into::resolve(columns, heard)?))
        }
        None => None,
    };
    let columns = places(&pq.columns, &heard.columns);
    Ok(Listener {
        table,
        columns,
        into,
        on_update: matches!(
            pq.kind,
            Kind::Percolate {
                on_update: true,
                ..
            }
        ),
    })
}

/// For each column of a pq table, its place in the rows of a search table that it listens to. That table has all of them.
fn places(columns: &[Column], listened: &[Column]) -> Vec<usize> {
    let place = |column: &Column| {
        listened
            .iter()
            .position(|theirs| theirs.name == column.name)
    };
    columns.iter().filter_map(place).collect()
}

/// The folder of all tables' folders.
pub(crate) const TABLES_DIR: &str = "tables";

/// The folder of a table's files.
pub(crate) fn table_dir(table: TableId) -> String {
    format!("{TABLES_DIR}/{table}")
}

/// Makes the files of a new search table.
pub(crate) fn create_index(
    disk: &Arc<dyn Disk>,
    table: TableId,
    definition: &Definition,
) -> Result<index::Table> {
    let made = index::Table::create(Arc::clone(disk), &table_dir(table), shape(definition));
    made.map_err(failure::of_index)
}
