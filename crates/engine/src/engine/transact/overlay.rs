//! The tables as a transaction sees them: forks of search tables ([`index::Fork`]), with what the transaction has written.
//!
//! # Example
//! `BEGIN; INSERT INTO t (n) VALUES (1); UPDATE t SET n = 2 WHERE n = 1; SELECT n FROM t`
//!
//! - The INSERT is decided over the table itself and waits: most transactions only insert.
//! - The UPDATE needs it. [`Engine::bring_up`] makes a fork of `t` and puts the row into it. [`Engine::overlaid`] puts the fork in the
//!   place of `t`, the UPDATE is decided as any other, and `t` comes back. Then its record is applied to the fork.
//! - The SELECT gets a snapshot in which `t` is the fork. No member is decided again.
//!
//! # Invariants
//! - While a fork stands in the place of its table, nothing is applied, sealed, merged or published.
//! - Forks hold the changes of the first `applied` members. A member that chooses rows is in them as soon as it is kept.
//! - Waiting INSERTs are at most [`WAITING_STATEMENTS_MAX`], of [`WAITING_BYTES_MAX`] bytes: a statement that needs them costs some
//!   milliseconds at most.

use std::sync::Arc;

use language::analysis::Words;

use super::Engine;
use crate::catalog::TableId;
use crate::command::{SessionId, Write};
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::{WAITING_BYTES_MAX, WAITING_STATEMENTS_MAX};
use crate::made::{MadeRows, RowWords};
use crate::record::{Documents, Record};
use crate::state::Prepared;
use crate::table::search::analyse;
use crate::transactions::{Change, Overlay};

impl Engine {
    /// Calls `look` with the transaction's forks in the places of their tables. Cost: a look at the parts of these tables that
    /// others have changed since.
    ///
    /// # Errors
    /// `Conflict`: a table was altered; those of reading a row; those of `look`.
    pub(super) fn overlaid<T>(
        &mut self,
        session: SessionId,
        look: impl FnOnce(&mut Engine) -> Result<T>,
    ) -> Result<T> {
        let Some(transaction) = self.sessions.transactions.get_mut(session) else {
            return look(self);
        };
        let mut overlay = std::mem::take(&mut transaction.overlay);
        let looked = self.rebase(&mut overlay).and_then(|()| {
            let flags = self.exchange(&mut overlay, None);
            let looked = look(self);
            self.exchange(&mut overlay, Some(flags));
            looked
        });
        if let Some(transaction) = self.sessions.transactions.get_mut(session) {
            transaction.note_moved(&mut overlay);
            transaction.overlay = overlay;
        }
        looked
    }

    fn rebase(&mut self, overlay: &mut Overlay) -> Result<()> {
        for (table, (definition, fork)) in &mut overlay.forks {
            let Some(search) = self.state.searches.get_mut(table) else {
                continue; // dropped: no statement finds it
            };
            if !Arc::ptr_eq(&search.definition, definition) {
                return Err(Error::Conflict {
                    what: format!("table '{}' was altered or dropped", definition.name),
                });
            }
            fork.rebase(&mut search.table).map_err(failure::of_index)?;
        }
        Ok(())
    }

    /// Exchanges tables and forks. `flags`: which tables were not published, as the first exchange has told.
    fn exchange(&mut self, overlay: &mut Overlay, flags: Option<Vec<bool>>) -> Vec<bool> {
        let mut before = Vec::with_capacity(overlay.forks.len());
        let mut flags = flags.map(Vec::into_iter);
        for (table, (_, fork)) in &mut overlay.forks {
            let flag = flags.as_mut().and_then(Iterator::next).unwrap_or(true);
            if let Some(search) = self.state.searches.get_mut(table) {
                std::mem::swap(&mut search.table, &mut fork.table);
                before.push(std::mem::replace(&mut search.is_unpublished, flag));
            } else {
                before.push(true);
            }
        }
        before
    }

    /// Puts the INSERTs that wait into the forks.
    ///
    /// # Errors
    /// Those of deciding them: of a value that the table no longer takes, or of a full queue for hits.
    pub(super) fn bring_up(&mut self, session: SessionId) -> Result<()> {
        loop {
            let Some(transaction) = self.sessions.transactions.get_mut(session) else {
                return Ok(());
            };
            let index = transaction.overlay.applied;
            let Some(member) = transaction.members.get(index) else {
                transaction.overlay.waiting_bytes = 0;
                return Ok(());
            };
            let of_search = self.state.searches.contains_key(&member.table);
            let insert = if let Change::Write(write) = &member.change
                && let Write::Insert(insert) = &**write
                && of_search
            {
                Some((insert.clone(), member.made.clone()))
            } else {
                None
            };
            if let Some((mut insert, made)) = insert {
                // Its ids were new when the statement was answered. Only COMMIT refuses one that others have taken since.
                insert.replace = true;
                self.put_rows(session, index, (Write::Insert(insert), made))?;
            }
            if let Some(transaction) = self.sessions.transactions.get_mut(session) {
                transaction.overlay.applied = index + 1;
            }
        }
    }

    /// Decides an INSERT over the forks, and puts its rows, of which some may be made, into them.
    pub(super) fn put_rows(
        &mut self,
        session: SessionId,
        index: usize,
        (write, made): (Write, Option<MadeRows>),
    ) -> Result<()> {
        let counted = self.status;
        let decided = self.overlaid(session, |engine| {
            engine.work.made = made;
            engine.decide_write(session, write, None)
        });
        self.status = counted;
        let decision = decided.map_err(|error| Error::InMany {
            index,
            error: Box::new(error),
        })?;
        self.put(session, &decision)
    }

