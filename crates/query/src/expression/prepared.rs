//! Expressions made ready for many rows: columns are slots, IN lists are sets.

use super::evaluate::{between, binary, negate_if, three_valued, unary};
use super::set::Set;
use super::{BinaryOperator, Expression, UnaryOperator};
use crate::value::Value;

/// A column that the table does not have: its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColumn(pub String);

/// An expression with its columns resolved. It means what [`super::evaluate`] says of the expression it was made from.
#[derive(Clone, Debug)]
pub struct Prepared {
    root: Part,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(Value),
    Slot(usize),
    Unary(UnaryOperator, Box<Part>),
    Binary(BinaryOperator, Box<Part>, Box<Part>),
    In {
        needle: Box<Part>,
        negated: bool,
        set: Box<Set>,
    },
    Between {
        needle: Box<Part>,
        negated: bool,
        low: Box<Part>,
        high: Box<Part>,
    },
    IsNull {
        needle: Box<Part>,
        negated: bool,
    },
}

impl Prepared {
    /// Resolves columns by `resolve` (lower-case name to slot). Cost: linear in the expression.
    ///
    /// # Errors
    /// [`UnknownColumn`], the first one.
    pub fn new(
        expression: &Expression,
        resolve: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<Prepared, UnknownColumn> {
        Ok(Prepared {
            root: Part::new(expression, resolve)?,
        })
    }

    /// The value over a row, whose columns `row` gives by slot. An IN list of any length costs one look-up.
    #[must_use]
    pub fn evaluate(&self, row: &dyn Fn(usize) -> Value) -> Value {
        self.root.evaluate(row)
    }

    /// Whether the row is wanted: true only; NULL is no.
    #[must_use]
    pub fn accepts(&self, row: &dyn Fn(usize) -> Value) -> bool {
        self.evaluate(row).as_bool() == Some(true)
    }
}

impl Part {
    fn new(
        expression: &Expression,
        resolve: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<Part, UnknownColumn> {
        let part = |of: &Expression| Part::new(of, resolve).map(Box::new);
        Ok(match expression {
            Expression::Literal(value) => Part::Literal(value.clone()),
            Expression::Column(name) => {
                Part::Slot(resolve(name).ok_or_else(|| UnknownColumn(name.clone()))?)
            }
            Expression::Unary(operator, operand) => Part::Unary(*operator, part(operand)?),
            Expression::Binary(operator, left, right) => {
                Part::Binary(*operator, part(left)?, part(right)?)
            }
            Expression::In {
                needle,
                negated,
                list,
            } => {
                let set = Box::new(Set::new(list));
                Part::In {
                    needle: part(needle)?,
                    negated: *negated,
                    set,
                }
            }
            Expression::Between {
                needle,
                negated,
                low,
                high,
            } => Part::Between {
                needle: part(needle)?,
                negated: *negated,
                low: part(low)?,
                high: part(high)?,
            },
            Expression::IsNull { needle, negated } => Part::IsNull {
                needle: part(needle)?,
                negated: *negated,
            },
        })
    }

    fn evaluate(&self, row: &dyn Fn(usize) -> Value) -> Value {
        match self {
            Part::Literal(value) => value.clone(),
            Part::Slot(slot) => row(*slot),
            Part::Unary(operator, operand) => unary(*operator, &operand.evaluate(row)),
            Part::Binary(operator, left, right) => {
                binary(*operator, left.evaluate(row), &mut || right.evaluate(row))
            }
            Part::In {
                needle,
                negated,
                set,
            } => three_valued(negate_if(*negated, set.holds(&needle.evaluate(row)))),
            Part::Between {
                needle,
                negated,
                low,
                high,
            } => between(
                &needle.evaluate(row),
                &low.evaluate(row),
                &high.evaluate(row),
                *negated,
            ),
            Part::IsNull { needle, negated } => {
                Value::Int(((needle.evaluate(row) == Value::Null) != *negated).into())
            }
        }
    }
}
