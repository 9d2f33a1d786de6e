//! A pq table's own rows: the columns of a standing query, and conditions on them.

use percolate::StandingQuery;
use query::bind::Scope;
use query::expression::{BinaryOperator, Expression, Metered, Prepared};
use query::meter::Meter;
use query::schema::{Column, ColumnType};
use query::value::Value;

use crate::error::Result;
use crate::failure;

/// The columns of a pq table's own rows beside `id`. `*` shows the first ones; the others are there for who names them.
const QUERY_COLUMNS: [(&str, ColumnType); 6] = [
    ("query", ColumnType::String),
    ("tags", ColumnType::String),
    ("filters", ColumnType::String),
    ("hits", ColumnType::Bigint),
    ("last_hit", ColumnType::Timestamp),
    ("source", ColumnType::String),
];

/// Columns of a pq table that `*` stands for beside `id`; they are the first.
pub const STANDING_SHOWN: usize = 3;

/// What `any(tags)` is written as inside an expression: a column of that name, beside `=` or IN.
const ANY_TAG: &str = "any(tags)";

/// The columns that a statement on standing queries may name, with one for each comparison with `any(tags)` in its condition:
/// whether it holds.
///
/// `WHERE any(tags) = 'x' AND id > 3` becomes `any(tags)0 = 1 AND id > 3`.
pub(crate) struct QueryColumns {
    columns: Vec<Column>,
    /// The condition with these columns, where it has any.
    condition: Option<Expression>,
    /// What each of them compares with.
    any_tags: Vec<Vec<String>>,
}

impl QueryColumns {
    pub(crate) fn of(condition: Option<&Expression>) -> QueryColumns {
        let mut any_tags = Vec::new();
        let own = condition.filter(|condition| mentions_any(condition));
        let own = own.map(|condition| {
            let mut own = condition.clone();
            take_any(&mut own, &mut any_tags);
            own
        });
        let column = |name: String, kind: ColumnType| Column {
            name,
            kind,
            nullable: true,
            default: None,
            keyed: false,
        };
        let named = QUERY_COLUMNS.iter();
        let named = named.map(|(name, kind)| column((*name).to_owned(), *kind));
        let any = (0..any_tags.len()).map(|at| column(format!("{ANY_TAG}{at}"), ColumnType::Bool));
        QueryColumns {
            columns: named.chain(any).collect(),
            condition: own,
            any_tags,
        }
    }

    /// The condition in terms of these columns; `None`: as it was.
    pub(crate) fn condition(&self) -> Option<&Expression> {
        self.condition.as_ref()
    }

    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope {
            columns: &self.columns,
            has_id: true,
            starred: STANDING_SHOWN,
            is_searched: false,
        }
    }

    /// The value of a slot of the scope.
    pub(crate) fn value(&self, query: &StandingQuery, slot: usize) -> Value {
        match slot {
            0 => Value::Int(query.id.into()),
            1 => Value::Str(query.text.to_string()),
            2 => Value::Str(query.tags.to_string()),
            3 => Value::Str(query.filters.to_string()),
            4 => Value::Int(query.count.get().0.into()),
            5 => Value::Int(query.count.get().1.into()),
            6 => Value::Str(query.source.to_string()),
            any => {
                let wanted = any.checked_sub(QUERY_COLUMNS.len() + 1);
                let wanted = wanted.and_then(|any| self.any_tags.get(any));
                let has = |wanted: &Vec<String>| has_any(&query.tags, wanted);
                Value::Int(wanted.is_some_and(has).into())
            }
        }
    }
}

/// A condition on standing queries, made ready.
pub(crate) struct Condition {
    columns: QueryColumns,
    prepared: Prepared,
}

impl Condition {
    /// # Errors
    /// `UnknownColumn`, naming the table.
    pub(crate) fn new(table: &str, asked: &Expression) -> Result<Condition> {
        let columns = QueryColumns::of(Some(asked));
        let bound = columns
            .scope()
            .condition(columns.condition().unwrap_or(asked));
        let prepared = bound
            .map_err(|error| failure::of_bind(table, error))?
            .prepared;
        Ok(Condition { columns, prepared })
    }

    /// Whether it is true of a query; of no use once the meter has stopped.
    pub(crate) fn accepts(&self, query: &StandingQuery, meter: &dyn Meter) -> bool {
        let value = Metered::new(meter, |slot| self.columns.value(query, slot));
        self.prepared.accepts(&value)
    }
}

/// Whether one of a comma list's tags is wanted.
fn has_any(tags: &str, wanted: &[String]) -> bool {
    tags.split(',')
        .map(str::trim)
        .any(|tag| wanted.iter().any(|wanted| wanted == tag))
}

fn mentions_any(expression: &Expression) -> bool {
    expression.has(&mut |part| matches!(part, Expression::Column(name) if name == ANY_TAG))
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
    let parts = expression.parts_mut();
    parts.into_iter().for_each(|part| take_any(part, any_tags));
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
        } if is_any(needle) => Some((list.iter().map(|tag| tag.to_string()).collect(), *negated)),
        _ => None,
    }
}
