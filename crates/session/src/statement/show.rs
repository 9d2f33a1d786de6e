//! SHOW and DESCRIBE: each prints columns of a system relation.

use std::sync::Arc;

use engine::{Interrupt, goes_on};
use relation::expression::{Expression, Function, evaluate_metered};
use relation::options::Options;
use relation::schema::ColumnType;
use relation::value::Value;
use wire::sql::{Show, ShowKind};

use super::relations::{self, Made, Rows};
use super::{Execution, Outcome};
use crate::errors::{self, Failure};
use crate::limits::ROWS_INLINE_MAX;
use crate::node::guarded;
use crate::rights::{Action, Deed};

/// Each SHOW: the relation of which it prints columns, and their headers. A column is named as its header in lower case, with `_` for a
/// blank, or behind `=`.
const SHOWN: [(ShowKind, &str, &[&str]); 34] = [
    (
        ShowKind::SlowQueries,
        "system.query_log",
        &[
            "Time",
            "Real_us",
            "Queued_us",
            "Found",
            "Returned",
            "Table",
            "Mode",
            "Query",
            "Ranker",
            "Connection",
            "Client",
            "Error",
            "Statement",
        ],
    ),
    (
        ShowKind::FullTables,
        "system.tables",
        &["Tables_in_seine=table", "Table_type"],
    ),
    (ShowKind::Tables, "system.tables", &["Table", "Type"]),
    (
        ShowKind::TablesStatus,
        "system.tables",
        &["Name=table", "Engine=type"],
    ),
    (
        ShowKind::FullColumns,
        "system.columns",
        &[
            "Field",
            "Type",
            "Collation",
            "Null",
            "Key",
            "Default",
            "Extra",
            "Privileges",
            "Comment",
        ],
    ),
    (
        ShowKind::Columns,
        "system.columns",
        &["Field", "Type", "Null", "Key", "Default", "Extra"],
    ),
    (
        ShowKind::Documents,
        "system.document_columns",
        &["Field", "Type", "Null", "Key", "Default", "Extra"],
    ),
    (
        ShowKind::TableStatus,
        "system.table_status",
        &["Variable_name", "Value"],
    ),
    (
        ShowKind::TableSettings,
        "system.table_settings",
        &["Variable_name", "Value"],
    ),
    (
        ShowKind::TableIndexes,
        "system.keys",
        &["Name", "Type", "Enabled", "Percent"],
    ),
    (
        ShowKind::CreateTable,
        "system.create_tables",
        &["Table", "Create Table"],
    ),
    (
        ShowKind::Indexes,
        "system.indexes",
        &[
            "Table",
            "Non_unique",
            "Key_name",
            "Seq_in_index",
            "Column_name",
        ],
    ),
    (ShowKind::Meta, "system.meta", &["Variable_name", "Value"]),
    (ShowKind::Plan, "system.plan", &["Variable", "Value"]),
    (
        ShowKind::Profile,
        "system.profile",
        &["Status", "Duration", "Switches", "Percent"],
    ),
    (ShowKind::Scroll, "system.scroll", &["scroll_token"]),
    (
        ShowKind::Version,
        "system.version",
        &["Component", "Version"],
    ),
    (ShowKind::Status, "system.status", &["Counter", "Value"]),
    (
        ShowKind::Variables,
        "system.variables",
        &["Variable_name", "Value"],
    ),
    (ShowKind::Databases, "system.databases", &["Database"]),
    (
        ShowKind::Warnings,
        "system.warnings",
        &["Level", "Code", "Message"],
    ),
    (
        ShowKind::WarningsCount,
        "system.warnings_count",
        &["@@session.warning_count=count"],
    ),
    (
        ShowKind::Queues,
        "system.queues",
        &[
            "Queue",
            "Group",
            "Rows",
            "Owned",
            "Waiting",
            "Delayed",
            "Redelivered",
            "Restored",
            "Oldest_s",
            "Paused",
        ],
    ),
    (
        ShowKind::EngineQueueStatus,
        "system.engine_queue_status",
        &["Type", "Name", "Status"],
    ),
    (
        ShowKind::Transactions,
        "system.transactions",
        &["Id", "Seconds", "Statements", "Ends", "Bytes", "Refused"],
    ),
    (
        ShowKind::Engines,
        "system.engines",
        &[
            "Engine",
            "Support",
            "Comment",
            "Transactions",
            "XA",
            "Savepoints",
        ],
    ),
    (
        ShowKind::CharacterSets,
        "system.character_sets",
        &["Charset", "Description", "Default collation", "Maxlen"],
    ),
    (
        ShowKind::Collations,
        "system.collations",
        &[
            "Collation",
            "Charset",
            "Id",
            "Default",
            "Compiled",
            "Sortlen",
        ],
    ),
    (
        ShowKind::Plugins,
        "system.plugins",
        &["Name", "Status", "Type", "Library", "License"],
    ),
    (
        ShowKind::Processes,
        "system.processes",
        &[
            "Id", "User", "Host", "db", "Command", "Time", "State", "Info",
        ],
    ),
    (
        ShowKind::Triggers,
        "system.triggers",
        &["Trigger", "Event", "Table", "Statement", "Timing"],
    ),
    (
        ShowKind::Routines,
        "system.routines",
        &["Db", "Name", "Type"],
    ),
    (ShowKind::Events, "system.events", &["Db", "Name", "Status"]),
    (ShowKind::Grants, "system.grants", &["Grants"]),
];

