//! Waiters: a session stands in the line of each of its sources until a row is free, its time is over, or its wait fails.
//!
//! `take` tries the sources at once. Where none has a row, `wait` lines the session up. Its wait ends in one of four ways: `wake`
//! serves it, `end_overdue_waits` ends it, `stop_waiting` answers "no row", `fail_wait` answers an error.

use queue::{Holder, LineId, Queue, RowNumber};
use relation::row::counted_bytes;

use super::{Outbox, Owned, SessionCounts, Sessions};
use crate::catalog::TableId;
use crate::command::{
    Answering, Hold, Issuer, Now, QueueOptions, QueueStats, Reply, SessionId, Taken, TakenRow,
};
use crate::error::{Error, Result};
use crate::limits::{LEASE_US, TAKEN_BYTES_MAX};
use crate::state::State;
use crate::transactions::Delivery;

/// One source of a wait: a queue, the lane of the consumer group (0 without groups), the line of the condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stand {
    pub(crate) table: TableId,
    pub(crate) lane: usize,
    pub(crate) line: LineId,
}

/// How a session takes rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Want {
    /// One row, which the session reads later: `queue_wait`.
    Owner,
    /// At most `limit` rows with their values: `QUEUE_NEXT`.
    Rows { limit: u32, hold: Hold },
}

impl Want {
    fn limit(self) -> u32 {
        match self {
            Want::Owner => 1,
            Want::Rows { limit, .. } => limit,
        }
    }

    /// Whether the rows are owned by the session.
    pub(crate) fn owns(self) -> bool {
        match self {
            Want::Owner => true,
            Want::Rows { hold, .. } => hold == Hold::Session,
        }
    }

    /// The holder of rows taken from a queue with these options. The lease is that of the call, else of the queue, else
    /// [`LEASE_US`].
    fn holder(self, session: SessionId, options: &QueueOptions, now: Now) -> Holder {
        match self {
            Want::Rows {
                hold: Hold::Lease { visible_again_us },
                ..
            } => {
                let own = visible_again_us.or(options.visible_again_us);
                let until_us = now.steady_us.saturating_add(own.unwrap_or(LEASE_US));
                Holder::Lease { until_us }
            }
            _ => Holder::Session(session),
        }
    }

    /// The answer without a row.
    pub(crate) fn nothing(self) -> Reply {
        match self {
            Want::Owner => Reply::Waited(0),
            Want::Rows { .. } => Reply::Taken(Taken::default()),
        }
    }
}

/// A session that waits.
pub(crate) struct Waiter {
    /// When the wait ends, on the steady clock, in microseconds.
    pub(crate) deadline_us: u64,
    /// At least one, in the order of the call.
    pub(crate) stands: Vec<Stand>,
    pub(crate) want: Want,
    pub(crate) reply: Answering,
    /// Set by [`Sessions::wait`]; the lowest ticket of a line is served first.
    pub(crate) ticket: u64,
}

