//! The errors of this crate.

use std::fmt;
use std::io;

use crate::limits::{EXPANSION_MAX, ROW_OCCURRENCES_MAX};

/// Result of a call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure as facts; the protocols make the replies. Most variants name their family: limit, not
/// now, this node is sick, bug.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Limit: a text column holds more words than [`crate::limits::FIELD_POSITION_MAX`].
    TextTooLong {
        /// Number of the text column.
        field: u8,
    },
    /// Limit: a wildcard or regular expression stands for more than [`crate::limits::EXPANSION_MAX`] words.
    TooManyWords {
        /// The pattern, as written in the query.
        pattern: String,
    },
    /// Limit: words and phrases of a query count at more than [`crate::limits::ROW_OCCURRENCES_MAX`] places of one row.
    TooManyOccurrences,
    /// Limit: the rows that a search found and keeps, or the words that its wildcards stand for, take more memory than one search may
    /// have.
    SearchMemory {
        /// The bound, in bytes.
        max: u64,
    },
    /// Not now: other searches hold the memory that all searches share.
    NoMemory,
    /// The search was stopped by its [`crate::Interrupt`]. A search whose time is over returns the
    /// rows found so far instead, unless it counts.
    Interrupted {
        /// The reason given to the switch.
        reason: Reason,
    },
    /// Not now: the tail holds [`crate::limits::TAIL_ROWS_MAX`] rows and waits for a seal.
    TailFull,
    /// This node is sick, or its disk is full (`StorageFull`): a file could not be read or written.
    Io {
        /// Path below the disk's root.
        file: String,
        /// The disk's error.
        source: io::Error,
    },
    /// This node is sick: bytes of a file are not those that were written.
    Corrupt {
        /// Path below the disk's root.
        file: String,
        /// Offset of the damage, in bytes from the start of the file.
        offset: u64,
        /// The damage in words: lower case, no full stop.
        what: &'static str,
    },
    /// The file was written by a newer version of this program.
    NewerFormat {
        /// Path below the disk's root.
        file: String,
        /// Version in the file.
        found: u32,
        /// Newest version known here.
        known: u32,
    },
    /// A row does not fit the columns that an ALTER TABLE asks for.
    Unfit {
        /// Which row, and why, in words.
        why: String,
    },
    /// No failure: a background job was stopped because its table is gone.
    Stopped,
    /// A bug in this crate or its caller.
    Internal {
        /// What happened, in words.
        what: String,
    },
}

impl Error {
    /// Whether the disk is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull)
    }

    pub(crate) fn io(file: impl Into<String>, source: io::Error) -> Self {
        Error::Io {
            file: file.into(),
            source,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TextTooLong { field } => {
                write!(f, "text column {field} holds too many words")
            }
            Error::TooManyWords { pattern } => {
                write!(
                    f,
                    "'{pattern}' matches more than {EXPANSION_MAX} words of the table"
                )
            }
            Error::TooManyOccurrences => {
                write!(
                    f,
                    "the words of the query count at more than {ROW_OCCURRENCES_MAX} places of a row"
                )
            }
            Error::SearchMemory { max } => {
                write!(
                    f,
                    "the rows found, or the words of wildcards, take more than {max} bytes"
                )
            }
            Error::NoMemory => f.write_str("other searches have the memory that they share"),
            Error::Interrupted { reason } => write!(f, "the search was stopped: {reason:?}"),
            Error::TailFull => f.write_str("too many rows wait to be sealed"),
            Error::Io { file, .. } => write!(f, "cannot read or write file {file}"),
            Error::Corrupt { file, offset, what } => {
                write!(f, "file {file} is damaged at byte {offset}: {what}")
            }
            Error::NewerFormat { file, found, known } => {
                write!(
                    f,
                    "file {file} has format version {found}, newer than {known}"
                )
            }
            Error::Unfit { why } => f.write_str(why),
            Error::Stopped => f.write_str("stopped"),
            Error::Internal { what } => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Why an answer may lack rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The time was over: the answer has the rows found so far.
    Time,
    /// A KILL ended the search: there is no answer.
    Killed,
    /// The client is gone: there is no answer.
    Gone,
    /// An inline statement has spent its budget of units: there is no answer, and its caller runs it again where it holds
    /// nobody up.
    Moved,
    /// Files are damaged: the answer is of the other parts. Never the reason of an
    /// [`Interrupt`](crate::Interrupt).
    Damage,
    /// More rows matched than `cutoff` allows: the answer is of those with the lowest ids. Never
    /// the reason of an [`Interrupt`](crate::Interrupt).
    Cutoff,
}
