//! COMMIT: all members and ends as one record, or none.
//!
//! The engine's thread decides every member again, within a budget ([`crate::limits::COMMIT_UNITS_MAX`]). Where a condition does not
//! fit into it, COMMIT is *rehearsed*: the members are decided one after the other over new forks of the search tables
//! (`overlay.rs`), and a reader works out each condition over the members before it. Then COMMIT decides all members by these plans,
//! and evaluates the rows that others have changed since.
//!
//! # Example
//! `BEGIN; UPDATE t SET n = 1 WHERE id = 7; DELETE FROM t WHERE levenshtein(title, 'x') > 5; COMMIT` over a million rows.
//!
//! ```text
//! engine   COMMIT: decides the UPDATE, not the DELETE. Takes the UPDATE back, and begins a rehearsal:
//!          a fork of t, the UPDATE in it, a Planning of the DELETE over the fork
//! reader   evaluates 1,000,000 rows: 2 s                       others change 300 rows, and row 7
//! engine   the fork takes in what others did; decides the DELETE over it by the plan; every member is rehearsed
//!          COMMIT: decides the UPDATE, and the DELETE by the plan: evaluates 300 rows, and row 7. Writes one record
//! ```
//!
//! # Invariants
//! - A plan of a member is right for a row that no other session has changed since the plan, if the row was then as the members
//!   before have left it. Those members do to it what they did in the rehearsal: each depends on the row alone, or, with LIMIT, comes
//!   to the rows that it has told, or refuses the COMMIT.
//! - A row that the rehearsal has changed, and others behind it, is in [`Rehearsal::moved`]: the fork keeps the values of before
//!   theirs. COMMIT evaluates it for each plan.
//! - While a rehearsal is under way the transaction is open: ROLLBACK, the end of the session and of its time end both.

use std::collections::{BTreeMap, BTreeSet};

use queue::RowNumber;

use super::outcome;
use crate::catalog::TableId;
use crate::command::{Reply, SessionId, Write};
use crate::decide::conditional::plan;
use crate::engine::write::Unit;
use crate::engine::{Engine, is_fatal};
use crate::error::{Error, Result};
use crate::limits::PLANS_MAX;
use crate::made::MadeRows;
use crate::planned::{Conditional, Planned, Planning};
use crate::record::Record;
use crate::transactions::{Change, Member, Rehearsal, Transaction};

impl Engine {
    /// COMMIT. The reply is a [`Reply::Plan`], and nothing is stored yet, where a condition of a member is long to evaluate.
    pub(in crate::engine) fn commit_transaction(&mut self, session: SessionId) -> Result<Reply> {
        self.work.begin_commit();
        let Some(transaction) = self.sessions.transactions.get_mut(session) else {
            return Ok(Reply::done());
        };
        if let Some(error) = transaction.refused.clone() {
            return self.refuse_commit(session, error);
        }
        transaction.rehearsal = None;
        self.store_or_rehearse(session)
    }

    /// Goes on with a COMMIT, one of whose members a reader has worked out.
    pub(super) fn go_on_committing(
        &mut self,
        session: SessionId,
        planned: Planned,
    ) -> Result<Reply> {
        self.work.begin_commit();
        match self.rehearse(session, Some(planned)) {
            Ok(Some(planning)) => Ok(Reply::Plan(planning)),
            Ok(None) => self.store_or_rehearse(session),
            Err(error) => self.refuse_commit(session, error),
        }
    }

    fn store_or_rehearse(&mut self, session: SessionId) -> Result<Reply> {
        loop {
            let Some(transaction) = self.sessions.transactions.remove(session) else {
                return Ok(Reply::done());
            };
            let stored = self.store(&transaction);
            match stored {
                Ok(true) => {
                    for end in &transaction.ends {
                        self.let_go(end.table, end.lane, &[end.row]);
                    }
                    self.wake();
                    return Ok(Reply::done());
                }
                Err(error) if is_fatal(&error) => return Err(error),
                Ok(false) | Err(_) => self.sessions.transactions.put_back(session, transaction),
            }
            let begun = stored.and_then(|_| self.begin_rehearsal(session));
            match begun.and_then(|()| self.rehearse(session, None)) {
                Ok(Some(planning)) => return Ok(Reply::Plan(planning)),
                Ok(None) => {}
                Err(error) => return self.refuse_commit(session, error),
            }
        }
    }

    fn refuse_commit(&mut self, session: SessionId, error: Error) -> Result<Reply> {
        if !is_fatal(&error)
            && let Some(transaction) = self.sessions.transactions.remove(session)
        {
            self.give_taken_back(session, &transaction)?;
        }
        Err(error)
    }

    /// Stores the members and ends; `false`: a condition is long to evaluate.
    fn store(&mut self, transaction: &Transaction) -> Result<bool> {
        let mut ended: BTreeMap<(TableId, usize), Vec<RowNumber>> = BTreeMap::new();
        for end in &transaction.ends {
            if !self.is_out(end) {
                let definition = self.state.catalog.get(end.table);
                let name = definition.map_or("?", |definition| definition.name.as_str());
                return Err(Error::Conflict {
                    what: format!(
                        "a row of '{name}' is no longer held: its lease was over, or the row is gone"
                    ),
                });
            }
            ended
                .entry((end.table, end.lane))
                .or_default()
                .push(end.row);
        }
        let ends = ended
            .into_iter()
            .map(|((table, lane), rows)| self.ending(table, lane, rows));
        let ends: Vec<Record> = ends.collect();
        // It has changed nothing, so there is nothing to refuse.
        if ends.is_empty() && !transaction.members.iter().any(Member::has_effect) {
            return Ok(true);
        }
        let modes = ends.iter().map(|record| self.sync_mode(record));
        let last = modes.min().map(|mode| (ends, mode));
        let steps = outcome::steps(transaction);
        let moved = transaction.rehearsal.iter().flat_map(|it| &it.moved);
        let moved: Vec<(TableId, BTreeSet<u64>)> =
            moved.map(|(table, ids)| (*table, ids.clone())).collect();
        for (table, ids) in &moved {
            self.count_also(*table, ids);
        }
        let stored = self.unit(steps, Engine::decide_step, last);
        self.work.take_rows_alone(false);
        for (table, _) in &moved {
            self.count_also(*table, &BTreeSet::new());
        }
        Ok(matches!(stored?, Unit::Stored(_)))
    }

