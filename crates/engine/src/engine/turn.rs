//! One turn of the engine's thread: [`Engine::step`].

use journal::Position;

use super::{Engine, Frame};
use crate::catalog::{TableId, complete};
use crate::command::{Command, Definition, Envelope, Kind, Now, Reply, SessionId};
use crate::decide::delete::{Delete, delete};
use crate::decide::insert::{Insert, insert};
use crate::decide::read::read;
use crate::decide::{Circumstances, Decision};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::{MANY_COMMANDS_MAX, RECORD_BYTES_MAX, WAIT_US_MAX};
use crate::record::Record;
use crate::sessions::SessionCounts;
use crate::state::{Prepared, create_index, table_dir};
use crate::table::queue::Waiter;
use crate::undo::Undo;

/// What a frame takes beside its records, and each record beside its bytes: more than the journal needs.
const FRAME_OVERHEAD_BYTES: u64 = 16 << 10;
const RECORD_OVERHEAD_BYTES: u64 = 32;

impl Engine {
    /// One batch: every command decided and applied in order, one frame of the journal, one sync; then readers see it
    /// and replies are sent. The only way state changes. An empty batch ends waits whose time is over and takes in
    /// what background work has finished.
    ///
    /// # Errors
    /// `Poisoned` (or what failed) once state and disk may differ; every reply of the batch then had that error, and
    /// so has every later one.
    pub fn step(&mut self, batch: Vec<Envelope>, now: Now) -> Result<()> {
        self.now = now;
        if let Some(why) = &self.poisoned {
            let error = Error::Poisoned { why: why.clone() };
            for envelope in batch {
                (envelope.reply)(Err(error.clone()));
            }
            return Err(error);
        }
        let outcome = self.turn(batch);
        if let Err(error) = &outcome {
            self.poison(error);
        }
        self.publish_status();
        outcome
    }

    /// Nobody is answered OK any more, those who wait included.
    fn poison(&mut self, error: &Error) {
        let why = error.to_string();
        self.sessions.end_waits(&mut self.state, &mut self.outbox);
        let replies = self.outbox.drain(..).map(|(reply, _)| reply);
        for reply in replies.chain(self.checkpoint_replies.drain(..)) {
            reply(Err(Error::Poisoned { why: why.clone() }));
        }
        self.poisoned = Some(why);
    }

    fn turn(&mut self, batch: Vec<Envelope>) -> Result<()> {
        self.status.batches_total += 1;
        self.frame.rows = 0;
        self.take_finished(false)?;
        self.count_sessions(|sessions, state, outbox, counts, now| {
            sessions.expire(state, now.steady_us, outbox, counts);
        });
        let mut batch = batch.into_iter();
        while let Some(envelope) = batch.next() {
            if let Err(error) = self.take(envelope) {
                let unheard = batch.map(|envelope| (envelope.reply, Err(error.clone())));
                self.outbox.extend(unheard);
                return Err(error);
            }
        }
        self.sync()?;
        self.publish();
        for (reply, outcome) in self.outbox.drain(..) {
            reply(outcome);
        }
        let maintained = self.maintain();
        for reply in self.checkpoint_replies.drain(..) {
            reply(maintained.clone().map(|()| Reply::done()));
        }
        maintained.or_else(|error| if is_fatal(&error) { Err(error) } else { Ok(()) })
    }

    /// One command of a batch. An error here ends the engine; a refusal is an answer.
    fn take(&mut self, envelope: Envelope) -> Result<()> {
        self.status.commands_total += 1;
        let Envelope {
            session,
            command,
            reply,
        } = envelope;
        match command {
            Command::Checkpoint | Command::Shutdown => {
                self.checkpoint_replies.push(reply);
                Ok(())
            }
            Command::QueueWait { table, timeout_us } => {
                self.queue_wait(session, &table, timeout_us, reply)
            }
            command => {
                let outcome = self.execute(session, command);
                self.answer(reply, outcome)
            }
        }
    }

    /// Puts an answer aside until the sync; an error that is none of the caller's ends the engine.
    fn answer(&mut self, reply: crate::Answering, outcome: Result<Reply>) -> Result<()> {
        self.status.commands_refused_total += u64::from(outcome.is_err());
        let fatal = outcome
            .as_ref()
            .err()
            .filter(|error| is_fatal(error))
            .cloned();
        self.outbox.push((reply, outcome));
        fatal.map_or(Ok(()), Err)
    }

