//! Tools of all statements' parsers: keywords, names, literals, and errors with their position.

use std::rc::Rc;

use relation::expression::{Expression, parse_of_join, parse_of_tables, parse_place};
use relation::json::JsonStep;
use relation::lexer::{
    Lexer, OUT_OF_ROOM, SyntaxError as LexerError, TOO_MUCH_WORK, Token, TokenKind,
};
use relation::value::Value;

use super::error::{ErrorKind, SyntaxError};
use super::values::{self, constant_work};
use crate::limits::NAMES_MAX;

/// Result of this module.
pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// Databases of MySQL's catalogs that are refused. Any other database name is ignored, but those of [`RELATIONS`].
pub(super) const CATALOGS_LATER: [&str; 2] = ["mysql", "sys"];

/// Databases of system relations, whose names keep them: `system.tables`.
pub(super) const RELATIONS: [&str; 3] = ["system", "information_schema", "performance_schema"];

/// Objects beside tables that MySQL and Manticore CREATE, ALTER, DROP and SHOW CREATE.
pub(super) const OBJECTS_LATER: [&str; 21] = [
    "cluster",
    "database",
    "definer",
    "event",
    "fulltext",
    "function",
    "index",
    "instance",
    "materialized",
    "mv",
    "procedure",
    "role",
    "schema",
    "server",
    "source",
    "spatial",
    "tablespace",
    "trigger",
    "unique",
    "user",
    "view",
];

/// A statement that is being parsed.
#[derive(Clone)]
pub(super) struct Parser<'a> {
    text: &'a [u8],
    lexer: Lexer<'a>,
    /// Offset in `text` at which the lexer's text begins: it starts anew behind VALUES.
    base: usize,
    /// Names that may stand before a column's name: the table's name and its alias, in lower case.
    pub(super) tables: Rc<[String]>,
    /// Whether a column keeps the name before it: FROM has several tables.
    pub(super) is_joined: bool,
    /// Number of sub-selects that are open.
    pub(super) sub_selects: usize,
    /// Units that the constants of INSERT may take.
    pub(super) work: usize,
}

