//! SHOW and DESCRIBE: the server about itself, as tables.

mod queues;

use std::sync::Arc;

use engine::{Answer, Definition, Kind, Rows, Snapshot};
use query::expression::evaluate;
use query::schema::{Column, ColumnType};
use query::value::Value;
use wire::sql::{Statement, like};

use super::{Found, Outcome, Session, lists, variables};
use crate::errors::{self, Failure};
use crate::node::Node;

/// The one database there is; every other name passes for it.
const DATABASE: &str = "seine";

/// Answers a SHOW or a DESCRIBE.
pub fn show(node: &Node, session: &Session, statement: Statement) -> Result<Outcome, Failure> {
    match statement {
        Statement::ShowMeta { like } => Ok(pairs(
            [session.meta.header, "Value"],
            session.meta.lines.clone(),
            like,
        )),
        Statement::ShowStatus { like } => Ok(pairs(["Counter", "Value"], counters(node), like)),
        Statement::ShowVariables { like, filter } => {
            let mut rows = variables::all(node, session);
            if let Some(filter) = filter {
                rows.retain(|(name, value)| {
                    let column = |column: &str| match column {
                        "variable_name" => Some(Value::Str(name.clone())),
                        "value" => Some(Value::Str(value.clone())),
                        _ => None,
                    };
                    evaluate(&filter, &column).as_bool() == Some(true)
                });
            }
            Ok(pairs(["Variable_name", "Value"], rows, like))
        }
        Statement::ShowWarnings { count } => Ok(warnings(session, count)),
        Statement::ShowQueues { like } => queues::queues(node, like),
        Statement::ShowEngineQueueStatus => queues::engine_status(node),
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
        of_a_table => show_table(&node.engine()?.snapshot(), of_a_table),
    }
}

/// An answer of one number under one header.
fn one_number(name: &str, number: i64) -> Outcome {
    one_value(name, ColumnType::Bigint, Value::Int(i128::from(number)))
}

/// An answer of one value under one header.
pub fn one_value(name: &str, kind: ColumnType, value: Value) -> Outcome {
    let columns = vec![(name.to_owned(), Some(kind))];
    let rows = Rows::ready(vec![vec![value]]);
    let answer = Answer {
        columns,
        rows,
        total_found: 1,
        keywords: Vec::new(),
        warnings: Vec::new(),
        partial: None,
    };
    Outcome::Rows(Found {
        answer,
        table: String::new(),
        counted: false,
        search: None,
        held: None,
    })
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
        Statement::Describe { table, like } => {
            let rows = described(&*snapshot.definition(&table)?);
            Ok(matching(&["Field", "Type", "Properties"], rows, like))
        }
        Statement::ShowFullColumns { table, like } => {
            let headers = [
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
            Ok(matching(
                &headers,
                full_columns(&*snapshot.definition(&table)?),
                like,
            ))
        }
        Statement::ShowCreateTable { table } => {
            let text = snapshot.show_create(&table)?;
            Ok(pairs(["Table", "Create Table"], vec![(table, text)], None))
        }
        Statement::ShowTableStatus { table } => Ok(pairs(
            ["Variable_name", "Value"],
            snapshot.table_status(&table)?,
            None,
        )),
        Statement::ShowTablesStatus { like } => {
            let tables = snapshot
                .tables()
                .into_iter()
                .map(|(name, kind)| vec![name, kind.to_owned()]);
            Ok(matching(&["Name", "Engine"], tables.collect(), like))
        }
        other => Err(Failure::new(errors::NOT_YET, format!("not yet: {other:?}"))),
    }
}

/// The columns of a table, the implied ones first, for COM_FIELD_LIST as well.
pub fn columns(snapshot: &Snapshot, table: &str) -> Result<Vec<(String, ColumnType)>, Failure> {
    let definition: Arc<Definition> = snapshot.definition(table)?;
    let own = definition
        .columns
        .iter()
        .map(|column| (column.name.clone(), column.kind));
    Ok(match definition.kind {
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
    })
}

fn described(definition: &Definition) -> Vec<Vec<String>> {
    let row = |name: &str, kind: &str, properties: &str| {
        vec![name.to_owned(), kind.to_owned(), properties.to_owned()]
    };
    let mut rows = Vec::new();
    match definition.kind {
        Kind::Queue(_) => {}
        Kind::Search(_) | Kind::Distributed { .. } => rows.push(row("id", "bigint", "")),
        Kind::Percolate { .. } => {
            rows.push(row("id", "bigint", ""));
            rows.extend(["query", "tags", "filters"].map(|name| row(name, "string", "")));
            rows.push(row("hits", "bigint", "read only"));
            rows.push(row("last_hit", "timestamp", "read only"));
        }
    }
    for column in &definition.columns {
        let properties = match definition.kind {
            Kind::Percolate { .. } => "document".to_owned(),
            Kind::Search(_) | Kind::Distributed { .. } => properties(column, true),
            Kind::Queue(_) => properties(column, false),
        };
        rows.push(row(&column.name, &column.kind.sql_name(), &properties));
    }
    rows
}

fn properties(column: &Column, is_search: bool) -> String {
    let mut parts = Vec::new();
    if is_search && column.kind == ColumnType::Text {
        parts.push("indexed stored".to_owned());
    }
    if !column.nullable {
        parts.push("not null".to_owned());
    }
    parts.extend(
        column
            .default
            .as_ref()
            .map(|value| format!("default {value}")),
    );
    parts.join(" ")
}

fn full_columns(definition: &Definition) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    if !matches!(definition.kind, Kind::Queue(_)) {
        rows.push(
            [
                "id",
                "bigint unsigned",
                "",
                "NO",
                "PRI",
                "",
                "",
                "select,insert",
                "",
            ]
            .map(str::to_owned)
            .to_vec(),
        );
    }
    let row = |column: &Column| {
        let default = column
            .default
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        let null = if column.nullable { "YES" } else { "NO" };
        let kind = column.kind.sql_name();
        let own = [
            &column.name,
            &kind.to_string(),
            "",
            null,
            "",
            &default,
            "",
            "select,insert",
            "",
        ];
        own.map(str::to_owned).to_vec()
    };
    rows.extend(definition.columns.iter().map(row));
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
        let text = text.clone();
        vec![
            "Warning".to_owned(),
            errors::WARNING_ERRNO.to_string(),
            text,
        ]
    });
    table(&["Level", "Code", "Message"], rows.collect())
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

/// Rows whose first cell is LIKE the pattern.
fn matching(headers: &[&str], mut rows: Vec<Vec<String>>, pattern: Option<String>) -> Outcome {
    if let Some(pattern) = pattern {
        rows.retain(|row| row.first().is_some_and(|first| like(&pattern, first)));
    }
    table(headers, rows)
}

fn table(headers: &[&str], rows: Vec<Vec<String>>) -> Outcome {
    let columns = headers
        .iter()
        .map(|name| ((*name).to_owned(), Some(ColumnType::String)))
        .collect();
    let total_found = rows.len() as u64;
    let rows = rows
        .into_iter()
        .map(|row| row.into_iter().map(Value::Str).collect())
        .collect();
    let answer = Answer {
        columns,
        rows: Rows::ready(rows),
        total_found,
        keywords: Vec::new(),
        warnings: Vec::new(),
        partial: None,
    };
    Outcome::Rows(Found {
        answer,
        table: String::new(),
        counted: false,
        search: None,
        held: None,
    })
}
