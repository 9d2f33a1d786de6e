//! Sessions: who is in owner mode, what they own, and who waits for a row.

mod waiting;

use rustc_hash::FxHashMap;
pub(crate) use waiting::{Stand, Waiter, Want, count_timeout};

use crate::apply::deadlines::Deadlines;
use crate::catalog::TableId;
use crate::command::{Answering, Reply, SessionId, SourceMode};
use crate::error::Result;
use crate::state::State;
use queue::{Holder, RowNumber};

/// Sessions that the engine has something to remember of; the others need no entry.
#[derive(Default)]
pub(crate) struct Sessions {
    /// Which start of the server handed out the rows.
    incarnation: u64,
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
    of: Option<(TableId, usize)>,
    rows: Vec<RowNumber>,
}

impl Owned {
    pub(crate) fn new(table: TableId, lane: usize, rows: Vec<RowNumber>) -> Owned {
        Owned {
            of: Some((table, lane)),
            rows,
        }
    }

    /// Those of one queue, with their lane.
    pub(crate) fn rows_of(&self, table: TableId) -> (usize, &[RowNumber]) {
        match self.of {
            Some((of, lane)) if of == table => (lane, &self.rows),
            _ => (0, &[]),
        }
    }

    /// The queue and lane they were taken from, if there are any.
    pub(crate) fn of(&self) -> Option<(TableId, usize)> {
        self.of
    }

    pub(crate) fn rows(&self) -> &[RowNumber] {
        &self.rows
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
    /// No session yet; `incarnation` goes into the receipts of this start.
    pub(crate) fn new(incarnation: u64) -> Sessions {
        Sessions {
            incarnation,
            ..Sessions::default()
        }
    }

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
        if let Some(owned) = self.owner(session)
            && let Some((table, lane)) = owned.of()
            && let Some(queue) = state.queues.get_mut(&table)
        {
            owned.rows.iter().for_each(|row| queue.let_go(lane, *row));
        }
    }

    /// The rows that a session owns and has not deleted, with their queue and lane.
    pub(crate) fn owned_rows(
        &self,
        state: &State,
        session: SessionId,
    ) -> Option<(TableId, usize, Vec<RowNumber>)> {
        let owned = self.owner(session)?;
        let (table, lane) = owned.of()?;
        let queue = state.queues.get(&table)?;
        let rows = owned.rows.iter().copied();
        let there: Vec<RowNumber> = rows.filter(|row| queue.is_owed(lane, *row)).collect();
        (!there.is_empty()).then_some((table, lane, there))
    }

    /// Leaves owner mode. The rows stay held until the caller gives them back.
    pub(crate) fn disown(&mut self, session: SessionId) -> Option<Owned> {
        self.owners.remove(&session)
    }

    /// A queue's rows are about to go: owners stay in owner mode with nothing.
    pub(crate) fn release(&mut self, state: &mut State, table: TableId) {
        let Some(queue) = state.queues.get_mut(&table) else {
            return;
        };
        state.is_loss_unpublished = true;
        for (_, held) in queue.lanes.iter_mut().flat_map(|lane| lane.release_all()) {
            if let Holder::Session(session) = held.holder
                && let Some(owned) = self.owners.get_mut(&session)
                && owned.of().is_some_and(|(of, _)| of == table)
            {
                *owned = Owned::default();
            }
        }
    }

    /// A queue is about to go: those who wait get no row, owners stay in owner mode with nothing.
    pub(crate) fn forget_queue(&mut self, state: &mut State, table: TableId, outbox: &mut Outbox) {
        let lanes = state.queues.get(&table).map(|queue| &queue.lanes);
        let standing = lanes.into_iter().flatten().flat_map(|lane| lane.standing());
        for session in standing.collect::<Vec<_>>() {
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
