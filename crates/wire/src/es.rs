//! Elasticsearch's percolator API: bodies in, standing queries out, replies as its clients read them.
//!
//! A stored document is a standing query and its metadata. The query is translated into a text of our own query language and a
//! filter over attributes; a document must fulfil both. The stored document itself is kept as it came ([`Source`]). Example:
//!
//! ```text
//! PUT /alerts/_doc/7   {"query": {"bool": {"must": {"match": {"title": "red cat"}}, "filter": {"range": {"price": {"lt": 5}}}}}}
//! standing::stored     Condition::All([Text, Filter])
//! Condition::part      Standing: the text finds red or cat in title, the filter tests price; a row of the pq table `alerts`
//! ```

mod aggregate;
mod bulk;
mod condition;
mod document;
mod error;
mod language;
mod leaf;
mod lucene;
mod mapping;
mod metadata;
mod number;
mod paths;
mod reply;
mod search;
mod simple;
mod source;
mod standing;

#[cfg(test)]
mod tests;

pub use aggregate::Aggregations;
pub use bulk::{BulkItem, BulkOperation, bulk};
pub use condition::Standing;
pub use document::columns_of;
pub use error::EsError;
pub use leaf::Bound;
pub use mapping::{Field, FieldKind, Mapping};
pub use metadata::{Find, Kept, Test};
pub use paths::{Paths, filter_path, glob, pretty};
pub use reply::{Hits, quoted};
pub use search::{Highlight, Order, Percolate, Search, WINDOW_MAX, search};
pub use source::{Source, query_id};
pub use standing::{Stored, refused, stored};
