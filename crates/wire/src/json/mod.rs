//! JSON bodies: POST /search, POST /bulk, the replies of /sql, and the documents of CALL PQ.

mod bulk;
mod documents;
mod error;
mod reply;
mod search;

pub use bulk::{BulkAction, BulkEvent, BulkItem, bulk};
pub use documents::documents;
pub use error::JsonError;
pub use reply::{BulkReply, Cell, RawReply, SearchReply};
pub use search::search;
