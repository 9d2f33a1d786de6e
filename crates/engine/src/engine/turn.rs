//! One turn of the engine's thread: [`Engine::step`]. The head of `engine.rs` has an example.
//!
//! A turn first installs the results of background jobs, ends waits whose time is over, and returns rows whose lease is over.
//! Then it takes the commands of the batch in order. `settle` appends their records, and syncs them where a table of the batch has
//! `sync='always'` or a promised sync is due. `publish` shows the records to readers, and the replies go.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use disk::Stopwatch;
use index::{Control, Memory};
use relation::request::Select;

use super::read_only::refused;
use super::{Engine, is_fatal};
use crate::Answering;
use crate::command::{Command, Envelope, Now, Reply, SessionId, Write};
use crate::decide::read::{read, source};
use crate::error::{Error, Result};
use crate::jobs::Background;
use crate::limits::ANSWER_BYTES_MAX;

/// A turn that takes longer is counted as a stall. Microseconds.
const STALL_US: u64 = 10_000;
/// Time after which a turn looks at the lock of the data directory again. Microseconds.
const LOCK_CHECK_US: u64 = 1_000_000;

impl Engine {
    /// One batch: every command decided and applied in order, one frame of the journal, one sync where its tables ask
    /// for one; then readers see it and replies are sent. The only way state changes. An empty batch ends waits whose time
    /// is over, syncs what is due, and takes in what background work has finished. A batch with [`Command::Shutdown`] is the
    /// last: sessions that wait, and every later command, are answered `Stopped`.
    ///
    /// # Errors
    /// `Poisoned` (or what failed) once state and disk may differ; every reply of the batch then had that error, and
    /// so has every later one.
    pub fn step(&mut self, batch: Vec<Envelope>, now: Now) -> Result<()> {
        self.now = now;
        if self.poisoned.is_none()
            && now.steady_us >= self.lock_checked_us.saturating_add(LOCK_CHECK_US)
        {
            self.check_lock()
                .unwrap_or_else(|error| self.poison(&error));
        }
        if let Some(why) = &self.poisoned {
            let error = Error::Poisoned { why: why.clone() };
            for envelope in batch {
                (envelope.reply)(Err(error.clone()));
            }
            return Err(error);
        }
        if self.has_ended {
            for envelope in batch {
                (envelope.reply)(Err(Error::Stopped));
            }
            return Ok(());
        }
        self.shared
            .turn_since_us
            .store(now.steady_us.max(1), Ordering::Relaxed);
        let stopwatch = Stopwatch::start();
        let commands = batch.len() as u64;
        let outcome = self.turn(batch);
        match &outcome {
            Err(error) => self.poison(error),
            Ok(()) if self.has_ended => self.stop(),
            Ok(()) => {}
        }
        self.count_turn(commands, stopwatch.elapsed_us());
        self.publish_status();
        self.shared.turn_since_us.store(0, Ordering::Relaxed);
        outcome
    }

    /// Whether the data directory is still this process's. Asked before the first command of a second, and before each manifest.
    ///
    /// # Errors
    /// `Poisoned`: it was moved or replaced. What is written by its path now may go to another server's directory.
    pub(super) fn check_lock(&mut self) -> Result<()> {
        self.lock_checked_us = self.now.steady_us;
        let checked = self.lock.check();
        checked.map_err(|error| Error::Poisoned {
            why: format!("the data directory's lock is lost: {error}"),
        })
    }

    fn count_turn(&mut self, commands: u64, turn_us: u64) {
        if commands > 0 {
            self.shared.work.batch_commands.add(commands);
        }
        self.shared.work.turn_us.add(turn_us);
        self.status.stalls_total += u64::from(turn_us > STALL_US);
    }

    /// After an error that ends the engine: ends all waits, answers all replies that are left, and refuses every later command.
    fn poison(&mut self, error: &Error) {
        let why = error.to_string();
        self.sessions.end_waits(&mut self.state, &mut self.outbox);
        self.answer_all(&Error::Poisoned { why: why.clone() });
        self.poisoned = Some(why);
    }

