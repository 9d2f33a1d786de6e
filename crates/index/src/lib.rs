//! Search tables at rest: tail, segments, rows, search.
//!
//! A [`Table`] is the writer's side of one search table and belongs to one thread. It publishes
//! [`Snapshot`]s, which any number of readers share; a snapshot never shows an unpublished row. New
//! rows live in the *tail*, in memory. A [`SealJob`] writes a frozen tail as a *segment*, a
//! directory of files that never change; a [`MergeJob`] makes one segment of several. The same rows
//! give the same answer, to the byte, however they are spread over both.
//!
//! The crate knows no SQL, no HTTP and no other table. All files go through `disk::Disk`. The
//! caller keeps the journal: what is in no segment must be inserted again after a restart.
//!
//! ```
//! use std::sync::Arc;
//!
//! use disk::MemoryDisk;
//! use index::{Control, Table, TableShape};
//! use language::analysis::{Analyzer, Words};
//! use relation::expression::Expression;
//! use relation::options::Options;
//! use relation::request::{Item, Output, Select};
//! use relation::schema::{Column, ColumnType};
//! use relation::value::Value;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let analyzer = Analyzer::default();
//! let body = Column { name: "body".into(), kind: ColumnType::Text, nullable: true, default: None, keyed: false };
//! let shape = TableShape { columns: vec![body], analyzer: analyzer.clone(), shards: 1 };
//! let mut table = Table::create(Arc::new(MemoryDisk::new()), "posts", shape)?;
//!
//! for (id, text) in [(1, "a black cat"), (2, "a white dog")] {
//!     let mut words = Words::new();
//!     words.push_field(&analyzer, 0, text);
//!     table.insert(id, relation::row::encode(&[Value::Str(text.into())]), &words)?;
//! }
//! let position = 2; // of the last journal record that was applied
//! if let Some(job) = table.freeze(position) {
//!     table.install(job.run()?)?; // a manifest would now keep `table.files()`
//! }
//!
//! // SELECT id FROM posts WHERE MATCH('cat') LIMIT 10
//! let id = Output::Expression(Expression::Column("id".into()));
//! let select = Select {
//!     table: "posts".into(),
//!     items: vec![Item::Value { what: id, name: "id".into() }],
//!     matching: Some("cat".into()),
//!     filter: None,
//!     order: Vec::new(),
//!     limit: Some(10),
//!     offset: 0,
//!     options: Vec::new(),
//! };
//! let cat = language::parse("cat", &["body"], &analyzer)?;
//! let snapshot = table.snapshot();
//! let bound = snapshot.bind(&select, &Options::parse(&select.options)?)?;
//! let answer = snapshot.search(&bound, Some(&cat), &Control::default())?;
//! assert_eq!(answer.total_found, 1);
//! let rows = answer.rows.collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(rows, [[Value::Int(1)]]);
//! # Ok(())
//! # }
//! ```

mod answer;
mod background;
mod changes;
mod control;
mod edits;
mod error;
mod files;
mod filters;
mod integers;
mod interrupt;
pub mod limits;
mod merge;
mod part;
mod planned;
mod pool;
mod postings;
mod profile;
mod removed;
mod reshape;
mod seal;
mod search;
mod segment;
mod shape;
mod snapshot;
mod table;
mod tail;
mod text_ends;
mod warning;
mod wide;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Keyword, Located, Rows};
pub use background::give_others_precedence;
pub use control::{Control, Lender, Memory, OnDamage};
pub use disk::Reads;
pub use error::{Error, Reason, Result};
pub use files::{Files, SegmentFiles};
pub use filters::Filters;
pub use interrupt::{CountsReads, GiveWay, Interrupt};
pub use merge::{MergeJob, Merged};
pub use planned::{PlannedChange, ReadColumn, SetColumns};
pub use pool::Pool;
pub use profile::{Clock, Profile, Step};
pub use reshape::{Reshape, ReshapeJob, ReshapeRow, Reshaped};
pub use seal::{SealJob, Sealed};
pub use search::group::Grouping;
pub use segment::{SavedRows, saved_rows, strangers, verify};
pub use shape::TableShape;
pub use snapshot::Snapshot;
pub use table::{
    AlteredTable, Discarded, Fork, Mark, MergeRequest, Removal, RetainedSegment, Status, StoredRow,
    Table, TailStatus,
};
pub use warning::Warning;
