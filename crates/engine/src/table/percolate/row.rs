//! A pq table's own rows: the columns of a standing query, and conditions on them.

use percolate::StandingQuery;
use query::expression::{BinaryOperator, Expression, Prepared};
use query::schema::ColumnType;
use query::value::Value;

use crate::error::{Error, Result};

/// The columns of a pq table's own rows. `*` shows the first four; the others are there for who names them.
pub(crate) const QUERY_COLUMNS: [(&str, ColumnType); 7] = [
    ("id", ColumnType::Bigint),
    ("query", ColumnType::String),
    ("tags", ColumnType::String),
    ("filters", ColumnType::String),
    ("hits", ColumnType::Bigint),
    ("last_hit", ColumnType::Timestamp),
    ("source", ColumnType::String),
];

/// Columns that `*` stands for.
pub(crate) const SHOWN_COLUMNS: usize = 4;

/// What `any(tags)` is written as inside an expression: a column of that name, beside `=` or IN.
const ANY_TAG: &str = "any(tags)";

/// The value of a pq row's column, by place in [`QUERY_COLUMNS`].
pub(crate) fn query_value(query: &StandingQuery, slot: usize) -> Value {
    match slot {
        0 => Value::Int(query.id.into()),
        1 => Value::Str(query.text.to_string()),
        2 => Value::Str(query.tags.to_string()),
        3 => Value::Str(query.filters.to_string()),
        4 => Value::Int(query.count.get().0.into()),
        5 => Value::Int(query.count.get().1.into()),
        _ => Value::Str(query.source.to_string()),
    }
}

/// A condition on standing queries, made ready.
#[derive(Debug)]
pub(crate) struct Condition {
    prepared: Prepared,
    /// What each `any(tags)` compares with; their slots are behind those of the columns.
    any_tags: Vec<Vec<String>>,
}

impl Condition {
    /// # Errors
    /// `UnknownColumn`, naming the table.
    pub(crate) fn new(table: &str, asked: &Expression) -> Result<Condition> {
        let mut any_tags = Vec::new();
        let prepared = if mentions_any(asked) {
            let mut own = asked.clone();
            take_any(&mut own, &mut any_tags);
            Prepared::new(&own, &|name| slot(name))
        } else {
            Prepared::typed(asked, &QUERY_COLUMNS)
        };
        let prepared = prepared.map_err(|error| Error::UnknownColumn {
            column: error.0,
            table: table.to_owned(),
        })?;
        Ok(Condition { prepared, any_tags })
    }

    pub(crate) fn accepts(&self, query: &StandingQuery) -> bool {
        self.prepared.accepts(&|slot| match slot
            .checked_sub(QUERY_COLUMNS.len())
            .and_then(|any| self.any_tags.get(any))
        {
            Some(wanted) => Value::Int(has_any(&query.tags, wanted).into()),
            None => query_value(query, slot),
        })
    }
}

fn slot(name: &str) -> Option<usize> {
    if let Some(any) = name.strip_prefix(ANY_TAG) {
        let any: usize = any.parse().ok()?;
        return Some(QUERY_COLUMNS.len() + any);
    }
    QUERY_COLUMNS.iter().position(|(column, _)| *column == name)
}

/// Whether one of a comma list's tags is wanted.
fn has_any(tags: &str, wanted: &[String]) -> bool {
    tags.split(',')
        .map(str::trim)
        .any(|tag| wanted.iter().any(|wanted| wanted == tag))
}

fn mentions_any(expression: &Expression) -> bool {
    match expression {
        Expression::Column(name) => name == ANY_TAG,
        Expression::Literal(_) => false,
        Expression::Unary(_, operand) => mentions_any(operand),
        Expression::Binary(_, left, right) => mentions_any(left) || mentions_any(right),
        Expression::In { needle, .. } | Expression::IsNull { needle, .. } => mentions_any(needle),
        Expression::Between {
            needle, low, high, ..
        } => mentions_any(needle) || mentions_any(low) || mentions_any(high),
    }
}

/// Puts a column of its own in the place of each comparison with `any(tags)`.
fn take_any(expression: &mut Expression, any_tags: &mut Vec<Vec<String>>) {
    if let Some((wanted, negated)) = wanted_tags(expression) {
        let column = Expression::Column(format!("{ANY_TAG}{}", any_tags.len()));
        any_tags.push(wanted);
        let is = i128::from(!negated);
        *expression = Expression::Binary(
            BinaryOperator::Equal,
            Box::new(column),
            Box::new(Expression::Literal(Value::Int(is))),
        );
        return;
    }
    match expression {
        Expression::Column(_) | Expression::Literal(_) => {}
        Expression::Unary(_, operand) => take_any(operand, any_tags),
        Expression::Binary(_, left, right) => {
            take_any(left, any_tags);
            take_any(right, any_tags);
        }
        Expression::In { needle, .. } | Expression::IsNull { needle, .. } => {
            take_any(needle, any_tags);
        }
        Expression::Between {
            needle, low, high, ..
        } => {
            take_any(needle, any_tags);
            take_any(low, any_tags);
            take_any(high, any_tags);
        }
    }
}

/// The tags of `any(tags) = 'x'` and `any(tags) [NOT] IN ('x', 'y')`, and whether none of them is to be there.
fn wanted_tags(expression: &Expression) -> Option<(Vec<String>, bool)> {
    let is_any =
        |column: &Expression| matches!(column, Expression::Column(name) if name == ANY_TAG);
    match expression {
        Expression::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
            (column, Expression::Literal(value)) | (Expression::Literal(value), column)
                if is_any(column) =>
            {
                Some((vec![value.to_string()], false))
            }
            _ => None,
        },
        Expression::In {
            needle,
            negated,
            list,
        } if is_any(needle) => Some((list.iter().map(Value::to_string).collect(), *negated)),
        _ => None,
    }
}
