//! SHOW and DESCRIBE. To add a SHOW: a variant of [`Statement`], its syntax in `wire::sql::show`, and an arm of [`show`].

mod show_queues;

use engine::{Definition, Kind, Snapshot};
use query::expression::{Expression, evaluate_metered};
use query::meter::{Budget, Meter};
use query::options::Options;
use query::pattern::like;
use query::schema::{Column, ColumnType};
use query::value::Value;
use wire::sql::Statement;

use super::{Outcome, lists, variables};
use crate::errors::{self, Failure};
use crate::limits::INLINE_UNITS;
use crate::node::{Node, guarded};
use crate::profiled::Profiled;
use crate::rights::{Action, Deed};
use crate::session::Session;

/// Name of the only database. Clients may use any other name for it.
const DATABASE: &str = "seine";

/// Answers a SHOW or DESCRIBE. A `like` pattern selects rows by their first cell.
pub(super) fn show(
    node: &Node,
    session: &Session,
    statement: Statement,
) -> Result<Outcome, Failure> {
    match statement {
        Statement::ShowMeta { like } => Ok(pairs(
            [session.meta.header, "Value"],
            session.meta.lines.clone(),
            like,
        )),
        Statement::ShowPlan { like } => {
            let profiled = session.profiled.iter();
            Ok(trees(profiled.flat_map(Profiled::trees), like))
        }
        Statement::ShowProfile { like } => Ok(profile(session, like)),
        Statement::ShowVersion => {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let rows = vec![("seine".to_owned(), version)];
            Ok(pairs(["Component", "Version"], rows, None))
        }
        Statement::ShowStatus { like } => Ok(pairs(["Counter", "Value"], counters(node), like)),
        Statement::ShowVariables { like, filter } => {
            let mut rows = variables::all(node, session);
            if let Some(filter) = filter {
                keep(&mut rows, &filter)?;
            }
            Ok(pairs(["Variable_name", "Value"], rows, like))
        }
        Statement::ShowScroll => {
            let token = session.scroll.clone().map(|token| vec![Value::Str(token)]);
            let columns = vec![("scroll_token".to_owned(), None)];
            Ok(Outcome::shown(columns, token.into_iter().collect()))
        }
        Statement::ShowWarnings { count } => Ok(warnings(session, count)),
        Statement::ShowQueues { like } => {
            let snapshot = node.snapshot(session, Action(Deed::Read, None))?;
            Ok(show_queues::queues(&snapshot, node.clock.unix_us(), like))
        }
        Statement::ShowEngineQueueStatus => show_queues::engine_status(node),
        Statement::ShowDatabases { like } => Ok(matching(
            &["Database"],
            vec![vec![DATABASE.to_owned()]],
            like,
        )),
        Statement::Show { list, like } => Ok(matching(
            lists::headers(list),
            lists::rows(node, session, list),
            like,
        )),
        Statement::ExplainQuery { table, text } => {
            let snapshot = node.snapshot(session, Action(Deed::Read, Some(&table)))?;
            let outline = || Ok(snapshot.outline(&table, &text, &Options::default())?);
            let outline = guarded(node, outline)?;
            Ok(trees(std::iter::once(format!("{outline:#}")), None))
        }
        of_a_table => {
            let reads = Action(Deed::Read, table_of(&of_a_table));
            show_table(&*node.snapshot(session, reads)?, of_a_table)
        }
    }
}

/// Keeps the variables of a condition. It is evaluated on the event loop, where nothing stops it.
fn keep(rows: &mut Vec<(String, String)>, filter: &Expression) -> Result<(), Failure> {
    let budget = Budget::new(INLINE_UNITS);
    rows.retain(|(name, value)| {
        let column = |column: &str| match column {
            "variable_name" => Some(Value::Str(name.clone())),
            "value" => Some(Value::Str(value.clone())),
            _ => None,
        };
        let is_shown = evaluate_metered(filter, &budget, &column);
        is_shown.and_then(|value| value.as_bool()) == Some(true)
    });
    match budget.is_stopped() {
        true => Err(Failure::refused(
            "the condition of SHOW VARIABLES takes too long".to_owned(),
        )),
        false => Ok(()),
    }
}

/// SHOW PLAN and EXPLAIN QUERY, in Manticore's columns.
fn trees(trees: impl Iterator<Item = String>, like: Option<String>) -> Outcome {
    let rows = trees.map(|tree| ("transformed_tree".to_owned(), tree));
    pairs(["Variable", "Value"], rows.collect(), like)
}

