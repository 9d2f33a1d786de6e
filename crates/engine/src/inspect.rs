//! Looking into a data directory that no server has: what is sound, what it holds, and what can be saved of a damaged one.
//!
//! All of it reads as recovery does, with one difference: where recovery refuses, this takes note and goes on. It reads over
//! an overlay, so [`check`] and [`dump`] change not one byte; [`repair`] does so only where something is wrong, and keeps
//! what it replaces. All take the directory's lock.

mod check;
mod dump;
mod keeping;
mod reading;
mod repair;
mod replay;
mod salvage;
mod say;

use std::fmt;

pub use check::{Checked, KindOfFile, check};
pub use dump::{Dumped, JournalEntry, dump, dump_journal};
pub use repair::{Repaired, repair};
pub(crate) use salvage::Salvage;

use crate::error::Error;

/// A format version further above the known one than this is damage.
const VERSIONS_AHEAD_MAX: u32 = 1_000;

/// Something that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Below the data directory.
    pub file: String,
    /// Of what is wrong, in bytes.
    pub offset: u64,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.file, self.offset, self.what)
    }
}

impl Fault {
    /// What an error says of a file; `None` where it is none of the files' fault.
    fn of(error: &Error, file: &str) -> Option<Fault> {
        match error {
            Error::Corrupt { file, offset, why } => Some(Fault {
                file: file.clone(),
                offset: *offset,
                what: why.clone(),
            }),
            // No program is so many versions ahead: a bit of the number is wrong.
            Error::NewerFormat { found, known } if found - known > VERSIONS_AHEAD_MAX => {
                Some(Fault {
                    file: file.to_owned(),
                    offset: 0,
                    what: format!("format version {found}"),
                })
            }
            Error::Internal { what } => Some(Fault {
                file: file.to_owned(),
                offset: 0,
                what: what.clone(),
            }),
            _ => None,
        }
    }
}

/// Something that was acknowledged and cannot be read any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The table's name; its number where the name is lost too, empty where nothing is known.
    pub table: String,
    /// Which rows, by id or number, as far as that is known.
    pub what: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.table.as_str() {
            "" => f.write_str(&self.what),
            table => write!(f, "{table}: {}", self.what),
        }
    }
}
