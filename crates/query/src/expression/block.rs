//! Arithmetic over blocks of whole numbers, operator by operator.
//!
//! Example: `n DIV 2 + m` over n = 5, 8 and m = 1, 1: first 2, 4, then 3, 5.
//!
//! Invariant: each value is that of [`Prepared::evaluate`]. Where one is NULL or does not fit 64 bits, there is no block.

use super::prepared::{Prepared, PreparedNode};
use super::tree::BinaryOperator;
use crate::value::Value;

/// One number for all rows, or one for each row.
enum Numbers {
    One(i64),
    Many(Vec<i64>),
}

impl Prepared {
    /// The values over a block of `rows` rows, if the expression has nothing but columns, whole numbers, `+ - * DIV MOD` and
    /// comparisons, and all values on the way are whole numbers of 64 bits; else `None`. `column` gives those of a slot.
    pub fn evaluate_whole(
        &self,
        rows: usize,
        column: &mut dyn FnMut(usize) -> Option<Vec<i64>>,
    ) -> Option<Vec<i64>> {
        if !is_arithmetic(&self.root) {
            return None;
        }
        Some(match evaluate(&self.root, column)? {
            Numbers::One(number) => vec![number; rows],
            Numbers::Many(numbers) => numbers,
        })
    }
}

fn is_arithmetic(node: &PreparedNode) -> bool {
    use BinaryOperator as O;
    match node {
        PreparedNode::Literal(Value::Int(_)) | PreparedNode::Slot(_) => true,
        PreparedNode::Binary(operator, left, right) => {
            let is_taken = matches!(
                operator,
                O::Add
                    | O::Subtract
                    | O::Multiply
                    | O::IntegerDivide
                    | O::Modulo
                    | O::Equal
                    | O::NotEqual
                    | O::Less
                    | O::LessOrEqual
                    | O::Greater
                    | O::GreaterOrEqual
            );
            is_taken && is_arithmetic(left) && is_arithmetic(right)
        }
        _ => false,
    }
}

fn evaluate(
    node: &PreparedNode,
    column: &mut dyn FnMut(usize) -> Option<Vec<i64>>,
) -> Option<Numbers> {
    use BinaryOperator as O;
    let (operator, left, right) = match node {
        PreparedNode::Literal(Value::Int(number)) => {
            return i64::try_from(*number).ok().map(Numbers::One);
        }
        PreparedNode::Slot(slot) => return column(*slot).map(Numbers::Many),
        PreparedNode::Binary(operator, left, right) => {
            let left = evaluate(left, column)?;
            (operator, left, evaluate(right, column)?)
        }
        _ => return None,
    };
    match operator {
        O::Add => combined(left, right, i64::checked_add),
        O::Subtract => combined(left, right, i64::checked_sub),
        O::Multiply => combined(left, right, i64::checked_mul),
        O::IntegerDivide => combined(left, right, i64::checked_div),
        O::Modulo => combined(left, right, i64::checked_rem),
        O::Equal => combined(left, right, |a, b| Some((a == b).into())),
        O::NotEqual => combined(left, right, |a, b| Some((a != b).into())),
        O::Less => combined(left, right, |a, b| Some((a < b).into())),
        O::LessOrEqual => combined(left, right, |a, b| Some((a <= b).into())),
        O::Greater => combined(left, right, |a, b| Some((a > b).into())),
        O::GreaterOrEqual => combined(left, right, |a, b| Some((a >= b).into())),
        _ => None,
    }
}

/// `None`: one of the values is none.
#[inline]
fn combined(
    left: Numbers,
    right: Numbers,
    of: impl Fn(i64, i64) -> Option<i64>,
) -> Option<Numbers> {
    Some(Numbers::Many(match (left, right) {
        (Numbers::One(left), Numbers::One(right)) => return of(left, right).map(Numbers::One),
        (Numbers::Many(mut left), Numbers::One(right)) => {
            for number in &mut left {
                *number = of(*number, right)?;
            }
            left
        }
        (Numbers::One(left), Numbers::Many(mut right)) => {
            for number in &mut right {
                *number = of(left, *number)?;
            }
            right
        }
        (Numbers::Many(mut left), Numbers::Many(right)) => {
            for (number, right) in left.iter_mut().zip(right) {
                *number = of(*number, right)?;
            }
            left
        }
    }))
}