    fn execute(&mut self, session: SessionId, command: Command) -> Result<Reply> {
        let owner = self.sessions.owner(session);
        match command {
            Command::CreateTable {
                definition,
                if_not_exists,
            } => self.create(definition, if_not_exists),
            Command::DropTable { table, if_exists } => self.drop_table(&table, if_exists),
            Command::Insert { .. } | Command::Delete { .. } => {
                let decision = self.decide_write(session, command)?;
                self.commit(decision)
            }
            Command::Many(members) => self.many(session, members),
            Command::Read { select } => read(&self.state, owner, &select).map(Reply::Rows),
            Command::QueueEnd => {
                self.end_owned(session)?;
                self.sessions.leave(&mut self.state, session);
                Ok(Reply::done())
            }
            Command::QueueAbort => {
                if owner.is_none() {
                    return Err(Error::NotOwner);
                }
                self.give_back(session);
                Ok(Reply::done())
            }
            Command::SessionClosed => {
                self.sessions
                    .stop_waiting(&mut self.state, session, &mut self.outbox);
                self.give_back(session);
                Ok(Reply::done())
            }
            Command::QueueWait { .. } | Command::Checkpoint | Command::Shutdown => Err(
                Error::internal("a command that is no part of a batch's records"),
            ),
        }
    }

    fn circumstances(&self) -> Circumstances {
        let taken =
            self.status.tail_bytes + self.status.queue_bytes + self.frame.bytes.len() as u64;
        Circumstances {
            now: self.now,
            memory_left: self.options.memory_bytes.saturating_sub(taken),
        }
    }

    fn decide_write(&mut self, session: SessionId, command: Command) -> Result<Decision> {
        let around = self.circumstances();
        match command {
            Command::Insert {
                table,
                columns,
                rows,
                replace,
            } => {
                let asked = Insert {
                    table,
                    columns,
                    rows,
                    replace,
                };
                insert(&mut self.state, &mut self.work, around, asked)
            }
            Command::Delete {
                table,
                matching,
                filter,
                limit,
            } => {
                let asked = Delete {
                    table,
                    matching,
                    filter,
                    limit,
                };
                delete(&mut self.state, self.sessions.owner(session), &asked)
            }
            _ => Err(Error::invalid("only inserts and deletes go together")),
        }
    }

    /// Makes a decision part of the batch: its record goes into the frame and is applied. The last line that may
    /// refuse is the one that finds room for the record.
    fn commit(&mut self, decision: Decision) -> Result<Reply> {
        let Some(record) = decision.record else {
            return Ok(decision.reply);
        };
        let position = self.admit(&record, decision.gives_room)?;
        self.apply(&record, position, decision.prepared)?;
        self.count_sessions(|sessions, state, outbox, counts, _| {
            sessions.wake(state, outbox, counts)
        });
        Ok(decision.reply)
    }

    fn apply(&mut self, record: &Record, position: u64, mut prepared: Prepared) -> Result<()> {
        if let Some(hook) = &self.options.on_apply {
            hook(position);
        }
        self.count_record(record);
        // From here on nothing may fail but the disk under a segment: then the engine ends.
        let applied = self.state.apply(record, position, &mut prepared);
        if self.work.words.len() < prepared.words.len() {
            self.work.words = prepared.words;
        }
        applied.map(|_| ()).map_err(|error| Error::Poisoned {
            why: error.to_string(),
        })
    }

    /// Takes a record into the batch's frame, and gives its position. Where the journal may have no room left, the
    /// record is appended at once, before it is applied, so that a full disk refuses it with nothing changed.
    fn admit(&mut self, record: &Record, gives_room: bool) -> Result<u64> {
        let start = self.frame.bytes.len();
        record.encode(&mut self.frame.bytes);
        let bytes = self.frame.bytes.len() - start;
        if bytes > RECORD_BYTES_MAX {
            self.frame.bytes.truncate(start);
            return Err(Error::Limit {
                what: "bytes of a statement",
                max: RECORD_BYTES_MAX as u64,
            });
        }
        self.frame.ends.push(self.frame.bytes.len());
        if !self.has_room() {
            self.append_alone(start, gives_room)?;
        }
        self.frame.rows += record.rows();
        self.status.records_total += 1;
        self.status.record_bytes_total += bytes as u64;
        Ok(self.state.position + 1)
    }

    /// Whether the frame as it is now surely fits. A frame is written into one segment, so of the room in the current
    /// and the prepared one the larger half counts.
    fn has_room(&self) -> bool {
        let room = self
            .journal
            .status()
            .room_bytes
            .saturating_sub(self.reserve_bytes());
        let records = self.frame.ends.len() as u64 * RECORD_OVERHEAD_BYTES;
        self.frame.bytes.len() as u64 + records + FRAME_OVERHEAD_BYTES <= room / 2
    }

