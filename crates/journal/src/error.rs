//! What can go wrong with a journal.

use crate::Position;
use std::{fmt, io};

/// The result of a journal's call.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the journal.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Not now: the device has no room for another segment. Nothing was taken; the journal stays usable, and
    /// `append_reserved` may still work.
    Full,
    /// Limit: a record is larger than `RECORD_BYTES_MAX`. Nothing was taken.
    RecordTooLarge {
        /// Size of the record. Bytes.
        bytes: usize,
    },
    /// Limit: the records of one append together are larger than `FRAME_BYTES_MAX`. Nothing was taken.
    FrameTooLarge {
        /// Size of the frame. Bytes.
        bytes: usize,
    },
    /// Caller's fault: a read from a position that was trimmed.
    Trimmed {
        /// Where the read was to begin.
        asked: Position,
        /// The oldest position kept.
        first: Position,
    },
    /// Sick: a file does not hold what was durably written to it.
    Corrupt {
        /// Path below the root of the disk.
        file: String,
        /// Of the frame that is damaged or missing. Bytes.
        offset: u64,
        /// What was found wrong.
        what: &'static str,
    },
    /// The directory was written by a newer version of the program.
    NewerFormat {
        /// Path below the root of the disk.
        file: String,
        /// Format version of the frame.
        version: u16,
        /// The newest version that this program reads.
        supported: u16,
    },
    /// Sick: the device refused a call that leaves the journal's state known.
    Io {
        /// Path below the root of the disk.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// Sick: a write or sync failed and nobody knows what the device holds. The process must end; the next one
    /// trusts only what it reads.
    Poisoned {
        /// Path below the root of the disk.
        file: String,
        /// What the system said, when it happened.
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
