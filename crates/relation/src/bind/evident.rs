//! The values of a column for which a condition can be true, where the condition names them.
//!
//! Example: `n IN (7, 3) AND price > 4` names the values 7 and 3 of `n`; it need not be true for rows that have them.

use crate::expression::{BinaryOperator, Expression, List};

/// The values of a column that a condition names.
pub(super) struct Evident<K> {
    /// The only values for which the condition can be true, in any order, with repetitions.
    pub(super) values: Vec<K>,
    /// Whether it is true for each of these values.
    pub(super) are_all_wanted: bool,
}

/// The values of `column` that a condition names; `None` if they are not evident. Understood are `column = value`,
/// `column IN (…)`, OR of these, and AND of one of these with anything. `read` turns constants into values; `None` where it
/// cannot tell the values that equal them. The parser balances chains of OR and AND, so the depth is a logarithm.
pub(super) fn evident<K>(
    condition: &Expression,
    column: &str,
    read: &dyn Fn(&List) -> Option<Vec<K>>,
) -> Option<Evident<K>> {
    let all = |values| Evident {
        values,
        are_all_wanted: true,
    };
    let is_column = |of: &Expression| matches!(of, Expression::Column(name) if name == column);
    match condition {
        Expression::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
            (Expression::Literal(value), other) | (other, Expression::Literal(value))
                if is_column(other) =>
            {
                read(&List::from_iter([value.clone()])).map(all)
            }
            _ => None,
        },
        Expression::In {
            needle,
            negated: false,
            list,
        } if is_column(needle) => read(list).map(all),
        Expression::InRows {
            needles,
            negated: false,
            columns,
        } => {
            let place = needles.iter().position(is_column)?;
            read(&columns[place]).map(|values| Evident {
                values,
                are_all_wanted: false,
            })
        }
        Expression::Binary(BinaryOperator::Or, left, right) => {
            let (mut left, right) = (evident(left, column, read)?, evident(right, column, read)?);
            left.values.extend(right.values);
            left.are_all_wanted &= right.are_all_wanted;
            Some(left)
        }
        Expression::Binary(BinaryOperator::And, left, right) => {
            let (left, right) = (evident(left, column, read), evident(right, column, read));
            let fewest = match (left, right) {
                (Some(left), Some(right)) if left.values.len() <= right.values.len() => Some(left),
                (Some(_), Some(right)) => Some(right),
                (one, other) => one.or(other),
            };
            fewest.map(|found| Evident {
                are_all_wanted: false,
                ..found
            })
        }
        _ => None,
    }
}