/// SHOW PROFILE, in Manticore's columns.
fn profile(session: &Session, like: Option<String>) -> Outcome {
    let times = session.profiled.iter().flat_map(Profiled::times);
    let times: Vec<_> = times.collect();
    let all = times.last().map_or(1, |(.., us)| *us).max(1);
    let rows = times.into_iter().map(|(name, count, us)| {
        vec![
            name.to_owned(),
            format!("{:.6}", us as f64 / 1e6),
            count.to_string(),
            format!("{:.2}", us as f64 * 100.0 / all as f64),
        ]
    });
    let headers = ["Status", "Duration", "Switches", "Percent"];
    matching(&headers, rows.collect(), like)
}

/// An answer of one number under one header.
fn one_number(name: &str, number: i64) -> Outcome {
    one_value(name, ColumnType::Bigint, Value::Int(i128::from(number)))
}

/// An answer of one value under one header.
pub(super) fn one_value(name: &str, kind: ColumnType, value: Value) -> Outcome {
    Outcome::shown(vec![(name.to_owned(), Some(kind))], vec![vec![value]])
}

/// The table that a statement shows; `None`: all tables.
fn table_of(statement: &Statement) -> Option<&str> {
    match statement {
        Statement::Describe { table, .. }
        | Statement::ShowFullColumns { table, .. }
        | Statement::ShowCreateTable { table }
        | Statement::ShowIndexes { table }
        | Statement::ShowTableSettings { table }
        | Statement::ShowTableIndexes { table, .. }
        | Statement::ShowTableStatus { table, .. } => Some(table),
        _ => None,
    }
}

fn show_table(snapshot: &Snapshot, statement: Statement) -> Result<Outcome, Failure> {
    match statement {
        Statement::ShowTables { like, full } => {
            let headers = if full {
                ["Tables_in_seine", "Table_type"]
            } else {
                ["Table", "Type"]
            };
            let kind_of = |kind: &str| {
                if full {
                    "BASE TABLE".to_owned()
                } else {
                    kind.to_owned()
                }
            };
            let tables = snapshot
                .tables()
                .into_iter()
                .map(|(name, kind)| (name, kind_of(kind)));
            Ok(pairs(headers, tables.collect(), like))
        }
        Statement::Describe { ref table, .. }
        | Statement::ShowFullColumns { ref table, .. }
        | Statement::ShowTableIndexes { ref table, .. }
        | Statement::ShowIndexes { ref table } => {
            of_definition(&*snapshot.definition(table)?, statement)
        }
        Statement::ShowCreateTable { table } => {
            let text = snapshot.show_create(&table)?;
            Ok(pairs(["Table", "Create Table"], vec![(table, text)], None))
        }
        Statement::ShowTableSettings { table } => {
            let settings = snapshot.settings(&table)?.into_iter();
            let lines = settings.map(|(name, value)| format!("{name} = {value}"));
            let lines = lines.collect::<Vec<_>>().join("\n");
            let rows = vec![("settings".to_owned(), lines)];
            Ok(pairs(["Variable_name", "Value"], rows, None))
        }
        Statement::ShowTableStatus { table, like } => Ok(pairs(
            ["Variable_name", "Value"],
            snapshot.table_status(&table)?,
            like,
        )),
        Statement::ShowTablesStatus { like } => {
            let tables = snapshot
                .tables()
                .into_iter()
                .map(|(name, kind)| vec![name, kind.to_owned()]);
            Ok(matching(&["Name", "Engine"], tables.collect(), like))
        }
        other => Err(Failure::new(
            errors::INTERNAL,
            format!("internal error: {other:?} is no SHOW"),
        )),
    }
}