    fn turn(&mut self, batch: Vec<Envelope>) -> Result<()> {
        self.status.batches_total += 1;
        self.work.begin_turn();
        self.take_finished(false)?;
        self.go_on_searching();
        self.count_sessions(|sessions, state, outbox, counts, now| {
            sessions.end_overdue_waits(state, now.steady_us, outbox, counts);
        });
        match self.is_follower {
            true => self.follow()?,
            false => {
                self.end_overdue_transactions()?;
                self.return_due_rows()?;
            }
        }
        let mut batch = batch.into_iter();
        while let Some(envelope) = batch.next() {
            if let Err(error) = self.take(envelope) {
                let unheard = batch.map(|envelope| (envelope.reply, Err(error.clone())));
                self.outbox.extend(unheard);
                return Err(error);
            }
        }
        if !self.is_follower {
            self.go_on_altering()?;
            self.retire_rows()?;
        }
        self.settle()?;
        self.publish();
        // Before the replies: a caller that has its answer finds it counted.
        self.publish_status();
        for (reply, outcome) in self.outbox.drain(..) {
            reply(outcome);
        }
        let maintained = self.maintain();
        for reply in self.checkpoint_replies.drain(..) {
            reply(maintained.clone().map(|()| Reply::done()));
        }
        self.answer_flushes();
        self.start_backups();
        maintained.or_else(|error| if is_fatal(&error) { Err(error) } else { Ok(()) })
    }

    /// One command of a batch. An error here ends the engine; a refusal is an answer.
    pub(super) fn take(&mut self, envelope: Envelope) -> Result<()> {
        self.status.commands_total += 1;
        let Envelope {
            session,
            command,
            interrupt,
            made,
            reply,
        } = envelope;
        if (self.options.read_only || self.is_follower)
            && let Some(outcome) = refused(&command)
        {
            return self.answer(reply, outcome);
        }
        self.work.begin(interrupt);
        let mut made = made.into_iter();
        let is_ending = self.work.stop.load(Ordering::Relaxed);
        match command {
            Command::Checkpoint | Command::Shutdown => {
                self.has_ended |= matches!(command, Command::Shutdown);
                self.checkpoint_replies.push(reply);
                Ok(())
            }
            // The end of a session is not a statement: what its deliveries count is kept.
            Command::SessionClosed => {
                let outcome = self.close_session(session);
                self.answer(reply, outcome)
            }
            _ if is_ending => self.answer(reply, Err(Error::Stopped)),
            Command::Backup { to } => {
                self.backups.asked.push((to, reply));
                Ok(())
            }
            Command::AlterTable { table, changes } => self.alter(&table, &changes, reply),
            Command::Flush { tables } => self.flush(session, &tables, reply),
            Command::Optimize { table } => self.optimize(session, &table, reply),
            Command::QueueWait {
                sources,
                timeout_us,
            } => self.queue_wait(session, &sources, timeout_us, reply),
            Command::QueueNext(asked) => self.queue_next(session, &asked, reply),
            Command::Within(inner) => self.within(session, *inner, made.next().flatten(), reply),
            Command::Series(members) => self.series(session, members, made, reply),
            Command::Many(members) => {
                let outcome = self.many(session, members, made);
                self.answer(reply, outcome)
            }
            command => {
                self.work.made = made.next().flatten();
                let outcome = self.execute(session, command);
                self.answer(reply, outcome)
            }
        }
    }

    /// Puts an answer aside until the sync; an error that is none of the caller's ends the engine.
    pub(super) fn answer(&mut self, reply: Answering, outcome: Result<Reply>) -> Result<()> {
        self.status.commands_refused_total += u64::from(outcome.is_err());
        let fatal = outcome
            .as_ref()
            .err()
            .filter(|error| is_fatal(error))
            .cloned();
        self.outbox.push((reply, outcome));
        fatal.map_or(Ok(()), Err)
    }

    /// A SELECT on a queue or pq table. A long one is answered with a [`Reply::Reading`], which the caller's thread runs; without
    /// background threads it runs here.
    pub(super) fn read(&self, session: SessionId, select: &Select) -> Result<Reply> {
        let is_alone = !matches!(self.options.background, Background::Threads);
        match read(&self.state, self.sessions.owner(session), select)? {
            Reply::Reading(reading) if is_alone => {
                let control = Control {
                    memory: Arc::new(Memory::new(ANSWER_BYTES_MAX)),
                    ..self.work.control()
                };
                reading.run(&control).map(Reply::Rows)
            }
            reply => Ok(reply),
        }
    }

