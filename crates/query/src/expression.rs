//! The expression tree of WHERE, of standing queries' filters and of queue conditions.

mod chain;
mod evaluate;
mod functions;
mod literal;
mod parse;
mod prepared;
mod set;
mod simple;
mod tree;
mod written;

#[cfg(test)]
mod tests;

pub use parse::Calls;
pub use prepared::{Prepared, UnknownColumn};
pub use simple::{Simple, text_hash};
pub use tree::{BinaryOperator, Expression, UnaryOperator};

use crate::lexer::{Lexer, SyntaxError};
use crate::value::Value;

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