/// DESCRIBE, SHOW FULL COLUMNS, SHOW INDEX and SHOW TABLE … INDEXES of a table with this definition.
pub(super) fn of_definition(
    definition: &Definition,
    statement: Statement,
) -> Result<Outcome, Failure> {
    match statement {
        Statement::Describe {
            like, documents, ..
        } => {
            let rows = described(definition, documents).into_iter();
            let shown = ["Field", "Type", "Null", "Key", "Default", "Extra"];
            let rows = rows.map(Described::row).collect();
            Ok(matching_values(&shown, rows, like))
        }
        Statement::ShowFullColumns { like, .. } => {
            let rows = described(definition, false).into_iter();
            let rows = rows.map(Described::full_row).collect();
            Ok(matching_values(&FULL_COLUMNS, rows, like))
        }
        Statement::ShowTableIndexes { like, .. } => {
            let keyed = definition.columns.iter().filter(|column| column.keyed);
            let rows = keyed.map(|column| {
                let cells = [&*column.name, "key", "1", "100"];
                cells.map(str::to_owned).to_vec()
            });
            let headers = ["Name", "Type", "Enabled", "Percent"];
            Ok(matching(&headers, rows.collect(), like))
        }
        _ => Ok(matching(&INDEXES, indexes(definition), None)),
    }
}

/// Names and types of a table's columns, implied columns first; also for COM_FIELD_LIST. A search table has `id`, a pq table
/// has `id`, `query`, `tags`, `filters`, `hits` and `last_hit`; its document columns are left out.
///
/// # Errors
/// `NO_SUCH_TABLE`.
pub fn columns(snapshot: &Snapshot, table: &str) -> Result<Vec<(String, ColumnType)>, Failure> {
    Ok(columns_of(&*snapshot.definition(table)?))
}

/// As [`columns`], of a definition.
pub(super) fn columns_of(definition: &Definition) -> Vec<(String, ColumnType)> {
    let own = definition
        .columns
        .iter()
        .map(|column| (column.name.clone(), column.kind));
    match definition.kind {
        Kind::Queue(_) => own.collect(),
        Kind::Search(_) | Kind::Distributed { .. } => {
            std::iter::once(("id".to_owned(), ColumnType::Bigint))
                .chain(own)
                .collect()
        }
        Kind::Percolate { .. } => {
            let mut columns = vec![("id".to_owned(), ColumnType::Bigint)];
            columns.extend(
                ["query", "tags", "filters"].map(|name| (name.to_owned(), ColumnType::String)),
            );
            columns.push(("hits".to_owned(), ColumnType::Bigint));
            columns.push(("last_hit".to_owned(), ColumnType::Timestamp));
            columns
        }
    }
}

/// A column as DESCRIBE and SHOW FULL COLUMNS show it.
struct Described {
    name: String,
    /// The type, as CREATE TABLE takes it.
    kind: String,
    is_text: bool,
    /// YES or NO.
    null: &'static str,
    /// PRI for an id, MUL for a column with a KEY, else empty.
    key: &'static str,
    default: Value,
    /// `indexed stored`, `document`, `read only` or empty.
    extra: String,
}

/// Headers of SHOW FULL COLUMNS.
const FULL_COLUMNS: [&str; 9] = [
    "Field",
    "Type",
    "Collation",
    "Null",
    "Key",
    "Default",
    "Extra",
    "Privileges",
    "Comment",
];

/// Headers of SHOW INDEX.
const INDEXES: [&str; 5] = [
    "Table",
    "Non_unique",
    "Key_name",
    "Seq_in_index",
    "Column_name",
];

/// The rows of SHOW INDEX: the id, then each column with a KEY.
fn indexes(definition: &Definition) -> Vec<Vec<String>> {
    let row = |non_unique: &str, name: &str, column: &str| {
        let cells = [&definition.name, non_unique, name, "1", column];
        cells.map(str::to_owned).to_vec()
    };
    let id = !matches!(definition.kind, Kind::Queue(_));
    let id = id.then(|| row("0", "PRIMARY", "id"));
    let keyed = definition.columns.iter().filter(|column| column.keyed);
    let keyed = keyed.map(|column| row("1", &column.name, &column.name));
    id.into_iter().chain(keyed).collect()
}

impl Described {
    /// The cells of DESCRIBE.
    fn row(self) -> Vec<Value> {
        vec![
            Value::Str(self.name),
            Value::Str(self.kind),
            text(self.null),
            text(self.key),
            self.default,
            Value::Str(self.extra),
        ]
    }

    /// The cells of SHOW FULL COLUMNS.
    fn full_row(self) -> Vec<Value> {
        let collation = if self.is_text {
            text("utf8mb4_general_ci")
        } else {
            Value::Null
        };
        vec![
            Value::Str(self.name),
            Value::Str(self.kind),
            collation,
            text(self.null),
            text(self.key),
            self.default,
            Value::Str(self.extra),
            text("select,insert"),
            text(""),
        ]
    }

