//! `queue_wait`, `QUEUE_NEXT`, `queue_abort`, and the end of a session.
//!
//! A wait either takes rows at once, or ends without rows if its timeout is 0, or becomes a `Waiter` of its session. A waiter is
//! served by `wake` when a row becomes free, or ended by the turn that finds its deadline passed.

use super::Engine;
use crate::Answering;
use crate::catalog::TableId;
use crate::command::{Hold, Now, QueueNext, Receipt, Reply, SessionId, WaitSource};
use crate::error::{Error, Result};
use crate::limits::{CONDITION_UNITS_MAX, TAKEN_ROWS_MAX, WAIT_SOURCES_MAX, WAIT_US_MAX};
use crate::sessions::{Outbox, SessionCounts, Sessions, Stand, Waiter, Want, count_timeout};
use crate::state::State;

/// A wait that is checked: its queues, groups and conditions exist.
struct Ask<'a> {
    session: SessionId,
    stands: Vec<Stand>,
    want: Want,
    timeout_us: u64,
    done: &'a [Receipt],
}

/// Estimated memory of a leased row: its entries in two trees. Bytes.
const HELD_BYTES: u64 = 128;

impl Engine {
    /// `queue_wait`: ends the row that the session owns, then takes the next row or waits for one.
    pub(super) fn queue_wait(
        &mut self,
        session: SessionId,
        sources: &[WaitSource],
        timeout_us: u64,
        reply: Answering,
    ) -> Result<()> {
        let ask = self.stands(sources, None, timeout_us).map(|stands| Ask {
            session,
            stands,
            want: Want::Owner,
            timeout_us,
            done: &[],
        });
        self.take_or_wait(ask, reply)
    }

    /// `QUEUE_NEXT`: ends the deliveries of `done`, then takes up to `rows` rows with their values, or waits for the first.
    pub(super) fn queue_next(
        &mut self,
        session: SessionId,
        asked: &QueueNext,
        reply: Answering,
    ) -> Result<()> {
        let group = asked.group.as_deref();
        let stands = check_rows(asked.rows)
            .and_then(|()| self.check_held(asked))
            .and_then(|()| self.stands(&asked.sources, group, asked.timeout_us));
        let ask = stands.map(|stands| Ask {
            session,
            stands,
            want: Want::Rows {
                limit: asked.rows,
                hold: asked.hold,
            },
            timeout_us: asked.timeout_us,
            done: &asked.done,
        });
        self.take_or_wait(ask, reply)
    }

    /// Refuses a lease with `Overloaded` while the leases of all queues take more than an eighth of `memory_bytes`. Leases end by
    /// time, so a later call may succeed. A call that also ends deliveries passes, since it makes room.
    fn check_held(&self, asked: &QueueNext) -> Result<()> {
        let adds = asked.done.is_empty() && matches!(asked.hold, Hold::Lease { .. });
        let held_bytes = self.views.queue_held.saturating_mul(HELD_BYTES);
        match adds && held_bytes > self.options.memory_bytes / 8 {
            true => Err(Error::Overloaded),
            false => Ok(()),
        }
    }