    fn append_alone(&mut self, start: usize, gives_room: bool) -> Result<()> {
        let record = self.frame.bytes.split_off(start);
        self.frame.ends.pop();
        self.append_frame()?;
        let appended = if gives_room {
            self.journal.append_reserved(&[&record])
        } else {
            self.journal.append(&[&record])
        };
        let appended = appended.map_err(failure::of_journal);
        self.journal_full = match &appended {
            Ok(_) => self.journal_full && gives_room,
            Err(error) => *error == Error::DiskFull,
        };
        appended?;
        self.frame.appended += 1;
        Ok(())
    }

    /// Appends what the frame holds; it was admitted, so a refusal ends the engine.
    fn append_frame(&mut self) -> Result<()> {
        if self.frame.ends.is_empty() {
            return Ok(());
        }
        let Frame {
            bytes,
            ends,
            appended,
            ..
        } = &mut self.frame;
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let records: Vec<&[u8]> = starts
            .zip(ends.iter().copied())
            .filter_map(|(start, end)| bytes.get(start..end))
            .collect();
        let last = self.journal.append(&records);
        let last = last.map_err(|error| Error::Poisoned {
            why: error.to_string(),
        })?;
        *appended += ends.len() as u64;
        bytes.clear();
        ends.clear();
        assert_eq!(
            last.0, self.state.position,
            "records are applied at the positions they are appended at"
        );
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.append_frame()?;
        if std::mem::take(&mut self.frame.appended) == 0 {
            return Ok(());
        }
        let synced = self.journal.sync();
        let synced = synced.map_err(|error| Error::Poisoned {
            why: error.to_string(),
        })?;
        if synced < Position(self.state.position) {
            return Err(Error::Poisoned {
                why: format!("synced up to {synced} only"),
            });
        }
        self.status.rows_synced_total += self.frame.rows;
        Ok(())
    }

    fn count_record(&mut self, record: &Record) {
        match record {
            Record::Documents(documents) => {
                self.status.documents_total += documents.documents.len() as u64;
                let rows = documents
                    .hits
                    .iter()
                    .map(|hits| hits.lists.entries.len() as u64);
                self.status.queue_put_total += rows.sum::<u64>();
            }
            Record::DeleteDocuments { ids, .. } => {
                self.status.documents_deleted_total += ids.len() as u64
            }
            Record::Rows { rows, .. } => self.status.queue_put_total += rows.len() as u64,
            Record::RemoveRows { rows, .. } => self.status.queue_ended_total += rows.len() as u64,
            Record::Many(members) => members.iter().for_each(|member| self.count_record(member)),
            Record::Create { .. }
            | Record::Drop { .. }
            | Record::Queries { .. }
            | Record::DeleteQueries { .. } => {}
        }
    }

    fn create(&mut self, definition: Definition, if_not_exists: bool) -> Result<Reply> {
        let definition = match complete(&self.state.catalog, definition) {
            Err(Error::TableExists(_)) if if_not_exists => return Ok(Reply::done()),
            checked => checked?,
        };
        let table = TableId(self.state.catalog.highest + 1);
        let made = match definition.kind {
            Kind::Search => Some(create_index(&self.state.disk, table, &definition)?),
            Kind::Percolate { .. } | Kind::Queue => None,
        };
        let mut decision = Decision::of(Record::Create { table, definition }, Reply::done());
        decision.prepared.table = made;
        let done = self.commit(decision);
        if done.is_err() {
            self.unused.push(table_dir(table));
        }
        done
    }

    fn drop_table(&mut self, name: &str, if_exists: bool) -> Result<Reply> {
        let table = match self.state.catalog.find(name) {
            Err(Error::NoSuchTable(_)) if if_exists => return Ok(Reply::done()),
            found => found?,
        };
        self.state.catalog.check_unused(&name.to_lowercase())?;
        let record = Record::Drop { table };
        let position = self.admit(&record, true)?;
        self.sessions
            .forget_queue(&mut self.state, table, &mut self.outbox);
        self.apply(&record, position, Prepared::default())?;
        self.unused.push(table_dir(table));
        Ok(Reply::done())
    }

    /// All of them or none: each member is applied before the next is decided, and taken back if a later one fails.
    fn many(&mut self, session: SessionId, members: Vec<Command>) -> Result<Reply> {
        if members.len() > MANY_COMMANDS_MAX {
            return Err(Error::Limit {
                what: "statements in one",
                max: MANY_COMMANDS_MAX as u64,
            });
        }
        let mut undo = Undo::default();
        let (before, counted) = (self.state.position, self.status);
        match self.many_members(session, members, &mut undo) {
            Ok(replies) => {
                self.count_sessions(|sessions, state, outbox, counts, _| {
                    sessions.wake(state, outbox, counts);
                });
                Ok(Reply::Many(replies))
            }
            Err(error) if is_fatal(&error) => Err(error),
            Err(error) => {
                let undone = undo.run(&mut self.state);
                undone.map_err(|error| Error::Poisoned {
                    why: error.to_string(),
                })?;
                self.state.position = before;
                self.status = counted;
                Err(error)
            }
        }
    }