    /// Puts the record of a member that was just kept into the forks, if the members before it are there. Else it waits.
    pub(super) fn put_last(&mut self, session: SessionId, decision: &Decision) -> Result<()> {
        let Some(transaction) = self.sessions.transactions.get_mut(session) else {
            return Ok(());
        };
        let (overlay, members) = (&mut transaction.overlay, transaction.members.len());
        let last = transaction.members.last();
        let chooses = last.is_some_and(|member| member.outcome.is_some());
        if overlay.applied + 1 == members && (chooses || !overlay.forks.is_empty()) {
            overlay.applied = members;
            return self.put(session, decision);
        }
        overlay.waiting_bytes += last.map_or(0, |member| member.bytes);
        let is_behind = members - overlay.applied > WAITING_STATEMENTS_MAX
            || overlay.waiting_bytes > WAITING_BYTES_MAX;
        match is_behind {
            true => self.bring_up(session),
            false => Ok(()),
        }
    }

    /// Applies a member's record to forks. Hits that go into queues are not seen before COMMIT.
    pub(super) fn put(&mut self, session: SessionId, decision: &Decision) -> Result<()> {
        let Some(record) = &decision.record else {
            return Ok(());
        };
        let Some(transaction) = self.sessions.transactions.get_mut(session) else {
            return Ok(());
        };
        let mut overlay = std::mem::take(&mut transaction.overlay);
        let before = overlay.memory_bytes();
        let done = self.put_record(&mut overlay, record, &decision.prepared);
        let after = overlay.memory_bytes();
        if let Some(transaction) = self.sessions.transactions.get_mut(session) {
            for table in overlay.forks.keys() {
                if let Some(search) = self.state.searches.get(table) {
                    let since = transaction.since.entry(*table);
                    since.or_insert_with(|| search.recent.now());
                }
            }
        }
        if let Some(transaction) = self.sessions.transactions.get_mut(session) {
            transaction.overlay = overlay;
        }
        done?;
        match after.checked_sub(before) {
            Some(more) => self.grow(session, more),
            None => {
                self.sessions.transactions.shrink(session, before - after);
                Ok(())
            }
        }
    }

    fn put_documents(
        &mut self,
        overlay: &mut Overlay,
        documents: &Documents,
        words: &RowWords,
    ) -> Result<()> {
        let Some(fork) = self.fork(overlay, documents.table) else {
            return Ok(());
        };
        let Some(search) = self.state.searches.get(&documents.table) else {
            return Ok(());
        };
        let mut made = Words::new();
        for (place, document) in documents.documents.iter().enumerate() {
            let words = match words.get(place) {
                Some(words) => words,
                None => {
                    let columns = &search.definition.columns;
                    analyse(&search.analyzer, columns, &document.row, &mut made);
                    &made
                }
            };
            let row = Arc::clone(&document.row);
            let put = fork.insert(document.id, row, words);
            put.map_err(failure::of_index)?;
        }
        Ok(())
    }

    fn put_record(
        &mut self,
        overlay: &mut Overlay,
        record: &Record,
        prepared: &Prepared,
    ) -> Result<()> {
        let failed = failure::of_index;
        let Prepared { words, planned, .. } = prepared;
        match record {
            Record::Documents(documents) => self.put_documents(overlay, documents, words)?,
            Record::Update { table, rows } => {
                if let Some(fork) = self.fork(overlay, *table) {
                    let mut taken = 0;
                    if let Some((plan, count)) = planned {
                        taken = *count;
                        let all = rows.ids.iter().enumerate().take(taken);
                        let all = all.map(|(row, id)| (*id, rows.of(row).collect()));
                        fork.take_planned(plan, all).map_err(failed)?;
                    }
                    for (row, id) in rows.ids.iter().enumerate().skip(taken) {
                        fork.change(*id, rows.of(row)).map_err(failed)?;
                    }
                }
            }
            Record::DeleteDocuments { table, ids } => {
                if let Some(fork) = self.fork(overlay, *table) {
                    for id in ids {
                        fork.delete(*id).map_err(failed)?;
                    }
                }
            }
            Record::Many(members) => {
                // What is prepared belongs to the first.
                let mut all = members.iter();
                if let Some(first) = all.next() {
                    self.put_record(overlay, first, prepared)?;
                }
                for member in all {
                    self.put_record(overlay, member, &Prepared::default())?;
                }
            }
            Record::Hits(_)
            | Record::Queries { .. }
            | Record::DeleteQueries { .. }
            | Record::Queue(_) => {}
            // No member of a transaction writes them.
            Record::Catalog(_)
            | Record::Retire { .. }
            | Record::RetireSegments { .. }
            | Record::Load { .. }
            | Record::Messages(_)
            | Record::Collected { .. } => {}
        }
        Ok(())
    }

    /// The fork of a search table, made where there is none.
    fn fork<'o>(
        &mut self,
        overlay: &'o mut Overlay,
        table: TableId,
    ) -> Option<&'o mut index::Fork> {
        let search = self.state.searches.get_mut(&table)?;
        let fork = overlay.forks.entry(table).or_insert_with(|| {
            let definition = Arc::clone(&search.definition);
            (definition, index::Fork::of(&mut search.table))
        });
        Some(&mut fork.1)
    }
}