/// Functions inside an expression: name in lower case, and the parser behind the opening bracket. `None`: unknown.
pub(super) type Calls<'c> =
    dyn FnMut(&str, &mut Lexer<'_>) -> std::result::Result<Option<Expression>, LexerError> + 'c;

impl<'a> Parser<'a> {
    /// A parser of a text whose values may take `room` bytes of memory.
    pub(super) fn within(text: &'a [u8], room: usize) -> Self {
        Parser {
            text,
            lexer: Lexer::within(text, room),
            base: 0,
            tables: Rc::from([]),
            is_joined: false,
            sub_selects: 0,
            work: constant_work(text),
        }
    }

    /// The same parser, where the statement's constants may take at most `work` units.
    pub(super) fn with_work(self, work: usize) -> Self {
        Parser {
            lexer: self.lexer.with_work(work),
            work: self.work.min(work),
            ..self
        }
    }

    /// A copy at the same position, for looking ahead. It takes no room, so its values must be dropped.
    pub(super) fn looking(&self) -> Self {
        Parser {
            lexer: self.lexer.looking(),
            ..self.clone()
        }
    }

    /// Goes on at a byte offset of the text, with `room` bytes left.
    pub(super) fn restart(&mut self, offset: usize, room: usize) {
        self.base = offset;
        let rest = self.text.get(offset..).unwrap_or_default();
        self.lexer = Lexer::within(rest, room).with_work(self.lexer.work());
    }

    /// Takes room before an allocation of `bytes`.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<()> {
        self.lexer
            .charge(bytes)
            .map_err(|error| self.lexer_error(error))
    }

    /// Bytes that may still be allocated.
    pub(super) fn room(&self) -> usize {
        self.lexer.room()
    }

    /// Refuses a list of more than `max` items.
    pub(super) fn at_most(&self, count: usize, max: usize, what: &str) -> Result<()> {
        if count <= max {
            return Ok(());
        }
        let message = format!("more than {max} {what}");
        Err(SyntaxError::new(
            ErrorKind::Limit,
            message,
            self.text,
            self.position(),
        ))
    }

    /// Refuses a list of more than [`NAMES_MAX`] names.
    pub(super) fn listed(&self, count: usize) -> Result<()> {
        self.at_most(count, NAMES_MAX, "names in a list")
    }

    /// The lexer, for parsers of arguments.
    pub(super) fn lexer(&mut self) -> &mut Lexer<'a> {
        &mut self.lexer
    }

    /// The whole statement.
    pub(super) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Byte offset of the next token.
    pub(super) fn position(&self) -> usize {
        self.base + self.lexer.peek().range.start
    }

    pub(super) fn peek(&self) -> TokenKind {
        self.lexer.peek().kind
    }

    pub(super) fn next(&mut self) -> Token {
        self.lexer.next()
    }

    /// Bytes of the next token, as written.
    pub(super) fn peek_bytes(&self) -> &'a [u8] {
        self.lexer.bytes(self.lexer.peek())
    }

    pub(super) fn take(&mut self, kind: TokenKind) -> bool {
        self.lexer.take(kind)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.lexer.at_word(word)
    }

    /// Whether the next token is one of these keywords.
    pub(super) fn at_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.at_word(word))
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        self.lexer.take_word(word)
    }

    /// Takes one of these keywords, if it is next.
    pub(super) fn take_any(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.take_word(word))
    }

    /// Whether a call of this function is next: its name and a bracket.
    pub(super) fn at_call(&self, name: &str) -> bool {
        let mut ahead = self.lexer.clone();
        ahead.take_word(name) && ahead.peek().kind == TokenKind::Open
    }

    /// Takes the keywords one behind the other, if all of them follow.
    pub(super) fn take_words(&mut self, words: &[&str]) -> bool {
        let before = self.lexer.clone();
        let found = words.iter().all(|word| self.take_word(word));
        if !found {
            self.lexer = before;
        }
        found
    }

    pub(super) fn expect(&mut self, kind: TokenKind, wanted: &str) -> Result<()> {
        if self.take(kind) {
            Ok(())
        } else {
            Err(self.unexpected(wanted))
        }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) {
            Ok(())
        } else {
            Err(self.unexpected(&word.to_uppercase()))
        }
    }

    pub(super) fn at_end(&self) -> bool {
        matches!(self.peek(), TokenKind::End | TokenKind::Semicolon)
    }

    /// Expects the statement's end: an optional `;`, then nothing.
    pub(super) fn end(&mut self) -> Result<()> {
        self.take(TokenKind::Semicolon);
        if self.peek() == TokenKind::End {
            Ok(())
        } else {
            Err(self.unexpected("the end of the statement"))
        }
    }

    /// A bare or quoted name, as written.
    pub(super) fn name(&mut self, wanted: &str) -> Result<String> {
        if !matches!(self.peek(), TokenKind::Word | TokenKind::Quoted) {
            return Err(self.unexpected(wanted));
        }
        let token = self.lexer.next();
        self.lexer
            .name(&token)
            .map_err(|error| self.lexer_error(error))
    }

    /// A column's name, in lower case.
    pub(super) fn column(&mut self) -> Result<String> {
        Ok(self.name("a column name")?.to_lowercase())
    }

    /// A table's name that is read, in lower case: that of a system relation keeps its database, as `system.tables`.
    pub(super) fn table_read(&mut self) -> Result<String> {
        let mut ahead = self.clone();
        if let Ok(database) = ahead.name("a table name").map(|it| it.to_lowercase())
            && RELATIONS.contains(&database.as_str())
            && ahead.take(TokenKind::Dot)
        {
            let table = ahead.name("a table name")?.to_lowercase();
            *self = ahead;
            return Ok(format!("{database}.{table}"));
        }
        self.table()
    }

    /// A table's name, in lower case, without its database. It has no backtick: see [`relation::request::together`].
    pub(super) fn table(&mut self) -> Result<String> {
        let from = self.position();
        let mut name = self.name("a table name")?.to_lowercase();
        if self.take(TokenKind::Dot) {
            if CATALOGS_LATER.contains(&name.as_str()) {
                return Err(self.not_yet(format!("tables of {name}")));
            }
            let table = self.name("a table name")?.to_lowercase();
            if RELATIONS.contains(&name.as_str()) {
                let what = format!("{name}.{table} is only read: SELECT … FROM {name}.{table}");
                return Err(self.error_at(from, what));
            }
            name = table;
        }
        match name.contains('`') {
            true => Err(self.error_at(from, "a table's name has no backtick")),
            false => Ok(name),
        }
    }

    /// A string literal's bytes; neighbours are joined as MySQL joins them.
    pub(super) fn bytes(&mut self, wanted: &str) -> Result<Vec<u8>> {
        if self.peek() != TokenKind::String {
            return Err(self.unexpected(wanted));
        }
        let token = self.lexer.next();
        let mut bytes = self.lexer.string(&token);
        while self.peek() == TokenKind::String {
            let token = self.lexer.next();
            bytes.extend_from_slice(&self.lexer.string(&token));
        }
        Ok(bytes)
    }

    /// A string literal that is UTF-8.
    pub(super) fn string(&mut self, wanted: &str) -> Result<String> {
        let position = self.position();
        let bytes = self.bytes(wanted)?;
        String::from_utf8(bytes).map_err(|_| self.error_at(position, "the string is not UTF-8"))
    }

    /// A whole number without a sign.
    pub(super) fn integer(&mut self, wanted: &str) -> Result<u64> {
        let number = match self.peek() {
            TokenKind::Integer => digits(self.peek_bytes()),
            _ => None,
        };
        let number = number.ok_or_else(|| self.unexpected(wanted))?;
        self.next();
        Ok(number)
    }

    /// A constant: string, number with a sign, hexadecimal, NULL, TRUE, FALSE.
    pub(super) fn constant(&mut self, wanted: &str) -> Result<Value> {
        let position = self.position();
        match values::constant(self.text, position) {
            Some((value, after)) => {
                self.charge(values::value_bytes(&value))?;
                while self.position() < after {
                    self.next();
                }
                Ok(value)
            }
            None => Err(self.unexpected(wanted)),
        }
    }

    /// An expression; `calls` parses its functions.
    pub(super) fn expression(&mut self, calls: &mut Calls<'_>) -> Result<Expression> {
        let parsed = match self.is_joined {
            true => parse_of_join(&mut self.lexer, &self.tables, calls),
            false => parse_of_tables(&mut self.lexer, &self.tables, calls),
        };
        parsed.map_err(|error| self.lexer_error(error))
    }

    /// The place that an assignment sets: a column, and a path in its document.
    pub(super) fn place(&mut self) -> Result<(String, Vec<JsonStep>)> {
        let parsed = parse_place(&mut self.lexer, &self.tables);
        parsed.map_err(|error| self.lexer_error(error))
    }

    /// The text of the tokens taken since `before` was cloned. Bytes that are no UTF-8 are replaced.
    pub(super) fn written_since(&self, before: &Parser<'_>) -> String {
        let mut walker = before.looking();
        let (from, mut until) = (before.position(), before.position());
        while walker.position() < self.position() {
            let token = walker.next();
            until = walker.base + token.range.end;
        }
        let written = self.text.get(from..until).unwrap_or_default();
        String::from_utf8_lossy(written).into_owned()
    }

    pub(super) fn error_at(&self, position: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(ErrorKind::Syntax, message, self.text, position)
    }

    pub(super) fn error(&self, message: impl Into<String>) -> SyntaxError {
        self.error_at(self.position(), message)
    }

    /// The error `expected …` at the next token, or the error of that token itself.
    pub(super) fn unexpected(&self, wanted: &str) -> SyntaxError {
        match self.peek() {
            TokenKind::Invalid(why) if why == OUT_OF_ROOM => {
                SyntaxError::new(ErrorKind::Limit, why, self.text, self.position())
            }
            TokenKind::Invalid(why) => self.error(why),
            _ => self.error(format!("expected {wanted}")),
        }
    }

    /// The error for the next word behind `verb`: "not yet" if it is in `later`, else a syntax error.
    pub(super) fn refused_word(&self, verb: &str, later: &[&str], wanted: &str) -> SyntaxError {
        if !self.at_any(later) {
            return self.unexpected(wanted);
        }
        let word = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
        self.not_yet(format!("{verb} {word}"))
    }

    /// The error "not yet", at the next token.
    pub(super) fn not_yet(&self, what: impl Into<String>) -> SyntaxError {
        self.not_yet_at(self.position(), what)
    }

    pub(super) fn not_yet_at(&self, position: usize, what: impl Into<String>) -> SyntaxError {
        SyntaxError::new(ErrorKind::NotYet, what, self.text, position)
    }

    /// An error of the lexer or the expression parser, without its `, found …`: `near` shows the text anyway.
    pub(super) fn lexer_error(&self, error: LexerError) -> SyntaxError {
        if let Some(limit) = limit_of(&error) {
            let position = self.base + error.position;
            return SyntaxError::new(ErrorKind::Limit, limit, self.text, position);
        }
        let message = error.message.split(", found ").next().unwrap_or_default();
        let (kind, message) = match message.strip_prefix("not yet: ") {
            Some(what) => (ErrorKind::NotYet, what),
            None => (ErrorKind::Syntax, message),
        };
        SyntaxError::new(kind, message, self.text, self.base + error.position)
    }
}

/// The limit that an error of the lexer or of the expression parser tells of; `None`: it is another error.
pub(super) fn limit_of(error: &LexerError) -> Option<&'static str> {
    let limits = [OUT_OF_ROOM, TOO_MUCH_WORK];
    limits.into_iter().find(|limit| error.message == *limit)
}

/// A decimal number that fits 64 bits; `None`: another text.
pub(super) fn digits(bytes: &[u8]) -> Option<u64> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}
