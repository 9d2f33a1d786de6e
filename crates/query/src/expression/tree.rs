//! An expression as a tree.

use super::list::List;
use crate::json::JsonStep;
use crate::value::Value;

/// An expression. Three-valued logic as in SQL: a comparison with NULL is NULL.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant of the text.
    Literal(Value),
    /// A column by its lower-case name (`id` included).
    Column(String),
    /// `column.key`, `column['key'][2]`: a value inside a JSON document. NULL where there is none.
    Path {
        /// The column by its lower-case name.
        column: String,
        /// At least one.
        steps: Vec<JsonStep>,
    },
    /// `-x`, `NOT x`, `!x`.
    Unary(UnaryOperator, Box<Expression>),
    /// `a + b`, `a = b`, `a AND b` …
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `x [NOT] IN (…)`.
    In {
        /// The value looked for.
        needle: Box<Expression>,
        /// NOT IN.
        negated: bool,
        /// Constants in the order written, up to ten million. A prepared expression has them as a set.
        list: List,
    },
    /// `(x, y) [NOT] IN ((…, …), …)`.
    InRows {
        /// The values looked for, at least one.
        needles: Vec<Expression>,
        /// NOT IN.
        negated: bool,
        /// The constants beside each needle: those of the first row come first in each list.
        columns: Vec<List>,
    },
    /// `x [NOT] BETWEEN low AND high`, both ends included.
    Between {
        /// The value compared.
        needle: Box<Expression>,
        /// NOT BETWEEN.
        negated: bool,
        /// Lower end.
        low: Box<Expression>,
        /// Upper end.
        high: Box<Expression>,
    },
    /// `x IS [NOT] NULL`.
    IsNull {
        /// The value tested.
        needle: Box<Expression>,
        /// IS NOT NULL.
        negated: bool,
    },
}

impl Expression {
    /// The conditions that AND joins, from left to right.
    #[must_use]
    pub fn conjuncts(self) -> Vec<Expression> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(next) = open.pop() {
            match next {
                Expression::Binary(BinaryOperator::And, left, right) => {
                    open.push(*right);
                    open.push(*left);
                }
                other => found.push(other),
            }
        }
        found
    }

    /// Calls `visit` with the name of each column, those of paths included.
    pub fn each_column<'e>(&'e self, visit: &mut dyn FnMut(&'e str)) {
        match self {
            Expression::Literal(_) => {}
            Expression::Column(name) | Expression::Path { column: name, .. } => visit(name),
            Expression::Unary(_, operand) => operand.each_column(visit),
            Expression::Binary(_, left, right) => {
                left.each_column(visit);
                right.each_column(visit);
            }
            Expression::In { needle, .. } | Expression::IsNull { needle, .. } => {
                needle.each_column(visit);
            }
            Expression::InRows { needles, .. } => {
                needles.iter().for_each(|needle| needle.each_column(visit));
            }
            Expression::Between {
                needle, low, high, ..
            } => [needle, low, high]
                .into_iter()
                .for_each(|part| part.each_column(visit)),
        }
    }

    /// The expression with each column and path replaced by what `change` makes of it.
    #[must_use]
    pub fn map_columns(self, change: &mut dyn FnMut(Expression) -> Expression) -> Expression {
        let mut inside = |of: Box<Expression>| Box::new(of.map_columns(change));
        match self {
            Expression::Literal(_) => self,
            Expression::Column(_) | Expression::Path { .. } => change(self),
            Expression::Unary(operator, operand) => Expression::Unary(operator, inside(operand)),
            Expression::Binary(operator, left, right) => {
                Expression::Binary(operator, inside(left), inside(right))
            }
            Expression::In {
                needle,
                negated,
                list,
            } => Expression::In {
                needle: inside(needle),
                negated,
                list,
            },
            Expression::InRows {
                needles,
                negated,
                columns,
            } => Expression::InRows {
                needles: needles
                    .into_iter()
                    .map(|of| of.map_columns(change))
                    .collect(),
                negated,
                columns,
            },
            Expression::Between {
                needle,
                negated,
                low,
                high,
            } => Expression::Between {
                needle: inside(needle),
                negated,
                low: inside(low),
                high: inside(high),
            },
            Expression::IsNull { needle, negated } => Expression::IsNull {
                needle: inside(needle),
                negated,
            },
        }
    }
}

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-x`
    Minus,
    /// `NOT x`, `!x`
    Not,
    /// `~x`: all 64 bits inverted
    BitNot,
    /// `x IS TRUE`; never NULL
    IsTrue,
    /// `x IS FALSE`; never NULL
    IsFalse,
}

/// Operators on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `AND`, `&&`
    And,
    /// `OR`, `||`
    Or,
    /// `XOR`
    Xor,
    /// `=`
    Equal,
    /// `<>`, `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`; by zero is NULL
    Divide,
    /// `%`, `MOD`; by zero is NULL
    Modulo,
    /// `DIV`: the whole part of the quotient; by zero is NULL
    IntegerDivide,
    /// `pow(x, y)`: whole where both are, the exponent is not negative and 128 bits hold it
    Power,
    /// `|`, over 64 bits as `&`, `^`, `<<` and `>>`; the result is never negative, as MySQL has it
    BitOr,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `<<`; by 64 bits or more is 0
    ShiftLeft,
    /// `>>`; by 64 bits or more is 0
    ShiftRight,
}

impl BinaryOperator {
    /// `= <> < <= > >=`.
    pub(super) fn compares(self) -> bool {
        matches!(
            self,
            BinaryOperator::Equal
                | BinaryOperator::NotEqual
                | BinaryOperator::Less
                | BinaryOperator::LessOrEqual
                | BinaryOperator::Greater
                | BinaryOperator::GreaterOrEqual
        )
    }
}