    fn count_also(&mut self, table: TableId, ids: &BTreeSet<u64>) {
        if let Some(search) = self.state.searches.get_mut(&table) {
            search.recent.count_also(ids.iter().copied());
        }
    }

    /// Begins a rehearsal over the tables of now. Errors: `Conflict`: others have changed rows during each of several.
    fn begin_rehearsal(&mut self, session: SessionId) -> Result<()> {
        let transactions = &mut self.sessions.transactions;
        let Some(transaction) = transactions.get_mut(session) else {
            return Err(Error::internal("no transaction"));
        };
        transaction.rehearsals += 1;
        if transaction.rehearsals > PLANS_MAX {
            return Err(Error::Conflict {
                what: format!(
                    "rows of its conditions were changed while COMMIT evaluated them, {PLANS_MAX} times: run the \
                     transaction again"
                ),
            });
        }
        transaction.rehearsal = Some(Rehearsal::default());
        let overlay = std::mem::take(&mut transaction.overlay);
        transactions.shrink(session, overlay.memory_bytes());
        Ok(())
    }

    /// Goes on with a rehearsal, up to the next member that a reader must work out. `None`: the members are rehearsed. `arrived`: the
    /// plan of the member at which it has stopped.
    fn rehearse(
        &mut self,
        session: SessionId,
        mut arrived: Option<Planned>,
    ) -> Result<Option<Planning>> {
        let Some(transaction) = self.sessions.transactions.get_mut(session) else {
            return Err(Error::internal("no transaction"));
        };
        let members = std::mem::take(&mut transaction.members);
        let mut outcome = Ok(None);
        for index in transaction.overlay.applied..members.len() {
            outcome = self.rehearse_member(session, (&members, index), arrived.take());
            if !matches!(outcome, Ok(None)) {
                break;
            }
            if let Some(transaction) = self.sessions.transactions.get_mut(session) {
                transaction.overlay.applied = index + 1;
            }
        }
        if let Some(transaction) = self.sessions.transactions.get_mut(session) {
            transaction.members = members;
        }
        outcome
    }

    fn rehearse_member(
        &mut self,
        session: SessionId,
        (members, index): (&[Member], usize),
        arrived: Option<Planned>,
    ) -> Result<Option<Planning>> {
        let member = &members[index];
        let Change::Write(write) = &member.change else {
            return Ok(None); // of a queue
        };
        let is_search = self.state.searches.contains_key(&member.table);
        let before = &members[..index];
        let Some(asked) = Conditional::from_write(write) else {
            return match is_search {
                true => self
                    .rehearse_insert(session, index, (write, &member.made))
                    .map(|()| None),
                false => Ok(None),
            };
        };
        let over = (session, before, member.table);
        let planned = match arrived {
            Some(planned) => planned,
            None => {
                let hand_out = |engine: &mut Engine| plan(&mut engine.state, &asked);
                let planning = self.over(over, hand_out)?;
                let tried = match asked.may_be_costly() || self.work.plans_all() {
                    true => None,
                    false => self.work.within_budget(|control| planning.run(control))?,
                };
                match tried {
                    Some(planned) => planned,
                    None => return self.over(over, hand_out).map(Some),
                }
            }
        };
        let decision = self.over(over, |engine| engine.decide_member(member, Some(&planned)))?;
        if let Reply::Plan(planning) = decision.reply {
            return Ok(Some(planning));
        }
        let is_seen_later = members[index + 1..]
            .iter()
            .any(|later| later.table == member.table);
        if is_search && is_seen_later {
            self.put(session, &decision)?;
        }
        let transaction = self.sessions.transactions.get_mut(session);
        if let Some(rehearsal) = transaction.and_then(|it| it.rehearsal.as_mut()) {
            rehearsal.plans.insert(index, planned);
        }
        Ok(None)
    }

    /// Calls `look` over a table with the members before applied: over its fork, or beside the members.
    fn over<T>(
        &mut self,
        (session, before, table): (SessionId, &[Member], TableId),
        look: impl FnOnce(&mut Engine) -> Result<T>,
    ) -> Result<T> {
        match self.state.searches.contains_key(&table) {
            true => self.overlaid(session, look),
            false => self.beside_members(before, &BTreeSet::from([table]), look),
        }
    }

    /// Puts the rows of an INSERT into the forks.
    fn rehearse_insert(
        &mut self,
        session: SessionId,
        index: usize,
        (write, made): (&Write, &Option<MadeRows>),
    ) -> Result<()> {
        let mut write = write.clone();
        if let Write::Insert(insert) = &mut write {
            insert.replace = true; // COMMIT refuses an id that others have taken
        }
        self.put_rows(session, index, (write, made.clone()))
    }
}
