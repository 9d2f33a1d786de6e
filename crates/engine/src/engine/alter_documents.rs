//! ALTER TABLE of search and pq tables.
//!
//! A change of names, defaults and queries is one record. Where rows must be written again, jobs write one segment after the other
//! in the new columns while everything else goes on; a turn then writes the few rows that are left and commits the record. Until
//! then nothing has happened: a crash, an error or the end of the server leaves the old table.
//!
//! # Example
//! `ALTER TABLE news ADD COLUMN stars int`; `news` has two segments and 30,000 rows in its tail.
//!
//! | turn | event | then |
//! |---|---|---|
//! | 1 | the command comes | a job on segment 1 |
//! | 2 | that job is done | a job on segment 2 |
//! | 3 | that job is done; the tail is large | a seal |
//! | 4 | the seal is installed as segment 3; 40 rows came meanwhile | a job on segment 3 |
//! | 5 | that job is done; 60 rows are in the tail | these rows are written, the record is committed and synced, the client is answered |

use std::collections::BTreeMap;
use std::sync::Arc;

use queue::Origin;
use relation::schema::Column;

use super::Engine;
use crate::altered::Altered;
use crate::catalog::{TableId, check_altered_documents};
use crate::command::{Answering, Change, ColumnPlace, Definition, Kind, Reply};
use crate::decide::rows::absent_in_document;
use crate::decide::{Decision, has_no_rows};
use crate::error::{Error, Result};
use crate::failure;
use crate::jobs::{Finished, Job, Made, Work};
use crate::record::{QueueRecord, Record};
use crate::state::Prepared;
use crate::table::reshape::{is_needed, reshape};
use crate::table::search::SearchTable;

/// Most rows of a tail that a turn writes in new columns. Other writes wait for it.
const ROWS_AT_ONCE_MAX: u64 = 2_000;

/// Most values of those rows: rows of many columns are fewer.
const VALUES_AT_ONCE_MAX: u64 = 50_000;

/// Rounds of jobs after which a turn takes more rows: writers are then faster than seals.
const ROUNDS_MAX: u32 = 16;

/// The tables that are being altered.
#[derive(Default)]
pub(super) struct Alters(Vec<Altering>);

struct Altering {
    table: TableId,
    before: Arc<Definition>,
    columns: Vec<Column>,
    origins: Vec<Origin>,
    reshape: Arc<index::Reshape>,
    /// The results of jobs, by segment.
    made: BTreeMap<String, index::Reshaped>,
    is_job_running: bool,
    /// Seals that were asked for.
    rounds: u32,
    failed: Option<Error>,
    /// `None`: the client has its answer, and a last job is still running.
    reply: Option<Answering>,
}

impl Alters {
    pub(super) fn has(&self, table: TableId) -> bool {
        self.0.iter().any(|altering| altering.table == table)
    }

    /// Rows of the tables that are being altered, and those that jobs have written again.
    pub(super) fn progress(&self, searches: &BTreeMap<TableId, SearchTable>) -> (u64, u64) {
        let tables = self.0.iter().filter_map(|one| searches.get(&one.table));
        let rows = tables.map(|search| search.table.status().rows_live).sum();
        let made = self.0.iter().flat_map(|one| one.made.values());
        (rows, made.map(index::Reshaped::rows).sum())
    }
}

impl Engine {
    /// ALTER TABLE. The answer may come many turns later.
    pub(super) fn alter(&mut self, name: &str, changes: &[Change], reply: Answering) -> Result<()> {
        let definition = match self.state.catalog.named(name) {
            Ok(definition) => definition,
            Err(error) => return self.answer(reply, Err(error)),
        };
        let outcome = match &definition.kind {
            Kind::Queue(_) => self.alter_queue(name, changes),
            Kind::Distributed { locals } => Err(has_no_rows(name, locals)),
            Kind::Search(_) | Kind::Percolate { .. } => {
                match self.altered_documents(&definition, changes) {
                    Ok(Some(altering)) => {
                        self.alters.0.push(Altering {
                            reply: Some(reply),
                            ..altering
                        });
                        return Ok(());
                    }
                    Ok(None) => Ok(Reply::done()),
                    Err(error) => Err(error),
                }
            }
        };
        self.answer(reply, outcome)
    }

