//! Query logs: what a server's searches say.
//!
//! ```text
//! source   files, .gz, .zst, standard input → blocks of whole records, on N threads
//! frame    a block → records: a line, or a statement over several lines
//! line     a record → Entry, or an unknown form
//! summary  entries → distributions, counts, lists; summaries of parts merge into the summary of the whole
//! document a summary → tables and pictures; compare: two summaries side by side
//! replay   entries → requests to send again, and when
//! ```
//!
//! Each line is counted once: as a query, as another entry, as a line outside the filter, as an unknown form or as too long.
//! An unknown form is kept by example with its line number. It is never guessed, and it never ends the reading.

pub mod anonymous;
pub mod bands;
pub mod compare;
mod digits;
pub mod document;
mod entry;
pub mod frame;
pub mod generate;
mod histogram;
pub mod limits;
pub mod line;
mod names;
mod normalise;
mod place;
mod queries;
pub mod replay;
pub mod sizes;
pub mod source;
pub mod summary;
mod time;

pub use entry::{Entry, Form, MatchMode, SortMode};
pub use histogram::Histogram;
pub use place::Place;
pub use queries::{QueryCount, QueryOrder, QueryTable};
pub use summary::{Filter, Summary, SummaryOptions};
pub use time::LogTime;
