//! Which document ids a condition can be true for, so that look-ups by id step to their rows instead of reading every one.

use crate::expression::{BinaryOperator, Expression};
use crate::value::Value;

/// The ids that a condition names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// The only ids of rows that it can be true for: sorted, each once.
    pub ids: Vec<u64>,
    /// Whether it is true for each of them.
    pub are_all_wanted: bool,
}

impl Ids {
    /// `None` where they are not plain to see. Understood: `id = n`, `id IN (…)`, OR of such, AND with anything.
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

/// In any order, perhaps several times. Chains of OR and AND are balanced by the parser, so the depth is a logarithm.
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
