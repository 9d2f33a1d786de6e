//! Sessions: which are in owner mode, which rows they own, and which wait for a row. [`Sessions`] has an example.
//!
//! The engine's statements on queues call this module (`engine/waits.rs`, `engine/leases.rs`). It changes lanes and puts answers
//! into the [`Outbox`]; it writes no record. Its part `waiting` lines waiters up and serves them.

mod waiting;

use rustc_hash::FxHashMap;
pub(crate) use waiting::{Stand, Waiter, Want, count_timeout};

use queue::{Holder, RowNumber};

use crate::apply::deadlines::Deadlines;
use crate::catalog::TableId;
use crate::command::{Answering, Reply, SessionId, SourceMode};
use crate::error::Result;
use crate::state::State;
use crate::transactions::Transactions;

/// The sessions in owner mode and the waiters. A session that is neither has no entry.
///
/// # Example
/// The queues `mail` and `news` are empty. Times are of the steady clock:
///
/// | at | what happens | `owners` | `waiting` | `deadlines` | answer |
/// |---|---|---|---|---|---|
/// | 0 s | session 5: `queue_wait('mail', 'news', 10)` | 5: nothing | 5: ticket 0 | 5 at 10 s | |
/// | 1 s | session 6: `queue_wait('news', 2)` | 5, 6: nothing | 5: ticket 0, 6: ticket 1 | 6 at 3 s, 5 at 10 s | |
/// | 2 s | an INSERT puts row 1 into `news` | 5: row 1, 6: nothing | 6: ticket 1 | 6 at 3 s | 5: `Waited(2)` |
/// | 3 s | a turn of the engine | 5: row 1, 6: nothing | none | none | 6: `Waited(0)` |
/// | 4 s | session 5: `queue_end()` | 6: nothing | none | none | 5: done |
///
/// From 0 s to 2 s ticket 0 stands in a line of `mail` and in one of `news`. At 2 s the applied record puts `news` into
/// `State::freed`, and `wake` serves the lowest ticket there. `news` is the second source of session 5, hence `Waited(2)`.
/// Session 5 leaves both lines. At 3 s only the wait of session 6 ends: it stays in owner mode. At 4 s the engine first commits
/// `RemoveRows` of row 1, then calls `leave`.
///
/// # Invariants
/// - A session in `waiting` has its ticket in each line of its stands, and one deadline. A ticket without a waiter would stop
///   `wake` at its queue; a waiter without a deadline would never end.
/// - A waiter that will own its rows is in `owners` already, with nothing.
/// - The lane holds each row of an owner under `Holder::Session`, also a row that the session has deleted. When an entry of
///   `owners` goes, its rows are let go (`enter`, `leave`) or the caller gives them back (`disown`): else no worker gets them.
/// - Tickets rise and are never reused: the lowest one has waited longest.
/// - Each queue with waiters whose rows may have become free is in `State::freed` until `wake` has looked at it.
#[derive(Default)]
pub(crate) struct Sessions {
    /// Which start of the server handed out the rows.
    incarnation: u64,
    /// Sessions in owner mode, with the rows that each owns; perhaps none.
    owners: FxHashMap<SessionId, Owned>,
    /// Sessions in `queue_wait` or `QUEUE_NEXT`.
    waiting: FxHashMap<SessionId, Waiter>,
    /// When each wait ends, on the steady clock.
    deadlines: Deadlines,
    /// The ticket of the next waiter.
    next_ticket: u64,
    /// Sessions that called `queue_set_srcid`, with the source of their next INSERT into a queue.
    relays: FxHashMap<SessionId, Relay>,
    /// The open transactions.
    pub(crate) transactions: Transactions,
}

/// Rows of one queue that a session owns. The session may have deleted some of them: `Queue::is_owed` tells.
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

    /// The lane and the rows if they are of this queue; else lane 0 and no row.
    pub(crate) fn rows_of(&self, table: TableId) -> (usize, &[RowNumber]) {
        match self.of {
            Some((of, lane)) if of == table => (lane, &self.rows),
            _ => (0, &[]),
        }
    }

    /// The queue and lane that the rows were taken from; `None` where the session owns nothing.
    pub(crate) fn of(&self) -> Option<(TableId, usize)> {
        self.of
    }

    pub(crate) fn rows(&self) -> &[RowNumber] {
        &self.rows
    }
}

/// The source of an INSERT's rows: another server relays them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relay {
    /// Below [`queue::SENDERS`].
    pub(crate) sender: u8,
    pub(crate) mode: SourceMode,
    /// The sender's number of the rows. In mode `Append` a number that is not above the last one received stores nothing.
    pub(crate) row: u64,
}

/// Answers that wait for the sync, in order.
pub(crate) type Outbox = Vec<(Answering, Result<Reply>)>;

/// How waits ended in one call, for the engine's counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionCounts {
    /// Waits that were answered with rows.
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

    /// The rows that a session owns, perhaps none; `None` outside owner mode.
    pub(crate) fn owner(&self, session: SessionId) -> Option<&Owned> {
        self.owners.get(&session)
    }

    /// Enters owner mode, with nothing owned. The caller has ended the rows owned before.
    pub(crate) fn enter(&mut self, state: &mut State, session: SessionId) {
        self.let_go(state, session);
        self.owners.insert(session, Owned::default());
    }

    /// Leaves owner mode. The caller has ended the rows.
    pub(crate) fn leave(&mut self, state: &mut State, session: SessionId) {
        self.let_go(state, session);
        self.owners.remove(&session);
    }

    /// Removes the lane's holds of the session's rows: else a row that the session has deleted would stay held for ever.
    fn let_go(&mut self, state: &mut State, session: SessionId) {
        if let Some(owned) = self.owner(session)
            && let Some((table, lane)) = owned.of()
            && let Some(queue) = state.queues.get_mut(&table)
        {
            owned.rows.iter().for_each(|row| queue.let_go(lane, *row));
        }
    }

    /// The rows that a session owns and has not deleted, with their queue and lane; `None` where there is no such row.
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

    /// The session no longer owns these rows, which stay held; it stays in owner mode.
    pub(crate) fn yield_rows(&mut self, session: SessionId, rows: &[RowNumber]) {
        if let Some(owned) = self.owners.get_mut(&session) {
            owned.rows.retain(|row| !rows.contains(row));
        }
    }

    /// Leaves owner mode. The rows stay held until the caller gives them back.
    pub(crate) fn disown(&mut self, session: SessionId) -> Option<Owned> {
        self.owners.remove(&session)
    }

    /// Ends every hold of a queue whose rows go, as by TRUNCATE or DROP. Their owners stay in owner mode with nothing.
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

    /// Prepares the DROP of a queue: its waiters are answered "no row", its owners stay in owner mode with nothing.
    pub(crate) fn forget_queue(&mut self, state: &mut State, table: TableId, outbox: &mut Outbox) {
        let lanes = state.queues.get(&table).map(|queue| &queue.lanes);
        let standing = lanes.into_iter().flatten().flat_map(|lane| lane.standing());
        for session in standing.collect::<Vec<_>>() {
            self.stop_waiting(state, session, outbox);
        }
        self.release(state, table);
    }

    /// Notes the source of the session's next INSERT into a queue.
    pub(crate) fn set_relay(&mut self, session: SessionId, relay: Relay) {
        self.relays.insert(session, relay);
    }

    pub(crate) fn relay(&self, session: SessionId) -> Option<Relay> {
        self.relays.get(&session).copied()
    }

    /// Forgets the source: the INSERT is done, or the session is gone.
    pub(crate) fn relayed(&mut self, session: SessionId) {
        self.relays.remove(&session);
    }
}
