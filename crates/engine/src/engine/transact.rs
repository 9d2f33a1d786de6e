//! Transactions: statements between BEGIN and COMMIT, which become one record.
//!
//! A write is decided at its statement, which tells errors, counts and ids, and its member is kept. COMMIT decides all members
//! again, one after the other, as `write.rs` does with a unit, over the rows of then. It is refused where a statement would have
//! another outcome than the one that was told: `commit.rs` and `outcome.rs`. A statement that must see earlier ones is decided,
//! or read, over the transaction's own view of the search tables: `overlay.rs`. Queues and tables of standing queries have no
//! such view: members are applied to them, and [`Undo`] takes them back within the same command, so that no other session sees
//! them.
//!
//! Conditions that are long to evaluate are worked out by readers, over the same rows: [`Reply::Plan`].
//!
//! | statement | decided over | cost |
//! |---|---|---|
//! | INSERT, REPLACE | the tables: an id is compared with `Transaction::ids` | its rows |
//! | UPDATE, DELETE, SELECT, INSERT of ids that may be known, INSERT into a table of which it deleted rows | the own view | what changed |
//! | the same on a table of standing queries, or a queue | members of these tables, applied and taken back | these members |
//! | COMMIT | the tables, behind the members before | all members |
//!
//! So that n statements do not cost n² without a bound, members are applied and taken back only while there are at most
//! [`REPLAYED_STATEMENTS_MAX`] of them, of [`REPLAYED_BYTES_MAX`] bytes.

mod commit;
mod outcome;
mod overlay;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use queue::{Holder, RowNumber};
use relation::request::{Insert, Select, tables_of};
use relation::value::Value;
use rustc_hash::FxHashSet;

use super::{Engine, is_fatal};
use crate::Answering;
use crate::catalog::TableId;
use crate::command::{Command, Kind, Receipt, Reply, Seen, SessionId, Write};
use crate::decide::Decision;
use crate::decide::delete::{of_documents, of_queries};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::{
    REPLAYED_BYTES_MAX, REPLAYED_STATEMENTS_MAX, TRANSACTION_BYTES_MAX, TRANSACTION_ENDS_MAX,
    TRANSACTION_STATEMENTS_MAX, TRANSACTION_US_MAX, TRANSACTIONS_SHARE_OF_MEMORY,
};
use crate::made::MadeRows;
use crate::planned::Planned;
use crate::record::{QueueRecord, Record};
use crate::state::State;
use crate::transactions::{Change, Delivery, Fate, Member, Outcome, Removal, Transaction};
use crate::undo::Undo;

/// Memory of a member beside its values, in bytes, and of each row and id in it.
const MEMBER_BYTES: u64 = 256;
const ROW_BYTES: u64 = 64;

impl Engine {
    /// A statement inside the session's transaction. A write is answered at once: there is nothing to sync.
    /// `made`: the rows of an INSERT.
    pub(super) fn within(
        &mut self,
        session: SessionId,
        command: Command,
        made: Option<MadeRows>,
        reply: Answering,
    ) -> Result<()> {
        let transactions = &mut self.sessions.transactions;
        let transaction = transactions.enter(session, self.now.steady_us);
        if let Some(error) = transaction.refused.clone() {
            return self.answer(reply, Err(error));
        }
        let outcome = match command {
            Command::QueueWait {
                sources,
                timeout_us,
            } => return self.queue_wait(session, &sources, timeout_us, reply),
            Command::QueueNext(asked) => return self.queue_next(session, &asked, reply),
            Command::Look { tables, ids } => {
                let outcome = self.look(session, &tables, ids.as_deref());
                return self.answer(reply, outcome);
            }
            Command::Read { select } => {
                let outcome = self.read_within(session, &select);
                return self.answer(reply, outcome);
            }
            Command::Source { table } => {
                let outcome = self.source_within(session, &table);
                return self.answer(reply, outcome);
            }
            Command::Write(Write::Planned(planned)) if transaction.rehearsal.is_some() => {
                let outcome = self.go_on_committing(session, planned);
                return self.answer(reply, outcome);
            }
            Command::Write(write) => self.write_within(session, write, made),
            Command::QueueDone { receipts } => self.end_later(session, &receipts),
            Command::QueueEnd => self.end_owned_later(session).map(|()| {
                self.sessions.leave(&mut self.state, session);
                Reply::done()
            }),
            _ => Err(Error::internal(
                "a command that is no part of a transaction",
            )),
        };
        self.status.commands_refused_total += u64::from(outcome.is_err());
        let fatal = outcome.as_ref().err().filter(|error| is_fatal(error));
        let fatal = fatal.cloned();
        reply(outcome);
        fatal.map_or(Ok(()), Err)
    }

