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
//! # Outcomes
//! `UPDATE stock SET n = n - 1 WHERE id = 1 AND n > 0` answers 1 row. The member has the command and the [`Outcome`]: row 1 is
//! changed, 1 row told. COMMIT decides the command again, over the rows of then. Another outcome refuses the COMMIT. A SELECT of
//! row 1 behind it adds a [`Witness`]: then COMMIT must also come to the row that the SELECT has shown.
//!
//! # Invariants
//! - A member has the ids that its statement told. No other statement is assigned one of them while the transaction is open.
//!   ROLLBACK gives back the ids that the client gave, and keeps those that were assigned.
//! - A row of `ends` stays held under its delivery until COMMIT. If it is not, COMMIT is refused.
//! - `bytes` is the sum of the bytes of all open transactions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use queue::RowNumber;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::catalog::TableId;
use crate::command::{Definition, OpenTransaction, Reply, SessionId, Write};
use crate::error::Error;
use crate::made::MadeRows;
use crate::planned::Planned;
use crate::recent::Since;
use crate::record::Record;

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
    /// Memory, estimated.
    pub(crate) bytes: u64,
    /// What COMMIT must come to again. `None`: it depends on no row of a table of documents or queries.
    pub(crate) outcome: Option<Outcome>,
    /// Its rows, if they take long to make.
    pub(crate) made: Option<MadeRows>,
}

impl Member {
    /// Bytes of what is carried out again for a look: what is made already costs little.
    pub(crate) fn replayed_bytes(&self) -> u64 {
        let made = self.made.as_ref().map_or(0, |made| made.bytes().rows);
        self.bytes.saturating_sub(made as u64)
    }

    /// Whether it changes a row, as its statement told.
    pub(crate) fn has_effect(&self) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_none_or(|outcome| !outcome.rows.is_empty())
    }
}

/// What a statement has answered and done: the count, and the rows of its own table. Two are equal if a client cannot tell them
/// apart by counts and ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The count that was told.
    pub(crate) affected: u64,
    /// Ids of rows, rising, with what became of each.
    pub(crate) rows: Vec<(u64, Fate)>,
}

/// What a statement has made of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// It is new, or has replaced another.
    Stored,
    /// Values of it were set.
    Changed,
    Deleted,
}

impl Outcome {
    /// The outcome of a record and its answer. Rows of other tables, which are hits, do not count.
    pub(crate) fn of(table: TableId, record: Option<&Record>, reply: &Reply) -> Outcome {
        let mut rows = Vec::new();
        if let Some(record) = record {
            Outcome::gather(table, record, &mut rows);
        }
        rows.sort_unstable();
        let affected = match reply {
            Reply::Done { affected, .. } => *affected,
            _ => 0, // the replies of writes are all `Done`
        };
        Outcome { affected, rows }
    }

    fn gather(own: TableId, record: &Record, rows: &mut Vec<(u64, Fate)>) {
        match record {
            Record::Documents(documents) if documents.table == own => {
                let ids = documents.documents.iter().map(|document| document.id);
                rows.extend(ids.map(|id| (id, Fate::Stored)));
            }
            Record::Queries { table, queries } if *table == own => {
                rows.extend(queries.iter().map(|query| (query.id, Fate::Stored)));
            }
            Record::Update { table, rows: set } if *table == own => {
                rows.extend(set.ids.iter().map(|id| (*id, Fate::Changed)));
            }
            Record::DeleteDocuments { table, ids } | Record::DeleteQueries { table, ids }
                if *table == own =>
            {
                rows.extend(ids.iter().map(|id| (*id, Fate::Deleted)));
            }
            Record::Many(members) => {
                let each = members.iter();
                each.for_each(|member| Outcome::gather(own, member, rows));
            }
            // Of other tables, or none that a statement of a transaction makes.
            Record::Documents(_)
            | Record::Queries { .. }
            | Record::Update { .. }
            | Record::DeleteDocuments { .. }
            | Record::DeleteQueries { .. }
            | Record::Hits(_)
            | Record::Queue(_)
            | Record::Catalog(_)
            | Record::Retire { .. }
            | Record::RetireSegments { .. }
            | Record::Load { .. }
            | Record::Messages(_)
            | Record::Collected { .. } => {}
        }
    }
}

/// Rows that the transaction had changed and then SELECTed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Witness {
    /// Number of members that went before the SELECT.
    pub(crate) behind: usize,
    pub(crate) table: TableId,
    /// Rising; of the rows as they were shown.
    pub(crate) rows: Digests,
}

/// Rows that statements have chosen and left.
#[derive(Default)]
pub(crate) struct Chosen {
    /// Those that no SELECT has shown as they are now.
    pub(crate) fresh: BTreeSet<u64>,
    /// Those that one has shown, with what it has shown last.
    pub(crate) shown: BTreeMap<u64, Option<RowDigest>>,
}

/// Search tables as a transaction sees them: `engine/transact/overlay.rs`.
#[derive(Default)]
pub(crate) struct Overlay {
    /// By table, each with the table's definition when it was made.
    pub(crate) forks: BTreeMap<TableId, (Arc<Definition>, index::Fork)>,
    /// Number of the first members, whose changes the forks have.
    pub(crate) applied: usize,
    /// Memory of the members behind them.
    pub(crate) waiting_bytes: u64,
}

impl Overlay {
    /// Memory of the transaction's own rows and changes, in bytes, estimated.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let forks = self.forks.values();
        forks.map(|(_, fork)| fork.memory_bytes()).sum()
    }
}

