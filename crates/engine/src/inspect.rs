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

pub use check::{Checked, KindOfFile, check};
pub use dump::{Dumped, JournalEntry, dump, dump_journal};
pub use repair::{Repaired, repair};

pub use crate::open::salvage::{Fault, Loss};