    /// Decides a write, keeps it for COMMIT, and answers as if it were done.
    fn write_within(
        &mut self,
        session: SessionId,
        write: Write,
        made: Option<MadeRows>,
    ) -> Result<Reply> {
        let into_queue = matches!(write, Write::Insert(_)) && self.queue_of(write.table()).is_ok();
        if into_queue && self.sessions.relay(session).is_some() {
            return Err(Error::NotYet {
                what: "rows of queue_set_srcid() in a transaction".to_owned(),
            });
        }
        let counted = self.status;
        let decided = self.decide_within(session, write.clone(), made);
        self.status = counted;
        let (mut decision, rows_put) = decided?;
        let table = self.state.catalog.find(write.table())?;
        if matches!(decision.reply, Reply::Plan(_)) {
            if let Some(transaction) = self.sessions.transactions.get_mut(session) {
                transaction.planned_behind = Some(transaction.members.len());
            }
            return Ok(decision.reply);
        }
        let write = if let Write::Planned(planned) = write {
            planned.write()
        } else {
            write
        };
        let made = self.to_keep(table, &mut decision);
        let record = decision.record.as_ref();
        if let Write::Insert(insert) = write {
            if let Some(record) = record {
                self.keep_insert(session, (table, insert, made), record)?;
            }
        } else if matches!(write, Write::Delete(_)) && self.state.queues.get(&table).is_some() {
            if let Some(record) = record {
                self.keep_queue_delete(session, table, record, rows_put)?;
            }
        } else {
            let outcome = Outcome::of(table, record, &decision.reply);
            // Documents go by their order, and COMMIT may leave out others.
            let made = made.filter(MadeRows::are_queries);
            self.keep_choice(session, (table, write, outcome), made)?;
        }
        if let Err(error) = self.put_last(session, &decision) {
            // The member is kept, and later statements could not see it.
            self.refuse_transaction(session, &error)?;
            return Err(error);
        }
        Ok(decision.reply)
    }

    /// See [`MadeRows::to_keep`]. The decision's compiled queries are not needed any more: nothing is applied.
    fn to_keep(&self, table: TableId, decision: &mut Decision) -> Option<MadeRows> {
        let compiled = std::mem::take(&mut decision.prepared.queries);
        let definition = self.state.catalog.get(table)?;
        MadeRows::to_keep(definition, decision.record.as_ref()?, compiled)
    }

    /// Decides a write over what the transaction has written, as far as the outcome depends on it. Of a queue, also tells how many
    /// rows the transaction has put into it.
    fn decide_within(
        &mut self,
        session: SessionId,
        write: Write,
        made: Option<MadeRows>,
    ) -> Result<(Decision, u64)> {
        let table = self.state.catalog.find(write.table())?;
        let is_plain = matches!(write, Write::Insert(_));
        let is_search = self.state.searches.contains_key(&table);
        let queue = self.state.queues.get(&table);
        let is_unique = queue.is_some_and(|queue| queue.options().unique_by.is_some());
        let transaction = self.sessions.transactions.get_mut(session);
        if let (Write::Planned(_), Some(transaction)) = (&write, transaction) {
            let behind = transaction.planned_behind.take();
            if behind != Some(transaction.members.len()) {
                return Err(Error::internal("a plan of another moment"));
            }
        }
        let transaction = self.sessions.transactions.get(session);
        let has_deleted = transaction.is_some_and(|it| it.deleted.contains(&table));
        if is_plain && !has_deleted && !is_unique {
            self.work.made = made;
            return Ok((self.decide_write(session, write, None)?, 0));
        }
        let decide = |engine: &mut Engine| {
            engine.work.made = made; // members before it may have had their own
            engine.decide_by_readers(session, write)
        };
        match is_search {
            true => {
                self.bring_up(session)?;
                Ok((self.overlaid(session, decide)?, 0))
            }
            false => self.beside(session, &BTreeSet::from([table]), |engine| {
                let decision = decide(engine)?;
                let queue = engine.state.queues.get(&table);
                let put = |queue: &queue::Queue| queue.backlog.next().0 - queue.unit_from().0;
                Ok((decision, queue.map_or(0, put)))
            }),
        }
    }

