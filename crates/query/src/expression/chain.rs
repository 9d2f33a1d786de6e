//! Chains of OR and AND: balanced trees, and lists where OR joins equalities.
//!
//! Example: `a AND b AND c AND d AND e` becomes `((a AND b) AND (c AND d)) AND e`, three levels deep.

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

/// Whether both terms equate the same column with constants.
pub(super) fn equate_the_same(a: &Expression, b: &Expression) -> bool {
    equated_column(a).is_some_and(|column| equated_column(b) == Some(column))
}

/// Joins `a = 1` and `a = 2` into `a IN (1, 2)`, in place of the first. Returns the number of constants added. For
/// terms that [`equate_the_same`] column.
pub(super) fn merge_equalities(into: &mut Expression, term: Expression) -> usize {
    if let Expression::Binary(..) = into {
        let needle = Expression::Column(equated_column(into).unwrap_or_default().to_owned());
        let first = std::mem::replace(into, Expression::Literal(Value::Null));
        let list = into_constants(first);
        *into = Expression::In {
            needle: Box::new(needle),
            negated: false,
            list,
        };
    }
    let more = into_constants(term);
    let count = more.len();
    if let Expression::In { list, .. } = into {
        list.extend(more);
    }
    count
}

/// The column of `column = constant`, `constant = column` or `column IN (…)`.
fn equated_column(term: &Expression) -> Option<&str> {
    match term {
        Expression::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
            (Expression::Column(name), Expression::Literal(_))
            | (Expression::Literal(_), Expression::Column(name)) => Some(name),
            _ => None,
        },
        Expression::In {
            needle,
            negated: false,
            ..
        } => match &**needle {
            Expression::Column(name) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// The constants of a term that has an [`equated_column`].
fn into_constants(term: Expression) -> Vec<Value> {
    let constant = |side| match side {
        Expression::Literal(value) => Some(value),
        _ => None,
    };
    match term {
        Expression::Binary(_, left, right) => {
            constant(*left).or(constant(*right)).into_iter().collect()
        }
        Expression::In { list, .. } => list,
        _ => Vec::new(),
    }
}
