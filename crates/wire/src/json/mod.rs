//! JSON bodies: POST /search, POST /bulk, the replies of /sql, and the documents of CALL PQ.

mod bulk;
mod clause;
mod documents;
mod error;
mod fields;
mod reply;
mod search;

#[cfg(test)]
mod tests;

pub use bulk::{BulkAction, BulkEvent, BulkItem, bulk};
pub use documents::documents;
pub use error::JsonError;
pub use reply::{BulkReply, Cell, RawReply, SearchReply};
pub use search::search;
