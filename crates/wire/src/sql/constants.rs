//! SELECT without a table: variables and functions that clients ask for when they connect, and Q4M's functions.

use relation::expression::Expression;
use relation::lexer::TokenKind;
use relation::value::Value;

use super::parser::{Parser, Result};
use super::statement::{Constant, Scope, Statement};
use crate::limits::COLUMNS_MAX;

impl Parser<'_> {
    /// Parses a SELECT without FROM, from behind SELECT, up to what may follow it.
    pub(super) fn select_constants(&mut self) -> Result<Statement> {
        if let Some(statement) = self.queue_function()? {
            return Ok(statement);
        }
        if self.peek() == TokenKind::Star {
            return Err(self.error("SELECT * without FROM"));
        }
        let mut items = Vec::new();
        loop {
            items.push(self.constant_item()?);
            self.at_most(items.len(), COLUMNS_MAX, "items in a SELECT list")?;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        if self.take_word("from") {
            self.expect_word("dual")?;
        }
        if self.take_word("limit") {
            self.skip_limit()?;
        }
        for clause in ["where", "order", "group", "into", "option"] {
            if self.at_word(clause) {
                let clause = clause.to_uppercase();
                return Err(self.not_yet(format!("{clause} in a SELECT without a table")));
            }
        }
        Ok(Statement::SelectConstants(items))
    }

    /// Skips the numbers of a LIMIT: the answer has one row, but clients write `LIMIT 1`.
    pub(super) fn skip_limit(&mut self) -> Result<()> {
        self.integer("a number of rows")?;
        if self.take(TokenKind::Comma) || self.take_word("offset") {
            self.integer("a number of rows")?;
        }
        Ok(())
    }

    fn constant_item(&mut self) -> Result<(String, Constant)> {
        let before = self.clone();
        let what = self.constant_value()?;
        let mut written = self.written_since(&before);
        // The header of a string literal is its content, without quotes.
        if let Constant::Expression(Expression::Literal(Value::Str(text))) = &what {
            written.clone_from(text);
        }
        Ok((self.alias()?.unwrap_or(written), what))
    }

    fn constant_value(&mut self) -> Result<Constant> {
        if self.peek() == TokenKind::Variable && self.peek_bytes().starts_with(b"@@") {
            let written = String::from_utf8_lossy(self.peek_bytes()).into_owned();
            self.next();
            let (scope, name) = variable(&written);
            return Ok(Constant::Variable { scope, name });
        }
        if self.peek() == TokenKind::Word
            && let Some(constant) = self.known_function()?
        {
            return Ok(constant);
        }
        let from = self.position();
        let expression = self.expression(&mut |_, _| Ok(None))?;
        if let Expression::Variable(name) = expression {
            let scope = Scope::User;
            return Ok(Constant::Variable { scope, name });
        }
        match expression.first_column() {
            None => Ok(Constant::Expression(expression)),
            Some(name) => {
                let message = format!("column '{name}' in a SELECT without a table");
                Err(self.error_at(from, message))
            }
        }
    }

    /// A function of the session or the clock. Some may be written without brackets.
    fn known_function(&mut self) -> Result<Option<Constant>> {
        let word = String::from_utf8_lossy(self.peek_bytes()).to_lowercase();
        let (constant, bare) = match word.as_str() {
            "database" | "schema" => (Constant::Database, false),
            "user" | "session_user" | "system_user" => (Constant::User, false),
            "current_user" => (Constant::CurrentUser, true),
            "version" => (Constant::Version, false),
            "connection_id" => (Constant::ConnectionId, false),
            "last_insert_id" => (Constant::LastInsertId, false),
            "row_count" => (Constant::RowCount, false),
            "found_rows" => (Constant::FoundRows, false),
            "utc_timestamp" => (Constant::UtcTimestamp, true),
            _ => return Ok(None),
        };
        let mut ahead = self.clone();
        ahead.next();
        if ahead.take(TokenKind::Open) {
            if !ahead.take(TokenKind::Close) {
                return Err(ahead.not_yet(format!("arguments of {word}()")));
            }
        } else if !bare {
            return Ok(None);
        }
        *self = ahead;
        Ok(Some(constant))
    }
}

/// Scope and lower-case name of `@@session.x`, `@@global.x`, `@@x` or `@x`.
pub(super) fn variable(written: &str) -> (Scope, String) {
    let written = written.to_lowercase().replace('`', "");
    let Some(name) = written.strip_prefix("@@") else {
        return (Scope::User, written.trim_start_matches('@').to_owned());
    };
    match name.split_once('.') {
        Some(("global", name)) => (Scope::Global, name.to_owned()),
        Some(("session" | "local", name)) => (Scope::Session, name.to_owned()),
        _ => (Scope::Session, name.to_owned()),
    }
}
