//! Log collection: messages that the journal has taken go to Scribe's stores: files, buffers, buckets, other collectors; and to
//! tables of this server, in the record that takes them.

mod client;
mod collector;
pub mod config;
mod counters;
mod door;
mod line;
mod message;
mod route;
mod spool;
pub mod store;
mod table;

pub use client::Client;
pub use collector::{Changed, Clock, Collector, Cursors, Factory, Positions};
pub use counters::{Counter, Counters};
pub use door::{CATEGORIES_OF_CALL_MAX, Decision, LINES_MAX, Received};
pub use message::{Incoming, Message, Now};
pub use route::{CATEGORY_BYTES_MAX, PART_BYTES_MAX, is_clean};
pub use spool::files_of as spool_files;
pub use table::{MARK, Making, Tables, making, quoted_text};