    fn many_members(
        &mut self,
        session: SessionId,
        members: Vec<Command>,
        undo: &mut Undo,
    ) -> Result<Vec<Reply>> {
        let position = self.state.position + 1;
        let (mut records, mut replies) = (Vec::new(), Vec::new());
        let mut gives_room = true;
        for (index, member) in members.into_iter().enumerate() {
            let decided = self.decide_write(session, member);
            let in_many = |error| Error::InMany {
                index,
                error: Box::new(error),
            };
            let decision = decided.map_err(in_many)?;
            replies.push(decision.reply);
            let Some(record) = decision.record else {
                continue;
            };
            gives_room &= decision.gives_room;
            undo.note(&mut self.state, &record);
            self.apply(&record, position, decision.prepared)?;
            records.push(record);
        }
        if !records.is_empty() {
            self.state.position = position - 1;
            let admitted = self.admit(&Record::Many(records), gives_room)?;
            assert_eq!(admitted, position, "a unit is one record");
            self.state.position = position;
        }
        Ok(replies)
    }

    fn queue_wait(
        &mut self,
        session: SessionId,
        table: &str,
        timeout_us: u64,
        reply: crate::Answering,
    ) -> Result<()> {
        let found = match self.waitable(session, table, timeout_us) {
            Ok(found) => found,
            Err(error) => return self.answer(reply, Err(error)),
        };
        self.sessions.enter(&mut self.state, session);
        if self.sessions.take(&mut self.state, session, found) {
            self.status.queue_taken_total += 1;
            return self.answer(reply, Ok(Reply::Waited(true)));
        }
        if timeout_us == 0 {
            self.status.queue_timeouts_total += 1;
            return self.answer(reply, Ok(Reply::Waited(false)));
        }
        let deadline_us = self.now.steady_us.saturating_add(timeout_us);
        let waiter = Waiter {
            session,
            deadline_us,
            reply,
        };
        self.sessions.wait(&mut self.state, found, waiter);
        Ok(())
    }

    /// Checks a `queue_wait` and ends the row that the session owns.
    fn waitable(&mut self, session: SessionId, table: &str, timeout_us: u64) -> Result<TableId> {
        let found = self.state.catalog.find(table)?;
        if !self.state.queues.contains_key(&found) {
            return Err(Error::invalid(format!(
                "'{}' is not a queue",
                table.to_lowercase()
            )));
        }
        if timeout_us > WAIT_US_MAX {
            return Err(Error::Limit {
                what: "seconds of a wait",
                max: WAIT_US_MAX / 1_000_000,
            });
        }
        self.sessions
            .stop_waiting(&mut self.state, session, &mut self.outbox);
        self.end_owned(session)?;
        Ok(found)
    }

    /// Deletes the row that a session owns, if it does.
    fn end_owned(&mut self, session: SessionId) -> Result<()> {
        if let Some((table, row)) = self.sessions.owned_row(&self.state, session) {
            let record = Record::RemoveRows {
                table,
                rows: vec![row],
            };
            let mut decision = Decision::of(record, Reply::done());
            decision.gives_room = true;
            self.commit(decision)?;
        }
        Ok(())
    }

    fn give_back(&mut self, session: SessionId) {
        let went_back = self.sessions.abort(&mut self.state, session);
        self.status.queue_aborted_total += u64::from(went_back);
        self.count_sessions(|sessions, state, outbox, counts, _| {
            sessions.wake(state, outbox, counts)
        });
    }

    fn count_sessions(
        &mut self,
        act: impl FnOnce(
            &mut crate::sessions::Sessions,
            &mut crate::state::State,
            &mut crate::sessions::Outbox,
            &mut SessionCounts,
            Now,
        ),
    ) {
        let mut counts = SessionCounts::default();
        act(
            &mut self.sessions,
            &mut self.state,
            &mut self.outbox,
            &mut counts,
            self.now,
        );
        self.status.queue_taken_total += counts.taken;
        self.status.queue_timeouts_total += counts.timeouts;
    }
}

/// After these the engine cannot go on: memory and disk may differ.
fn is_fatal(error: &Error) -> bool {
    matches!(error, Error::Poisoned { .. })
}
