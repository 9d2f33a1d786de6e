//! Expressions: WHERE, the filters of standing queries, and the conditions of queues.
//!
//! Example: `n > 1 AND (tag = 'a' OR tag = 'b')` parses to `And(n > 1, tag IN ('a', 'b'))`, since OR joins equalities
//! of one column into a list. [`Prepared`] then replaces names by slots and the list by a set.

mod aggregate;
mod beside;
mod block;
mod call;
mod chain;
mod evaluate;
mod function;
mod giving_back;
mod kept;
mod kinds;
mod lazy_set;
mod list;
mod literal;
mod local_time;
mod mixed;
mod moment;
mod node;
mod parse;
mod prepared;
mod repeat;
mod row_set;
mod set;
mod simple;
mod tree;
mod written;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use aggregate::AGGREGATES;
pub use aggregate::AggregateKind;
pub(crate) use aggregate::Gives as AggregateGives;
pub use beside::{Unprepared, type_of_union};
pub(crate) use beside::{kind_of, read_beside};
pub use call::{is_time_zone, moment_seconds, moment_text};
pub use function::Function;
pub use kept::{Kept, keep_date, kept_without_table};
pub(crate) use kept::{kept_as, shown_as};
pub(crate) use kinds::{Kind, given_kinds, refuse_lost};
pub use list::List;
pub use local_time::{Gives, GivesOf, LocalTime};
pub(crate) use moment::{MOVED_DATE, zone_of};
pub use moment::{Moment, Unsettled, Variable, as_set, value_of_its_moment};
pub use node::{ColumnValues, GROUP_SLOT, Metered, WEIGHT_SLOT};
pub use parse::Calls;
pub use prepared::Prepared;
pub use repeat::{Pattern, Read};
pub use simple::{Simple, text_hash};
pub use tree::{BinaryOperator, Expression, Over, UnaryOperator};

use language::meter::{Budget, Meter, Unmetered, Work};

use crate::json::JsonStep;
use crate::lexer::{Lexer, SyntaxError};
use crate::value::Value;

/// Parses an expression and stops at the first token that cannot continue it. OR joins equalities of one column into
/// an IN list.
///
/// # Errors
/// [`SyntaxError`]: bad syntax, an operator that is not built yet, or a bound of [`crate::limits`] exceeded.
pub fn parse(lexer: &mut Lexer<'_>) -> Result<Expression, SyntaxError> {
    parse::Parser::new(lexer, &mut |_, _| Ok(None)).expression()
}

/// As [`parse`], with functions that the caller knows.
///
/// # Errors
/// Those of [`parse`], and those of `calls`.
pub fn parse_with_calls(
    lexer: &mut Lexer<'_>,
    calls: &mut Calls<'_>,
) -> Result<Expression, SyntaxError> {
    parse::Parser::new(lexer, calls).expression()
}

/// As [`parse_with_calls`]; a column may stand behind the name of its table or alias: `t.price`, `db.t.price`.
/// `tables` are these names in lower case, all of one table. NOW() may stand in it: the caller gives it its time by
/// [`Moment::settle`].
///
/// # Errors
/// Those of [`parse_with_calls`], and any other name before a dot.
pub fn parse_of_tables(
    lexer: &mut Lexer<'_>,
    tables: &[String],
    calls: &mut Calls<'_>,
) -> Result<Expression, SyntaxError> {
    parse::Parser::new(lexer, calls)
        .of_tables(tables)
        .with_time()
        .expression()
}

/// As [`parse`]. NOW() may stand in it, as in [`parse_of_tables`].
///
/// # Errors
/// Those of [`parse`].
pub fn parse_with_time(lexer: &mut Lexer<'_>) -> Result<Expression, SyntaxError> {
    let no_calls: &mut Calls<'_> = &mut |_, _| Ok(None);
    parse::Parser::new(lexer, no_calls).with_time().expression()
}

/// As [`parse_of_tables`] over several tables: a column keeps the name of its table, as `t.price`.
///
/// # Errors
/// Those of [`parse_of_tables`].
pub fn parse_of_join(
    lexer: &mut Lexer<'_>,
    tables: &[String],
    calls: &mut Calls<'_>,
) -> Result<Expression, SyntaxError> {
    parse::Parser::new(lexer, calls)
        .of_tables(tables)
        .keeping_tables()
        .with_time()
        .expression()
}

/// Parses the place that an assignment sets: a column, in lower case, and the steps of a path in its document, if there are some.
/// `tables` as in [`parse_of_tables`].
///
/// # Errors
/// [`SyntaxError`]: no name stands there, or a bound of [`crate::limits`] is exceeded.
pub fn parse_place(
    lexer: &mut Lexer<'_>,
    tables: &[String],
) -> Result<(String, Vec<JsonStep>), SyntaxError> {
    let no_calls: &mut Calls<'_> = &mut |_, _| Ok(None);
    parse::Parser::new(lexer, no_calls)
        .of_tables(tables)
        .place()
}

/// As [`parse`], with numbers as the conditions of `queue_wait` have them: `0x1F` is a whole number, not bytes, and
/// digits behind a `0` are octal.
///
/// # Errors
/// Those of [`parse`], and an octal number with a digit 8 or 9.
pub fn parse_condition(lexer: &mut Lexer<'_>) -> Result<Expression, SyntaxError> {
    let no_calls: &mut Calls<'_> = &mut |_, _| Ok(None);
    parse::Parser::new(lexer, no_calls)
        .with_whole_hex()
        .expression()
}

/// Parses a list of constants, `(1, 'a', -2)` or `()`.
///
/// # Errors
/// [`SyntaxError`]: no list stands there, or it has too many constants.
pub fn parse_list(lexer: &mut Lexer<'_>) -> Result<List, SyntaxError> {
    let no_calls: &mut Calls<'_> = &mut |_, _| Ok(None);
    parse::Parser::new(lexer, no_calls).list()
}

/// Parses a constant, with a sign if it is a number, as in VALUES and IN.
///
/// # Errors
/// [`SyntaxError`]: no constant stands there.
pub fn constant(lexer: &mut Lexer<'_>) -> Result<Value, SyntaxError> {
    literal::constant(lexer)
}

/// The value of an expression over a row: the slow, obvious way. `row` gives a column's value by its lower-case name;
/// `None`, an unknown column, is NULL. [`Prepared`] is the fast way. Nothing stops it: for rows of the server's own.
#[must_use]
pub fn evaluate(expression: &Expression, row: &dyn Fn(&str) -> Option<Value>) -> Value {
    evaluate::evaluate(expression, &Work::new(&Unmetered), row)
}

/// As [`evaluate`]; `None`: the meter has stopped.
#[must_use]
pub fn evaluate_metered(
    expression: &Expression,
    meter: &dyn Meter,
    row: &dyn Fn(&str) -> Option<Value>,
) -> Option<Value> {
    let value = evaluate::evaluate(expression, &Work::new(meter), row);
    (!meter.is_stopped()).then_some(value)
}

/// The value of an expression that reads no column, if it takes less than `left` units ([`language::meter`]). Takes that much.
#[must_use]
pub fn evaluate_constant(expression: &Expression, left: &mut usize) -> Option<Value> {
    let budget = Budget::new(*left as u64);
    let value = evaluate_metered(expression, &budget, &|_| None);
    *left = budget.left() as usize;
    value
}
