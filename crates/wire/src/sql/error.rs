//! Errors of parsing a statement, with their position.

use std::fmt;

use relation::lexer::{OUT_OF_ROOM, TOO_MUCH_WORK};

use crate::limits::NEAR_CHARS_MAX;

/// Family of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The statement is malformed: MySQL 1064.
    Syntax,
    /// Well-formed SQL that this server does not serve yet, or does not offer: MySQL 1235.
    NotYet,
    /// The statement is larger than a limit, or than the room of its parser: MySQL 1105.
    Limit,
    /// A bad argument of CALL, with the message of Manticore, which clients know: MySQL 1064, without its position.
    Argument,
}

/// A refused statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Family of the error.
    pub kind: ErrorKind,
    /// Byte offset in the statement, from 0; at most its length.
    pub position: usize,
    /// Line of the statement, from 1.
    pub line: u32,
    /// The reason, in lower case, without full stop, position and text.
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

    /// Whether the statement needs more memory than its parser was given.
    #[must_use]
    pub fn is_out_of_room(&self) -> bool {
        self.message.starts_with(OUT_OF_ROOM)
    }

    /// Whether the statement's constants take more work than its parser was given.
    #[must_use]
    pub fn is_out_of_work(&self) -> bool {
        self.message.starts_with(TOO_MUCH_WORK)
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
