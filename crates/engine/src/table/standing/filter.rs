//! Filters of standing queries: conditions on the attributes of a document, in the words of WHERE.

use std::sync::Arc;

use query::expression::{self, Expression, Prepared};
use query::lexer::{Lexer, TokenKind};
use query::schema::{Column, ColumnType, ValueError};
use query::value::Value;

/// Reads the filter of a standing query; `None` for a blank one. `columns`: those of the documents. A column's slot is
/// its place among them; that of `id` is behind them all.
///
/// # Errors
/// What is wrong, in words: the syntax, an unknown column, a constant that its column can never equal.
pub(crate) fn read(text: &str, columns: &[Column]) -> Result<Option<Arc<Prepared>>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut lexer = Lexer::new(text.as_bytes());
    let asked = expression::parse(&mut lexer).map_err(|error| error.to_string())?;
    if lexer.peek().kind != TokenKind::End {
        return Err(lexer.unexpected("the end of the filter").to_string());
    }
    check_constants(&asked, columns)?;
    let prepared = Prepared::typed(&asked, &|name| slot(name, columns));
    let prepared = prepared.map_err(|error| format!("no column '{}' in the documents", error.0))?;
    Ok(Some(Arc::new(prepared.for_many())))
}

fn slot(name: &str, columns: &[Column]) -> Option<(usize, ColumnType)> {
    if name == "id" {
        return Some((columns.len(), ColumnType::Bigint));
    }
    let place = columns.iter().position(|column| column.name == name)?;
    Some((place, columns[place].kind))
}

/// Refuses a text that is compared with a column of numbers and is none: such a filter would compare with 0.
fn check_constants(expression: &Expression, columns: &[Column]) -> Result<(), String> {
    if let Expression::Each { list, .. } = expression {
        return check_constants(list, columns); // an item is no column
    }
    let mut parts = expression.parts().into_iter();
    parts.try_for_each(|part| check_constants(part, columns))?;
    match expression {
        Expression::Binary(_, left, right) => {
            check_pair(left, right, columns)?;
            check_pair(right, left, columns)
        }
        Expression::In { needle, list, .. } => list
            .iter()
            .try_for_each(|value| check_value(needle, &value, columns)),
        Expression::InRows {
            needles,
            columns: lists,
            ..
        } => needles.iter().zip(lists).try_for_each(|(needle, list)| {
            list.iter()
                .try_for_each(|value| check_value(needle, &value, columns))
        }),
        Expression::Between {
            needle, low, high, ..
        } => {
            check_pair(needle, low, columns)?;
            check_pair(needle, high, columns)
        }
        Expression::Literal(_)
        | Expression::Column(_)
        | Expression::Variable(_)
        | Expression::Path { .. }
        | Expression::Unary(..)
        | Expression::IsNull { .. }
        | Expression::Call(..)
        | Expression::Aggregate(..)
        | Expression::Each { .. } => Ok(()),
    }
}

fn check_pair(column: &Expression, other: &Expression, columns: &[Column]) -> Result<(), String> {
    match other {
        Expression::Literal(value) => check_value(column, value, columns),
        _ => Ok(()),
    }
}

fn check_value(needle: &Expression, value: &Value, columns: &[Column]) -> Result<(), String> {
    let (Expression::Column(name), Value::Str(text)) = (needle, value) else {
        return Ok(());
    };
    let Some(column) = columns.iter().find(|column| column.name == *name) else {
        return Ok(()); // said elsewhere
    };
    let kind = match column.kind {
        ColumnType::Timestamp => ColumnType::Bigint, // WHERE reads no dates
        kind => kind,
    };
    match kind.accept(value.clone()) {
        Err(ValueError::Incorrect) => {
            let kind = column.kind.sql_name();
            let what = match column.kind.has_comparable() {
                true => "no value of it",
                false => "no number",
            };
            Err(format!("column '{name}' is {kind}, '{text}' is {what}"))
        }
        _ => Ok(()),
    }
}
