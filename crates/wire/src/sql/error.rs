//! Why a statement was refused, and where.

use std::fmt;

use query::lexer::OUT_OF_ROOM;

use crate::limits::NEAR_CHARS_MAX;

/// Which family a refusal belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Nobody could read this: MySQL 1064.
    Syntax,
    /// Well-formed SQL that this server does not do yet, or does not offer: MySQL 1235.
    NotYet,
    /// Larger than a limit allows, or than the reader's room: MySQL 1105.
    Limit,
    /// An argument of CALL, in words that Manticore's clients know: MySQL 1064, shown without its place.
    Argument,
}

/// A refused statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Its family.
    pub kind: ErrorKind,
    /// Byte offset in the statement, from 0; at most its length.
    pub position: usize,
    /// Line of the statement, from 1.
    pub line: u32,
    /// What is wrong, lower case, no full stop, without position and text.
    pub message: String,
    /// The statement from `position` on, at most [`NEAR_CHARS_MAX`] characters; empty at the statement's end.
    pub near: String,
}

impl SyntaxError {
    /// An error at a byte offset of `text`.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>, text: &[u8], position: usize) -> Self {
        let position = position.min(text.len());
        let (before, after) = text.split_at(position);
        // Four bytes are the longest character, so this prefix holds the characters that are shown.
        let after = after.get(..NEAR_CHARS_MAX * 4).unwrap_or(after);
        let near = String::from_utf8_lossy(after)
            .chars()
            .take(NEAR_CHARS_MAX)
            .collect();
        let breaks = before.iter().filter(|&&byte| byte == b'\n').count();
        SyntaxError {
            kind,
            position,
            line: u32::try_from(breaks).unwrap_or(u32::MAX).saturating_add(1),
            message: message.into(),
            near,
        }
    }

    /// Whether the statement takes more memory than its reader gave.
    #[must_use]
    pub fn is_out_of_room(&self) -> bool {
        self.message.starts_with(OUT_OF_ROOM)
    }

    /// MySQL's number: 1064, 1105 or 1235.
    #[must_use]
    pub fn code(&self) -> u16 {
        match self.kind {
            ErrorKind::Syntax | ErrorKind::Argument => 1064,
            ErrorKind::NotYet => 1235,
            ErrorKind::Limit => 1105,
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::NotYet => write!(f, "not yet: {}", self.message),
            ErrorKind::Argument | ErrorKind::Limit => f.write_str(&self.message),
            ErrorKind::Syntax if self.near.is_empty() => {
                write!(
                    f,
                    "syntax error: {} at the end of the statement",
                    self.message
                )
            }
            ErrorKind::Syntax => write!(
                f,
                "syntax error: {} near '{}' at line {}, position {}",
                self.message, self.near, self.line, self.position
            ),
        }
    }
}

impl std::error::Error for SyntaxError {}
