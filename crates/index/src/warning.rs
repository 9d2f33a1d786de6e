//! Facts that a search reports beside its answer.

use std::io;

use crate::error::Error;

/// A fact that a search reports beside its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A file of a segment is damaged or missing; the answer has none of the segment's rows.
    Damaged {
        /// Path below the disk's root.
        file: String,
        /// Offset of the damage, in bytes from the start of the file.
        offset: u64,
        /// The damage in words: lower case, no full stop.
        what: &'static str,
    },
}

impl Warning {
    /// The warning for an error of a damaged or missing file; `None` for any other error.
    pub(crate) fn of_damage(error: &Error) -> Option<Warning> {
        match error {
            Error::Corrupt { file, offset, what } => Some(Warning::Damaged {
                file: file.clone(),
                offset: *offset,
                what,
            }),
            Error::Io { file, source } if source.kind() == io::ErrorKind::NotFound => {
                Some(Warning::Damaged {
                    file: file.clone(),
                    offset: 0,
                    what: "the file is missing",
                })
            }
            _ => None,
        }
    }

    /// The same damage as an error, for a caller that needs every row.
    pub(crate) fn error(&self) -> Error {
        let Warning::Damaged { file, offset, what } = self;
        Error::Corrupt {
            file: file.clone(),
            offset: *offset,
            what,
        }
    }
}
