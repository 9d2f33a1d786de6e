//! One queue: its rows in insert order, who holds them, who waits for them, and its files.
//!
//! A queue knows no other table. It reads no clock: [`Now`] is an argument. Who holds which row, and who waits, is never
//! written to disk.

mod ages;
mod backlog;
mod chunk;
mod error;
mod file;
mod gate;
mod hits;
mod ids;
mod kept;
mod keys;
mod lane;
mod layout;
pub mod limits;
mod line;
mod options;
mod queue;
mod report;
mod row_view;
mod serve;
mod source;
#[cfg(test)]
mod tests;
mod undo;
mod unique;

pub use backlog::Backlog;
pub use chunk::HIT_ROW_BYTES;
pub use error::{Error, Result};
pub use file::ChunkFile;
pub use file::merge::MergeRowsJob;
pub use file::write::FoldJob;
pub use gate::{Held, Holder};
pub use hits::{HitBatch, HitDocument, HitQuery};
pub use ids::{Now, SessionId};
pub use lane::{Lane, LineId};
pub use layout::{Origin, put_origins, read_origins};
pub use options::{QueueOptions, WhenFull};
pub use queue::{Folded, Queue, QueueSnapshot, QueueStats, RowReader, SENDERS};
pub use report::{GroupReport, QueueReport};
pub use source::{Hit, Source, put_sources, read_sources, supply};
pub use undo::Before;
