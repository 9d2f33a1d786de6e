//! Tools for a data directory that no server has open: `check` verifies it, `dump` prints its rows, `repair` mends it.
//!
//! All three read as recovery does, with one difference: recovery refuses a damaged byte, and they note it and go on. They read
//! through an overlay, so [`check`] and [`dump`] change no byte. [`repair`] changes a damaged directory only, and keeps the files
//! that it replaces. All take the directory's lock.

mod check;
mod dump;
mod file_kinds;
mod keeping;
mod reading;
mod repair;
mod replay;

pub use check::{Checked, KindOfFile, check};
pub use dump::{Dumped, JournalEntry, dump, dump_journal};
pub use file_kinds::{Cost, FILE_KINDS, FileKind, kind_of, table_of_costs};
pub use repair::{Repaired, repair};

pub use crate::open::salvage::{Fault, Loss};