    /// Whether a member may change rows of a table, or of one of several that are searched as one: its own, or those that it gets
    /// as hits or as a part.
    fn touches(&self, transaction: &Transaction, name: &str) -> bool {
        let catalog = &self.state.catalog;
        let wanted = tables_of(name).filter_map(|name| catalog.find(name).ok());
        let wanted: Vec<TableId> = wanted.collect();
        let touched = self.reached(transaction.changed.clone());
        wanted.iter().any(|table| touched.contains(table))
    }

    /// Tables, and those that get their rows as hits or as a part.
    fn reached(&self, mut touched: BTreeSet<TableId>) -> BTreeSet<TableId> {
        let catalog = &self.state.catalog;
        loop {
            let before = touched.len();
            let of = |names: &[String]| {
                let mut found = names.iter().filter_map(|name| catalog.find(name).ok());
                found.any(|table| touched.contains(&table))
            };
            let mut reached = Vec::new();
            for (id, definition) in catalog.iter() {
                match &definition.kind {
                    Kind::Percolate { on, into, .. } if of(on) => {
                        reached.push(id);
                        let into = into.as_ref().and_then(|into| catalog.find(into).ok());
                        reached.extend(into);
                    }
                    Kind::Distributed { locals } if of(locals) => reached.push(id),
                    Kind::Percolate { .. }
                    | Kind::Distributed { .. }
                    | Kind::Search(_)
                    | Kind::Queue(_) => {}
                }
            }
            touched.extend(reached);
            if touched.len() == before {
                return touched;
            }
        }
    }

    fn keep_insert(
        &mut self,
        session: SessionId,
        (table, mut insert, made): (TableId, Insert, Option<MadeRows>),
        record: &Record,
    ) -> Result<()> {
        let ids = inserted(record);
        let Some(transaction) = self.sessions.transactions.get_mut(session) else {
            return Err(Error::internal("no transaction"));
        };
        let own = transaction.ids.entry(table).or_default();
        let is_new = !insert.replace && !transaction.deleted.contains(&table);
        if let Some(&id) = ids.iter().find(|id| is_new && own.contains(id)) {
            return Err(Error::DuplicateId { id });
        }
        own.extend(ids.iter().copied());
        let (assigned, given) = highest_ids(&insert, &ids);
        self.pass_ids(session, table, (assigned, given));
        name_ids(&mut insert, &ids);
        let rows = insert.rows.len() as u64;
        let values = insert.rows.iter().flatten().map(Value::memory);
        let bytes = values.sum::<usize>() as u64 + rows * ROW_BYTES;
        let change = Change::Write(Box::new(Write::Insert(insert)));
        self.keep(session, (table, change, None, made), bytes)
    }

    /// Lets no later row get one of a statement's ids by itself: for good those up to `assigned`, those up to `given`, which the client
    /// has named, while the transaction is open.
    fn pass_ids(&mut self, session: SessionId, table: TableId, (assigned, given): (u64, u64)) {
        if let Some(transaction) = self.sessions.transactions.get_mut(session) {
            let reserved = transaction.given.entry(table).or_default();
            *reserved = given.max(*reserved);
        }
        if let Some((highest, reserved)) = id_bounds(&mut self.state, table) {
            *highest = assigned.max(*highest);
            *reserved = given.max(*reserved);
        }
    }

    /// Keeps a statement that chooses rows by what they are: an UPDATE, a DELETE, an INSERT of ids that may be known. Also one that
    /// chose none: COMMIT must find none either.
    fn keep_choice(
        &mut self,
        session: SessionId,
        (table, write, outcome): (TableId, Write, Outcome),
        made: Option<MadeRows>,
    ) -> Result<()> {
        let Some(transaction) = self.sessions.transactions.get_mut(session) else {
            return Err(Error::internal("no transaction"));
        };
        match &write {
            Write::Upsert { insert, .. } => {
                check_ids_are_named(insert)?;
                let stored = outcome.rows.iter().filter(|row| row.1 == Fate::Stored);
                let stored = stored.map(|row| row.0);
                let own = transaction.ids.entry(table).or_default();
                own.extend(stored.clone());
                let named = named_ids(insert);
                let (given, assigned) = stored.partition::<Vec<u64>, _>(|id| named.contains(id));
                let highest = |ids: Vec<u64>| ids.into_iter().max().unwrap_or(0);
                self.pass_ids(session, table, (highest(assigned), highest(given)));
            }
            Write::Delete(_) if !outcome.rows.is_empty() => {
                transaction.deleted.insert(table);
            }
            Write::Insert(_)
            | Write::Delete(_)
            | Write::Update(_)
            | Write::Planned(_)
            | Write::Backfill(_) => {}
        }
        let rows = outcome.rows.len() as u64;
        let bytes = write.bytes() as u64 + rows * ROW_BYTES;
        let outcome = self.state.queues.get(&table).is_none().then_some(outcome);
        let change = Change::Write(Box::new(write));
        self.keep(session, (table, change, outcome, made), bytes)
    }

