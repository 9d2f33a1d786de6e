//! The writer's side of one search table. `writer.rs` has a worked example of a table's life.

mod fork;
mod mark;
mod merges;
mod merging;
mod open;
mod parts;
mod policy;
mod removal;
mod reshape;
mod seals;
mod status;
mod writer;

pub use fork::Fork;
pub use mark::Mark;
pub use parts::Discarded;
pub use policy::MergeRequest;
pub use removal::Removal;
pub use reshape::AlteredTable;
pub use status::{RetainedSegment, Status, TailStatus};
pub use writer::{StoredRow, Table};
