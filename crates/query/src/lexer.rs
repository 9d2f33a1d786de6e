//! Tokens of SQL, read one by one from bytes; shared by the expression parser and by the SQL dialect.

use std::ops::Range;

/// Why a text was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset in the text.
    pub position: usize,
    /// What is wrong, lower case, no full stop, without the position.
    pub message: String,
}

/// What a token is.
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
    /// Something that is no token: why.
    Invalid(&'static str),
}

/// A token and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its bytes.
    pub range: Range<usize>,
}

/// Reads tokens; comments and white space are passed over, the inside of `/*! … */` is read.
///
/// Cloning is cheap and is the way to look further ahead than one token.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    /// The token that `peek` shows.
    ahead: Token,
    /// Where reading goes on after it.
    after: usize,
}

impl<'a> Lexer<'a> {
    /// At the first token of a text.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Lexer<'a> {
        Lexer {
            text,
            ahead: Token {
                kind: TokenKind::End,
                range: 0..0,
            },
            after: 0,
        }
    }

    /// The next token, without taking it.
    #[must_use]
    pub fn peek(&self) -> &Token {
        &self.ahead
    }

    /// Takes the next token. At the end it is [`TokenKind::End`], again and again.
    #[expect(
        clippy::should_implement_trait,
        reason = "a lexer never ends, so it is no Iterator"
    )]
    pub fn next(&mut self) -> Token {
        self.after = self.text.len();
        self.ahead.clone()
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

    /// The name that a [`TokenKind::Word`] or [`TokenKind::Quoted`] token spells, as written (case kept, backticks undone).
    ///
    /// # Errors
    /// Another kind of token, or a name that is not UTF-8.
    pub fn name(&self, token: &Token) -> Result<String, SyntaxError> {
        let name = String::from_utf8(self.bytes(token).to_vec());
        name.map_err(|_| self.error(token, "name is not UTF-8"))
    }

    /// The bytes that a [`TokenKind::String`] or [`TokenKind::Hex`] token means, escapes undone; empty for other kinds.
    #[must_use]
    pub fn string(&self, token: &Token) -> Vec<u8> {
        self.bytes(token).to_vec()
    }

    /// `unexpected …` at the next token, or what is wrong with it.
    #[must_use]
    pub fn unexpected(&self, wanted: &str) -> SyntaxError {
        self.error(&self.ahead, &format!("expected {wanted}"))
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