/// A COMMIT some of whose conditions readers work out: `engine/transact/commit.rs`.
#[derive(Default)]
pub(crate) struct Rehearsal {
    /// By number of the member: its rows, chosen behind the members before it.
    pub(crate) plans: BTreeMap<usize, Planned>,
    /// Rows of members that others have changed since the rehearsal began, by table: a plan may have been made over what such a row
    /// was at the member.
    pub(crate) moved: BTreeMap<TableId, BTreeSet<u64>>,
}

/// Stands for the values of a row: 128 bits.
pub(crate) type RowDigest = [u64; 2];

/// Ids of rows, each with its digest; `None`: there was no such row.
pub(crate) type Digests = Vec<(u64, Option<RowDigest>)>;

/// The change of a member.
pub(crate) enum Change {
    /// A command of rows. An INSERT has all ids; an UPDATE or DELETE has its condition.
    Write(Box<Write>),
    /// Rows of a queue that a DELETE found.
    Remove(Removal),
}

/// Rows of a queue that a member removes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removal {
    /// Free rows, rising.
    pub(crate) rows: Vec<RowNumber>,
    /// Rows that the transaction itself has put, as places among these, rising: they get their numbers at COMMIT.
    pub(crate) own: Vec<u64>,
    /// Number of rows that the transaction had put before.
    pub(crate) put: u64,
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
    /// The highest of them that the client gave, by table; 0: none.
    pub(crate) given: FxHashMap<TableId, u64>,
    /// Search and pq tables of which a member deletes rows.
    pub(crate) deleted: FxHashSet<TableId>,
    /// In the order of the SELECTs.
    pub(crate) witnesses: Vec<Witness>,
    /// Rows of search tables that statements have chosen and left, by table.
    pub(crate) chosen: BTreeMap<TableId, Chosen>,
    /// Tables of members that change a row.
    pub(crate) changed: BTreeSet<TableId>,
    /// The search tables as the transaction sees them; in a rehearsal, those of now with the members that were rehearsed.
    pub(crate) overlay: Overlay,
    /// By search table the moment of the first fork.
    pub(crate) since: BTreeMap<TableId, Since>,
    /// Number of members when a statement was handed out to be planned.
    pub(crate) planned_behind: Option<usize>,
    /// COMMIT was asked for, and is worked out.
    pub(crate) rehearsal: Option<Rehearsal>,
    /// How often a rehearsal was begun.
    pub(crate) rehearsals: u32,
    /// Memory of the members, witnesses and forks, estimated.
    pub(crate) bytes: u64,
    began_us: u64,
    /// Every statement but ROLLBACK is answered with this.
    pub(crate) refused: Option<Error>,
}

impl Transaction {
    /// Keeps a member.
    pub(crate) fn push(&mut self, member: Member) {
        if member.has_effect() {
            self.changed.insert(member.table);
        }
        if let Some(outcome) = &member.outcome {
            let chosen = self.chosen.entry(member.table).or_default();
            for (id, fate) in &outcome.rows {
                chosen.shown.remove(id);
                match fate {
                    Fate::Deleted => chosen.fresh.remove(id),
                    Fate::Stored | Fate::Changed => chosen.fresh.insert(*id),
                };
            }
        }
        self.members.push(member);
    }

    /// Notes which of the chosen rows others may have changed.
    pub(crate) fn note_moved(&mut self, overlay: &mut Overlay) {
        for (table, (_, fork)) in &mut overlay.forks {
            let moved = fork.take_moved();
            if let Some(rehearsal) = &mut self.rehearsal {
                let rows = rehearsal.moved.entry(*table).or_default();
                rows.extend(moved.iter().copied());
            }
            let Some(chosen) = self.chosen.get_mut(table) else {
                continue;
            };
            for id in moved {
                if chosen.shown.contains_key(&id) {
                    chosen.fresh.insert(id);
                }
            }
        }
    }
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

    /// The open transactions, in no order.
    pub(crate) fn list(&self, now_us: u64) -> Vec<OpenTransaction> {
        let each = self.open.iter().map(|(session, of)| OpenTransaction {
            session: *session,
            age_us: now_us.saturating_sub(of.began_us),
            statements: of.members.len() as u64,
            ends: of.ends.len() as u64,
            bytes: of.bytes,
            refused: of.refused.as_ref().map(Error::to_string),
        });
        each.collect()
    }

    pub(crate) fn get(&self, session: SessionId) -> Option<&Transaction> {
        self.open.get(&session)
    }

    pub(crate) fn get_mut(&mut self, session: SessionId) -> Option<&mut Transaction> {
        self.open.get_mut(&session)
    }

    /// Takes off the memory of an open transaction.
    pub(crate) fn shrink(&mut self, session: SessionId, bytes: u64) {
        if let Some(transaction) = self.open.get_mut(&session) {
            transaction.bytes -= bytes;
            self.bytes -= bytes;
        }
    }

    /// Adds to the memory of an open transaction.
    pub(crate) fn grow(&mut self, session: SessionId, bytes: u64) {
        if let Some(transaction) = self.open.get_mut(&session) {
            transaction.bytes += bytes;
            self.bytes += bytes;
        }
    }

    /// Opens a transaction again that was taken out by [`Transactions::remove`].
    pub(crate) fn put_back(&mut self, session: SessionId, transaction: Transaction) {
        self.by_age.insert((transaction.began_us, session));
        self.bytes += transaction.bytes;
        self.open.insert(session, transaction);
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

    /// The highest id that the client of an open transaction gave for a table; 0: none. Cost: a look at each transaction.
    pub(crate) fn highest_given(&self, table: TableId) -> u64 {
        let given = self.open.values().filter_map(|open| open.given.get(&table));
        given.copied().max().unwrap_or(0)
    }

    /// The oldest transaction that is not refused: its begin on the steady clock, in microseconds, and its session.
    pub(crate) fn oldest(&self) -> Option<(u64, SessionId)> {
        self.by_age.first().copied()
    }
}