impl Sessions {
    /// Sessions that wait.
    /// Whether a wait of the session goes on.
    pub(crate) fn is_waiting(&self, session: SessionId) -> bool {
        self.waiting.contains_key(&session)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// When the first wait may end, on the steady clock.
    pub(crate) fn next_deadline_us(&self) -> Option<u64> {
        self.deadlines.next_us()
    }

    /// Takes rows of the first source that has free ones; `None` where no source has. `count` adds to the counters of that queue.
    ///
    /// A session that will own the rows has entered owner mode before. After an error it is out of it: it owns nothing, and its
    /// SELECTs see the free rows again.
    ///
    /// # Errors
    /// Those of a row that cannot be read. The rows are free then, and the delivery does not count.
    pub(crate) fn take(
        &mut self,
        state: &mut State,
        session: SessionId,
        asked: (&[Stand], Want),
        now: Now,
        count: fn(&mut QueueStats),
    ) -> Result<Option<Reply>> {
        let taken = self.take_rows(state, session, asked, now, count);
        if taken.is_err() && asked.1.owns() {
            self.owners.remove(&session);
        }
        taken
    }

    fn take_rows(
        &mut self,
        state: &mut State,
        session: SessionId,
        (stands, want): (&[Stand], Want),
        now: Now,
        count: fn(&mut QueueStats),
    ) -> Result<Option<Reply>> {
        for (place, stand) in (1..).zip(stands) {
            let Some(queue) = state.queues.get_mut(&stand.table) else {
                continue;
            };
            let holder = want.holder(session, queue.options(), now);
            let of = (stand.lane, stand.line);
            let mut rows = queue.take(of, want.limit(), holder, now)?;
            if queue.next_timer_us(now).is_some() {
                state.timed.insert(stand.table);
            }
            if rows.is_empty() {
                continue;
            }
            let reply = match want {
                Want::Owner => Ok(Reply::Waited(place)),
                Want::Rows { .. } => {
                    let issuer = Issuer {
                        incarnation: self.incarnation,
                        table: stand.table.0,
                    };
                    read(queue, (place, stand.lane, issuer), &mut rows, now)
                }
            };
            if reply.is_err() {
                put_back(queue, stand.lane, rows, now); // no worker got a row that cannot be read
                return reply.map(Some);
            }
            count(&mut queue.stats);
            if let Some(transaction) = self.transactions.get_mut(session) {
                transaction.taken.extend(rows.iter().map(|&row| Delivery {
                    table: stand.table,
                    lane: stand.lane,
                    row,
                    number: queue.delivery(stand.lane, row),
                }));
            }
            if want.owns() {
                let owned = Owned::new(stand.table, stand.lane, rows);
                self.owners.insert(session, owned);
            }
            return reply.map(Some);
        }
        Ok(None)
    }

    /// Lines a session up at each of its sources, with the next ticket.
    pub(crate) fn wait(&mut self, state: &mut State, session: SessionId, mut waiter: Waiter) {
        waiter.ticket = self.next_ticket;
        self.next_ticket += 1;
        for stand in &waiter.stands {
            if let Some(queue) = state.queues.get_mut(&stand.table)
                && let Some(lane) = queue.lanes.get_mut(stand.lane)
            {
                lane.stand(stand.line, waiter.ticket, session);
            }
        }
        self.deadlines.set(session, waiter.deadline_us);
        self.waiting.insert(session, waiter);
    }

    /// Removes a session from every line that it stands in, with its deadline. `None` where it does not wait.
    fn step_out(&mut self, state: &mut State, session: SessionId) -> Option<Waiter> {
        let waiter = self.waiting.remove(&session)?;
        self.deadlines.clear(session);
        for stand in &waiter.stands {
            if let Some(queue) = state.queues.get_mut(&stand.table)
                && let Some(lane) = queue.lanes.get_mut(stand.lane)
            {
                lane.step_out(stand.line, waiter.ticket);
            }
        }
        Some(waiter)
    }

    /// Ends a session's wait with the answer "no row"; nothing where it does not wait.
    pub(crate) fn stop_waiting(
        &mut self,
        state: &mut State,
        session: SessionId,
        outbox: &mut Outbox,
    ) {
        if let Some(waiter) = self.step_out(state, session) {
            let nothing = waiter.want.nothing();
            outbox.push((waiter.reply, Ok(nothing)));
        }
    }

    /// Ends a session's wait with an error: its condition cannot read a row, or an ALTER removed a column of it.
    pub(crate) fn fail_wait(
        &mut self,
        state: &mut State,
        session: SessionId,
        error: Error,
        outbox: &mut Outbox,
    ) {
        if let Some(waiter) = self.step_out(state, session) {
            outbox.push((waiter.reply, Err(error)));
        }
    }

    /// Serves the waiters of all queues in `State::freed`, which is empty afterwards. Each round of the inner loop serves one
    /// waiter or fails one, so the loop ends.
    pub(crate) fn wake(
        &mut self,
        state: &mut State,
        now: Now,
        outbox: &mut Outbox,
        counts: &mut SessionCounts,
    ) {
        while let Some(table) = state.freed.pop_first() {
            while let Some(queue) = state.queues.get_mut(&table) {
                match queue.next_served(now) {
                    Ok(None) => {
                        if queue.is_searching() {
                            state.searching.insert(table);
                        }
                        if queue.next_timer_us(now).is_some() {
                            state.timed.insert(table);
                        }
                        break;
                    }
                    Ok(Some(session)) => {
                        if !self.serve(state, session, now, outbox, counts) {
                            break;
                        }
                    }
                    Err((session, error)) => {
                        self.fail_wait(state, session, error.into(), outbox);
                    }
                }
            }
        }
    }

    /// Serves a session from the first of its sources that has free rows. False where the session does not wait.
    fn serve(
        &mut self,
        state: &mut State,
        session: SessionId,
        now: Now,
        outbox: &mut Outbox,
        counts: &mut SessionCounts,
    ) -> bool {
        let Some(waiter) = self.step_out(state, session) else {
            return false;
        };
        let asked = (waiter.stands.as_slice(), waiter.want);
        let taken = self.take(state, session, asked, now, |stats| stats.wait_delayed += 1);
        let reply = taken.and_then(|reply| {
            reply.ok_or_else(|| Error::internal("somebody was served a row that was not there"))
        });
        counts.taken += u64::from(reply.is_ok());
        outbox.push((waiter.reply, reply));
        true
    }

    /// Whether a session's search for a row is not over.
    fn is_searching(state: &State, stands: &[Stand]) -> bool {
        stands.iter().any(|stand| {
            let queue = state.queues.get(&stand.table);
            queue.is_some_and(|queue| queue.has_unasked((stand.lane, stand.line)))
        })
    }

    /// Ends the waits whose deadline has come, with the answer "no row"; but not where rows were not asked yet.
    pub(crate) fn end_overdue_waits(
        &mut self,
        state: &mut State,
        steady_us: u64,
        outbox: &mut Outbox,
        counts: &mut SessionCounts,
    ) {
        while let Some(session) = self.deadlines.take_due(steady_us) {
            let waiter = self.waiting.get(&session);
            if waiter.is_some_and(|waiter| Sessions::is_searching(state, &waiter.stands)) {
                self.deadlines.set(session, steady_us + 1);
                continue;
            }
            let Some(waiter) = self.step_out(state, session) else {
                continue;
            };
            counts.timeouts += 1;
            count_timeout(state, &waiter.stands);
            let nothing = waiter.want.nothing();
            outbox.push((waiter.reply, Ok(nothing)));
        }
    }

    /// Ends every wait: the engine stops or is poisoned. The caller replaces the answers by its error.
    pub(crate) fn end_waits(&mut self, state: &mut State, outbox: &mut Outbox) {
        while let Some(session) = self.deadlines.take_due(u64::MAX) {
            self.stop_waiting(state, session, outbox);
        }
    }
}

/// Counts a wait that got no row in time, at each of its queues.
pub(crate) fn count_timeout(state: &mut State, stands: &[Stand]) {
    for stand in stands {
        if let Some(queue) = state.queues.get_mut(&stand.table) {
            queue.stats.wait_timeout += 1;
        }
    }
}

/// Reads the values of taken rows. Rows that would make the answer larger than [`TAKEN_BYTES_MAX`] are put back and removed from
/// `rows`; the first row is always read.
fn read(
    queue: &mut Queue,
    (source, lane, issuer): (u32, usize, Issuer),
    rows: &mut Vec<RowNumber>,
    now: Now,
) -> Result<Reply> {
    let columns = queue.columns().iter();
    let mut taken = Taken {
        source,
        issuer,
        columns: columns
            .map(|column| (column.name.clone(), column.kind))
            .collect(),
        rows: Vec::with_capacity(rows.len()),
    };
    let mut bytes = 0;
    for row in rows.iter().copied() {
        let values = queue.values(row)?.unwrap_or_default();
        bytes += counted_bytes(&values);
        if bytes > TAKEN_BYTES_MAX && !taken.rows.is_empty() {
            break;
        }
        taken.rows.push(TakenRow {
            row,
            delivery: queue.delivery(lane, row),
            values,
        });
    }
    put_back(queue, lane, rows.drain(taken.rows.len()..), now);
    Ok(Reply::Taken(taken))
}

/// Frees taken rows that no worker has seen; their delivery does not count.
fn put_back(queue: &mut Queue, lane: usize, rows: impl IntoIterator<Item = RowNumber>, now: Now) {
    for row in rows {
        queue.put_back(lane, row, now);
    }
}
