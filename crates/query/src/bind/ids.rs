//! The ids for which a condition can be true, so that look-ups by id read their rows alone.
//!
//! Example: `id IN (7, 3, 7) AND price > 4` names the ids 3 and 7, of which not all need be wanted.

use crate::expression::{BinaryOperator, Expression};
use crate::value::Value;

/// The ids that a condition names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// The only ids for which the condition can be true: sorted, each once; may be empty.
    pub ids: Vec<u64>,
    /// Whether it is true for each of these ids.
    pub are_all_wanted: bool,
}

impl Ids {
    /// The ids of a condition; `None` if they are not evident. Understood are `id = n`, `id IN (…)`, OR of these, and
    /// AND of one of these with anything.
    #[must_use]
    pub fn of(condition: &Expression) -> Option<Ids> {
        let mut found = gather(condition)?;
        found.ids.sort_unstable();
        found.ids.dedup();
        Some(found)
    }

    fn all(ids: Vec<u64>) -> Ids {
        Ids {
            ids,
            are_all_wanted: true,
        }
    }
}

/// The ids in any order, with repetitions. The parser balances chains of OR and AND, so the depth is a logarithm.
fn gather(condition: &Expression) -> Option<Ids> {
    match condition {
        Expression::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
            (Expression::Literal(value), column) | (column, Expression::Literal(value))
                if is_id(column) =>
            {
                gather_values(std::slice::from_ref(value)).map(Ids::all)
            }
            _ => None,
        },
        Expression::In {
            needle,
            negated: false,
            list,
        } if is_id(needle) => gather_values(list).map(Ids::all),
        Expression::Binary(BinaryOperator::Or, left, right) => {
            let (mut left, right) = (gather(left)?, gather(right)?);
            left.ids.extend(right.ids);
            left.are_all_wanted &= right.are_all_wanted;
            Some(left)
        }
        Expression::Binary(BinaryOperator::And, left, right) => {
            let fewest = match (gather(left), gather(right)) {
                (Some(left), Some(right)) if left.ids.len() <= right.ids.len() => Some(left),
                (Some(_), Some(right)) => Some(right),
                (one, other) => one.or(other),
            };
            fewest.map(|ids| Ids {
                are_all_wanted: false,
                ..ids
            })
        }
        _ => None,
    }
}

/// The ids that equal a value. NULL, and a number that is no id, equal none. Of texts only digits are understood,
/// since SQL compares a text by the number that it begins with.
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
