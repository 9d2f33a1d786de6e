//! The errors of the journal.

use crate::Position;
use std::{fmt, io};

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the journal.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Not now: the device has no room for another segment. Nothing was taken; the journal stays usable, and
    /// `append_reserved` may still work.
    Full,
    /// Limit: a record is larger than [`crate::RECORD_BYTES_MAX`]. Nothing was taken.
    RecordTooLarge {
        /// Size of the record. Bytes.
        bytes: usize,
    },
    /// Limit: the frame of an append is larger than [`crate::FRAME_BYTES_MAX`]. Nothing was taken.
    FrameTooLarge {
        /// Size of the frame without its padding. Bytes.
        bytes: usize,
    },
    /// Caller's fault: a read from a position that was trimmed.
    Trimmed {
        /// First position of the read.
        asked: Position,
        /// The oldest position that is kept.
        first: Position,
    },
    /// Sick: bytes that were synced are damaged or missing.
    Corrupt {
        /// Path below the root of the disk: of the file, or of the folder where a file is missing.
        file: String,
        /// Offset of the damaged or missing frame in the file. Bytes.
        offset: u64,
        /// The damage, as a message says it.
        what: &'static str,
    },
    /// A newer version of the program wrote the journal.
    NewerFormat {
        /// Path below the root of the disk.
        file: String,
        /// Format version of the frame.
        version: u16,
        /// The newest version that this program reads.
        supported: u16,
    },
    /// Sick: a call to the device failed, and the state of the journal is known all the same: a read or an open, for example.
    Io {
        /// Path below the root of the disk.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// Sick: a write or sync failed, so the content of the device is unknown. The process must end; the next start trusts only
    /// the bytes that it reads.
    Poisoned {
        /// Path below the root of the disk; empty where the preparing thread has ended.
        file: String,
        /// The text of the system's error at the first failure.
        cause: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Full => write!(f, "no room on the device for another journal segment"),
            Error::RecordTooLarge { bytes } => {
                write!(
                    f,
                    "a record of {bytes} bytes is above the limit of {}",
                    crate::RECORD_BYTES_MAX
                )
            }
            Error::FrameTooLarge { bytes } => {
                write!(
                    f,
                    "a frame of {bytes} bytes is above the limit of {}",
                    crate::FRAME_BYTES_MAX
                )
            }
            Error::Trimmed { asked, first } => {
                write!(
                    f,
                    "position {asked} is no longer in the journal, which begins at {first}"
                )
            }
            Error::Corrupt { file, offset, what } => {
                write!(
                    f,
                    "journal file {file} is damaged at offset {offset}: {what}"
                )
            }
            Error::NewerFormat {
                file,
                version,
                supported,
            } => write!(
                f,
                "journal file {file} has format version {version}; this program reads up to version {supported}"
            ),
            Error::Io { file, .. } => write!(f, "journal file {file} cannot be used"),
            Error::Poisoned { file, cause } => {
                write!(
                    f,
                    "a write to journal file {file} failed ({cause}), so its content is unknown"
                )
            }
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
