//! Documents at rest: tail, segments, rows, search.
//!
//! A [`Table`] is the writer's side of one search table and belongs to one thread. What it publishes is a
//! [`Snapshot`], which any number of readers share; nothing that was not published is ever visible in one.
//! New rows live in the *tail*, chunks of postings in memory; a [`SealJob`] turns a frozen tail into a *segment*,
//! a directory of files written once. The same rows give the same answer, to the byte, however they are spread over both.
//!
//! The crate knows no SQL, no HTTP and no other table. All files go through `disk::Disk`.

mod answer;
mod control;
mod error;
mod files;
mod filters;
pub mod limits;
mod merge;
mod part;
mod pool;
mod postings;
mod removed;
mod seal;
mod search;
mod segment;
mod shape;
mod snapshot;
mod table;
mod tail;
mod warning;
mod wide;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Keyword, Rows};
pub use control::{Control, Interrupt, Lender, Memory, OnDamage};
pub use error::{Error, Reason, Result};
pub use files::{Files, SegmentFiles};
pub use filters::Filters;
pub use merge::{MergeJob, Merged};
pub use pool::Pool;
pub use seal::{SealJob, Sealed};
pub use segment::{SavedRows, saved_rows, verify};
pub use shape::TableShape;
pub use snapshot::Snapshot;
pub use table::{Discarded, Mark, MergeRequest, Removal, SegmentInfo, Status, Table, TailStatus};
pub use warning::Warning;
