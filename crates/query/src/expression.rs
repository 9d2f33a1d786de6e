//! The expression tree of WHERE, of standing queries' filters and of queue conditions.

mod chain;
mod evaluate;
mod functions;
mod literal;
mod parse;
mod prepared;
mod set;
mod simple;
mod written;

#[cfg(test)]
mod tests;

pub use prepared::{Prepared, UnknownColumn};
pub use simple::{Simple, text_hash};

use crate::lexer::{Lexer, SyntaxError};
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
    /// `~x`: the bits of 64, inverted
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

/// What the caller makes of `name(…)` inside an expression (the name in lower case): the lexer stands behind the opening bracket
/// and must be left behind the closing one. `None` means that there is no such function.
pub type Calls<'c> =
    dyn FnMut(&str, &mut Lexer<'_>) -> Result<Option<Expression>, SyntaxError> + 'c;

/// Parses an expression and stops at the first token that cannot continue it. Equalities of one column that OR joins become an
/// IN list.
///
/// # Errors
/// [`SyntaxError`]: bad syntax, an operator that is not built yet, a bound of [`crate::limits`] exceeded.
pub fn parse(lexer: &mut Lexer<'_>) -> Result<Expression, SyntaxError> {
    parse_with_calls(lexer, &mut |_, _| Ok(None))
}

/// As [`parse`], with functions that the caller knows.
///
/// # Errors
/// As [`parse`], and what `calls` returns.
pub fn parse_with_calls(
    lexer: &mut Lexer<'_>,
    calls: &mut Calls<'_>,
) -> Result<Expression, SyntaxError> {
    parse_of_tables(lexer, &[], calls)
}

/// As [`parse_with_calls`], where a column may stand behind the name of its table or alias: `t.price`, `db.t.price`.
/// `tables`: these names in lower case, all of one table.
///
/// # Errors
/// As [`parse_with_calls`]; another name before a dot.
pub fn parse_of_tables(
    lexer: &mut Lexer<'_>,
    tables: &[String],
    calls: &mut Calls<'_>,
) -> Result<Expression, SyntaxError> {
    parse::Parser::new(lexer, calls)
        .of_tables(tables)
        .expression()
}

/// As [`parse_with_calls`], with numbers as the conditions of `queue_wait` have them: `0x1F` is a whole number and no
/// bytes, and digits behind a `0` are octal.
///
/// # Errors
/// As [`parse_with_calls`]; an octal number with a digit of 8 or 9.
pub fn parse_condition(lexer: &mut Lexer<'_>) -> Result<Expression, SyntaxError> {
    let no_calls: &mut Calls<'_> = &mut |_, _| Ok(None);
    parse::Parser::new(lexer, no_calls)
        .with_whole_hex()
        .expression()
}

/// Parses one constant, with a sign if it is a number, as VALUES and IN have them.
///
/// # Errors
/// [`SyntaxError`]: anything else.
pub fn constant(lexer: &mut Lexer<'_>) -> Result<Value, SyntaxError> {
    literal::constant(lexer)
}

/// The value of an expression over a row; `row` gives a column's value by its lower-case name, `None` (an unknown column) is NULL.
/// The slow and obvious way; [`Prepared`] is the fast one.
#[must_use]
pub fn evaluate(expression: &Expression, row: &dyn Fn(&str) -> Option<Value>) -> Value {
    evaluate::evaluate(expression, row)
}

impl Expression {
    /// `a AND b AND …`, balanced, so that a million terms are twenty levels. An empty list is true (1).
    #[must_use]
    pub fn all_of(terms: Vec<Expression>) -> Expression {
        chain::balanced(BinaryOperator::And, terms).unwrap_or(Expression::Literal(Value::Int(1)))
    }

    /// `a OR b OR …`, balanced. An empty list is false (0).
    #[must_use]
    pub fn any_of(terms: Vec<Expression>) -> Expression {
        chain::balanced(BinaryOperator::Or, terms).unwrap_or(Expression::Literal(Value::Int(0)))
    }
}

impl BinaryOperator {
    /// `= <> < <= > >=`.
    fn compares(self) -> bool {
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
