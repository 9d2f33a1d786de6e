//! System relations: what the server tells of itself, as rows. SHOW prints them, and SELECT reads them as `system.tables` or
//! `information_schema.tables`, with WHERE, ORDER BY, GROUP BY, joins and sub-selects, as a temporary table.
//!
//! Example: `SHOW PROCESSLIST` prints `system.processes`. `SELECT user, COUNT(*) FROM system.processes GROUP BY user` counts its rows.
//!
//! To add one: a row of `RELATIONS` in a file of this folder, with the function that makes its rows. To print it with a SHOW: a row
//! of `wire::sql::ShowKind` and of `show::SHOWN`. docs/sql.md lists them; `cli/tests/it/relations.rs` reads each.
//!
//! Invariants:
//! - A relation shows a client what its rights let it read: [`Asked`] is the only way to tables, and gives those that it may read.
//! - Rows are made once a statement, so that all its SELECTs see the same.

mod asked;
mod columns;
mod information;
mod last;
mod logged;
mod processes;
mod queues;
mod server;
mod tables;
mod transactions;

use std::sync::Arc;

use engine::{Command, Interrupt, Reply, Temporary};
use relation::request::Insert;
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use crate::budget::Grant;
use crate::errors::Failure;
use crate::limits::ROWS_INLINE_MAX;
use crate::node::Node;
use crate::session::Session;

pub use tables::columns as columns_by_name;

use asked::Asked;

/// Rows of values.
pub(super) type Rows = Vec<Vec<Value>>;

/// The rows of a reply of the engine.
type OfReply = fn(Reply) -> Result<Rows, Failure>;

/// A system relation.
pub(super) struct Relation {
    /// Its name with that of its database, in lower case.
    pub(super) name: &'static str,
    /// The names of its columns, in lower case, and their types.
    pub(super) columns: &'static [(&'static str, ColumnType)],
    /// What the engine's thread is asked, in less than a millisecond, and the rows of its reply.
    asks: Option<(fn() -> Command, OfReply)>,
    /// The rows that need no reply of the engine. All are in the order in which SHOW prints them.
    rows: fn(&Asked<'_>) -> Result<Rows, Failure>,
}

/// Rows, with the memory that they take.
pub(super) struct Made {
    pub(super) rows: Rows,
    pub(super) held: Grant,
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
        logged::RELATIONS,
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
    /// The rows for a client. Where a SHOW names a table, they are those of this table. Cost: linear in them; many are made in a turn.
    ///
    /// # Errors
    /// Those of the engine, and of the table that is named. `INTERRUPTED`, `LIMIT`: `interrupt` stops it, or memory is used up.
    pub(super) async fn rows(
        &self,
        node: &Node,
        session: &Session,
        table: Option<&str>,
        interrupt: &Arc<Interrupt>,
    ) -> Result<Made, Failure> {
        if let Some((command, rows)) = self.asks {
            let held = node.budget.grant();
            let rows = rows(node.submit(session, command()).await?)?;
            held.take(bytes_of(&rows))?;
            return Ok(Made { rows, held });
        }
        let make = || {
            let asked = Asked::new((node, session), table, interrupt);
            let rows = (self.rows)(&asked)?;
            let held = asked.into_held();
            held.cover(usize::try_from(bytes_of(&rows)).unwrap_or(usize::MAX))?;
            Ok(Made { rows, held })
        };
        node.read(session, interrupt, false, make).await
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
    pub(super) async fn table(
        &self,
        node: &Node,
        session: &Session,
        interrupt: &Arc<Interrupt>,
    ) -> Result<Temporary, Failure> {
        let Made { rows, held } = self.rows(node, session, None, interrupt).await?;
        if rows.len() as u64 > ROWS_INLINE_MAX {
            node.long_within(session, interrupt).await;
        }
        held.take(bytes_of(&rows))?;
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

fn bytes_of(rows: &Rows) -> u64 {
    let cells = rows.iter().flatten().map(Value::memory).sum::<usize>();
    (cells + rows.len() * size_of::<Vec<Value>>()) as u64
}

fn text(cell: impl Into<String>) -> Value {
    Value::Str(cell.into())
}

fn number(number: impl Into<i128>) -> Value {
    Value::Int(number.into())
}
