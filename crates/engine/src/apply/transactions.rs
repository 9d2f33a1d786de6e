//! Open transactions: what each session has written since BEGIN, and what COMMIT is to store.
//!
//! Nothing here is in the state or in the journal. A transaction that is forgotten, as by a crash, has changed nothing.
//!
//! # Example
//! Session 5 owns row 3 of the queue `jobs`:
//!
//! | statement | `members` | `ends` | `taken` |
//! |---|---|---|---|
//! | `BEGIN`; `INSERT INTO done (body) VALUES ('a')` | id 8 into `done` | | |
//! | `CALL QUEUE_NEXT('jobs', 10)` | id 8 into `done` | row 3 | row 4 |
//! | `COMMIT` | one record: document 8, the end of row 3 | | row 4 stays held |
//! | or `ROLLBACK` | | row 3 is free again | row 4 is free again |
//!
//! # Invariants
//! - A member has the ids that its statement told. The table's highest id is above them and is never taken back.
//! - A row of `ends` stays held under its delivery until COMMIT. If it is not, COMMIT is refused.
//! - `bytes` is the sum of the bytes of all open transactions.

use std::collections::BTreeSet;
use std::sync::Arc;

use queue::RowNumber;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::catalog::TableId;
use crate::command::{Command, Definition, SessionId};
use crate::error::Error;

/// All open transactions, by session.
#[derive(Default)]
pub(crate) struct Transactions {
    open: FxHashMap<SessionId, Transaction>,
    /// (begin on the steady clock in microseconds, session) of the transactions that are not refused.
    by_age: BTreeSet<(u64, SessionId)>,
    /// Memory of all members, estimated.
    pub(crate) bytes: u64,
}

/// One delivery of a row of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) table: TableId,
    pub(crate) lane: usize,
    pub(crate) row: RowNumber,
    pub(crate) number: u32,
}

/// A write of the transaction, as COMMIT will decide it again.
pub(crate) struct Member {
    pub(crate) table: TableId,
    /// The table as the statement found it. COMMIT refuses the member if the table was altered or dropped since.
    pub(crate) definition: Arc<Definition>,
    pub(crate) change: Change,
}

/// The change of a member.
pub(crate) enum Change {
    /// A command of rows, which has all ids.
    Write(Box<Command>),
    /// Ids of documents or queries that a DELETE found.
    Delete(Vec<u64>),
    /// Free rows of a queue that a DELETE found.
    Remove(Vec<RowNumber>),
}

/// What one session has done since its transaction began.
#[derive(Default)]
pub(crate) struct Transaction {
    pub(crate) members: Vec<Member>,
    /// Deliveries that COMMIT ends.
    pub(crate) ends: Vec<Delivery>,
    /// Deliveries that the transaction took: ROLLBACK gives them back.
    pub(crate) taken: Vec<Delivery>,
    /// Ids that members insert.
    pub(crate) ids: FxHashMap<TableId, FxHashSet<u64>>,
    /// Search and pq tables of which a member deletes rows.
    pub(crate) deleted: FxHashSet<TableId>,
    /// Memory of the members, estimated.
    pub(crate) bytes: u64,
    began_us: u64,
    /// Every statement but ROLLBACK is answered with this.
    pub(crate) refused: Option<Error>,
}

impl Transactions {
    /// The transaction of a session, opened where there is none.
    pub(crate) fn enter(&mut self, session: SessionId, now_us: u64) -> &mut Transaction {
        let by_age = &mut self.by_age;
        self.open.entry(session).or_insert_with(|| {
            by_age.insert((now_us, session));
            Transaction {
                began_us: now_us,
                ..Transaction::default()
            }
        })
    }

    pub(crate) fn get(&self, session: SessionId) -> Option<&Transaction> {
        self.open.get(&session)
    }

    pub(crate) fn get_mut(&mut self, session: SessionId) -> Option<&mut Transaction> {
        self.open.get_mut(&session)
    }

    /// Adds a member of `bytes` to an open transaction.
    pub(crate) fn add(&mut self, session: SessionId, member: Member, bytes: u64) {
        if let Some(transaction) = self.open.get_mut(&session) {
            transaction.members.push(member);
            transaction.bytes += bytes;
            self.bytes += bytes;
        }
    }

    /// Ends a session's transaction.
    pub(crate) fn remove(&mut self, session: SessionId) -> Option<Transaction> {
        let transaction = self.open.remove(&session)?;
        self.by_age.remove(&(transaction.began_us, session));
        self.bytes -= transaction.bytes;
        Some(transaction)
    }

    /// Ends a transaction whose client does not know yet. Each of its later statements is answered with `error`, until ROLLBACK
    /// or COMMIT.
    pub(crate) fn refuse(&mut self, session: SessionId, error: Error) -> Option<Transaction> {
        let ended = self.remove(session)?;
        let refused = Transaction {
            refused: Some(error),
            began_us: ended.began_us,
            ..Transaction::default()
        };
        self.open.insert(session, refused);
        Some(ended)
    }

    /// The oldest transaction that is not refused: its begin on the steady clock, in microseconds, and its session.
    pub(crate) fn oldest(&self) -> Option<(u64, SessionId)> {
        self.by_age.first().copied()
    }
}