    /// `put`: rows that the transaction has put into the queue so far.
    fn keep_queue_delete(
        &mut self,
        session: SessionId,
        table: TableId,
        record: &Record,
        put: u64,
    ) -> Result<()> {
        let Record::Queue(QueueRecord::RemoveRows { rows, .. }) = record else {
            return Err(Error::internal("a DELETE with another record"));
        };
        if self.sessions.owner(session).is_some() {
            self.add_ends(session, table, 0, rows)?;
            self.sessions.yield_rows(session, rows);
            return Ok(());
        }
        let bytes = rows.len() as u64 * ROW_BYTES;
        let Some(queue) = self.state.queues.get(&table) else {
            return Err(Error::internal("no queue for rows to remove"));
        };
        // The transaction's own rows were taken back, so that the next row of others gets the number of the first.
        let next = queue.backlog.next();
        let (rows, own) = rows
            .iter()
            .partition::<Vec<RowNumber>, _>(|row| **row < next);
        let own = own.iter().map(|row| row.0 - next.0).collect();
        let change = Change::Remove(Removal { rows, own, put });
        self.keep(session, (table, change, None, None), bytes)
    }

    /// Keeps a member, or ends the transaction where it is too large.
    fn keep(
        &mut self,
        session: SessionId,
        (table, change, outcome, made): (TableId, Change, Option<Outcome>, Option<MadeRows>),
        bytes: u64,
    ) -> Result<()> {
        let transaction = self.sessions.transactions.get(session);
        if transaction.is_some_and(|it| it.members.len() >= TRANSACTION_STATEMENTS_MAX) {
            let error = Error::Limit {
                what: "statements of a transaction",
                max: TRANSACTION_STATEMENTS_MAX as u64,
            };
            self.refuse_transaction(session, &error)?;
            return Err(error);
        }
        let made_bytes = made.as_ref().map_or(0, |made| made.bytes().rows);
        let bytes = bytes + MEMBER_BYTES + made_bytes as u64;
        self.grow(session, bytes)?;
        let definition = self.state.catalog.get(table).map(Arc::clone);
        let transaction = self.sessions.transactions.get_mut(session);
        let (Some(transaction), Some(definition)) = (transaction, definition) else {
            return Err(Error::internal("no transaction, or no table"));
        };
        transaction.push(Member {
            table,
            definition,
            change,
            bytes,
            outcome,
            made,
        });
        Ok(())
    }

    /// Counts memory of a transaction, or ends the transaction where it is too much.
    fn grow(&mut self, session: SessionId, bytes: u64) -> Result<()> {
        let transactions = &mut self.sessions.transactions;
        let own = transactions.get(session).map_or(0, |own| own.bytes);
        let share = self.options.memory_bytes / TRANSACTIONS_SHARE_OF_MEMORY;
        let max = share.min(TRANSACTION_BYTES_MAX);
        // What does not fit alone never will.
        let error = if own + bytes > max {
            Error::Limit {
                what: "bytes of a transaction",
                max,
            }
        } else if transactions.bytes + bytes > share {
            Error::Overloaded
        } else {
            transactions.grow(session, bytes);
            return Ok(());
        };
        self.refuse_transaction(session, &error)?;
        Err(error)
    }

    /// Takes a transaction back before its client asks for it. Its later statements are answered with the error.
    fn refuse_transaction(&mut self, session: SessionId, error: &Error) -> Result<()> {
        match self.sessions.transactions.refuse(session, error.clone()) {
            Some(ended) => self.give_taken_back(session, &ended),
            None => Ok(()),
        }
    }

    /// Ends transactions that have lasted longer than [`TRANSACTION_US_MAX`].
    pub(super) fn end_overdue_transactions(&mut self) -> Result<()> {
        while let Some((began_us, session)) = self.sessions.transactions.oldest()
            && began_us.saturating_add(TRANSACTION_US_MAX) <= self.now.steady_us
        {
            let error = Error::Limit {
                what: "seconds of a transaction",
                max: TRANSACTION_US_MAX / 1_000_000,
            };
            self.refuse_transaction(session, &error)?;
        }
        Ok(())
    }