impl Execution<'_> {
    /// SHOW, DESCRIBE.
    pub(super) async fn show(&mut self, show: Show) -> Result<Outcome, Failure> {
        let (node, session) = (self.node, &*self.session);
        let mut all = SHOWN.iter();
        let shown = all.find(|(kind, ..)| *kind == show.kind);
        let (_, name, headers) = shown.ok_or_else(super::unexpected)?;
        let relation = relations::find(name).ok_or_else(super::unexpected)?;
        let text = self.text.as_deref().unwrap_or(name);
        let search = node.list(session, text.to_owned());
        let table = show.table.as_deref().or(show.database.as_deref());
        let made = relation.rows(node, session, table, &search.interrupt);
        let Made { rows, held } = made.await?;
        let columns = headers.iter().map(|header| {
            let (header, column) = column_of(header);
            let mut columns = relation.columns.iter();
            let place = columns.position(|(own, _)| *own == column);
            Ok((header, place.ok_or_else(super::unexpected)?))
        });
        let columns: Vec<(&str, usize)> = columns.collect::<Result<_, Failure>>()?;
        let mut names: Vec<&str> = columns.iter().map(|(header, _)| *header).collect();
        let condition = condition(&show, &names)?;
        let is_count = show.kind == ShowKind::WarningsCount;
        let print = |row: &Vec<Value>| -> Vec<Value> {
            let cells = columns.iter().map(|(_, place)| match is_count {
                true => row[*place].clone(),
                false => printed(row[*place].clone(), relation.columns[*place].1),
            });
            cells.collect()
        };
        let interrupt = &search.interrupt;
        let keep = || {
            let mut kept = Rows::new();
            for row in rows.iter().map(print) {
                if meets(&condition, &names, &row, interrupt)? {
                    kept.push(row);
                }
            }
            Ok(kept)
        };
        let is_long = rows.len() as u64 > ROWS_INLINE_MAX;
        let rows = node.read(session, interrupt, is_long, keep).await?;
        if show.kind == ShowKind::Meta {
            names[0] = session.meta.header;
        }
        let kind = match is_count {
            true => ColumnType::Bigint,
            false => ColumnType::String,
        };
        let columns = names.into_iter().map(|name| (name.to_owned(), Some(kind)));
        let mut shown = Outcome::shown(columns.collect(), rows);
        if let Outcome::Rows(found) = &mut shown {
            found.held = Some(Arc::new(held));
        }
        Ok(shown)
    }

    /// EXPLAIN QUERY: the tree of a MATCH, in Manticore's columns.
    pub(super) fn explain_query(&self, table: &str, text: &str) -> Result<Outcome, Failure> {
        let reads = Action(Deed::Read, Some(table));
        let snapshot = self.node.snapshot(self.session, reads)?;
        let outline = || Ok(snapshot.outline(table, text, &Options::default())?);
        let tree = format!("{:#}", guarded(self.node, outline)?);
        let columns = ["Variable", "Value"].map(|name| (name.to_owned(), Some(ColumnType::String)));
        let row = ["transformed_tree".to_owned(), tree].map(Value::Str);
        Ok(Outcome::shown(columns.to_vec(), vec![row.to_vec()]))
    }
}