    /// Checks an ALTER TABLE. Commits one that leaves the rows as they are, and gives any other.
    fn altered_documents(
        &mut self,
        before: &Arc<Definition>,
        changes: &[Change],
    ) -> Result<Option<Altering>> {
        let table = self.state.catalog.find(&before.name)?;
        if self.alters.has(table) {
            return Err(Error::invalid(format!(
                "'{}' is being altered: wait for that statement",
                before.name
            )));
        }
        let mut altered = Altered::new(&before.name, &before.columns);
        for change in changes {
            check_change(change)?;
            altered.change(change)?;
        }
        let still = |column: &&Column| {
            let same = |other: &Column| other.name == column.name && other.kind == column.kind;
            !altered.columns.iter().any(same)
        };
        let gone = before.columns.iter().filter(still);
        let gone: Vec<String> = gone.map(|column| column.name.clone()).collect();
        let definition = Definition {
            columns: altered.columns.clone(),
            ..Definition::clone(before)
        };
        let definition = check_altered_documents(&self.state.catalog, definition, &gone)?;
        let columns = definition.columns.clone();
        let mut origins = altered.origins;
        fill(&columns, &mut origins)?;
        let pq = self.state.percolates.get(&table);
        // Refused here, not while it is applied.
        let read_again = pq.map(|pq| pq.read_in(&Arc::new(definition.clone())));
        let read_again = read_again.transpose()?;
        let has_rows = self.state.searches.contains_key(&table);
        if !has_rows || !is_needed(&before.columns, &columns, &origins) {
            let record = Record::Queue(QueueRecord::Alter {
                table,
                columns,
                origins,
            });
            let mut decision = Decision::of(record, Reply::done());
            decision.prepared.read_again = read_again;
            self.commit(decision)?;
            return Ok(None);
        }
        Ok(Some(Altering {
            table,
            before: Arc::clone(before),
            reshape: reshape(&before.columns, &definition, &origins),
            columns,
            origins,
            made: BTreeMap::new(),
            is_job_running: false,
            rounds: 0,
            failed: None,
            reply: None,
        }))
    }

    /// Takes each table that is being altered a step further.
    pub(super) fn go_on_altering(&mut self) -> Result<()> {
        for mut altering in std::mem::take(&mut self.alters.0) {
            let outcome = match altering.reply.is_some() {
                true => self.alter_step(&mut altering).transpose(),
                false => None,
            };
            if let Some(outcome) = outcome {
                if let Some(search) = self.state.searches.get_mut(&altering.table) {
                    let made = std::mem::take(&mut altering.made);
                    search.table.forget_reshaped(made.values());
                }
                if let Some(reply) = altering.reply.take() {
                    self.answer(reply, outcome)?;
                }
            }
            if altering.reply.is_some() || altering.is_job_running {
                self.alters.0.push(altering);
            }
        }
        Ok(())
    }

    /// Starts what is to be done next. `None`: the ALTER is not over.
    fn alter_step(&mut self, altering: &mut Altering) -> Result<Option<Reply>> {
        if let Some(error) = altering.failed.take() {
            return Err(error);
        }
        let definition = self.state.catalog.get(altering.table);
        let name = &altering.before.name;
        if !definition.is_some_and(|definition| Arc::ptr_eq(definition, &altering.before)) {
            return Err(Error::Conflict {
                what: format!("table '{name}' was renamed or dropped while it was altered"),
            });
        }
        let Some(search) = self.state.searches.get_mut(&altering.table) else {
            return Err(Error::NoSuchTable(name.clone()));
        };
        if altering.is_job_running {
            return Ok(None);
        }
        let (reshape, position) = (&altering.reshape, self.state.position);
        let columns = altering.columns.len().max(1) as u64;
        let at_once = ROWS_AT_ONCE_MAX.min(VALUES_AT_ONCE_MAX / columns);
        let at_once = at_once.min(self.options.seal_rows.into());
        if search.table.status().rows_live > at_once
            && let Some(job) = search.table.reshape_job(reshape, &altering.made, position)
        {
            let space = self.options.disk.space();
            let needed = 2 * job.bytes() + self.options.journal_segment_bytes;
            if space.is_ok_and(|space| space.free_bytes < needed) {
                return Err(Error::DiskFull);
            }
            altering.is_job_running = true;
            self.jobs.start(Job {
                table: altering.table,
                position,
                work: Work::Reshape(job),
            });
            return Ok(None);
        }
        if search.sealing || search.merged.is_some() {
            return Ok(None);
        }
        if search.table.tail().rows > at_once && altering.rounds < ROUNDS_MAX {
            altering.rounds += 1;
            self.wanted_folds.insert(altering.table);
            return Ok(None);
        }
        self.commit_altered(altering).map(Some)
    }

