//! What a search meets that its asker should know.

use std::io;

use crate::error::Error;

/// Something met by a search that its asker should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A file of a segment is damaged; the segment's rows are not in the answer.
    Damaged {
        /// Path below the disk's root.
        file: String,
        /// Where the damage was seen, in bytes from the start of the file.
        offset: u64,
        /// What is wrong, lower case, no full stop.
        what: &'static str,
    },
}

impl Warning {
    /// Of damage of a file; `None` for any other error.
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

    /// What whoever needs everything is told.
    pub(crate) fn error(&self) -> Error {
        let Warning::Damaged { file, offset, what } = self;
        Error::Corrupt {
            file: file.clone(),
            offset: *offset,
            what,
        }
    }
}
