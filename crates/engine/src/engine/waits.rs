//! `queue_wait`, `queue_end`, `queue_abort`, and sessions that go.

use super::Engine;
use crate::Answering;
use crate::catalog::TableId;
use crate::command::{Now, Reply, SessionId, WaitSource};
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::limits::WAIT_US_MAX;
use crate::record::Record;
use crate::sessions::{Outbox, SessionCounts, Sessions};
use crate::state::State;
use crate::table::queue::Waiter;

impl Engine {
    pub(super) fn queue_wait(
        &mut self,
        session: SessionId,
        sources: &[WaitSource],
        timeout_us: u64,
        reply: Answering,
    ) -> Result<()> {
        let [
            WaitSource {
                table,
                condition: None,
            },
        ] = sources
        else {
            let what = "queue_wait() with several queues or a condition".to_owned();
            return self.answer(reply, Err(Error::NotYet { what }));
        };
        let found = match self.waitable(session, table, timeout_us) {
            Ok(found) => found,
            Err(error) => return self.answer(reply, Err(error)),
        };
        self.sessions.enter(&mut self.state, session);
        if self.sessions.take(&mut self.state, session, found) {
            self.status.queue_taken_total += 1;
            return self.answer(reply, Ok(Reply::Waited(1)));
        }
        if timeout_us == 0 {
            self.status.queue_timeouts_total += 1;
            return self.answer(reply, Ok(Reply::Waited(0)));
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
    pub(super) fn end_owned(&mut self, session: SessionId) -> Result<()> {
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

    pub(super) fn give_back(&mut self, session: SessionId) {
        let went_back = self.sessions.abort(&mut self.state, session);
        self.status.queue_aborted_total += u64::from(went_back);
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