    fn new(name: &str, kind: ColumnType, extra: &str) -> Described {
        Described {
            name: name.to_owned(),
            kind: kind.sql_name().to_string(),
            is_text: matches!(
                kind,
                ColumnType::Text
                    | ColumnType::String
                    | ColumnType::Char { .. }
                    | ColumnType::LongText { .. }
            ),
            null: "YES",
            key: "",
            default: Value::Null,
            extra: extra.to_owned(),
        }
    }

    fn id() -> Described {
        Described {
            kind: "bigint unsigned".to_owned(),
            null: "NO",
            key: "PRI",
            ..Described::new("id", ColumnType::Bigint, "")
        }
    }

    fn of(column: &Column, extra: &str) -> Described {
        Described {
            null: if column.nullable { "YES" } else { "NO" },
            key: if column.keyed { "MUL" } else { "" },
            default: match &column.default {
                Some(Value::Str(default)) => Value::Str(default.clone()),
                _ => column.default_constant().map_or(Value::Null, Value::Str),
            },
            ..Described::new(&column.name, column.kind, extra)
        }
    }
}

/// The columns of a table, implied columns first. With `documents`, only the `id` and the document columns of a pq table.
fn described(definition: &Definition, documents: bool) -> Vec<Described> {
    let mut rows = Vec::new();
    let mut extra = "";
    match definition.kind {
        Kind::Queue(_) => {}
        Kind::Search(_) | Kind::Distributed { .. } => rows.push(Described::id()),
        Kind::Percolate { .. } => {
            rows.push(Described::id());
            if !documents {
                let own = ["query", "tags", "filters"];
                rows.extend(own.map(|name| Described::new(name, ColumnType::String, "")));
                rows.push(Described::new("hits", ColumnType::Bigint, "read only"));
                rows.push(Described::new(
                    "last_hit",
                    ColumnType::Timestamp,
                    "read only",
                ));
                extra = "document";
            }
        }
    }
    for column in &definition.columns {
        let is_indexed = column.kind == ColumnType::Text && extra.is_empty();
        let extra = match definition.kind {
            Kind::Queue(_) => "",
            _ if is_indexed => "indexed stored",
            _ => extra,
        };
        rows.push(Described::of(column, extra));
    }
    rows
}

fn counters(node: &Node) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = node
        .samples()
        .into_iter()
        .map(|sample| {
            let number = if sample.status == "uptime" {
                sample.value / 1_000_000
            } else {
                sample.value
            };
            (sample.status.to_owned(), number.to_string())
        })
        .collect();
    rows.insert(
        1,
        ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    );
    rows
}

fn warnings(session: &Session, count: bool) -> Outcome {
    if count {
        return one_number(
            "@@session.warning_count",
            i64::from(session.warning_count()),
        );
    }
    let rows = session.warnings.iter().map(|text| {
        let code = errors::WARNING_ERRNO.to_string();
        vec!["Warning".to_owned(), code, text.clone()]
    });
    matching(&["Level", "Code", "Message"], rows.collect(), None)
}

fn pairs(headers: [&str; 2], rows: Vec<(String, String)>, pattern: Option<String>) -> Outcome {
    matching(
        &headers,
        rows.into_iter()
            .map(|(name, value)| vec![name, value])
            .collect(),
        pattern,
    )
}

/// A table of texts. `pattern` keeps the rows whose first cell is LIKE it.
fn matching(headers: &[&str], rows: Vec<Vec<String>>, pattern: Option<String>) -> Outcome {
    let rows = rows.into_iter();
    let rows = rows.map(|row| row.into_iter().map(Value::Str).collect());
    matching_values(headers, rows.collect(), pattern)
}

fn matching_values(
    headers: &[&str],
    mut rows: Vec<Vec<Value>>,
    pattern: Option<String>,
) -> Outcome {
    if let Some(pattern) = pattern {
        let is_like = |first: &Value| matches!(first, Value::Str(name) if like(&pattern, name));
        rows.retain(|row| row.first().is_some_and(is_like));
    }
    table(headers, rows)
}

fn text(cell: &str) -> Value {
    Value::Str(cell.to_owned())
}

fn table(headers: &[&str], rows: Vec<Vec<Value>>) -> Outcome {
    let columns = headers
        .iter()
        .map(|name| ((*name).to_owned(), Some(ColumnType::String)))
        .collect();
    Outcome::shown(columns, rows)
}
