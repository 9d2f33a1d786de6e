//! `queue_wait`, `QUEUE_NEXT`, `queue_end`, `queue_abort`, and sessions that go.

use super::Engine;
use crate::Answering;
use crate::command::{Hold, Now, QueueNext, Reply, SessionId, WaitSource};
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::limits::{TAKEN_ROWS_MAX, WAIT_SOURCES_MAX, WAIT_US_MAX};
use crate::record::Record;
use crate::sessions::{Outbox, SessionCounts, Sessions, Stand, Waiter, Want, count_timeout};
use crate::state::State;

impl Engine {
    /// `queue_wait`: acknowledges what the session owns and takes the next row, or waits for it.
    pub(super) fn queue_wait(
        &mut self,
        session: SessionId,
        sources: &[WaitSource],
        timeout_us: u64,
        reply: Answering,
    ) -> Result<()> {
        match self.stands(sources, timeout_us) {
            Ok(stands) => self.take_or_wait(session, stands, Want::Owner, timeout_us, reply),
            Err(error) => self.answer(reply, Err(error)),
        }
    }

    /// `QUEUE_NEXT`: as `queue_wait`, for several rows, and with their values.
    pub(super) fn queue_next(
        &mut self,
        session: SessionId,
        asked: &QueueNext,
        reply: Answering,
    ) -> Result<()> {
        let stands = check_next(asked).and_then(|()| self.stands(&asked.sources, asked.timeout_us));
        match stands {
            Ok(stands) => {
                let want = Want::Rows(asked.rows);
                self.take_or_wait(session, stands, want, asked.timeout_us, reply)
            }
            Err(error) => self.answer(reply, Err(error)),
        }
    }

    fn take_or_wait(
        &mut self,
        session: SessionId,
        stands: Vec<Stand>,
        want: Want,
        timeout_us: u64,
        reply: Answering,
    ) -> Result<()> {
        self.sessions
            .stop_waiting(&mut self.state, session, &mut self.outbox);
        if let Err(error) = self.end_owned(session) {
            return self.answer(reply, Err(error));
        }
        self.sessions.enter(&mut self.state, session);
        match self.sessions.take(&mut self.state, session, &stands, want) {
            Err(error) => return self.answer(reply, Err(error)),
            Ok(Some(taken)) => {
                self.status.queue_taken_total += 1;
                self.count_immediate(session);
                return self.answer(reply, Ok(taken));
            }
            Ok(None) => {}
        }
        if timeout_us == 0 {
            self.status.queue_timeouts_total += 1;
            count_timeout(&mut self.state, &stands);
            return self.answer(reply, Ok(want.nothing()));
        }
        let waiter = Waiter {
            deadline_us: self.now.steady_us.saturating_add(timeout_us),
            stands,
            want,
            reply,
            ticket: 0,
        };
        self.sessions.wait(&mut self.state, session, waiter);
        Ok(())
    }

    fn count_immediate(&mut self, session: SessionId) {
        let owned = self.sessions.owner(session).and_then(|owned| owned.of());
        if let Some((table, _)) = owned
            && let Some(queue) = self.state.queues.get_mut(&table)
        {
            queue.stats.wait_immediate += 1;
        }
    }

    /// Checks the sources of a wait; changes nothing that anybody sees.
    fn stands(&mut self, sources: &[WaitSource], timeout_us: u64) -> Result<Vec<Stand>> {
        if timeout_us > WAIT_US_MAX {
            return Err(Error::Limit {
                what: "seconds of a wait",
                max: WAIT_US_MAX / 1_000_000,
            });
        }
        if sources.is_empty() {
            return Err(Error::invalid("queue_wait() needs a queue"));
        }
        if sources.len() > WAIT_SOURCES_MAX {
            return Err(Error::Limit {
                what: "queues of a wait",
                max: WAIT_SOURCES_MAX as u64,
            });
        }
        sources.iter().map(|source| self.stand(source)).collect()
    }

    fn stand(&mut self, source: &WaitSource) -> Result<Stand> {
        let table = self.state.catalog.find(&source.table)?;
        let Some(queue) = self.state.queues.get_mut(&table) else {
            return Err(not_a_queue(&source.table));
        };
        let line = queue.line(source.condition.as_ref())?;
        Ok(Stand { table, line })
    }

    /// Deletes the rows that a session owns, if it does.
    pub(super) fn end_owned(&mut self, session: SessionId) -> Result<()> {
        if let Some((table, rows)) = self.sessions.owned_rows(&self.state, session) {
            let record = Record::RemoveRows { table, rows };
            let mut decision = Decision::of(record, Reply::done());
            decision.gives_room = true;
            self.commit(decision)?;
        }
        Ok(())
    }

    /// `queue_abort`, or the session is gone: what it owned goes back.
    pub(super) fn give_back(&mut self, session: SessionId, is_closed: bool) {
        if let Some((table, rows)) = self.sessions.abort(&mut self.state, session) {
            self.status.queue_aborted_total += rows;
            if let Some(queue) = self.state.queues.get_mut(&table) {
                match is_closed {
                    true => queue.stats.restored_by_close += rows,
                    false => queue.stats.restored_by_abort += rows,
                }
            }
        }
        self.wake();
    }

    /// Serves those who wait for what has become free.
    pub(super) fn wake(&mut self) {
        self.count_sessions(|sessions, state, outbox, counts, _| {
            sessions.wake(state, outbox, counts)
        });
    }

    pub(super) fn count_sessions(
        &mut self,
        act: impl FnOnce(&mut Sessions, &mut State, &mut Outbox, &mut SessionCounts, Now),
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

/// What is asked of a table that is no queue.
pub(super) fn not_a_queue(table: &str) -> Error {
    Error::invalid(format!("'{}' is not a queue", table.to_lowercase()))
}

fn check_next(asked: &QueueNext) -> Result<()> {
    let not_yet = |what: &str| {
        Err(Error::NotYet {
            what: what.to_owned(),
        })
    };
    match asked {
        QueueNext { group: Some(_), .. } => not_yet("consumer groups"),
        QueueNext {
            hold: Hold::Lease { .. },
            ..
        } => not_yet("leases"),
        QueueNext { done, .. } if !done.is_empty() => not_yet("receipts"),
        QueueNext { rows: 0, .. } => Err(Error::invalid("QUEUE_NEXT of no rows")),
        QueueNext { rows, .. } if *rows > TAKEN_ROWS_MAX => Err(Error::Limit {
            what: "rows taken at once",
            max: TAKEN_ROWS_MAX.into(),
        }),
        _ => Ok(()),
    }
}
