//! Elasticsearch's percolator API: bodies in, standing queries out, replies as its clients read them.
//!
//! A stored document is a standing query and its metadata. The query becomes a text in our own language and a filter over
//! attributes, both of which must hold; the document itself is kept as it came ([`Source`]).

mod bulk;
mod condition;
mod document;
mod error;
mod fragment;
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

pub use bulk::{BulkItem, BulkOperation, bulk};
pub use condition::Standing;
pub use document::columns_of;
pub use error::EsError;
pub use fragment::fragments;
pub use mapping::{Field, FieldKind, Mapping};
pub use metadata::{Find, Test};
pub use paths::{Paths, filter_path, glob, pretty};
pub use reply::{Hits, quoted};
pub use search::{Highlight, Order, Percolate, Search, WINDOW_MAX, search};
pub use source::{Source, query_id};
pub use standing::{Stored, refused, stored};