    /// Calls `look` with the transaction's members applied that reach one of `tables`, and takes them back.
    fn beside<T>(
        &mut self,
        session: SessionId,
        tables: &BTreeSet<TableId>,
        look: impl FnOnce(&mut Engine) -> Result<T>,
    ) -> Result<T> {
        let Some(transaction) = self.sessions.transactions.get_mut(session) else {
            return look(self);
        };
        let members = std::mem::take(&mut transaction.members);
        let looked = self.beside_members(&members, tables, look);
        if let Some(transaction) = self.sessions.transactions.get_mut(session) {
            transaction.members = members;
        }
        looked
    }

    fn beside_members<T>(
        &mut self,
        members: &[Member],
        tables: &BTreeSet<TableId>,
        look: impl FnOnce(&mut Engine) -> Result<T>,
    ) -> Result<T> {
        let effective = members.iter().filter(|member| member.has_effect());
        let changed: BTreeSet<TableId> = effective.map(|member| member.table).collect();
        let reaching = changed.into_iter().filter(|table| {
            let reached = self.reached(BTreeSet::from([*table]));
            !reached.is_disjoint(tables)
        });
        let reaching: BTreeSet<TableId> = reaching.collect();
        if reaching.is_empty() {
            return look(self);
        }
        let reaches = |member: &&Member| reaching.contains(&member.table) && member.has_effect();
        let (mut count, mut bytes) = (0, 0);
        for member in members.iter().filter(reaches) {
            count += 1;
            bytes += member.replayed_bytes();
        }
        let limit = |what, max| Err(Error::Limit { what, max });
        if count > REPLAYED_STATEMENTS_MAX {
            let what = "statements of a transaction before one that must see them";
            return limit(what, REPLAYED_STATEMENTS_MAX as u64);
        }
        if bytes > REPLAYED_BYTES_MAX + count as u64 * MEMBER_BYTES {
            let what = "bytes of a transaction before a statement that must see them";
            return limit(what, REPLAYED_BYTES_MAX);
        }
        let (mut undo, position, counted) = (Undo::default(), self.state.position, self.status);
        let looked = self
            .apply_members(members.iter().enumerate(), reaches, &mut undo)
            .and_then(|()| look(self));
        if let Err(error) = &looked
            && is_fatal(error)
        {
            return looked;
        }
        self.undo_members(undo, position, counted)?;
        looked
    }

    fn apply_members<'m>(
        &mut self,
        members: impl Iterator<Item = (usize, &'m Member)>,
        is_wanted: impl Fn(&&Member) -> bool,
        undo: &mut Undo,
    ) -> Result<()> {
        let position = self.state.position + 1;
        for (index, member) in members.filter(|(_, member)| is_wanted(member)) {
            let decided = self.decide_as_told(member);
            let decision = decided.map_err(|error| Error::InMany {
                index,
                error: Box::new(error),
            })?;
            self.apply_part(decision, position, undo)?;
        }
        Ok(())
    }

    /// Decides a member for a look. A DELETE takes the rows that it told, and evaluates no condition.
    fn decide_as_told(&mut self, member: &Member) -> Result<Decision> {
        let told = match &member.change {
            Change::Write(write) if matches!(**write, Write::Delete(_)) => &member.outcome,
            Change::Write(_) | Change::Remove(_) => &None,
        };
        let Some(told) = told else {
            let decision = self.decide_member(member, None)?;
            if matches!(decision.reply, Reply::Plan(_)) {
                let what = "a look at hits of an UPDATE of the same transaction that takes long";
                return Err(Error::NotYet {
                    what: what.to_owned(),
                });
            }
            return Ok(decision);
        };
        let (table, ids) = (member.table, told.rows.iter().map(|row| row.0));
        if let Some(search) = self.state.searches.get_mut(&table) {
            let mut there = Vec::new();
            for id in ids {
                if search.table.can_delete(id).map_err(failure::of_index)? {
                    there.push(id);
                }
            }
            return Ok(of_documents(table, there));
        }
        let pq = self.state.percolates.get(&table);
        let is_there = |id: &u64| pq.is_some_and(|pq| pq.contains(*id));
        Ok(of_queries(table, ids.filter(is_there).collect()))
    }