    /// Writes the rows that are left, and commits the ALTER.
    fn commit_altered(&mut self, altering: &mut Altering) -> Result<Reply> {
        let Some(search) = self.state.searches.get_mut(&altering.table) else {
            return Err(Error::internal("a table without rows is altered"));
        };
        let made = std::mem::take(&mut altering.made);
        let position = self.state.position + 1;
        let altered = search.table.altered(&altering.reshape, made, position);
        let altered = altered.map_err(failure::of_index)?;
        let record = Record::Queue(QueueRecord::Alter {
            table: altering.table,
            columns: altering.columns.clone(),
            origins: altering.origins.clone(),
        });
        let position = match self.admit(&record, false) {
            Ok(position) => position,
            Err(error) => {
                if let Some(search) = self.state.searches.get_mut(&altering.table) {
                    search.table.forget_altered(altered);
                }
                return Err(error);
            }
        };
        let prepared = Prepared {
            altered: Some(altered),
            ..Prepared::default()
        };
        self.apply(&record, position, prepared)?;
        self.wake();
        if let Some(search) = self.state.searches.get_mut(&altering.table) {
            for discarded in search.table.take_discarded() {
                self.garbage.push(Box::new(discarded));
            }
        }
        self.is_manifest_due = true;
        Ok(Reply::done())
    }

    /// Takes in the result of a job.
    pub(super) fn take_reshaped(&mut self, finished: Finished) {
        let mut alters = self.alters.0.iter_mut();
        let altering = alters.find(|altering| altering.table == finished.table);
        let is_wanted = altering
            .as_ref()
            .is_some_and(|altering| altering.reply.is_some());
        match (finished.made, altering) {
            (Ok(Made::Reshaped(reshaped)), Some(altering)) if is_wanted => {
                altering.is_job_running = false;
                altering
                    .made
                    .insert(reshaped.source().to_owned(), *reshaped);
            }
            (made, altering) => {
                if let (Ok(Made::Reshaped(reshaped)), Some(search)) =
                    (&made, self.state.searches.get_mut(&finished.table))
                {
                    search.table.forget_reshaped([&**reshaped]);
                }
                if let Some(altering) = altering {
                    altering.is_job_running = false;
                    altering.failed = made.err();
                }
            }
        }
    }
}

/// Sets what the rows that are there have in new columns of Sphinx's types: what an INSERT without the column stores.
fn fill(columns: &[Column], origins: &mut [Origin]) -> Result<()> {
    for (column, origin) in columns.iter().zip(origins) {
        if let Origin::Value(value) = origin
            && !column.kind.keeps_null()
        {
            *value = absent_in_document(column, false, 1)?;
        }
    }
    Ok(())
}

/// Refuses what the columns of documents cannot do.
fn check_change(change: &Change) -> Result<()> {
    let names: &[&String] = match change {
        Change::Add { column, place } => match place {
            ColumnPlace::Last => &[&column.name],
            ColumnPlace::First | ColumnPlace::After(_) => {
                return Err(Error::NotYet {
                    what: "FIRST and AFTER in a search or pq table: a new column stands last"
                        .to_owned(),
                });
            }
        },
        Change::Drop { name } | Change::Key { name, .. } => &[name],
        Change::Modify { column } => &[&column.name],
        Change::Rename { from, to } => &[from, to],
    };
    match names.iter().any(|name| name.eq_ignore_ascii_case("id")) {
        true => Err(Error::invalid(
            "the column 'id' cannot be altered: every table has it",
        )),
        false => Ok(()),
    }
}
