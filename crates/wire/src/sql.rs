//! The SQL dialect: one statement's bytes → [`Statement`].
//!
//! `docs/sql.md` lists the statements. A statement that a later version will serve is [`ErrorKind::NotYet`] (MySQL 1235), a
//! mistake is [`ErrorKind::Syntax`] (MySQL 1064).
//!
//! Tokens come from [`relation::lexer`], expressions from [`relation::expression`], so a WHERE means the same here and in a standing
//! query's filters. The rows of VALUES bypass both: see the module `values`.
//!
//! To add a statement: a variant of [`Statement`], a word in `statement_of`, and a method of `Parser` in the file of its kind.
//! The compiler then asks for its place in `session::statement`.

mod alter;
mod call;
mod constants;
mod create;
mod create_temporary;
mod data;
mod error;
mod facet;
mod files;
mod insert;
mod join;
mod key;
mod parser;
mod queue_functions;
mod select;
mod session;
mod show;
mod split;
mod statement;
mod sub_select;
mod union;
mod values;

#[cfg(test)]
mod tests;

use relation::expression::Expression;
use relation::lexer::TokenKind;

use parser::Parser;

pub use error::{ErrorKind, SyntaxError};
pub use queue_functions::{wait_source, with_answer};
pub use split::{first, is_blank, split};
pub use statement::{
    Assignment, AttributionCall, Constant, CreateTable, CreateTemporary, Faceted, Part, PqOptions,
    QueueCall, QueueNext, Scope, Show, ShowKind, Shown, Statement, Union, UnionColumn, UnionKey,
    each_of_join,
};

/// First words of statements that are refused as "not yet".
const LATER: [&str; 33] = [
    "attach",
    "import",
    "reload",
    "freeze",
    "unfreeze",
    "lock",
    "unlock",
    "grant",
    "revoke",
    "token",
    "savepoint",
    "release",
    "with",
    "do",
    "handler",
    "load",
    "analyze",
    "analyse",
    "check",
    "repair",
    "prepare",
    "execute",
    "deallocate",
    "facet",
    "join",
    "xa",
    "checksum",
    "cache",
    "reset",
    "purge",
    "change",
    "stop",
    "shutdown",
];

/// Parses one statement, with or without a `;` at its end. A text of comments only is [`Statement::Empty`].
///
/// Bytes outside string literals must be UTF-8. Cost: linear in the text; one allocation for each string literal.
///
/// # Errors
/// [`SyntaxError`], with the byte position and the text near it.
pub fn parse(text: &[u8]) -> Result<Statement, SyntaxError> {
    Ok(parse_within(text, usize::MAX)?.0)
}

/// As [`parse`], with at most `work` units ([`language::meter`]) for the constants of an INSERT and for long regular expressions.
///
/// # Errors
/// As [`parse`]; [`SyntaxError::is_out_of_work`].
pub fn parse_shortly(text: &[u8], work: usize) -> Result<Statement, SyntaxError> {
    statement_of(&mut Parser::within(text, usize::MAX).with_work(work))
}

/// As [`parse`], with at most `room` bytes of memory for the statement. Also gives the bytes that the statement takes by the
/// parser's count, which includes lists that double and the compiled form of expressions.
///
/// # Errors
/// As [`parse`]; [`SyntaxError::is_out_of_room`].
pub fn parse_within(text: &[u8], room: usize) -> Result<(Statement, usize), SyntaxError> {
    let mut parser = Parser::within(text, room);
    let statement = statement_of(&mut parser)?;
    Ok((statement, room - parser.room()))
}

fn statement_of(parser: &mut Parser<'_>) -> Result<Statement, SyntaxError> {
    if parser.at_end() {
        parser.end()?;
        return Ok(Statement::Empty);
    }
    let first = parser.clone();
    if parser.take(TokenKind::Open) {
        return parser.bracketed_select();
    }
    if parser.peek() != TokenKind::Word {
        return Err(parser.unexpected("a statement"));
    }
    let written = parser.name("a statement")?;
    let verb = written.to_lowercase();
    match verb.as_str() {
        "select" => {
            let first = parser.select_body()?;
            match parser.at_word("facet") {
                true => parser.faceted(first),
                false => parser.union_or_end(first, false),
            }
        }
        "insert" => parser.insert(false),
        "replace" => parser.insert(true),
        "delete" => parser.delete(),
        "create" => parser.create(),
        "drop" => parser.drop(),
        "alter" => parser.alter(),
        "rename" => parser.rename(),
        "update" => parser.update(),
        "install" | "uninstall" => parser.plugin(),
        "call" => parser.call(written == verb),
        "truncate" => parser.truncate(),
        "show" => parser.show(),
        "describe" | "desc" | "explain" => parser.explain(),
        "set" => parser.set(),
        "use" => parser.use_database(),
        "begin" => parser.transaction(Statement::Begin),
        "start" if parser.at_word("transaction") => parser.transaction(Statement::Begin),
        "commit" => parser.transaction(Statement::Commit),
        "rollback" => parser.transaction(Statement::Rollback),
        "kill" => parser.kill(),
        "backup" => parser.backup(),
        "flush" => parser.flush(),
        "optimize" => parser.optimize(),
        later if LATER.contains(&later) => Err(first.not_yet(verb.to_uppercase())),
        _ => Err(first.unexpected("a statement")),
    }
}

/// Parses a condition that is no statement: the `only` of a percolation.
///
/// # Errors
/// [`SyntaxError`], with its position in this text.
pub fn condition(text: &[u8]) -> Result<Expression, SyntaxError> {
    let mut parser = Parser::within(text, usize::MAX);
    let condition = parser.expression(&mut |_, _| Ok(None))?;
    parser.end()?;
    Ok(condition)
}

/// Skips the words that may stand between SELECT and its list.
fn skip_select_modifiers(parser: &mut Parser<'_>) -> Result<(), SyntaxError> {
    if parser.at_any(&["distinct", "distinctrow"]) {
        return Err(parser.not_yet("SELECT DISTINCT"));
    }
    // Before a bracket ALL is the function: `SELECT ALL(tags) > 5`.
    while !parser.at_call("all")
        && parser.take_any(&[
            "all",
            "sql_no_cache",
            "sql_cache",
            "sql_calc_found_rows",
            "high_priority",
            "straight_join",
        ])
    {}
    Ok(())
}