    /// Decides a member of a transaction, over what is there now. `plan`: its rows, where a reader has chosen them. The reply is a
    /// [`Reply::Plan`] where one must choose them.
    fn decide_member(&mut self, member: &Member, plan: Option<&Planned>) -> Result<Decision> {
        let table = member.table;
        let is_same = |there: &Arc<_>| Arc::ptr_eq(there, &member.definition);
        if !self.state.catalog.get(table).is_some_and(is_same) {
            return Err(Error::Conflict {
                what: format!("table '{}' was altered or dropped", member.definition.name),
            });
        }
        match &member.change {
            Change::Write(write) => {
                let write = match plan {
                    Some(plan) => Write::Planned(plan.clone()),
                    None => Write::clone(write),
                };
                self.work.made = member.made.clone();
                let decided = self.decide_by_readers(SessionId(0), write);
                member.as_told(decided)
            }
            Change::Remove(removal) => self.remove(table, removal),
        }
    }

    /// Removes rows of a queue that are still free.
    fn remove(&self, table: TableId, removal: &Removal) -> Result<Decision> {
        let Some(queue) = self.state.queues.get(&table) else {
            return Err(Error::internal("no queue for rows to remove"));
        };
        let first = queue.unit_from();
        if !removal.own.is_empty() && queue.backlog.next() != first.plus(removal.put) {
            // Hits of the transaction's own documents are no longer those that the DELETE has seen.
            return Err(Error::Conflict {
                what: format!("another number of rows came into '{}'", queue.name()),
            });
        }
        let own = removal.own.iter().map(|place| first.plus(*place));
        let all = removal.rows.iter().copied().chain(own);
        let has_lane = queue.options().groups.is_empty();
        let held = queue
            .lanes
            .first()
            .map(|lane| lane.held())
            .filter(|_| has_lane);
        let is_free = |row: &RowNumber| {
            queue.backlog.contains(*row) && held.is_none_or(|held| !held.contains_key(row))
        };
        let rows: Vec<RowNumber> = all.filter(is_free).collect();
        Ok(match rows.is_empty() {
            true => Decision::nothing(Reply::done()),
            false => Decision::giving_room(
                Record::Queue(QueueRecord::RemoveRows { table, rows }),
                Reply::done(),
            ),
        })
    }

    /// The tables with the transaction's own writes, if the transaction touches one of them. Notes the rows that the session
    /// will read: those of its own changes, and with `ids` only rows of these ids.
    fn look(
        &mut self,
        session: SessionId,
        tables: &[String],
        ids: Option<&[u64]>,
    ) -> Result<Reply> {
        let transaction = self.sessions.transactions.get(session);
        let Some(transaction) =
            transaction.filter(|it| tables.iter().any(|table| self.touches(it, table)))
        else {
            return Ok(Reply::done());
        };
        let behind = transaction.members.len();
        let wanted = self.parts_of(tables);
        let standing = wanted
            .iter()
            .filter(|table| self.state.percolates.contains_key(table));
        let standing: BTreeSet<TableId> = standing.copied().collect();
        self.bring_up(session)?;
        let unshown = self.unshown(session, &wanted, ids)?;
        let (seen, rows) = self.overlaid(session, |engine| {
            engine.beside(session, &standing, |engine| {
                let mut rows = Vec::new();
                for (table, ids) in unshown {
                    rows.push((table, engine.digests(table, ids)?));
                }
                Ok((Seen::new(Arc::new(engine.unpublished())), rows))
            })
        })?;
        self.note_shown(session, behind, rows)?;
        Ok(Reply::Seen(seen))
    }

    fn read_within(&mut self, session: SessionId, select: &Select) -> Result<Reply> {
        let tables = self.parts_of(std::slice::from_ref(&select.table));
        self.beside(session, &tables, |engine| engine.read(session, select))
    }

    fn source_within(&mut self, session: SessionId, table: &String) -> Result<Reply> {
        let tables = self.parts_of(std::slice::from_ref(table));
        self.beside(session, &tables, |engine| engine.source(session, table))
    }

    /// `QUEUE_DONE` in a transaction.
    fn end_later(&mut self, session: SessionId, receipts: &[Receipt]) -> Result<Reply> {
        let mut affected = 0;
        for ((table, lane), rows) in self.held(receipts)? {
            affected += self.add_ends(session, table, lane, &rows)?;
        }
        Ok(Reply::affected(affected))
    }

