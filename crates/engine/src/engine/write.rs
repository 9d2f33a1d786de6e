//! Commands that write: each is decided, its record is admitted into the batch's frame, and the record is applied.
//!
//! INSERT, DELETE and backfill go through `decide`. CREATE and DROP are decided here, since they make and remove folders. A unit
//! of several statements applies each member before it decides the next, and is admitted last. [`Undo`] takes the members back if
//! one of them or the unit is refused.

use super::{Engine, is_fatal};
use crate::catalog::{TableId, Webhook, complete, missing_dead, missing_queues, warnings};
use crate::command::{Definition, Feed, Kind, QueueStats, Reply, SessionId, Write};
use crate::decide::backfill::backfill;
use crate::decide::conditional::{delete, update};
use crate::decide::hear::hear_rows;
use crate::decide::insert::insert;
use crate::decide::planned::planned;
use crate::decide::upsert::upsert;
use crate::decide::{Circumstances, Decision};
use crate::error::{Error, Result};
use crate::jobs::Background;
use crate::limits::{DROPPED_TABLES_MAX, MANY_COMMANDS_MAX, TABLES_MAX};
use crate::made::{MadeRows, RowWords};
use crate::record::{CatalogRecord, QueueRecord, QueuedHits, Record};
use crate::sessions::Relay;
use crate::state::{Prepared, create_index, table_dir};
use crate::status::EngineStatus;
use crate::sync_mode::SyncMode;
use crate::undo::Undo;

impl Engine {
    /// Decides a command that writes, within the bounds of queues. A condition that is long to evaluate is worked out here.
    pub(super) fn decide_write(
        &mut self,
        session: SessionId,
        write: Write,
        relay: Option<Relay>,
    ) -> Result<Decision> {
        let mut decision = self.decide_or_plan(session, write, relay)?;
        while let Reply::Plan(planning) = decision.reply {
            let planned = planning.run(&self.work.control())?;
            decision = self.decide_or_plan(session, Write::Planned(planned), None)?;
        }
        Ok(decision)
    }

    /// As [`Engine::decide_or_plan`] where there are threads that plan, else as [`Engine::decide_write`].
    pub(super) fn decide_by_readers(
        &mut self,
        session: SessionId,
        write: Write,
    ) -> Result<Decision> {
        let has_readers = matches!(self.options.background, Background::Threads);
        match has_readers || self.work.plans_all() {
            true => self.decide_or_plan(session, write, None),
            false => self.decide_write(session, write, None),
        }
    }

    /// As [`Engine::decide_write`], but of a condition that is long to evaluate the reply is [`Reply::Plan`].
    pub(super) fn decide_or_plan(
        &mut self,
        session: SessionId,
        write: Write,
        relay: Option<Relay>,
    ) -> Result<Decision> {
        let decision = self.decide_unbounded(session, write, relay)?;
        self.bounded(decision)
    }

    fn decide_unbounded(
        &mut self,
        session: SessionId,
        write: Write,
        relay: Option<Relay>,
    ) -> Result<Decision> {
        let around = self.circumstances();
        match write {
            Write::Insert(asked) => insert(&mut self.state, &mut self.work, around, asked, relay),
            Write::Upsert { insert, known } => {
                upsert(&mut self.state, &mut self.work, around, insert, &known)
            }
            Write::Delete(asked) => {
                let owner = self.sessions.owner(session);
                delete(&mut self.state, &mut self.work, owner, &asked.into())
            }
            Write::Update(asked) => update(&mut self.state, &mut self.work, around, &asked.into()),
            Write::Planned(asked) => {
                let owner = self.sessions.owner(session);
                planned(&mut self.state, &mut self.work, around, owner, &asked)
            }
            Write::Backfill(asked) => backfill(&mut self.state, &mut self.work, around, &asked),
        }
    }

    /// Decides rows made of collected messages, within the bounds of queues.
    pub(super) fn decide_feed(&mut self, feed: Feed) -> Result<Decision> {
        let around = self.circumstances();
        let decision = match feed {
            Feed::Store(rows) => insert(&mut self.state, &mut self.work, around, rows, None),
            Feed::Match(rows) => hear_rows(&mut self.state, &mut self.work, around, rows),
        }?;
        self.bounded(decision)
    }

    fn circumstances(&self) -> Circumstances {
        let status = &self.status;
        let batch = self.frame.bytes.len() as u64;
        Circumstances {
            now: self.now,
            memory_bytes: self.options.memory_bytes,
            query_bytes: status.query_bytes + batch,
            memory_left: status
                .memory_left(self.options.memory_bytes)
                .saturating_sub(batch),
        }
    }