    /// The rows of a queue that a session sees, for another thread.
    pub(super) fn source(&self, session: SessionId, table: &str) -> Result<Reply> {
        let source = source(&self.state, self.sessions.owner(session), table)?;
        Ok(Reply::Source(Arc::new(source)))
    }

    fn execute(&mut self, session: SessionId, command: Command) -> Result<Reply> {
        match command {
            Command::CreateTable {
                definition,
                if_not_exists,
            } => self.create(*definition, if_not_exists),
            Command::DropTable { tables, if_exists } => self.drop_tables(tables, if_exists),
            Command::Write(Write::Insert(insert)) => {
                self.work.check()?;
                self.insert(session, insert)
            }
            Command::Write(write) => {
                let decision = self.decide_by_readers(session, write)?;
                self.commit(decision)
            }
            Command::Commit => self.commit_transaction(session),
            Command::Rollback => self.roll_back(session),
            Command::Load { table, load, step } => {
                self.work.check()?;
                self.load(session, &table, load, step)
            }
            Command::Read { select } => self.read(session, &select),
            Command::Source { table } => self.source(session, &table),
            Command::QueueEnd => self.queue_end(session),
            Command::QueueAbort => self.queue_abort(session),
            Command::Collect {
                messages,
                sync,
                feeds,
            } => self.collect(messages, sync, feeds),
            Command::Collected { upto, cursors } => self.collected(upto, cursors),
            Command::QueueDone { receipts } => self.queue_done(&receipts),
            Command::QueueReturn { receipts, delay_us } => self.queue_return(&receipts, delay_us),
            Command::QueueExtend {
                receipts,
                visible_again_us,
            } => self.queue_extend(&receipts, visible_again_us),
            Command::QueueRowId => self.row_id(session),
            Command::EndWait => Ok(self.end_wait(session)),
            Command::QueueSetSource { sender, mode, row } => {
                self.set_source(session, sender, mode, row)
            }
            Command::QueueCompact { table } => self.queue_compact(&table),
            Command::QueueStats { table } => self.queue_stats(&table),
            Command::Transactions => Ok(self.open_transactions()),
            Command::QueuePause {
                table,
                group,
                paused,
            } => self.pause(&table, group.as_deref(), paused),
            Command::QueuePurge { table } => self.purge(&table),
            Command::Truncate { table } => self.truncate(&table),
            Command::RenameTables { renames } => self.rename_tables(&renames),
            Command::AlterLocals { table, locals } => self.alter_locals(&table, &locals),
            Command::Within(_)
            | Command::Look { .. }
            | Command::Series(_)
            | Command::Many(_)
            | Command::QueueWait { .. }
            | Command::QueueNext(_)
            | Command::AlterTable { .. }
            | Command::SessionClosed
            | Command::Backup { .. }
            | Command::Flush { .. }
            | Command::Optimize { .. }
            | Command::Checkpoint
            | Command::Shutdown => Err(Error::internal("`take` carries it out, or `within`")),
        }
    }

    fn queue_end(&mut self, session: SessionId) -> Result<Reply> {
        self.end_owned(session, &[])?;
        self.sessions.leave(&mut self.state, session);
        Ok(Reply::done())
    }

    fn queue_abort(&mut self, session: SessionId) -> Result<Reply> {
        if self.sessions.owner(session).is_none() {
            return Err(Error::NotOwner {
                function: "queue_abort",
            });
        }
        self.give_back(session, false)?;
        Ok(Reply::done())
    }

    fn open_transactions(&self) -> Reply {
        Reply::Transactions(self.sessions.transactions.list(self.now.steady_us))
    }

    fn end_wait(&mut self, session: SessionId) -> Reply {
        let error = Error::Interrupted;
        self.sessions
            .fail_wait(&mut self.state, session, error, &mut self.outbox);
        self.flushes.end(session);
        Reply::done()
    }

    /// Rows that the session owned come back; a wait of it ends.
    fn close_session(&mut self, session: SessionId) -> Result<Reply> {
        self.sessions
            .stop_waiting(&mut self.state, session, &mut self.outbox);
        self.roll_back(session)?;
        self.give_back(session, true)?;
        self.sessions.relayed(session);
        Ok(Reply::done())
    }
}
