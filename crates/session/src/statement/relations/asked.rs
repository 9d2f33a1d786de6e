//! Who asks for a relation: the only way of its rows to tables, and it gives those that the client may read.

use std::sync::Arc;

use engine::{
    Definition, Interrupt, Kind, QueueOptions, QueueReport, Snapshot, Temporary, goes_on,
};
use relation::schema::Column;

use super::{Rows, bytes_of, find};
use crate::budget::Grant;
use crate::errors::Failure;
use crate::node::Node;
use crate::query_log::Logged;
use crate::rights::{Action, Deed};
use crate::session::Session;
use crate::statement::translate;

/// Who asks for a relation, and of what.
pub(super) struct Asked<'a> {
    /// For counters, connections and settings. Tables are reached by the functions of this file alone.
    pub(super) node: &'a Node,
    pub(super) session: &'a Session,
    /// The table that a SHOW names, or the database of relations; `None`: all tables that the client may read.
    pub(super) table: Option<&'a str>,
    /// Ends the making of rows.
    interrupt: &'a Interrupt,
    /// Memory of the rows that [`Asked::gather`] has made.
    held: Grant,
}

/// Units of a row that is made.
const ROW_UNITS: u64 = 40;

/// A table that the client may read. Temporary tables are none.
pub(super) struct Readable {
    snapshot: Arc<Snapshot>,
    pub(super) name: String,
}

impl Readable {
    pub(super) fn definition(&self) -> Result<Arc<Definition>, Failure> {
        Ok(self.snapshot.definition(&self.name)?)
    }

    /// Names and values of SHOW TABLE … STATUS.
    pub(super) fn status(&self) -> Result<Vec<(String, String)>, Failure> {
        Ok(self.snapshot.table_status(&self.name)?)
    }

    /// Names and values of its options.
    pub(super) fn settings(&self) -> Result<Vec<(String, String)>, Failure> {
        Ok(self.snapshot.settings(&self.name)?)
    }

    /// The statement that makes it.
    pub(super) fn create(&self) -> Result<String, Failure> {
        Ok(self.snapshot.show_create(&self.name)?)
    }
}

impl<'a> Asked<'a> {
    pub(super) fn new(
        (node, session): (&'a Node, &'a Session),
        table: Option<&'a str>,
        interrupt: &'a Interrupt,
    ) -> Asked<'a> {
        Asked {
            node,
            session,
            table,
            interrupt,
            held: node.budget.grant(),
        }
    }

    /// The memory that was paid for rows.
    pub(super) fn into_held(self) -> Grant {
        self.held
    }

    /// The rows of all parts, such as tables. There may be very many: they are counted and paid for as they are made.
    pub(super) fn gather<T>(
        &self,
        parts: impl IntoIterator<Item = T>,
        rows_of: impl Fn(T) -> Result<Rows, Failure>,
    ) -> Result<Rows, Failure> {
        let mut all = Rows::new();
        for part in parts {
            let rows = rows_of(part)?;
            self.interrupt.spend(ROW_UNITS * (1 + rows.len() as u64));
            goes_on(self.interrupt)?;
            self.held.take(bytes_of(&rows))?;
            all.extend(rows);
        }
        Ok(all)
    }

    /// The definition of the table that the SHOW names, which may be temporary. Without such a name: the definitions of all tables
    /// that the client may read, by name.
    pub(super) fn definitions(&self) -> Result<Vec<Arc<Definition>>, Failure> {
        if let Some(relation) = self.table.and_then(find) {
            let columns = relation.columns();
            return Ok(vec![Arc::new(in_memory(relation.name, columns))]);
        }
        let snapshot = self.snapshot()?;
        if let Some(table) = self.table {
            return Ok(vec![match self.session.temporary.has(table) {
                true => {
                    let temporary = self.session.temporary.get(table)?;
                    Arc::new(temporary_definition(table, &temporary))
                }
                false => snapshot.definition(table)?,
            }]);
        }
        let all = self.readable(&snapshot);
        all.map(|(name, _)| Ok(snapshot.definition(&name)?))
            .collect()
    }

    /// The table that the SHOW names. Without one: all tables that the client may read.
    ///
    /// # Errors
    /// The named table is a temporary one.
    pub(super) fn tables(&self) -> Result<Vec<Readable>, Failure> {
        let snapshot = self.snapshot()?;
        let of = |name| Readable {
            snapshot: Arc::clone(&snapshot),
            name,
        };
        if let Some(table) = self.table {
            if self.session.temporary.has(table) {
                return Err(translate::not_yet("this statement on a temporary table"));
            }
            return Ok(vec![of(table.to_owned())]);
        }
        Ok(self.readable(&snapshot).map(|(name, _)| of(name)).collect())
    }

    /// Names and kinds of all tables that the client may read, by name, whatever the SHOW names.
    pub(super) fn names(&self) -> Result<Vec<(String, &'static str)>, Failure> {
        let snapshot = self.node.snapshot(self.session, Action(Deed::Read, None))?;
        Ok(self.readable(&snapshot).collect())
    }

    /// Counts of all queues that the client may read.
    pub(super) fn queues(&self) -> Result<Vec<QueueReport>, Failure> {
        let mut reports = self.snapshot()?.queues();
        reports.retain(|report| self.may_read(&report.queue));
        Ok(reports)
    }

    /// The last searches over tables that the client may read, the latest first.
    pub(super) fn searches(&self) -> impl Iterator<Item = Logged> {
        let last = self.node.query_log.last();
        last.filter(|logged| {
            let entry = logged.get().entry();
            let tables = String::from_utf8_lossy(&entry.tables);
            let mut tables = tables.split(',').filter(|table| !table.is_empty());
            tables.all(|table| self.may_read(table))
        })
    }

    /// The published snapshot.
    ///
    /// # Errors
    /// `NOT_PERMITTED`: the client may not read the table that the SHOW names.
    fn snapshot(&self) -> Result<Arc<Snapshot>, Failure> {
        let reads = Action(Deed::Read, self.table);
        self.node.snapshot(self.session, reads)
    }

    fn readable(&self, snapshot: &Snapshot) -> impl Iterator<Item = (String, &'static str)> {
        let all = snapshot.tables().into_iter();
        all.filter(|(name, _)| self.may_read(name))
    }

    fn may_read(&self, table: &str) -> bool {
        let reads = Action(Deed::Read, Some(table));
        self.node.permit(self.session, reads).is_ok()
    }
}

/// The definition of a temporary table, to show it.
fn temporary_definition(name: &str, table: &Temporary) -> Definition {
    let mut columns = table.columns().to_vec();
    for unique in table.unique() {
        if let [column] = unique {
            columns[*column].keyed = true;
        }
    }
    in_memory(name, columns)
}

/// The definition of a table in memory, which has no implied id, as a queue has none.
fn in_memory(name: &str, columns: Vec<Column>) -> Definition {
    Definition {
        name: name.to_owned(),
        kind: Kind::Queue(QueueOptions::default()),
        columns,
        analysis: Default::default(),
        sync: None,
        keep: None,
    }
}