    /// Makes a decision part of the batch: its record goes into the frame and is applied. The last line that may
    /// refuse is the one that finds room for the record.
    pub(super) fn commit(&mut self, decision: Decision) -> Result<Reply> {
        let Some(record) = decision.record else {
            return Ok(decision.reply);
        };
        let position = self.admit(&record, decision.gives_room)?;
        self.apply(&record, position, decision.prepared)?;
        self.wake();
        Ok(decision.reply)
    }

    pub(super) fn apply(
        &mut self,
        record: &Record,
        position: u64,
        mut prepared: Prepared,
    ) -> Result<()> {
        if let Some(hook) = &self.options.on_apply {
            hook(position);
        }
        self.count_record(record);
        self.note_dropped(record);
        // From here on nothing may fail but the disk under a segment: then the engine ends.
        let applied = self.state.apply(record, position, &mut prepared);
        if let RowWords::Own(words) = prepared.words {
            self.work.keep_words(words);
        }
        applied.map(|_| ()).map_err(|error| Error::Poisoned {
            why: error.to_string(),
        })
    }

    /// The folders of tables that are gone go with the next manifest.
    fn note_dropped(&mut self, record: &Record) {
        if let Record::Catalog(CatalogRecord::Drop { table }) = record {
            self.unused.push(table_dir(*table));
        } else if let Record::Many(members) = record {
            members.iter().for_each(|member| self.note_dropped(member));
        }
    }

    fn count_record(&mut self, record: &Record) {
        match record {
            Record::Documents(documents) => {
                self.status.documents_total += documents.documents.len() as u64;
                self.count_hits(&documents.hits);
            }
            Record::Hits(documents) => self.count_hits(&documents.hits),
            Record::DeleteDocuments { ids, .. } => {
                self.status.documents_deleted_total += ids.len() as u64
            }
            Record::Update { rows, .. } => {
                self.status.documents_updated_total += rows.ids.len() as u64;
            }
            Record::Queue(QueueRecord::Rows { table, rows, .. }) => {
                self.status.queue_put_total += rows.len() as u64;
                self.count_rows(*table, |stats| stats.rows_written += rows.len() as u64);
            }
            Record::Queue(
                QueueRecord::RemoveRows { table, rows } | QueueRecord::Done { table, rows, .. },
            ) => {
                self.status.queue_ended_total += rows.len() as u64;
                self.count_rows(*table, |stats| stats.rows_removed += rows.len() as u64);
            }
            Record::Many(members) => members.iter().for_each(|member| self.count_record(member)),
            Record::Catalog(_)
            | Record::Load { .. }
            | Record::Retire { .. }
            | Record::RetireSegments { .. }
            | Record::Queue(
                QueueRecord::Alter { .. }
                | QueueRecord::Returned { .. }
                | QueueRecord::Clear { .. }
                | QueueRecord::Pause { .. },
            )
            | Record::Queries { .. }
            | Record::Messages(_)
            | Record::Collected { .. }
            | Record::DeleteQueries { .. } => {}
        }
    }

    fn count_hits(&mut self, hits: &[QueuedHits]) {
        for hits in hits {
            self.status.queue_put_total += hits.rows();
            self.count_rows(hits.queue, |stats| stats.rows_written += hits.rows());
        }
    }

    fn count_rows(&mut self, table: TableId, count: impl FnOnce(&mut QueueStats)) {
        if let Some(queue) = self.state.queues.get_mut(&table) {
            count(&mut queue.stats);
        }
    }

    pub(super) fn create(&mut self, definition: Definition, if_not_exists: bool) -> Result<Reply> {
        let definition = match complete(&self.state.catalog, definition) {
            Err(Error::TableExists(_)) if if_not_exists => return Ok(Reply::done()),
            checked => checked?,
        };
        self.check_sync(&definition)?;
        let mut queues = missing_queues(&self.state.catalog, &definition)?;
        queues.extend(missing_dead(&self.state.catalog, &definition)?);
        if !queues.is_empty() {
            return self.create_with(definition, queues);
        }
        let table = TableId(self.state.catalog.highest + 1);
        let made = match definition.kind {
            Kind::Search(_) => Some(create_index(&self.state.disk, table, &definition)?),
            Kind::Percolate { .. } | Kind::Queue(_) | Kind::Distributed { .. } => None,
        };
        let reply = created(&definition);
        let definition = Box::new(definition);
        let mut decision = Decision::of(
            Record::Catalog(CatalogRecord::Create { table, definition }),
            reply,
        );
        decision.prepared.table = made;
        let done = self.commit(decision);
        if done.is_err() {
            self.unused.push(table_dir(table));
        }
        done
    }

