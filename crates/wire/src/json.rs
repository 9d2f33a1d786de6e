//! JSON bodies: POST /search, POST /bulk, standing queries and percolations, the replies of /sql, the documents of CALL PQ.

mod aggregate;
mod bulk;
mod clause;
mod documents;
mod error;
mod fields;
mod highlight;
mod member;
mod memory;
mod once;
mod place;
mod pq;
mod pq_reply;
mod queue_bodies;
mod reply;
mod search;
mod source;
mod update;

#[cfg(test)]
mod tests;

pub(crate) use aggregate::aggregations;
pub use aggregate::{Aggregation, Buckets};
pub use bulk::{BulkAction, BulkEvent, BulkItem, Deletion, bulk, deletion, document};
pub use documents::{documents, documents_but_bad};
pub use error::JsonError;
pub use highlight::{Highlight, Pieces};
pub use memory::memory_bytes;
pub use once::parse;
pub use pq::{PqRule, pq_rule, pq_search};
pub use pq_reply::{PqHit, PqReply, rule_reply, write_object};
pub use queue_bodies::{QueueBody, QueueReply, queue_body};
pub use reply::{BulkReply, Cell, RawReply, SearchReply};
pub use search::{Search, search};
pub use source::Shown;
pub use update::{Change, change};