    /// The row that the session owns is to be ended by COMMIT. The session owns nothing then, and is out of owner mode.
    pub(super) fn end_owned_later(&mut self, session: SessionId) -> Result<()> {
        if let Some((table, lane, rows)) = self.sessions.owned_rows(&self.state, session) {
            self.add_ends(session, table, lane, &rows)?;
            self.sessions.yield_rows(session, &rows);
        }
        Ok(())
    }

    /// Ends deliveries of receipts later, and the row that the session owns too where `owns`; false: no transaction is open.
    pub(super) fn ends_are_kept(
        &mut self,
        session: SessionId,
        owns: bool,
        receipts: &[Receipt],
    ) -> Result<bool> {
        if self.sessions.transactions.get(session).is_none() {
            return Ok(false);
        }
        self.end_later(session, receipts)?;
        if owns {
            self.end_owned_later(session)?;
        }
        Ok(true)
    }

    /// Adds deliveries to those that COMMIT ends, and gives their number. A delivery that is there already is passed over.
    fn add_ends(
        &mut self,
        session: SessionId,
        table: TableId,
        lane: usize,
        rows: &[RowNumber],
    ) -> Result<u64> {
        let (queues, transactions) = (&self.state.queues, &mut self.sessions.transactions);
        let (Some(queue), Some(transaction)) = (queues.get(&table), transactions.get_mut(session))
        else {
            return Ok(0);
        };
        if transaction.ends.len() + rows.len() > TRANSACTION_ENDS_MAX {
            return Err(Error::Limit {
                what: "rows that a transaction ends",
                max: TRANSACTION_ENDS_MAX as u64,
            });
        }
        let known: BTreeSet<RowNumber> = transaction
            .ends
            .iter()
            .filter(|end| (end.table, end.lane) == (table, lane))
            .map(|end| end.row)
            .collect();
        let before = transaction.ends.len();
        let fresh = rows.iter().filter(|row| !known.contains(row));
        transaction.ends.extend(fresh.map(|&row| Delivery {
            table,
            lane,
            row,
            number: queue.delivery(lane, row),
        }));
        Ok((transaction.ends.len() - before) as u64)
    }

    /// Whether a delivery is still held, and its row there.
    fn is_out(&self, delivery: &Delivery) -> bool {
        let queue = self.state.queues.get(&delivery.table);
        queue.is_some_and(|queue| {
            queue.delivery(delivery.lane, delivery.row) == delivery.number
                && queue.is_owed(delivery.lane, delivery.row)
        })
    }

    /// ROLLBACK, or the end of the session.
    pub(super) fn roll_back(&mut self, session: SessionId) -> Result<Reply> {
        if let Some(transaction) = self.sessions.transactions.remove(session) {
            self.give_taken_back(session, &transaction)?;
        }
        Ok(Reply::done())
    }

    /// Gives back the rows that the transaction took, those that the session owned when the transaction ended them, and the ids
    /// that the client gave.
    fn give_taken_back(&mut self, session: SessionId, transaction: &Transaction) -> Result<()> {
        for (table, given) in &transaction.given {
            let left = self.sessions.transactions.highest_given(*table);
            if let Some((_, reserved)) = id_bounds(&mut self.state, *table)
                && *reserved == *given
            {
                *reserved = left;
            }
        }
        let mut back: BTreeMap<(TableId, usize), BTreeSet<RowNumber>> = BTreeMap::new();
        for delivery in &transaction.taken {
            if self.is_out(delivery) {
                let rows = back.entry((delivery.table, delivery.lane)).or_default();
                rows.insert(delivery.row);
            }
        }
        for end in &transaction.ends {
            let queue = self.state.queues.get(&end.table);
            let lane = queue.and_then(|queue| queue.lanes.get(end.lane));
            let held = lane.and_then(|lane| lane.held().get(&end.row));
            let is_own = held.is_some_and(|held| held.holder == Holder::Session(session));
            if is_own && self.is_out(end) {
                let rows = back.entry((end.table, end.lane)).or_default();
                rows.insert(end.row);
            }
        }
        for ((table, lane), rows) in back {
            let rows: Vec<RowNumber> = rows.into_iter().collect();
            let owner = self.sessions.owner(session);
            let owns = |owned: &crate::sessions::Owned| {
                let (of, owned) = owned.rows_of(table);
                of == lane && owned.iter().any(|row| rows.contains(row))
            };
            if owner.is_some_and(owns) {
                self.sessions.disown(session);
            }
            self.return_rows(table, lane, &rows, 0)?;
        }
        self.wake();
        Ok(())
    }
}

