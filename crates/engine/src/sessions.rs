//! Sessions: who is in owner mode, what they own, and who waits for a row.

mod waiting;

use rustc_hash::FxHashMap;
pub(crate) use waiting::{Stand, Waiter, Want, count_timeout};

use crate::catalog::TableId;
use crate::command::{Answering, Reply, SessionId, SourceMode};
use crate::engine::deadlines::Deadlines;
use crate::error::Result;
use crate::state::State;
use crate::table::queue::Holder;

/// Sessions that the engine has something to remember of; the others need no entry.
#[derive(Default)]
pub(crate) struct Sessions {
    /// Sessions in owner mode, and the rows each one owns.
    owners: FxHashMap<SessionId, Owned>,
    /// Sessions in `queue_wait`.
    waiting: FxHashMap<SessionId, Waiter>,
    /// When each of them gives up, on the steady clock.
    deadlines: Deadlines,
    next_ticket: u64,
    /// What `queue_set_srcid` said of a session's next INSERT.
    relays: FxHashMap<SessionId, Relay>,
}

/// Rows of one queue that a session owns: some may have been deleted by itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owned {
    table: Option<TableId>,
    rows: Vec<u64>,
}

impl Owned {
    pub(crate) fn new(table: TableId, rows: Vec<u64>) -> Owned {
        Owned {
            table: Some(table),
            rows,
        }
    }

    /// Those of one queue.
    pub(crate) fn rows_of(&self, table: TableId) -> &[u64] {
        match self.table == Some(table) {
            true => &self.rows,
            false => &[],
        }
    }

    /// Where they are, if there are any.
    pub(crate) fn of(&self) -> Option<(TableId, &[u64])> {
        self.table.map(|table| (table, self.rows.as_slice()))
    }
}

/// Where the rows of an INSERT come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relay {
    pub(crate) sender: u8,
    pub(crate) mode: SourceMode,
    pub(crate) row: u64,
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
    /// `None` outside owner mode, else the rows owned, if any.
    pub(crate) fn owner(&self, session: SessionId) -> Option<&Owned> {
        self.owners.get(&session)
    }

    /// Enters owner mode owning nothing; what was owned was ended before.
    pub(crate) fn enter(&mut self, state: &mut State, session: SessionId) {
        self.let_go(state, session);
        self.owners.insert(session, Owned::default());
    }

    /// Leaves owner mode; the rows owned were ended before, or are gone.
    pub(crate) fn leave(&mut self, state: &mut State, session: SessionId) {
        self.let_go(state, session);
        self.owners.remove(&session);
    }

    fn let_go(&mut self, state: &mut State, session: SessionId) {
        if let Some((table, rows)) = self.owner(session).and_then(Owned::of)
            && let Some(queue) = state.queues.get_mut(&table)
        {
            rows.iter().for_each(|row| queue.lane.let_go(*row));
        }
    }

    /// The rows that a session owns and has not deleted.
    pub(crate) fn owned_rows(
        &self,
        state: &State,
        session: SessionId,
    ) -> Option<(TableId, Vec<u64>)> {
        let (table, rows) = self.owner(session)?.of()?;
        let backlog = &state.queues.get(&table)?.backlog;
        let rows = rows.iter().copied();
        let there: Vec<u64> = rows.filter(|row| backlog.contains(*row)).collect();
        (!there.is_empty()).then_some((table, there))
    }

    /// Gives the rows back to their places and leaves owner mode. Gives the queue and how many went back.
    pub(crate) fn abort(
        &mut self,
        state: &mut State,
        session: SessionId,
    ) -> Option<(TableId, u64)> {
        let owned = self.owners.remove(&session)?;
        let (table, rows) = owned.of()?;
        let queue = state.queues.get_mut(&table)?;
        let mut went_back = 0;
        for row in rows {
            went_back += u64::from(queue.give_back(*row));
        }
        state.freed.insert(table);
        Some((table, went_back))
    }

    /// A queue's rows are about to go: owners stay in owner mode with nothing.
    pub(crate) fn release(&mut self, state: &mut State, table: TableId) {
        let Some(queue) = state.queues.get_mut(&table) else {
            return;
        };
        state.is_loss_unpublished = true;
        for (_, holder) in queue.lane.release_all() {
            let Holder::Session(session) = holder;
            if let Some(owned) = self.owners.get_mut(&session)
                && owned.table == Some(table)
            {
                *owned = Owned::default();
            }
        }
    }

    /// A queue is about to go: those who wait get no row, owners stay in owner mode with nothing.
    pub(crate) fn forget_queue(&mut self, state: &mut State, table: TableId, outbox: &mut Outbox) {
        let standing = state.queues.get(&table).map(|queue| queue.lane.standing());
        for session in standing.unwrap_or_default() {
            self.stop_waiting(state, session, outbox);
        }
        self.release(state, table);
    }

    /// What `queue_set_srcid` says of the session's next INSERT.
    pub(crate) fn set_relay(&mut self, session: SessionId, relay: Relay) {
        self.relays.insert(session, relay);
    }

    pub(crate) fn relay(&self, session: SessionId) -> Option<Relay> {
        self.relays.get(&session).copied()
    }

    /// The INSERT it was said of is done.
    pub(crate) fn relayed(&mut self, session: SessionId) {
        self.relays.remove(&session);
    }
}
