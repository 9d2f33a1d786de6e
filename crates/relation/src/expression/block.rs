//! Arithmetic and conditions over blocks of whole numbers, operator by operator.
//!
//! Example: `n DIV 2 + m` over n = 5, 8 and m = 1, 1: first 2, 4, then 3, 5. `n IN (5, 7) AND m > 0` gives 1, 0.
//!
//! Invariant: each value is that of [`Prepared::evaluate`]. Where one is NULL or does not fit 64 bits, there is no block.

use language::meter::{Meter, Work};

use super::node::PreparedNode;
use super::prepared::Prepared;
use super::row_set::WholeRows;
use super::tree::{BinaryOperator, UnaryOperator};
use crate::value::Value;

/// One number for all rows, or one for each row.
enum Numbers {
    One(i64),
    Many(Vec<i64>),
}

impl Numbers {
    fn of(&self, row: usize) -> i64 {
        match self {
            Numbers::One(number) => *number,
            Numbers::Many(numbers) => numbers[row],
        }
    }
}

impl Prepared {
    /// Whether a block of rows may be evaluated: the expression has nothing but columns, whole numbers, `+ - * DIV MOD`,
    /// comparisons, IN of whole numbers, BETWEEN, AND, OR and NOT.
    #[must_use]
    pub fn is_of_whole_numbers(&self) -> bool {
        is_arithmetic(&self.root)
    }

    /// The values over a block of `rows` rows, if [`Prepared::is_of_whole_numbers`] and all values on the way are whole numbers
    /// of 64 bits; else `None`, and once the meter has stopped. `column` gives those of a slot.
    pub fn evaluate_whole(
        &self,
        rows: usize,
        column: &mut dyn FnMut(usize) -> Option<Vec<i64>>,
        meter: &dyn Meter,
    ) -> Option<Vec<i64>> {
        if !is_arithmetic(&self.root) {
            return None;
        }
        // The rows are a block; only a set of constants that is made for them may be long.
        let work = Work::new(meter);
        Some(match evaluate(&self.root, rows, column, &work)? {
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
                    | O::And
                    | O::Or
                    | O::Equal
                    | O::NotEqual
                    | O::Less
                    | O::LessOrEqual
                    | O::Greater
                    | O::GreaterOrEqual
            );
            is_taken && is_arithmetic(left) && is_arithmetic(right)
        }
        PreparedNode::Unary(UnaryOperator::Not, of) => is_arithmetic(of),
        PreparedNode::In { needle, set, .. } => set.is_whole() && is_arithmetic(needle),
        PreparedNode::InRows { needles, set, .. } => {
            set.is_whole() && needles.iter().all(is_arithmetic)
        }
        PreparedNode::Between {
            needle, low, high, ..
        } => [needle, low, high].into_iter().all(|of| is_arithmetic(of)),
        _ => false,
    }
}

fn evaluate(
    node: &PreparedNode,
    rows: usize,
    column: &mut dyn FnMut(usize) -> Option<Vec<i64>>,
    work: &Work<'_>,
) -> Option<Numbers> {
    use BinaryOperator as O;
    let (operator, left, right) = match node {
        PreparedNode::Literal(Value::Int(number)) => {
            return i64::try_from(*number).ok().map(Numbers::One);
        }
        PreparedNode::Slot(slot) => return column(*slot).map(Numbers::Many),
        PreparedNode::Binary(operator, left, right) => {
            let left = evaluate(left, rows, column, work)?;
            (operator, left, evaluate(right, rows, column, work)?)
        }
        PreparedNode::Unary(UnaryOperator::Not, of) => {
            let of = evaluate(of, rows, column, work)?;
            return combined(of, Numbers::One(0), |a, b| Some((a == b).into()));
        }
        PreparedNode::In {
            needle,
            negated,
            set,
        } => {
            let set = set.whole_within(work)?;
            let needle = evaluate(needle, rows, column, work)?;
            let held = |number, _| Some((set.contains(&number) != *negated).into());
            return combined(needle, Numbers::One(0), held);
        }
        PreparedNode::InRows {
            needles,
            negated,
            set,
        } => {
            let needles = needles.iter().map(|of| evaluate(of, rows, column, work));
            let needles: Vec<Numbers> = needles.collect::<Option<_>>()?;
            return Some(in_rows(&needles, *negated, set.whole_within(work)?, rows));
        }
        PreparedNode::Between {
            needle,
            negated,
            low,
            high,
        } => {
            let mut of = |node| evaluate(node, rows, column, work);
            let (needle, low, high) = (of(needle)?, of(low)?, of(high)?);
            let is_inside = |row| (low.of(row)..=high.of(row)).contains(&needle.of(row));
            let held = (0..rows).map(|row| (is_inside(row) != *negated).into());
            return Some(Numbers::Many(held.collect()));
        }
        _ => return None,
    };
    match operator {
        O::Add => combined(left, right, i64::checked_add),
        O::Subtract => combined(left, right, i64::checked_sub),
        O::Multiply => combined(left, right, i64::checked_mul),
        O::IntegerDivide => combined(left, right, i64::checked_div),
        O::Modulo => combined(left, right, i64::checked_rem),
        O::And => combined(left, right, |a, b| Some((a != 0 && b != 0).into())),
        O::Or => combined(left, right, |a, b| Some((a != 0 || b != 0).into())),
        O::Equal => combined(left, right, |a, b| Some((a == b).into())),
        O::NotEqual => combined(left, right, |a, b| Some((a != b).into())),
        O::Less => combined(left, right, |a, b| Some((a < b).into())),
        O::LessOrEqual => combined(left, right, |a, b| Some((a <= b).into())),
        O::Greater => combined(left, right, |a, b| Some((a > b).into())),
        O::GreaterOrEqual => combined(left, right, |a, b| Some((a >= b).into())),
        _ => None,
    }
}

/// `(a, b) IN (…)` for each row.
fn in_rows(needles: &[Numbers], negated: bool, set: WholeRows<'_>, rows: usize) -> Numbers {
    let mut needle = vec![0; needles.len()];
    let held = (0..rows).map(|row| {
        for (place, numbers) in needle.iter_mut().zip(needles) {
            *place = numbers.of(row);
        }
        (set.holds(&needle) != negated).into()
    });
    Numbers::Many(held.collect())
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