    /// A table may ask for less than the server gives, never for more.
    fn check_sync(&self, definition: &Definition) -> Result<()> {
        let server = self.options.sync;
        match definition.sync {
            Some(asked) if asked < server => Err(Error::invalid(format!(
                "sync='{asked}' of table '{}' is more than the server's sync = '{server}': leave it out, or raise the \
                 server's setting",
                definition.name
            ))),
            _ => Ok(()),
        }
    }

    /// A pq table with the queues before its webhook, as one unit; the queues first, since the table names them.
    fn create_with(&mut self, pq: Definition, queues: Vec<Definition>) -> Result<Reply> {
        let catalog = &self.state.catalog;
        if catalog.len() + queues.len() + 1 > TABLES_MAX {
            return Err(Error::Limit {
                what: "tables",
                max: TABLES_MAX as u64,
            });
        }
        let reply = created(&pq);
        let definitions = queues.into_iter().chain([pq]);
        let definitions = definitions.map(Box::new);
        let numbers = (catalog.highest + 1..).map(TableId);
        let records = numbers.zip(definitions);
        let records = records.map(|(table, definition)| {
            Record::Catalog(CatalogRecord::Create { table, definition })
        });
        self.commit(Decision::of(Record::Many(records.collect()), reply))
    }

    pub(super) fn drop_tables(&mut self, tables: Vec<String>, if_exists: bool) -> Result<Reply> {
        if tables.len() > DROPPED_TABLES_MAX {
            return Err(Error::Limit {
                what: "tables in one DROP",
                max: DROPPED_TABLES_MAX as u64,
            });
        }
        let mut names: Vec<String> = Vec::with_capacity(tables.len());
        for name in tables {
            match self.state.catalog.find(&name) {
                Err(Error::NoSuchTable(_)) if if_exists => continue,
                found => found?,
            };
            names.push(name.to_lowercase());
        }
        let mut dropped: Vec<TableId> = Vec::new();
        for name in self.state.catalog.drop_order(names)? {
            for table in self.dropped_with(self.state.catalog.find(&name)?) {
                if !dropped.contains(&table) {
                    dropped.push(table);
                }
            }
        }
        let records = dropped
            .iter()
            .map(|&table| Record::Catalog(CatalogRecord::Drop { table }));
        let Some(record) = Record::unit(records) else {
            return Ok(Reply::done());
        };
        let position = self.admit(&record, true)?;
        for &table in &dropped {
            self.sessions
                .forget_queue(&mut self.state, table, &mut self.outbox);
        }
        self.apply(&record, position, Prepared::default())?;
        Ok(Reply::done())
    }

    /// A table and the tables that are dropped with it: of a pq table with a webhook its queue of hits, and its dead-letter
    /// queue if that is empty.
    fn dropped_with(&self, table: TableId) -> Vec<TableId> {
        let state = &self.state;
        let mut dropped = vec![table];
        let definition = state.catalog.get(table);
        if let Some(webhook) = definition.and_then(|definition| Webhook::of(definition)) {
            dropped.extend(state.catalog.find(&webhook.queue));
            let dead = state.catalog.find(&webhook.dead).ok();
            let is_empty = |dead: &TableId| {
                let queue = state.queues.get(dead);
                queue.is_some_and(|queue| queue.backlog.is_empty())
            };
            dropped.extend(dead.filter(is_empty));
        }
        dropped
    }

    /// All of them or none: each member is applied before the next is decided, and taken back if a later one fails.
    /// `made`: rows of their INSERTs.
    pub(super) fn many(
        &mut self,
        session: SessionId,
        members: Vec<Write>,
        mut made: impl Iterator<Item = Option<MadeRows>>,
    ) -> Result<Reply> {
        if members.len() > MANY_COMMANDS_MAX {
            return Err(Error::Limit {
                what: "statements in one",
                max: MANY_COMMANDS_MAX as u64,
            });
        }
        let members = members.into_iter().map(|member| {
            let made = member.to_make().and_then(|_| made.next().flatten());
            (member, made)
        });
        let decide = |engine: &mut Engine, (member, made)| {
            engine.work.made = made;
            engine.decide_write(session, member, None)
        };
        match self.unit(members.collect(), decide, None)? {
            Unit::Stored(replies) => Ok(Reply::Many(replies)),
            Unit::Unplanned => Err(Error::internal("a member without its plan")),
        }
    }

