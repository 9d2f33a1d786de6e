//! The errors of a queue.

use std::fmt;
use std::io;

use relation::bind::BindError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a queue. Names are as stored: lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Caller's fault: the queue has consumer groups, and the call names none.
    NoGroup {
        /// Name of the queue.
        queue: String,
        /// The groups that it has; at least one.
        groups: Vec<String>,
    },
    /// Caller's fault: the queue has no consumer group of that name.
    UnknownGroup {
        /// Name of the queue.
        queue: String,
        /// The group that was asked for.
        group: String,
    },
    /// Caller's fault: a condition that the queue's columns cannot answer, such as one with an unknown column.
    Condition {
        /// Name of the queue.
        queue: String,
        /// The unknown column, or the mistake.
        error: BindError,
    },
    /// Limit: a condition takes too much work on one row.
    Costly {
        /// The bound, in units of work.
        max: u64,
    },
    /// Not now: no room on the device. Nothing was changed.
    Full,
    /// Sick: a chunk file is missing or damaged.
    Corrupt {
        /// Path below the root of the disk.
        file: String,
        /// Offset of the damaged head, page or entry. Bytes.
        offset: u64,
        /// The part of the file that is damaged.
        why: String,
    },
    /// A chunk file of a newer version of the program.
    NewerFormat {
        /// Format version of the file.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// Sick: a bug of the program, or a device that failed. The text is for the log.
    Internal(String),
}

impl Error {
    /// The error of a failed call on a file: a full device, a missing file, or `Internal`.
    pub(crate) fn of_file(path: &str, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::StorageFull => Error::Full,
            io::ErrorKind::NotFound => Error::corrupt(path, 0, "the file is missing"),
            _ => Error::Internal(format!("file {path}: {error}")),
        }
    }

    pub(crate) fn corrupt(path: &str, offset: u64, why: &str) -> Error {
        Error::Corrupt {
            file: path.to_owned(),
            offset,
            why: why.to_owned(),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoGroup { queue, groups } => write!(
                f,
                "queue '{queue}' has the consumer groups {}: name one of them",
                groups.join(", ")
            ),
            Error::UnknownGroup { queue, group } => {
                write!(f, "queue '{queue}' has no consumer group '{group}'")
            }
            Error::Condition { queue, error } => write!(f, "condition on '{queue}': {error:?}"),
            Error::Costly { max } => write!(
                f,
                "a condition takes more than {max} units of work on one row"
            ),
            Error::Full => f.write_str("no room on the device"),
            Error::Corrupt { file, offset, why } => write!(f, "{file}, byte {offset}: {why}"),
            Error::NewerFormat { found, known } => {
                write!(f, "format {found}, {known} is the newest known")
            }
            Error::Internal(what) => f.write_str(what),
        }
    }
}