/// COMMIT looks again which ids are known. So every row must name its id: a new one could be another's by then.
fn check_ids_are_named(insert: &Insert) -> Result<()> {
    let place = id_place(insert);
    let mut rows = insert.rows.iter();
    match rows.any(|row| is_assigned(place.and_then(|place| row.get(place)))) {
        true => Err(Error::NotYet {
            what: "IGNORE and ON DUPLICATE KEY UPDATE of rows without an id in a transaction"
                .to_owned(),
        }),
        false => Ok(()),
    }
}

/// The place of the id in the rows of an INSERT; `None`: they have none.
fn id_place(insert: &Insert) -> Option<usize> {
    let is_query_alone = insert.rows.first().is_some_and(|row| row.len() == 1);
    match &insert.columns {
        None => (!is_query_alone).then_some(0),
        Some(names) => names
            .iter()
            .position(|name| name.eq_ignore_ascii_case("id")),
    }
}

/// Whether a row with this value in the place of its id is assigned one.
fn is_assigned(given: Option<&Value>) -> bool {
    match given {
        None | Some(Value::Null | Value::Int(0)) => true,
        Some(Value::Str(text)) => text.trim().parse() == Ok(0_u64),
        Some(
            Value::Int(_) | Value::Float(_) | Value::Bytes(_) | Value::Set(_) | Value::Json(_),
        ) => false,
    }
}

/// The ids of the rows that a decision inserts; empty for a queue. Rows that are hits come after the statement's own.
fn inserted(record: &Record) -> Vec<u64> {
    if let Record::Documents(documents) = record {
        documents.documents.iter().map(|one| one.id).collect()
    } else if let Record::Queries { queries, .. } = record {
        queries.iter().map(|one| one.id).collect()
    } else if let Record::Many(records) = record {
        records.first().map(inserted).unwrap_or_default()
    } else {
        Vec::new()
    }
}

/// The highest id that an INSERT was assigned, and the highest that its client gave; 0: none.
fn highest_ids(insert: &Insert, ids: &[u64]) -> (u64, u64) {
    let place = id_place(insert);
    let (mut assigned, mut given) = (0, 0);
    for (row, &id) in insert.rows.iter().zip(ids) {
        let highest = match is_assigned(place.and_then(|place| row.get(place))) {
            true => &mut assigned,
            false => &mut given,
        };
        *highest = id.max(*highest);
    }
    (assigned, given)
}

/// The ids that the rows of an INSERT name.
fn named_ids(insert: &Insert) -> FxHashSet<u64> {
    let place = match &insert.columns {
        None => Some(0),
        Some(names) => names
            .iter()
            .position(|name| name.eq_ignore_ascii_case("id")),
    };
    let named = insert.rows.iter().filter_map(|row| row.get(place?));
    let ids = named.filter_map(|value| {
        if let Value::Int(id) = value {
            return u64::try_from(*id).ok();
        }
        let Value::Str(text) = value else {
            return None;
        };
        text.trim().parse().ok()
    });
    ids.collect()
}

/// The highest id of a search or pq table, and the highest that an open transaction has given.
fn id_bounds(state: &mut State, table: TableId) -> Option<(&mut u64, &mut u64)> {
    if let Some(search) = state.searches.get_mut(&table) {
        return Some((&mut search.highest, &mut search.reserved));
    }
    let pq = state.percolates.get_mut(&table)?;
    Some((&mut pq.highest, &mut pq.reserved))
}

/// Writes the ids that were told into the rows.
fn name_ids(insert: &mut Insert, ids: &[u64]) {
    if ids.is_empty() {
        return;
    }
    let is_query_alone = insert.rows.first().is_some_and(|row| row.len() == 1);
    if insert.columns.is_none() && is_query_alone {
        insert.columns = Some(vec!["query".to_owned()]);
    }
    let place = match &mut insert.columns {
        None => 0,
        Some(names) => {
            let named = names
                .iter()
                .position(|name| name.eq_ignore_ascii_case("id"));
            named.unwrap_or_else(|| {
                names.push("id".to_owned());
                names.len() - 1
            })
        }
    };
    for (row, id) in insert.rows.iter_mut().zip(ids) {
        let id = Value::Int(i128::from(*id));
        match row.get_mut(place) {
            Some(given) => *given = id,
            None => row.push(id),
        }
    }
}
