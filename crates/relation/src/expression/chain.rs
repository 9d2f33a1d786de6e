//! Chains of OR and AND: balanced trees, and lists where OR joins equalities.
//!
//! Example: `a AND b AND c AND d AND e` becomes `((a AND b) AND (c AND d)) AND e`, three levels deep.

use super::list::List;
use super::row_set::ROW_WIDTH_MAX;
use super::tree::{BinaryOperator, Expression};
use crate::value::Value;

impl Expression {
    /// `a AND b AND …`, balanced, so that a million terms are twenty levels. An empty list is true (1).
    #[must_use]
    pub fn all_of(terms: Vec<Expression>) -> Expression {
        balanced(BinaryOperator::And, terms).unwrap_or(Expression::Literal(Value::Int(1)))
    }

    /// `a OR b OR …`, balanced. An empty list is false (0).
    #[must_use]
    pub fn any_of(terms: Vec<Expression>) -> Expression {
        balanced(BinaryOperator::Or, terms).unwrap_or(Expression::Literal(Value::Int(0)))
    }
}

/// Joins neighbours pair by pair until one is left; `None` for no term.
pub(super) fn balanced(operator: BinaryOperator, mut terms: Vec<Expression>) -> Option<Expression> {
    while terms.len() > 1 {
        let mut joined = Vec::with_capacity(terms.len().div_ceil(2));
        let mut rest = terms.into_iter();
        while let Some(left) = rest.next() {
            joined.push(match rest.next() {
                Some(right) => Expression::Binary(operator, Box::new(left), Box::new(right)),
                None => left,
            });
        }
        terms = joined;
    }
    terms.pop()
}

/// The columns that a term equates with constants, as `a = 1`, `a IN (1, 2)`, `a = 1 AND b = 2` or `(a, b) IN ((1, 2), (3, 4))`.
/// Empty: it is another term, or equates a column twice.
pub(super) fn equated(term: &Expression) -> Vec<&str> {
    let mut columns = Vec::new();
    let is_equated = match term {
        Expression::In {
            needle,
            negated: false,
            list,
        } => list.variable().is_none() && add_column(needle, &mut columns),
        Expression::InRows {
            needles,
            negated: false,
            ..
        } => needles
            .iter()
            .all(|needle| add_column(needle, &mut columns)),
        _ => add_equated(term, &mut columns),
    };
    // A call such as weight() has a column's form, but no value of its own in a row.
    let is_call = |column: &&str| column.contains('(');
    if !is_equated || columns.len() > 1 && columns.iter().any(is_call) {
        columns.clear();
    }
    columns
}

fn add_column<'e>(of: &'e Expression, columns: &mut Vec<&'e str>) -> bool {
    match of {
        Expression::Column(name) if !columns.contains(&name.as_str()) => {
            columns.push(name);
            columns.len() <= ROW_WIDTH_MAX
        }
        _ => false,
    }
}

fn add_equated<'e>(term: &'e Expression, columns: &mut Vec<&'e str>) -> bool {
    match term {
        Expression::Binary(BinaryOperator::And, left, right) => {
            add_equated(left, columns) && add_equated(right, columns)
        }
        Expression::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
            (column, Expression::Literal(_)) | (Expression::Literal(_), column) => {
                add_column(column, columns)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Joins `a = 1` and `a = 2` into `a IN (1, 2)`, or `a = 1 AND b = 2` and `a = 3 AND b = 4` into `(a, b) IN ((1, 2), (3, 4))`, in
/// place of the first. Returns the number of constants added. For terms with the same [`equated`] columns.
pub(super) fn merge_equalities(into: &mut Expression, term: Expression) -> usize {
    if let Expression::Binary(..) = into {
        let needles = equated(into).into_iter();
        let mut needles: Vec<_> = needles
            .map(|it| Expression::Column(it.to_owned()))
            .collect();
        let first = std::mem::replace(into, Expression::Literal(Value::Null));
        let mut lists = into_lists(first);
        *into = match (needles.pop(), lists.pop()) {
            (Some(needle), Some(list)) if needles.is_empty() => Expression::In {
                needle: Box::new(needle),
                negated: false,
                list,
            },
            (needle, list) => {
                needles.extend(needle);
                lists.extend(list);
                Expression::InRows {
                    needles,
                    negated: false,
                    columns: lists,
                }
            }
        };
    }
    let more = into_lists(term);
    let count = more.iter().map(List::len).sum();
    for (list, more) in lists_of(into).iter_mut().zip(more) {
        list.append(more);
    }
    count
}

/// The lists of a term that [`merge_equalities`] made.
pub(super) fn lists_of(term: &mut Expression) -> &mut [List] {
    match term {
        Expression::In { list, .. } if list.variable().is_none() => std::slice::from_mut(list),
        Expression::InRows { columns, .. } => columns,
        _ => &mut [],
    }
}

/// The constants of a term that has [`equated`] columns, column by column.
fn into_lists(term: Expression) -> Vec<List> {
    match term {
        Expression::In { list, .. } => vec![list],
        Expression::InRows { columns, .. } => columns,
        Expression::Binary(BinaryOperator::And, left, right) => {
            let mut lists = into_lists(*left);
            lists.extend(into_lists(*right));
            lists
        }
        Expression::Binary(_, left, right) => match (*left, *right) {
            (Expression::Literal(value), _) | (_, Expression::Literal(value)) => {
                vec![List::from_iter([value])]
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
