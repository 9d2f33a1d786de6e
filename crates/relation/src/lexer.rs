//! Reads tokens of SQL one by one from bytes. The expression parser and the SQL dialect share it.
//!
//! Example: `price >= 4.5` gives a `Word` over bytes 0..5, `GreaterOrEqual` over 6..8, `Decimal` over 9..12, and
//! `End`.

mod scan;
mod strings;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

/// The message for a text whose meaning takes more memory than its reader allows; see [`Lexer::charge`].
pub const OUT_OF_ROOM: &str = "the statement takes more memory than it may";

/// The message for constants that take more work than their reader allows; see [`Lexer::with_work`].
pub const TOO_MUCH_WORK: &str =
    "the constants of the statement take too much work: compute them before";

/// Memory charged for a token in bytes: half an item of the shortest list. A parser charges more by
/// [`Lexer::charge`].
const TOKEN_BYTES: usize = 32;

/// The reason why a text was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset in the text.
    pub position: usize,
    /// Message: lower case, no full stop, without the position.
    pub message: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.position)
    }
}

impl std::error::Error for SyntaxError {}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A bare name or keyword; may begin with a digit.
    Word,
    /// A name in backticks; its range includes them.
    Quoted,
    /// A string in single or double quotes; its range includes them.
    String,
    /// `x'4D'` or `0x4D`: bytes in hexadecimal.
    Hex,
    /// Digits only.
    Integer,
    /// A number with a point or an exponent.
    Decimal,
    /// `@name` or `@@scope.name`; its range includes the marks.
    Variable,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `.`
    Dot,
    /// `:`
    Colon,
    /// `?`
    Question,
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
    /// `<=>`
    NullSafeEqual,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `!`
    Bang,
    /// `~`
    Tilde,
    /// `&`
    Ampersand,
    /// `&&`
    And,
    /// `|`
    Bar,
    /// `||`
    Or,
    /// `^`
    Caret,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `:=`
    Assign,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// The end of the text; its range is empty.
    End,
    /// Bytes that are no token, with the reason.
    Invalid(&'static str),
}

/// A token and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its kind, with the value of a constant.
    pub kind: TokenKind,
    /// Its bytes in the text.
    pub range: Range<usize>,
}

