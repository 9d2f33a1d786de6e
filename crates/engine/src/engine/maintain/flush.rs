//! FLUSH and OPTIMIZE: rows in memory go to files now. The caller is answered when a durable manifest names the files.
//!
//! The engine's thread never blocks for a request. Open requests stand in a list; every turn looks at all of them, and a
//! background job that ends causes a turn.
//!
//! # Example
//! `OPTIMIZE TABLE news` comes at position 90. The table has a row in its tail and two segments.
//!
//! | turn | event | `then` |
//! |---|---|---|
//! | 1 | `want_flushed` wants a fold of `news`, up to 90 | `Optimize` |
//! | 2 | the seal is done; a manifest is begun | `Optimize` |
//! | 3 | the manifest is durable; `start_optimizing` starts a merge of the three segments | `Optimizing` |
//! | 4 | the merge is installed; the wanted `file_changes` are those of now; a manifest is begun | `Answer` |
//! | 5 | that manifest is durable: the reply is sent | |
//!
//! FLUSH begins with `Answer`, so its reply is sent in turn 3.

use crate::catalog::TableId;
use crate::command::{Answering, Kind, Reply, SessionId};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::failure;

/// The FLUSH and OPTIMIZE requests that are not answered yet.
#[derive(Default)]
pub(in crate::engine) struct Flushes {
    waiting: Vec<Flush>,
}

struct Flush {
    session: SessionId,
    tables: Vec<Wanted>,
    /// The last record that must be in files: the newest when the request came.
    position: u64,
    /// The next step once the tables are in files.
    then: Then,
    reply: Answering,
}

#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// Send the reply.
    Answer,
    /// Start to merge the segments of the tables.
    Optimize,
    /// The merges are started: wait until none is left.
    Optimizing,
}

struct Wanted {
    table: TableId,
    /// A fold was started for this request. If it fails, the request is answered with an error.
    begun: bool,
    /// The [`file_changes`](crate::table::search::SearchTable::file_changes) that the durable manifest must have; 0 until the
    /// merges of OPTIMIZE have ended. It is fixed then: under steady writes segments change in every turn, and no manifest
    /// would ever have the newest count.
    file_changes: u64,
}

/// How far a table is.
enum Progress {
    /// The durable manifest names its files, and they reach far enough.
    Done,
    /// Background work is under way, or a manifest is to be written.
    Runs,
    /// Neither a fold of the table nor a manifest is under way: a fold must be started.
    Idle,
}

impl Flushes {
    /// A merge of a table failed: answers every OPTIMIZE that waits for a merge of this table with `error`.
    pub(in crate::engine) fn fail_optimizing(&mut self, table: TableId, error: &Error) {
        let is_told = |flush: &mut Flush| {
            let mut tables = flush.tables.iter();
            flush.then == Then::Optimizing && tables.any(|wanted| wanted.table == table)
        };
        for flush in self.waiting.extract_if(.., is_told) {
            (flush.reply)(Err(error.clone()));
        }
    }

    /// KILL: answers the open request of a session.
    pub(in crate::engine) fn end(&mut self, session: SessionId) {
        let is_its_own = |flush: &mut Flush| flush.session == session;
        for flush in self.waiting.extract_if(.., is_its_own) {
            (flush.reply)(Err(Error::Interrupted));
        }
    }

    /// A manifest could not be written: answers every open request with `error`. None waits for the next manifest.
    pub(in crate::engine) fn fail(&mut self, error: &Error) {
        for reply in self.take_replies() {
            reply(Err(error.clone()));
        }
    }

    /// Takes all open requests out of the list, and gives their replies.
    pub(in crate::engine) fn take_replies(&mut self) -> impl Iterator<Item = Answering> {
        std::mem::take(&mut self.waiting)
            .into_iter()
            .map(|flush| flush.reply)
    }
}

impl Engine {
    /// FLUSH TABLE. No names: all tables. A name of no table is refused at once.
    pub(in crate::engine) fn flush(
        &mut self,
        session: SessionId,
        tables: &[String],
        reply: Answering,
    ) -> Result<()> {
        let catalog = &self.state.catalog;
        let named: Result<Vec<TableId>> = match tables {
            [] => Ok(catalog.iter().map(|(table, _)| table).collect()),
            names => names.iter().map(|name| catalog.find(name)).collect(),
        };
        match named {
            Ok(tables) => self.wait_for_files(session, tables, Then::Answer, reply),
            Err(error) => return self.answer(reply, Err(error)),
        }
        Ok(())
    }

    /// OPTIMIZE TABLE. Only search tables have segments; another table is refused at once.
    pub(in crate::engine) fn optimize(
        &mut self,
        session: SessionId,
        name: &str,
        reply: Answering,
    ) -> Result<()> {
        let table = self.state.catalog.find(name);
        let search = |table: &TableId| {
            let definition = self.state.catalog.get(*table);
            definition.is_some_and(|definition| matches!(definition.kind, Kind::Search(_)))
        };
        match table {
            Ok(table) if search(&table) => {
                self.wait_for_files(session, vec![table], Then::Optimize, reply);
            }
            Ok(_) => {
                let what = format!("'{name}' is no search table: only those have segments");
                return self.answer(reply, Err(Error::invalid(what)));
            }
            Err(error) => return self.answer(reply, Err(error)),
        }
        Ok(())
    }

