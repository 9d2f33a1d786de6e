//! System relations: what the server tells of itself, as rows. SHOW prints them, and SELECT reads them as `system.tables` or
//! `information_schema.tables`, with WHERE, ORDER BY, GROUP BY, joins and sub-selects, as a temporary table.
//!
//! Example: `SHOW PROCESSLIST` prints `system.processes`, of which `SELECT user, COUNT(*) FROM system.processes GROUP BY user` counts.
//!
//! To add one: a row of `RELATIONS` in a file of this folder, with the function that makes its rows. To print it with a SHOW: a row of `wire::sql::show` and an
//! arm of `show::shown`. docs/sql.md lists them; `cli/tests/it/relations.rs` reads each.
//!
//! Invariants:
//! - A relation shows a client what its rights let it read: [`Asked`] is the only way to tables.
//! - Rows are made once a statement, so that all its SELECTs see the same.

mod columns;
mod information;
mod last;
mod processes;
mod queues;
mod server;
mod tables;
mod transactions;

use std::sync::Arc;

use engine::{Command, Definition, Reply, Snapshot, Temporary};
use query::request::Insert;
use query::schema::{Column, ColumnType};
use query::value::Value;

use crate::errors::Failure;
use crate::node::Node;
use crate::rights::{Action, Deed};
use crate::session::Session;

pub use tables::columns as columns_by_name;
pub(super) use tables::columns_of;
use tables::{in_memory, temporary_definition};

/// Rows of values.
pub(super) type Rows = Vec<Vec<Value>>;

/// A system relation.
pub(super) struct Relation {
    /// Its name with that of its database, in lower case.
    pub(super) name: &'static str,
    /// The names of its columns, in lower case, and their types.
    pub(super) columns: &'static [(&'static str, ColumnType)],
    /// What the engine's thread is asked for them, in less than a millisecond.
    asks: Option<fn() -> Command>,
    /// The rows, in the order in which SHOW prints them.
    rows: fn(&Asked<'_>) -> Result<Rows, Failure>,
}

/// Who asks for a relation, and of what.
pub(super) struct Asked<'a> {
    pub(super) node: &'a Node,
    pub(super) session: &'a Session,
    /// The table that a SHOW names; `None`: all that the client may read.
    pub(super) table: Option<&'a str>,
    /// What the engine answered.
    reply: Option<Reply>,
}

impl Asked<'_> {
    /// The published snapshot, of which the table may be read that the SHOW names.
    fn snapshot(&self) -> Result<Arc<Snapshot>, Failure> {
        let reads = Action(Deed::Read, self.table);
        self.node.snapshot(self.session, reads)
    }

    /// The definitions of the table that the SHOW names, which may be a temporary one, or of all that the client may read, by name.
    fn definitions(&self) -> Result<Vec<Arc<Definition>>, Failure> {
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
        let tables = snapshot.tables().into_iter();
        let all = tables.filter(|(name, _)| self.may_read(name));
        all.map(|(name, _)| Ok(snapshot.definition(&name)?))
            .collect()
    }

    /// The table that the SHOW names, or all that the client may read, without temporary ones.
    fn tables(&self) -> Result<Vec<String>, Failure> {
        if let Some(table) = self.table {
            if self.session.temporary.has(table) {
                return Err(super::translate::not_yet(
                    "this statement on a temporary table",
                ));
            }
            return Ok(vec![table.to_owned()]);
        }
        let tables = self.snapshot()?.tables().into_iter();
        let names = tables.map(|(name, _)| name);
        Ok(names.filter(|name| self.may_read(name)).collect())
    }

    fn may_read(&self, table: &str) -> bool {
        let reads = Action(Deed::Read, Some(table));
        self.node.permit(self.session, reads).is_ok()
    }
}

const TEXT: ColumnType = ColumnType::String;
const NUMBER: ColumnType = ColumnType::Bigint;

/// `named!(name, value, rows: NUMBER)`: names with their types, which are texts where none is said.
macro_rules! named {
    ($($name:ident $(: $kind:expr)?),* $(,)?) => {
        &[$((stringify!($name), named!(@ $($kind)?))),*]
    };
    (@) => { crate::statement::relations::TEXT };
    (@ $kind:expr) => { $kind };
}
use named;

/// The relation of all relations.
const OF_ALL: &[Relation] = &[Relation {
    name: "system.relations",
    columns: named!(relation, column_name, type),
    asks: None,
    rows: |_| {
        let columns = all().flat_map(|of| of.columns.iter().map(|column| (of.name, column)));
        let row = |(name, (column, kind)): (&str, &(&str, ColumnType))| {
            vec![text(name), text(*column), text(kind.sql_name().to_string())]
        };
        Ok(columns.map(row).collect())
    },
}];

/// All system relations: each file has those that it makes.
fn all() -> impl Iterator<Item = &'static Relation> {
    [
        OF_ALL,
        tables::RELATIONS,
        columns::RELATIONS,
        server::RELATIONS,
        processes::RELATIONS,
        queues::RELATIONS,
        last::RELATIONS,
        transactions::RELATIONS,
        information::RELATIONS,
    ]
    .into_iter()
    .flatten()
}

/// The relation of a name with its database, in lower case.
pub(super) fn find(name: &str) -> Option<&'static Relation> {
    all().find(|relation| relation.name == name)
}

impl Relation {
    /// The rows for a client, those of one table where a SHOW names it. Cost: linear in them; of all tables it is the caller's to go to
    /// where long work is done.
    ///
    /// # Errors
    /// Those of the engine, and of the table that is named.
    pub(super) async fn rows(
        &self,
        node: &Node,
        session: &Session,
        table: Option<&str>,
    ) -> Result<Rows, Failure> {
        let reply = match self.asks {
            Some(asks) => Some(node.submit(session, asks()).await?),
            None => None,
        };
        (self.rows)(&Asked {
            node,
            session,
            table,
            reply,
        })
    }

    fn columns(&self) -> Vec<Column> {
        let columns = self.columns.iter().map(|(name, kind)| Column {
            name: (*name).to_owned(),
            kind: *kind,
            nullable: true,
            default: None,
            keyed: false,
        });
        columns.collect()
    }

    /// As a table in memory.
    ///
    /// # Errors
    /// As [`Relation::rows`].
    pub(super) async fn table(&self, node: &Node, session: &Session) -> Result<Temporary, Failure> {
        let rows = self.rows(node, session, None).await?;
        let mut table = Temporary::new(self.name.to_owned(), self.columns(), Vec::new())?;
        let insert = Insert {
            table: self.name.to_owned(),
            columns: None,
            rows,
            replace: false,
        };
        table.insert(insert, false)?;
        Ok(table)
    }
}

fn text(cell: impl Into<String>) -> Value {
    Value::Str(cell.into())
}

fn number(number: impl Into<i128>) -> Value {
    Value::Int(number.into())
}
