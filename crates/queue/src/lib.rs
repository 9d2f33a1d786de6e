//! One queue: its rows in insert order, the rows that workers hold, the sessions that wait for rows, and its files.
//!
//! - [`Backlog`]: the rows, in chunks in memory and in files ([`ChunkFile`]).
//! - [`Lane`]: which rows are free, and which session or receipt holds each of the others. A queue has one lane, or one
//!   for each consumer group.
//! - [`Queue`]: the backlog, its lanes, and what the manifest keeps beside the rows ([`Folded`]).
//!
//! A queue knows no other table. It reads no clock: [`Now`] is an argument. Holders and waiting sessions are never written
//! to disk, so after a restart every row that no record has ended is free.
//!
//! Two rows are taken under a lease. The first is ended; the second comes back when its lease is over:
//!
//! ```
//! use relation::schema::{Column, ColumnType};
//! use relation::value::Value;
//! use queue::{Backlog, Holder, Now, Queue, QueueOptions, RowNumber};
//!
//! let n = Column { name: "n".to_owned(), kind: ColumnType::Bigint, nullable: false, default: None, keyed: false };
//! let mut queue = Queue::new("jobs", &[n], &QueueOptions::default(), Backlog::new(), 0);
//! queue.backlog.push(&[Value::Int(10)]); // row 1
//! queue.backlog.push(&[Value::Int(20)]); // row 2
//!
//! let now = Now { unix_us: 1_700_000_000_000_000, steady_us: 5_000_000 };
//! let line = queue.line(0, None)?; // lane 0, without a condition
//! let lease = Holder::Lease { until_us: now.steady_us + 30_000_000 };
//! assert_eq!(queue.take((0, line), 10, lease, now)?, [RowNumber(1), RowNumber(2)]);
//!
//! queue.remove(RowNumber(1)); // the worker has ended row 1: it is gone
//! queue.let_go(0, RowNumber(1)); // and nobody holds it any more
//!
//! let later = Now { unix_us: now.unix_us + 30_000_000, steady_us: now.steady_us + 30_000_000 };
//! assert_eq!(queue.expired(later), [(0, vec![RowNumber(2)])]);
//! queue.give_back(0, RowNumber(2), later);
//! assert_eq!(queue.take((0, line), 10, lease, later)?, [RowNumber(2)]);
//! assert_eq!(queue.delivery(0, RowNumber(2)), 2); // the second delivery of row 2
//! # Ok::<(), queue::Error>(())
//! ```

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
pub use file::merge::{MergeRowsJob, MergedPart};
pub use file::write::FoldJob;
pub use gate::{Held, Holder};
pub use hits::{HitBatch, HitDocument, HitQuery};
pub use ids::{Now, RowNumber, SessionId};
pub use lane::{Lane, LineId};
pub use layout::{Origin, put_origins, read_origins};
pub use options::{QUEUE_OPTIONS, QueueOption, QueueOptions, Slot, WhenFull};
pub use queue::{Folded, Queue, QueueSnapshot, QueueStats, RowReader, SENDERS};
pub use report::{GroupReport, QueueReport};
pub use source::{Hit, Source, put_sources, read_sources, supply};
pub use undo::Before;
