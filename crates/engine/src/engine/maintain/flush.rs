//! FLUSH and OPTIMIZE: rows in memory go to files now. The caller is answered when a durable manifest names the files.
//!
//! No request waits here. Every turn looks at all requests, and finished background work causes a turn.

use crate::catalog::TableId;
use crate::command::{Answering, Kind, Reply};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::failure;

/// Who waits for tables to be in files.
#[derive(Default)]
pub(in crate::engine) struct Flushes {
    waiting: Vec<Flush>,
}

struct Flush {
    tables: Vec<Wanted>,
    /// The last record that must be in files.
    position: u64,
    /// What is to be done when they are in files.
    then: Then,
    reply: Answering,
}

#[derive(Clone, Copy, PartialEq)]
enum Then {
    Answer,
    /// Merge their segments.
    Optimize,
    /// Wait for those merges.
    Optimizing,
}

struct Wanted {
    table: TableId,
    /// A fold was asked for, so a failed one is told.
    begun: bool,
    /// The [`file_changes`](crate::table::search::SearchTable::file_changes) that the durable manifest must have. Only of this
    /// moment: a writer that never rests has segments sealed in every turn, and no manifest names the last of them.
    file_changes: u64,
}

/// How far a table is.
enum Progress {
    /// The durable manifest names its files, and they reach far enough.
    Done,
    /// Background work is under way, or a manifest is to be written.
    Runs,
    /// Nothing that would take it further was begun.
    Idle,
}

impl Flushes {
    /// A merge of a table failed: those who wait for its merges are told, and ask again if they want.
    pub(in crate::engine) fn fail_optimizing(&mut self, table: TableId, error: &Error) {
        let is_told = |flush: &mut Flush| {
            let mut tables = flush.tables.iter();
            flush.then == Then::Optimizing && tables.any(|wanted| wanted.table == table)
        };
        for flush in self.waiting.extract_if(.., is_told) {
            (flush.reply)(Err(error.clone()));
        }
    }

    /// A manifest could not be written: nobody who waits for a durable one is told OK, and nobody waits for the next.
    pub(in crate::engine) fn fail(&mut self, error: &Error) {
        for reply in self.take_replies() {
            reply(Err(error.clone()));
        }
    }

    /// Those who wait, who are then forgotten.
    pub(in crate::engine) fn take_replies(&mut self) -> impl Iterator<Item = Answering> {
        std::mem::take(&mut self.waiting)
            .into_iter()
            .map(|flush| flush.reply)
    }
}

impl Engine {
    /// FLUSH TABLE. No names: all tables.
    pub(in crate::engine) fn flush(&mut self, tables: &[String], reply: Answering) -> Result<()> {
        let catalog = &self.state.catalog;
        let named: Result<Vec<TableId>> = match tables {
            [] => Ok(catalog.iter().map(|(table, _)| table).collect()),
            names => names.iter().map(|name| catalog.find(name)).collect(),
        };
        match named {
            Ok(tables) => self.wait_for_files(tables, Then::Answer, reply),
            Err(error) => return self.answer(reply, Err(error)),
        }
        Ok(())
    }

    /// OPTIMIZE TABLE.
    pub(in crate::engine) fn optimize(&mut self, name: &str, reply: Answering) -> Result<()> {
        let table = self.state.catalog.find(name);
        let search = |table: &TableId| {
            let definition = self.state.catalog.get(*table);
            definition.is_some_and(|definition| matches!(definition.kind, Kind::Search(_)))
        };
        match table {
            Ok(table) if search(&table) => {
                self.wait_for_files(vec![table], Then::Optimize, reply);
            }
            Ok(_) => {
                let what = format!("'{name}' is no search table: only those have segments");
                return self.answer(reply, Err(Error::invalid(what)));
            }
            Err(error) => return self.answer(reply, Err(error)),
        }
        Ok(())
    }

    fn wait_for_files(&mut self, tables: Vec<TableId>, then: Then, reply: Answering) {
        let wanted = |table| Wanted {
            table,
            begun: false,
            file_changes: 0,
        };
        self.flushes.waiting.push(Flush {
            tables: tables.into_iter().map(wanted).collect(),
            position: self.state.position,
            then,
            reply,
        });
    }

    /// Has the folds begun that somebody waits for.
    pub(in crate::engine) fn want_flushed(&mut self) {
        let mut waiting = std::mem::take(&mut self.flushes.waiting);
        for flush in &mut waiting {
            for wanted in &mut flush.tables {
                if matches!(self.progress(wanted, flush.position), Progress::Idle) {
                    self.failed_folds.remove(&wanted.table); // what fails from here on is told
                    self.wanted_folds.insert(wanted.table);
                    self.is_manifest_due = true;
                    wanted.begun = true;
                }
            }
        }
        self.flushes.waiting = waiting;
    }

    /// Tells those whose tables are in files, or cannot be.
    pub(in crate::engine) fn answer_flushes(&mut self) {
        for mut flush in std::mem::take(&mut self.flushes.waiting) {
            let position = flush.position;
            if let Some(error) = self.damage_of(&flush) {
                (flush.reply)(Err(error));
                continue;
            }
            let failed =
                |wanted: &Wanted| wanted.begun && self.failed_folds.contains(&wanted.table);
            if flush.tables.iter().any(failed) {
                (flush.reply)(Err(self.why_not_in_files()));
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
                self.flushes.waiting.push(flush); // before that, so that a merge without room finds whom to tell
                tables
                    .into_iter()
                    .for_each(|table| self.start_optimizing(table));
            } else {
                (flush.reply)(Ok(Reply::done()));
            }
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

    /// Why a table is not put into files before it is repaired, if one is damaged.
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

    /// How far a table is with records up to a position. A table without files, such as one that was dropped, is done.
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
