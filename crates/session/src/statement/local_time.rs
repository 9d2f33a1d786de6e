//! Texts of dates and times beside `timestamp` columns, in a session with a time zone of its own.
//!
//! Example: `SET time_zone = '+05:00'; INSERT INTO z (ts) VALUES ('2024-01-02 00:00:00')` stores 19:00 of the day before in UTC, and
//! `WHERE ts = '2024-01-02'` finds the row. A text with a zone of its own is that moment. Only the table knows which columns hold
//! timestamps, so this is done with its definition, once the statement has its moment.

use std::sync::Arc;

use engine::{Definition, Kind};
use query::expression::{Expression, List, LocalTime};
use query::request::Insert;
use query::schema::{Column, ColumnType};
use query::value::Value;
use wire::sql::{Part, Statement, Union};

use super::Session;
use crate::node::Node;

/// The definition of a table of the server.
type Find<'s> = dyn Fn(&str) -> Option<Arc<Definition>> + 's;

/// Whether a name is that of a `timestamp` column.
type IsTimestamp<'d> = dyn Fn(&str) -> bool + 'd;

/// Makes seconds of the texts of local time in a statement. `zone`: that of the session; UTC needs no call.
pub(super) fn localize(
    node: &Node,
    session: &Session,
    statement: &mut Statement,
    zone: &LocalTime,
) {
    let Ok(engine) = node.engine() else {
        return; // the statement is refused for it
    };
    let snapshot = engine.snapshot();
    let definition = |table: &str| match session.temporary.has(table) {
        true => None,
        false => snapshot.definition(table).ok(),
    };
    of_statement(statement, &definition, zone);
}

fn of_statement(statement: &mut Statement, definition: &Find<'_>, zone: &LocalTime) {
    let in_table = |table: &str, expression: &mut Expression| {
        if let Some(of) = definition(table) {
            beside(expression, &|name| is_timestamp(&of.columns, name), zone);
        }
    };
    match statement {
        Statement::Insert(insert) | Statement::Upsert { insert, .. } => {
            if let Some(of) = definition(&insert.table) {
                rows(insert, &of, zone);
            }
        }
        Statement::Update(update) => {
            let table = update.table.clone();
            let of = definition(&table);
            for assignment in &mut update.set {
                let is_timestamp = of
                    .as_ref()
                    .is_some_and(|of| is_timestamp(&of.columns, &assignment.column));
                if is_timestamp && let Expression::Literal(value) = &mut assignment.value {
                    seconds(value, zone);
                }
            }
            update.each_expression(&mut |expression| in_table(&table, expression));
        }
        Statement::Delete(delete) => {
            let table = delete.table.clone();
            delete
                .filter
                .iter_mut()
                .for_each(|filter| in_table(&table, filter));
        }
        Statement::Select(select) | Statement::SelectWaiting { select, .. } => {
            let table = select.table.clone();
            select.each_expression(&mut |expression| in_table(&table, expression));
        }
        Statement::Faceted(faceted) => {
            let table = faceted.select.table.clone();
            let select = &mut faceted.select;
            select.each_expression(&mut |expression| in_table(&table, expression));
        }
        Statement::Explain(select) => of_statement(select, definition, zone),
        Statement::InsertSelect { select, .. } => of_statement(select, definition, zone),
        Statement::Joined(select) => {
            let tables: Vec<(String, String)> = select
                .tables
                .iter()
                .map(|table| (table.name.to_lowercase(), table.table.clone()))
                .collect();
            let is_of_join = |name: &str| {
                let (alias, column) = name.split_once('.').unwrap_or(("", name));
                let tables = tables
                    .iter()
                    .filter(|(known, _)| alias.is_empty() || known == alias);
                let mut found = tables.filter_map(|(_, table)| definition(table));
                found.any(|of| is_timestamp(&of.columns, column))
            };
            let mut statement = Statement::Joined(select.clone());
            statement.each_expression(&mut |expression| beside(expression, &is_of_join, zone));
            if let Statement::Joined(changed) = statement {
                *select = changed;
            }
        }
        Statement::Union(union) => of_union(union, definition, zone),
        _ => {} // no other compares a column
    }
}

fn of_union(union: &mut Union, definition: &Find<'_>, zone: &LocalTime) {
    for part in &mut union.parts {
        match part {
            Part::Select(select) | Part::Each { select, .. } => {
                let table = select.table.clone();
                select.each_expression(&mut |expression| {
                    if let Some(of) = definition(&table) {
                        beside(expression, &|name| is_timestamp(&of.columns, name), zone);
                    }
                });
            }
            Part::Joined(select) => {
                let mut statement = Statement::Joined(Box::new((**select).clone()));
                of_statement(&mut statement, definition, zone);
                if let Statement::Joined(changed) = statement {
                    **select = *changed;
                }
            }
            Part::Constants(_) => {}
            Part::Union(union) => of_union(union, definition, zone),
        }
    }
}

fn is_timestamp(columns: &[Column], name: &str) -> bool {
    let mut columns = columns.iter();
    columns.any(|column| column.kind == ColumnType::Timestamp && column.name == name)
}

/// The rows of an INSERT.
fn rows(insert: &mut Insert, of: &Definition, zone: &LocalTime) {
    let has_id = !matches!(of.kind, Kind::Queue(_));
    let places: Vec<usize> = match &insert.columns {
        Some(named) => (0..named.len())
            .filter(|at| is_timestamp(&of.columns, &named[*at].to_lowercase()))
            .collect(),
        None => {
            let columns = of.columns.iter().enumerate();
            let timestamps = columns.filter(|(_, column)| column.kind == ColumnType::Timestamp);
            timestamps.map(|(at, _)| at + usize::from(has_id)).collect()
        }
    };
    for row in &mut insert.rows {
        for place in &places {
            if let Some(value) = row.get_mut(*place) {
                seconds(value, zone);
            }
        }
    }
}

/// The constants of an expression beside columns of timestamps.
fn beside(expression: &mut Expression, is_timestamp: &IsTimestamp<'_>, zone: &LocalTime) {
    let is_column = |of: &Expression| matches!(of, Expression::Column(name) if is_timestamp(name));
    match expression {
        Expression::Binary(_, left, right) => {
            let (of_left, of_right) = (is_column(left), is_column(right));
            if let (true, Expression::Literal(value)) = (of_right, &mut **left) {
                seconds(value, zone);
            }
            if let (true, Expression::Literal(value)) = (of_left, &mut **right) {
                seconds(value, zone);
            }
        }
        Expression::Between {
            needle, low, high, ..
        } if is_column(needle) => {
            for end in [low, high] {
                if let Expression::Literal(value) = &mut **end {
                    seconds(value, zone);
                }
            }
        }
        Expression::In { needle, list, .. } if is_column(needle) && list.whole().is_none() => {
            let mut local: Vec<Value> = list.iter().collect();
            local.iter_mut().for_each(|value| seconds(value, zone));
            *list = List::from_iter(local);
        }
        _ => {}
    }
    for part in expression.parts_mut() {
        beside(part, is_timestamp, zone);
    }
}

/// The seconds of a text that is a date or a time without a zone; any other value is unchanged.
fn seconds(value: &mut Value, zone: &LocalTime) {
    if let Value::Str(text) = value
        && let Some(seconds) = zone.seconds(text)
    {
        *value = Value::Int(seconds.into());
    }
}