/// Reads tokens. Skips comments and white space, but reads the inside of `/*! … */`.
///
/// Cloning is cheap, and is the way to look further ahead than one token.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    /// The next token, which `peek` returns.
    ahead: Token,
    /// Whether the cursor stands inside `/*! … */`.
    in_comment: bool,
    /// Bytes of memory that the text's meaning may still take.
    room: usize,
    /// Units of work that its constants may still take.
    work: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer at the first token, without a limit of memory.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Lexer<'a> {
        Lexer::within(text, usize::MAX)
    }

    /// A lexer at the first token of a text whose meaning may take `room` bytes of memory.
    #[must_use]
    pub fn within(text: &'a [u8], room: usize) -> Lexer<'a> {
        let ahead = Token {
            kind: TokenKind::End,
            range: 0..0,
        };
        let mut lexer = Lexer {
            text,
            ahead,
            in_comment: false,
            room,
            work: usize::MAX,
        };
        lexer.next();
        lexer
    }

    /// Charges memory that is about to be allocated. A parser calls it before each list or tree grows.
    ///
    /// # Errors
    /// [`OUT_OF_ROOM`], at the next token.
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), SyntaxError> {
        match self.room.checked_sub(bytes) {
            Some(left) => {
                self.room = left;
                Ok(())
            }
            None => Err(self.error(&self.ahead, OUT_OF_ROOM)),
        }
    }

    /// The same lexer, of a text whose constants may take `work` units ([`language::meter`]) to be prepared.
    #[must_use]
    pub fn with_work(self, work: usize) -> Lexer<'a> {
        Lexer { work, ..self }
    }

    /// Units of work that constants may still take.
    #[must_use]
    pub fn work(&self) -> usize {
        self.work
    }

    /// Counts work that is about to be done. False if there are fewer units left.
    pub(crate) fn spend(&mut self, units: usize) -> bool {
        let left = self.work.checked_sub(units);
        self.work = left.unwrap_or(self.work);
        left.is_some()
    }

    /// Returns the memory charged since [`Lexer::room`] was `room`: its parser has dropped what it allocated since.
    pub fn restore(&mut self, room: usize) {
        self.room = self.room.max(room);
    }

    /// A copy for looking further ahead. It charges nothing, since its caller keeps nothing.
    #[must_use]
    pub fn looking(&self) -> Lexer<'a> {
        Lexer {
            room: usize::MAX,
            ..self.clone()
        }
    }

    /// Bytes of memory that may still be charged.
    #[must_use]
    pub fn room(&self) -> usize {
        self.room
    }

    /// The next token, without taking it.
    #[must_use]
    pub fn peek(&self) -> &Token {
        &self.ahead
    }

    /// Takes the next token. The end gives [`TokenKind::End`] each time, and so does all that follows a
    /// [`TokenKind::Invalid`].
    #[expect(
        clippy::should_implement_trait,
        reason = "tokens never end, so this is no Iterator"
    )]
    pub fn next(&mut self) -> Token {
        let mut next = match self.ahead.kind {
            TokenKind::Invalid(_) => Token {
                kind: TokenKind::End,
                range: self.text.len()..self.text.len(),
            },
            _ => scan::token(self.text, self.ahead.range.end, &mut self.in_comment),
        };
        match self.room.checked_sub(TOKEN_BYTES) {
            Some(left) => self.room = left,
            None if next.kind == TokenKind::End => {}
            None => next.kind = TokenKind::Invalid(OUT_OF_ROOM),
        }
        std::mem::replace(&mut self.ahead, next)
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Goes on at a byte of the text, at which a token or white space begins.
    pub fn seek(&mut self, at: usize) {
        self.ahead = scan::token(self.text, at, &mut self.in_comment);
    }

    /// Takes the next token if it is of that kind.
    pub fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.ahead.kind == kind;
        if found {
            self.next();
        }
        found
    }

    /// Takes the next token if it is that keyword, in any case.
    pub fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.next();
        }
        found
    }

    /// Whether the next token is that keyword, in any case.
    #[must_use]
    pub fn at_word(&self, word: &str) -> bool {
        self.ahead.kind == TokenKind::Word
            && self
                .bytes(&self.ahead)
                .eq_ignore_ascii_case(word.as_bytes())
    }

    /// A token's bytes as written.
    #[must_use]
    pub fn bytes(&self, token: &Token) -> &'a [u8] {
        self.text.get(token.range.clone()).unwrap_or_default()
    }

    /// The name that a [`TokenKind::Word`] or [`TokenKind::Quoted`] token spells: case kept, backticks undone.
    ///
    /// # Errors
    /// Another kind of token, or a name that is not UTF-8.
    pub fn name(&self, token: &Token) -> Result<String, SyntaxError> {
        let bytes = self.bytes(token);
        let name = match token.kind {
            TokenKind::Word => bytes.to_vec(),
            TokenKind::Quoted => strings::unquoted(bytes),
            _ => return Err(self.error(token, "expected a name")),
        };
        String::from_utf8(name).map_err(|_| self.error(token, "name is not UTF-8"))
    }

    /// The bytes that a [`TokenKind::String`] or [`TokenKind::Hex`] token means, escapes undone. Empty for other
    /// kinds.
    #[must_use]
    pub fn string(&self, token: &Token) -> Vec<u8> {
        match token.kind {
            TokenKind::String => strings::unescaped(self.bytes(token)),
            TokenKind::Hex => strings::from_hex(self.bytes(token)),
            _ => Vec::new(),
        }
    }

    /// An error at the next token: `expected …, found …`, or the reason why it is no token.
    #[must_use]
    pub fn unexpected(&self, wanted: &str) -> SyntaxError {
        let found = match self.ahead.kind {
            TokenKind::Invalid(why) => return self.error(&self.ahead, why),
            TokenKind::End => "the end".to_owned(),
            _ => format!("'{}'", shortened(self.bytes(&self.ahead))),
        };
        self.error(&self.ahead, &format!("expected {wanted}, found {found}"))
    }

    /// An error at a token.
    #[must_use]
    pub fn error(&self, token: &Token, message: &str) -> SyntaxError {
        SyntaxError {
            position: token.range.start,
            message: message.to_owned(),
        }
    }
}

/// The beginning of a token, short enough for a message.
fn shortened(bytes: &[u8]) -> String {
    const BYTES_MAX: usize = 40;
    match bytes.get(..BYTES_MAX) {
        Some(begin) => String::from_utf8_lossy(begin).into_owned() + "…",
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}