/// A header of [`SHOWN`], and the name of its column.
fn column_of(shown: &'static str) -> (&'static str, String) {
    match shown.split_once('=') {
        Some((header, column)) => (header, column.to_owned()),
        None => (shown, shown.to_lowercase().replace(' ', "_")),
    }
}

/// A cell as SHOW prints it: a text, as MySQL's. A number that does not apply is an empty one.
fn printed(cell: Value, kind: ColumnType) -> Value {
    match cell {
        Value::Null if kind == ColumnType::Bigint => Value::Str(String::new()),
        text @ (Value::Null | Value::Str(_)) => text,
        other => Value::Str(other.to_string()),
    }
}

/// LIKE, on the first column, and WHERE of a SHOW, over columns by their headers.
///
/// # Errors
/// `UNKNOWN_COLUMN`.
fn condition(show: &Show, names: &[&str]) -> Result<Expression, Failure> {
    let like = show.like.iter().map(|pattern| {
        let first = names.first().copied().unwrap_or_default();
        let sides = vec![
            Expression::Column(first.to_owned()),
            Expression::Literal(Value::Str(pattern.clone())),
        ];
        Expression::Call(Function::Like, sides)
    });
    let condition = Expression::all_of(like.chain(show.filter.clone()).collect());
    let is_unknown = |name: &&str| !names.iter().any(|own| own.eq_ignore_ascii_case(name));
    let mut unknown = None;
    condition.each_column(&mut |name| unknown = unknown.or(Some(name).filter(is_unknown)));
    match unknown {
        None => Ok(condition),
        Some(name) => {
            let all = names.join(", ");
            let message = format!("unknown column '{name}' in SHOW: it has {all}");
            Err(Failure::new(errors::UNKNOWN_COLUMN, message))
        }
    }
}

/// Whether a row meets a condition.
///
/// # Errors
/// `INTERRUPTED`.
fn meets(
    condition: &Expression,
    names: &[&str],
    row: &[Value],
    interrupt: &Interrupt,
) -> Result<bool, Failure> {
    let column = |column: &str| {
        let mut names = names.iter();
        let place = names.position(|name| name.eq_ignore_ascii_case(column));
        place.and_then(|place| row.get(place).cloned())
    };
    let value = evaluate_metered(condition, interrupt, &column);
    goes_on(interrupt)?;
    Ok(value.and_then(|value| value.as_bool()) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_and_where_end_with_their_switch() {
        let show = Show {
            kind: ShowKind::Tables,
            table: None,
            database: None,
            like: Some("%o%".to_owned()),
            filter: None,
        };
        let (names, row) = (["Table", "Type"], ["posts", "rt"]);
        let row = row.map(|cell| Value::Str(cell.to_owned()));
        let condition = condition(&show, &names).unwrap();
        let interrupt = Interrupt::default();
        assert!(meets(&condition, &names, &row, &interrupt).unwrap());
        interrupt.stop(engine::Reason::Killed);
        assert!(meets(&condition, &names, &row, &interrupt).is_err());
    }

    #[test]
    fn each_show_prints_columns_of_a_relation_once() {
        for kind in ShowKind::ALL {
            let rows = SHOWN.iter().filter(|(own, ..)| own == kind);
            let rows: Vec<_> = rows.collect();
            let [(_, name, headers)] = rows[..] else {
                panic!("{kind:?} has {} rows", rows.len());
            };
            let relation = relations::find(name).unwrap_or_else(|| panic!("no {name}"));
            for header in *headers {
                let (_, column) = column_of(header);
                let mut columns = relation.columns.iter();
                assert!(
                    columns.any(|(own, _)| *own == column),
                    "{name} has no {column}"
                );
            }
        }
    }
}
