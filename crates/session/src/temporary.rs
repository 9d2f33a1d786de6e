//! The temporary tables of one session, and what ROLLBACK makes of them.
//!
//! Example: `t` has a row. Behind BEGIN, an INSERT puts a second one into a copy; `before` keeps the first form. ROLLBACK puts it
//! back, COMMIT drops it.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Error, Temporary};

use crate::budget::{Budget, Grant};
use crate::errors::{self, Failure};
use crate::limits::{BUDGET_WAIT, TABLES_SHARE_OF_REQUESTS, TEMPORARY_TABLES_MAX};

/// The memory that temporary tables are taken from.
pub(crate) struct TableMemory {
    /// The memory of requests, which holds them too.
    requests: Arc<Budget>,
    /// What of it the tables of all sessions may take, so that they leave some to requests.
    share: Arc<Budget>,
}

impl TableMemory {
    /// A part of the memory of requests.
    pub(crate) fn of(requests: &Arc<Budget>) -> TableMemory {
        let bytes = requests.total_bytes() as u64 / TABLES_SHARE_OF_REQUESTS;
        TableMemory {
            requests: Arc::clone(requests),
            share: Budget::new(bytes, BUDGET_WAIT),
        }
    }
}

/// The tables by name.
#[derive(Default)]
pub(crate) struct TemporaryTables {
    tables: BTreeMap<String, Arc<Temporary>>,
    /// Tables as they were before the open transaction changed them.
    before: BTreeMap<String, Arc<Temporary>>,
    /// System relations that the statement reads.
    relations: BTreeMap<&'static str, Arc<Temporary>>,
    held: TableGrant,
}

/// Memory of the tables or lists of one owner, of requests and of the share of it that they may take; `None`: nothing was taken yet.
#[derive(Default)]
pub(crate) struct TableGrant(Option<[Grant; 2]>);

impl TableGrant {
    /// Makes sure that it holds `bytes` in all.
    ///
    /// # Errors
    /// `LIMIT`: the memory of tables and lists is used up.
    pub(crate) fn cover(&mut self, memory: &TableMemory, bytes: usize) -> Result<(), Failure> {
        let budgets = [&memory.share, &memory.requests];
        let held = self
            .0
            .get_or_insert_with(|| budgets.map(|budget| budget.grant()));
        held.iter().try_for_each(|held| held.cover(bytes)).map_err(|_| {
            let most_mib = memory.share.total_bytes() >> 20;
            let message = format!(
                "temporary tables and lists of all connections take at most {most_mib} MiB: drop some, insert less, or raise memory"
            );
            Failure::new(errors::LIMIT, message)
        })
    }

    /// Gives back all but `bytes`.
    pub(crate) fn keep(&self, bytes: usize) {
        self.0.iter().flatten().for_each(|held| held.keep(bytes));
    }
}

impl TemporaryTables {
    /// Whether there is a table of that name, in lower case.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&Arc<Temporary>> {
        self.tables.get(name).or_else(|| self.relations.get(name))
    }

    /// A table as it is now.
    ///
    /// # Errors
    /// `NO_SUCH_TABLE`.
    pub(crate) fn get(&self, name: &str) -> Result<Arc<Temporary>, Failure> {
        let table = self.find(name);
        Ok(Arc::clone(
            table.ok_or_else(|| Error::NoSuchTable(name.to_owned()))?,
        ))
    }

    /// Adds a table, whose memory is taken from `budget`.
    ///
    /// # Errors
    /// `TABLE_EXISTS`; `LIMIT`: there are [`TEMPORARY_TABLES_MAX`], or their memory is used up.
    pub(crate) fn add(
        &mut self,
        memory: &TableMemory,
        name: String,
        table: Temporary,
    ) -> Result<(), Failure> {
        if self.tables.contains_key(&name) {
            return Err(Error::TableExists(name).into());
        }
        if self.tables.len() >= TEMPORARY_TABLES_MAX {
            let message = format!(
                "a connection has at most {TEMPORARY_TABLES_MAX} temporary tables: drop some of them"
            );
            return Err(Failure::new(errors::LIMIT, message));
        }
        self.cover(memory, table.memory())?;
        self.before.remove(&name);
        self.tables.insert(name, Arc::new(table));
        Ok(())
    }

    /// Adds a system relation, until [`TemporaryTables::forget_relations`].
    ///
    /// # Errors
    /// `LIMIT`: the memory of temporary tables is used up.
    pub(crate) fn add_relation(
        &mut self,
        memory: &TableMemory,
        name: &'static str,
        table: Temporary,
    ) -> Result<(), Failure> {
        self.cover(memory, table.memory())?;
        self.relations.insert(name, Arc::new(table));
        Ok(())
    }

    /// Drops the system relations of a statement that is done. What it answers still holds those that it reads.
    pub(crate) fn forget_relations(&mut self) {
        if !self.relations.is_empty() {
            self.relations.clear();
            self.settle();
        }
    }

    /// Removes a table; false: there is none of that name.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        self.before.remove(name);
        let removed = self.tables.remove(name).is_some();
        self.settle();
        removed
    }

    /// Changes a table, which takes at most `more` bytes of memory. Inside a transaction, its present form is kept.
    ///
    /// # Errors
    /// `NO_SUCH_TABLE`; `LIMIT`: the memory of temporary tables is used up; those of `change`, which then has changed nothing.
    pub(crate) fn change<T>(
        &mut self,
        memory: &TableMemory,
        name: &str,
        more: usize,
        is_in_transaction: bool,
        change: impl FnOnce(&mut Temporary) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let table = self.get(name)?;
        let is_kept = is_in_transaction && !self.before.contains_key(name);
        // A table that somebody else holds, such as ROLLBACK, is copied.
        let copied = if is_kept || Arc::strong_count(&table) > 2 {
            table.memory()
        } else {
            0
        };
        self.cover(memory, more + copied)?;
        if is_kept {
            self.before.insert(name.to_owned(), Arc::clone(&table));
        }
        drop(table);
        let table = self.tables.get_mut(name);
        let table = table.ok_or_else(|| Error::NoSuchTable(name.to_owned()))?;
        let changed = change(Arc::make_mut(table));
        self.settle();
        Ok(changed?)
    }

    /// COMMIT: the tables stay as they are.
    pub(crate) fn commit(&mut self) {
        if !self.before.is_empty() {
            self.before.clear();
            self.settle();
        }
    }

    /// ROLLBACK: the rows are those of the time before the transaction. Tables that it made or dropped stay so, as in MySQL.
    pub(crate) fn rollback(&mut self) {
        for (name, table) in std::mem::take(&mut self.before) {
            self.tables.insert(name, table);
        }
        self.settle();
    }

    /// Takes memory for all tables and `more` bytes.
    fn cover(&mut self, memory: &TableMemory, more: usize) -> Result<(), Failure> {
        let bytes = self.bytes().saturating_add(more);
        self.held.cover(memory, bytes)
    }

    /// Gives back memory that no table takes.
    fn settle(&mut self) {
        self.held.keep(self.bytes());
    }

    fn bytes(&self) -> usize {
        let tables = self.tables.values().chain(self.before.values());
        let tables = tables.chain(self.relations.values());
        tables.map(|table| table.memory()).sum()
    }
}
