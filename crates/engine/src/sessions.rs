//! Sessions: who is in owner mode, what they own, and who waits for a row.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::catalog::TableId;
use crate::command::{Answering, Reply, SessionId};
use crate::decide::delete::Owned;
use crate::engine::deadlines::Deadlines;
use crate::error::Result;
use crate::state::State;
use crate::table::queue::Waiter;

/// Sessions that the engine has something to remember of; the others need no entry.
#[derive(Default)]
pub(crate) struct Sessions {
    /// Sessions in owner mode, and the row each one owns.
    owners: FxHashMap<SessionId, Owned>,
    /// Sessions in `queue_wait`, and where.
    waiting: FxHashMap<SessionId, TableId>,
    /// Queues that somebody waits for.
    queues: BTreeSet<TableId>,
    /// When the waits end.
    deadlines: Deadlines,
}

/// Answers that wait for the sync, in order.
pub(crate) type Outbox = Vec<(Answering, Result<Reply>)>;

/// What became of sessions, for the counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionCounts {
    pub(crate) taken: u64,
    pub(crate) timeouts: u64,
}

impl Sessions {
    /// `None` outside owner mode, else the row owned, if any.
    pub(crate) fn owner(&self, session: SessionId) -> Option<Owned> {
        self.owners.get(&session).copied()
    }

    /// Sessions that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// When the first wait may end, on the steady clock.
    pub(crate) fn next_deadline_us(&self) -> Option<u64> {
        self.deadlines.next_us()
    }

    /// Enters owner mode owning nothing; what was owned was ended before.
    pub(crate) fn enter(&mut self, state: &mut State, session: SessionId) {
        self.let_go(state, session);
        self.owners.insert(session, None);
    }

    /// Leaves owner mode; the row owned was ended before, or is gone.
    pub(crate) fn leave(&mut self, state: &mut State, session: SessionId) {
        self.let_go(state, session);
        self.owners.remove(&session);
    }

    fn let_go(&mut self, state: &mut State, session: SessionId) {
        if let Some(Some((table, row))) = self.owner(session)
            && let Some(queue) = state.queues.get_mut(&table)
        {
            queue.owned.remove(&row);
        }
    }

    /// The row that a session owns and has not deleted.
    pub(crate) fn owned_row(&self, state: &State, session: SessionId) -> Owned {
        let (table, row) = self.owner(session)??;
        let is_there = state.queues.get(&table)?.backlog.contains(row);
        is_there.then_some((table, row))
    }

    /// Takes the first free row for a session that has entered owner mode.
    pub(crate) fn take(&mut self, state: &mut State, session: SessionId, table: TableId) -> bool {
        let Some(row) = state
            .queues
            .get_mut(&table)
            .and_then(|queue| queue.take(session))
        else {
            return false;
        };
        self.owners.insert(session, Some((table, row)));
        true
    }

    /// Lines a session up for the next row.
    pub(crate) fn wait(&mut self, state: &mut State, table: TableId, waiter: Waiter) {
        let Some(queue) = state.queues.get_mut(&table) else {
            return;
        };
        self.deadlines.set(waiter.session, waiter.deadline_us);
        self.waiting.insert(waiter.session, table);
        self.queues.insert(table);
        queue.waiters.push_back(waiter);
    }

    /// Gives the row back to its place and leaves owner mode. True where a row went back.
    pub(crate) fn abort(&mut self, state: &mut State, session: SessionId) -> bool {
        let Some(Some((table, row))) = self.owners.remove(&session) else {
            return false;
        };
        let Some(queue) = state.queues.get_mut(&table) else {
            return false;
        };
        let is_there = queue.backlog.contains(row);
        queue.give_back(row);
        is_there
    }

    /// Forgets that a session waits; its answer is "no row".
    pub(crate) fn stop_waiting(
        &mut self,
        state: &mut State,
        session: SessionId,
        outbox: &mut Outbox,
    ) {
        let Some(table) = self.waiting.remove(&session) else {
            return;
        };
        self.deadlines.clear(session);
        let Some(queue) = state.queues.get_mut(&table) else {
            return;
        };
        if let Some(place) = queue
            .waiters
            .iter()
            .position(|waiter| waiter.session == session)
            && let Some(waiter) = queue.waiters.remove(place)
        {
            outbox.push((waiter.reply, Ok(Reply::Waited(0))));
        }
        if queue.waiters.is_empty() {
            self.queues.remove(&table);
        }
    }

    /// Hands free rows to those who wait, first come first; one waiter a row.
    pub(crate) fn wake(
        &mut self,
        state: &mut State,
        outbox: &mut Outbox,
        counts: &mut SessionCounts,
    ) {
        if self.queues.is_empty() {
            return;
        }
        let (owners, waiting) = (&mut self.owners, &mut self.waiting);
        let deadlines = &mut self.deadlines;
        self.queues.retain(|table| {
            let Some(queue) = state.queues.get_mut(table) else {
                return false;
            };
            while let Some(session) = queue.waiters.front().map(|waiter| waiter.session) {
                let Some(row) = queue.take(session) else {
                    break;
                };
                owners.insert(session, Some((*table, row)));
                waiting.remove(&session);
                deadlines.clear(session);
                counts.taken += 1;
                let waiter = queue.waiters.pop_front();
                outbox.extend(waiter.map(|waiter| (waiter.reply, Ok(Reply::Waited(1)))));
            }
            !queue.waiters.is_empty()
        });
    }

    /// Ends the waits whose time is over.
    pub(crate) fn expire(
        &mut self,
        state: &mut State,
        steady_us: u64,
        outbox: &mut Outbox,
        counts: &mut SessionCounts,
    ) {
        while let Some(session) = self.deadlines.take_due(steady_us) {
            counts.timeouts += 1;
            self.stop_waiting(state, session, outbox);
        }
    }

    /// Ends every wait; for the engine's end.
    pub(crate) fn end_waits(&mut self, state: &mut State, outbox: &mut Outbox) {
        for table in std::mem::take(&mut self.queues) {
            if let Some(queue) = state.queues.get_mut(&table) {
                let waiters = queue.waiters.drain(..);
                outbox.extend(waiters.map(|waiter| (waiter.reply, Ok(Reply::Waited(0)))));
            }
        }
        self.waiting.clear();
        self.deadlines.clear_all();
    }

    /// A queue is about to go: those who wait get no row, owners stay in owner mode with nothing.
    pub(crate) fn forget_queue(&mut self, state: &mut State, table: TableId, outbox: &mut Outbox) {
        self.queues.remove(&table);
        let Some(queue) = state.queues.get_mut(&table) else {
            return;
        };
        for waiter in queue.waiters.drain(..) {
            self.waiting.remove(&waiter.session);
            self.deadlines.clear(waiter.session);
            outbox.push((waiter.reply, Ok(Reply::Waited(0))));
        }
        for session in queue.owned.values() {
            if let Some(owned) = self.owners.get_mut(session)
                && owned.is_some_and(|(owned_in, _)| owned_in == table)
            {
                *owned = None;
            }
        }
        queue.owned.clear();
    }
}
