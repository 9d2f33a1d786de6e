//! Which document ids a filter can be true for, so that look-ups by id step to their rows instead of reading every one.

use query::expression::{BinaryOperator, Expression};
use query::value::Value;

/// The only ids that a filter can accept (sorted, each once), or `None` where that is not plain to see. The filter itself is
/// still asked for each of their rows.
///
/// Understood: `id = n`, `id IN (…)`, OR of such, AND with anything.
pub(super) fn of(filter: &Expression) -> Option<Vec<u64>> {
    let mut ids = gather(filter)?;
    ids.sort_unstable();
    ids.dedup();
    Some(ids)
}

/// In any order, perhaps several times. Chains of OR and AND are balanced by the parser, so the depth is a logarithm.
fn gather(filter: &Expression) -> Option<Vec<u64>> {
    match filter {
        Expression::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
            (Expression::Literal(value), column) | (column, Expression::Literal(value))
                if is_id(column) =>
            {
                gather_values(std::slice::from_ref(value))
            }
            _ => None,
        },
        Expression::In {
            needle,
            negated: false,
            list,
        } if is_id(needle) => gather_values(list),
        Expression::Binary(BinaryOperator::Or, left, right) => {
            let mut ids = gather(left)?;
            ids.extend(gather(right)?);
            Some(ids)
        }
        Expression::Binary(BinaryOperator::And, left, right) => match (gather(left), gather(right))
        {
            (Some(left), Some(right)) => Some(if left.len() <= right.len() {
                left
            } else {
                right
            }),
            (one, other) => one.or(other),
        },
        _ => None,
    }
}

/// The ids that equal one of these values. A number that cannot be an id equals none, nor does NULL; of a text only plain
/// digits are understood, since SQL compares it by the number that it begins with.
fn gather_values(values: &[Value]) -> Option<Vec<u64>> {
    let mut ids = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Value::Int(number) => ids.extend(u64::try_from(*number)),
            Value::Null => {}
            Value::Str(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                ids.push(text.parse().ok()?);
            }
            _ => return None,
        }
    }
    Some(ids)
}

fn is_id(expression: &Expression) -> bool {
    matches!(expression, Expression::Column(name) if name == "id")
}