    /// Replies with rows, or without rows at a timeout of 0, or has the session wait.
    fn take_or_wait(&mut self, ask: Result<Ask<'_>>, reply: Answering) -> Result<()> {
        let ask = match ask {
            Ok(ask) => ask,
            Err(error) => return self.answer(reply, Err(error)),
        };
        let Ask {
            session,
            stands,
            want,
            timeout_us,
            done,
        } = ask;
        match self.take_now(session, &stands, want, done) {
            Err(error) => return self.answer(reply, Err(error)),
            Ok(Some(taken)) => {
                self.status.queue_taken_total += 1;
                return self.answer(reply, Ok(taken));
            }
            Ok(None) => {}
        }
        let searching = self.searching(&stands);
        if timeout_us == 0 && searching.is_empty() {
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
        self.state.searching.extend(searching);
        Ok(())
    }

    /// The queues of which rows were not asked yet whether the conditions take them.
    fn searching(&self, stands: &[Stand]) -> Vec<TableId> {
        let searching = stands.iter().filter(|stand| {
            let queue = self.state.queues.get(&stand.table);
            queue.is_some_and(|queue| queue.has_unasked((stand.lane, stand.line)))
        });
        searching.map(|stand| stand.table).collect()
    }

    /// Goes on with the searches that the last turn has left.
    pub(super) fn go_on_searching(&mut self) {
        self.state.queues.begin_turn(CONDITION_UNITS_MAX);
        let searching = std::mem::take(&mut self.state.searching);
        self.state.freed.extend(searching);
        self.wake();
    }

    /// Ends an earlier wait of the session and the deliveries of `done`, then takes rows. `None`: no row is free.
    fn take_now(
        &mut self,
        session: SessionId,
        stands: &[Stand],
        want: Want,
        done: &[Receipt],
    ) -> Result<Option<Reply>> {
        self.sessions
            .stop_waiting(&mut self.state, session, &mut self.outbox);
        let owns = want.owns();
        let are_kept = self.ends_are_kept(session, owns, done)?;
        if owns {
            if !are_kept {
                self.end_owned(session, done)?;
            }
            self.sessions.enter(&mut self.state, session);
        } else if !are_kept {
            self.queue_done(done)?;
        }
        let asked = (stands, want);
        self.sessions
            .take(&mut self.state, session, asked, self.now, |stats| {
                stats.wait_immediate += 1;
            })
    }

    /// Finds the lane and the line of waiters of each source. No row and no waiter changes.
    ///
    /// Errors: `Limit`, `NoSuchTable`; `Invalid` without a source, or for a table that is not a queue; those of an unknown group
    /// or of a bad condition.
    fn stands(
        &mut self,
        sources: &[WaitSource],
        group: Option<&str>,
        timeout_us: u64,
    ) -> Result<Vec<Stand>> {
        if timeout_us > WAIT_US_MAX {
            return Err(Error::Limit {
                what: "seconds of a wait",
                max: WAIT_US_MAX / 1_000_000,
            });
        }
        if sources.is_empty() {
            return Err(Error::invalid("a wait needs a queue"));
        }
        if sources.len() > WAIT_SOURCES_MAX {
            return Err(Error::Limit {
                what: "queues of a wait",
                max: WAIT_SOURCES_MAX as u64,
            });
        }
        let stands = sources.iter().map(|source| self.stand(source, group));
        stands.collect()
    }

    fn stand(&mut self, source: &WaitSource, group: Option<&str>) -> Result<Stand> {
        let table = self.state.catalog.find(&source.table)?;
        let Some(queue) = self.state.queues.get_mut(&table) else {
            return Err(not_a_queue(&source.table));
        };
        let lane = queue.lane_of(group)?;
        let line = queue.line(lane, source.condition.as_ref())?;
        Ok(Stand { table, lane, line })
    }

    /// `queue_abort`, or `is_closed`, the end of a session: returns the rows that the session owns to their queue.
    pub(super) fn give_back(&mut self, session: SessionId, is_closed: bool) -> Result<()> {
        let owned = self.sessions.disown(session);
        if let Some(owned) = owned
            && let Some((table, lane)) = owned.of()
        {
            let rows = self.return_rows(table, lane, owned.rows(), 0)?;
            self.status.queue_aborted_total += rows;
            if let Some(queue) = self.state.queues.get_mut(&table) {
                match is_closed {
                    true => queue.stats.restored_by_close += rows,
                    false => queue.stats.restored_by_abort += rows,
                }
            }
        }
        self.wake();
        Ok(())
    }

    /// Serves the waiters of the queues that have rows which became free.
    pub(super) fn wake(&mut self) {
        if self.state.freed.is_empty() {
            return;
        }
        self.count_sessions(|sessions, state, outbox, counts, now| {
            sessions.wake(state, now, outbox, counts)
        });
    }

    /// Calls `act`, and adds the rows and timeouts that it counted to the engine's counters.
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

/// The refusal of a queue command on a table that is not a queue.
pub(super) fn not_a_queue(table: &str) -> Error {
    Error::invalid(format!("'{}' is not a queue", table.to_lowercase()))
}

fn check_rows(rows: u32) -> Result<()> {
    match rows {
        0 => Err(Error::invalid("QUEUE_NEXT of no rows")),
        _ if rows > TAKEN_ROWS_MAX => Err(Error::Limit {
            what: "rows taken at once",
            max: TAKEN_ROWS_MAX.into(),
        }),
        _ => Ok(()),
    }
}
