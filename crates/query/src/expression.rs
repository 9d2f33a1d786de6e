//! The expression tree of WHERE, of standing queries' filters and of queue conditions.

use crate::value::Value;

/// An expression. Three-valued logic as in SQL: a comparison with NULL is NULL.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Literal(Value),
    /// A column by its lower-case name (`id` included).
    Column(String),
    /// `-x`, `NOT x`, `!x`.
    Unary(UnaryOperator, Box<Expression>),
    /// `a + b`, `a = b`, `a AND b` …
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `x [NOT] IN (…)`.
    In {
        /// What is looked for.
        needle: Box<Expression>,
        /// NOT IN.
        negated: bool,
        /// Constants, in the order written; up to a million of them, so evaluation prepares a set.
        list: Vec<Value>,
    },
    /// `x [NOT] BETWEEN low AND high`, both ends included.
    Between {
        /// What is compared.
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
        /// What is looked at.
        needle: Box<Expression>,
        /// IS NOT NULL.
        negated: bool,
    },
}

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-x`
    Minus,
    /// `NOT x`, `!x`
    Not,
}

/// Operators on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `AND`, `&&`
    And,
    /// `OR`, `||`
    Or,
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
}