    /// Decides and applies members, then the records of `last`, which nothing refuses, as one record. Takes all back where a member is
    /// refused, whose error it gives, or answered with [`Reply::Plan`].
    pub(super) fn unit<M>(
        &mut self,
        members: Vec<M>,
        decide: impl Fn(&mut Engine, M) -> Result<Decision>,
        last: Option<(Vec<Record>, SyncMode)>,
    ) -> Result<Unit> {
        let mut undo = Undo::default();
        let (before, counted) = (self.state.position, self.status);
        match self.unit_members(members, decide, last, &mut undo) {
            Ok(Unit::Stored(replies)) => {
                undo.keep(&mut self.state);
                self.wake();
                Ok(Unit::Stored(replies))
            }
            Ok(Unit::Unplanned) => {
                self.undo_members(undo, before, counted)?;
                Ok(Unit::Unplanned)
            }
            Err(error) if is_fatal(&error) => Err(error),
            Err(error) => {
                self.undo_members(undo, before, counted)?;
                Err(error)
            }
        }
    }

    /// Restores the state, the position and the counters of before the members that `undo` has noted.
    pub(super) fn undo_members(
        &mut self,
        undo: Undo,
        position: u64,
        counted: EngineStatus,
    ) -> Result<()> {
        let undone = undo.run(&mut self.state);
        undone.map_err(|error| Error::Poisoned {
            why: error.to_string(),
        })?;
        self.state.position = position;
        self.status = counted;
        Ok(())
    }

    /// Applies a member that is decided, and gives its record. Nothing is admitted yet.
    pub(super) fn apply_part(
        &mut self,
        decision: Decision,
        position: u64,
        undo: &mut Undo,
    ) -> Result<Option<Record>> {
        let Some(record) = decision.record else {
            return Ok(None);
        };
        undo.note(&mut self.state, &record);
        if let Some(counting) = &decision.prepared.counting {
            undo.note_counts(counting);
        }
        self.apply(&record, position, decision.prepared)?;
        Ok(Some(record))
    }

    fn unit_members<M>(
        &mut self,
        members: Vec<M>,
        decide: impl Fn(&mut Engine, M) -> Result<Decision>,
        last: Option<(Vec<Record>, SyncMode)>,
        undo: &mut Undo,
    ) -> Result<Unit> {
        let position = self.state.position + 1;
        let (mut records, mut replies) = (Vec::new(), Vec::new());
        let (last, mode) = last.unzip();
        let last = last.unwrap_or_default();
        let is_message = |record: &Record| matches!(record, Record::Messages(_));
        let mut gives_room = !last.iter().any(is_message);
        for (index, member) in members.into_iter().enumerate() {
            let decided = decide(self, member);
            // A step of COMMIT names its statement itself, or is none.
            let in_many = |error| match error {
                Error::InMany { .. } | Error::Conflict { .. } => error,
                error => Error::InMany {
                    index,
                    error: Box::new(error),
                },
            };
            let mut decision = decided.map_err(in_many)?;
            if matches!(decision.reply, Reply::Plan(_)) {
                return Ok(Unit::Unplanned);
            }
            replies.push(std::mem::replace(&mut decision.reply, Reply::done()));
            let gives = decision.gives_room;
            match self.apply_part(decision, position, undo)? {
                None => continue,
                Some(Record::Many(parts)) => records.extend(parts),
                Some(single) => records.push(single),
            }
            gives_room &= gives;
        }
        let of_tables = records.iter().map(|record| self.sync_mode(record)).min();
        let Some(mode) = of_tables.into_iter().chain(mode).min() else {
            return Ok(Unit::Stored(replies));
        };
        records.extend(last.iter().cloned());
        self.state.position = position - 1;
        let admitted = self.admit_with(&Record::Many(records), gives_room, mode)?;
        assert_eq!(admitted, position, "a unit is one record");
        self.state.position = position;
        // Last, since nothing takes them back.
        for record in last {
            self.apply(&record, position, Prepared::default())?;
        }
        Ok(Unit::Stored(replies))
    }
}

/// What became of a unit that was not refused.
pub(super) enum Unit {
    /// It is one record. With the replies of its members.
    Stored(Vec<Reply>),
    /// It has a member whose condition a reader must work out. Nothing of it is stored.
    Unplanned,
}

/// The answer to CREATE TABLE.
fn created(definition: &Definition) -> Reply {
    Reply::Done {
        affected: 0,
        last_id: 0,
        ids: Vec::new(),
        warnings: warnings(definition),
    }
}
