//! Why a queue did not do what it was asked.

use std::fmt;
use std::io;

use query::bind::BindError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a queue did not do what it was asked. Names are as stored: lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The queue has consumer groups, and none was named.
    NoGroup {
        /// The queue.
        queue: String,
        /// Its groups.
        groups: Vec<String>,
    },
    /// The queue has no consumer group of that name.
    UnknownGroup {
        /// The queue.
        queue: String,
        /// As asked for.
        group: String,
    },
    /// A condition that the queue's columns cannot answer.
    Condition {
        /// The queue.
        queue: String,
        /// What is wrong.
        error: BindError,
    },
    /// No room on the device.
    Full,
    /// A file is not as it was written, or is missing.
    Corrupt {
        /// Its path.
        file: String,
        /// Byte offset of what is wrong.
        offset: u64,
        /// What is wrong there.
        why: String,
    },
    /// A file that a later version wrote.
    NewerFormat {
        /// Its format version.
        found: u32,
        /// The newest that is understood here.
        known: u32,
    },
    /// A bug of ours, or a device that failed: for the log.
    Internal(String),
}

impl Error {
    /// A call on a file failed.
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
            Error::Full => f.write_str("no room on the device"),
            Error::Corrupt { file, offset, why } => write!(f, "{file}, byte {offset}: {why}"),
            Error::NewerFormat { found, known } => {
                write!(f, "format {found}, {known} is the newest known")
            }
            Error::Internal(what) => f.write_str(what),
        }
    }
}