    fn wait_for_files(
        &mut self,
        session: SessionId,
        tables: Vec<TableId>,
        then: Then,
        reply: Answering,
    ) {
        let wanted = |table| Wanted {
            table,
            begun: false,
            file_changes: 0,
        };
        self.flushes.waiting.push(Flush {
            session,
            tables: tables.into_iter().map(wanted).collect(),
            position: self.state.position,
            then,
            reply,
        });
    }

    /// Notes in `wanted_folds` the tables of open requests that no job brings further. `maintain` then starts their folds. Requests
    /// whose folds have failed are answered first: a fold that begins anew would hide it, and fail again, for ever.
    pub(in crate::engine) fn want_flushed(&mut self) {
        self.answer_failed_flushes();
        let mut waiting = std::mem::take(&mut self.flushes.waiting);
        for flush in &mut waiting {
            for wanted in &mut flush.tables {
                if matches!(self.progress(wanted, flush.position), Progress::Idle) {
                    self.failed_folds.remove(&wanted.table); // only a fold that fails from here on ends the request
                    self.wanted_folds.insert(wanted.table);
                    self.is_manifest_due = true;
                    wanted.begun = true;
                }
            }
        }
        self.flushes.waiting = waiting;
    }

    /// Answers the requests whose tables are in files, and those whose tables cannot get there: a segment is damaged, or a fold
    /// failed. Moves OPTIMIZE requests to their next step.
    pub(in crate::engine) fn answer_flushes(&mut self) {
        self.answer_failed_flushes();
        for mut flush in std::mem::take(&mut self.flushes.waiting) {
            let position = flush.position;
            if let Some(error) = self.damage_of(&flush) {
                (flush.reply)(Err(error));
                continue;
            }
            let is_merged = |wanted: &Wanted| !self.is_optimizing(wanted.table);
            if flush.then == Then::Optimizing && flush.tables.iter().all(is_merged) {
                flush.then = Then::Answer;
                for wanted in &mut flush.tables {
                    let search = self.state.searches.get(&wanted.table);
                    wanted.file_changes = search.map_or(0, |search| search.file_changes);
                }
            }
            let is_done =
                |wanted: &Wanted| matches!(self.progress(wanted, position), Progress::Done);
            if flush.then == Then::Optimizing || !flush.tables.iter().all(is_done) {
                self.flushes.waiting.push(flush);
            } else if flush.then == Then::Optimize {
                flush.then = Then::Optimizing;
                let tables: Vec<TableId> = flush.tables.iter().map(|wanted| wanted.table).collect();
                self.flushes.waiting.push(flush); // first: a merge without room answers the request at once
                tables
                    .into_iter()
                    .for_each(|table| self.start_optimizing(table));
            } else {
                (flush.reply)(Ok(Reply::done()));
            }
        }
    }

    /// Answers the requests of which a fold failed.
    fn answer_failed_flushes(&mut self) {
        let error = self.why_not_in_files();
        let failed_folds = &self.failed_folds;
        let has_failed = |flush: &mut Flush| {
            let mut tables = flush.tables.iter();
            tables.any(|wanted| wanted.begun && failed_folds.contains(&wanted.table))
        };
        for flush in self.flushes.waiting.extract_if(.., has_failed) {
            (flush.reply)(Err(error.clone()));
        }
    }

    fn start_optimizing(&mut self, table: TableId) {
        if let Some(search) = self.state.searches.get_mut(&table) {
            search.table.optimize();
            search.merge_due = true;
            search.merge_retry_us = 0; // a merge that failed before is tried at once
        }
        self.start_segment_merges();
    }

    fn is_optimizing(&self, table: TableId) -> bool {
        let search = self.state.searches.get(&table);
        search.is_some_and(|search| search.table.is_optimizing())
    }

    /// The error of the first table with a damaged segment. Nothing of such a table is sealed before `seine repair`.
    fn damage_of(&self, flush: &Flush) -> Option<Error> {
        flush.tables.iter().find_map(|wanted| {
            let search = self.state.searches.get(&wanted.table)?;
            let damage = search.table.check_whole().err()?;
            Some(failure::of_index(damage))
        })
    }

    fn why_not_in_files(&self) -> Error {
        match self.folds_full {
            true => Error::DiskFull,
            false => Error::internal(
                "a segment could not be written; nothing is lost, and it is tried again",
            ),
        }
    }

    /// How far a table is with records up to `position`. A table without files of its own is done: a distributed table, or one
    /// that was dropped meanwhile.
    fn progress(&self, wanted: &Wanted, position: u64) -> Progress {
        let table = &wanted.table;
        let (manifests, is_named, folds) = if let Some(search) = self.state.searches.get(table) {
            let is_named = search.files_in_manifest.durable >= wanted.file_changes;
            (search.manifests, is_named, search.sealing)
        } else if let Some(pq) = self.state.percolates.get(table) {
            (pq.manifests, true, pq.folding)
        } else if let Some(queue) = self.state.queues.get(table)
            && let Some(manifests) = self.state.queues.manifests(table)
        {
            (manifests, true, queue.folding.is_some())
        } else {
            return Progress::Done;
        };
        match manifests.durable >= position && is_named {
            true => Progress::Done,
            false if folds || self.manifest_runs => Progress::Runs,
            false => Progress::Idle,
        }
    }
}
