//! The slow, obvious meaning of a query in both directions: the oracle of every fast path.
//!
//! A node that matches a document does so at places of it: *spans*. Operators on positions ask where the spans of their
//! operands lie; the others only ask whether there are any.

mod spans;

use crate::analysis::Words;
use crate::tree::Node;

pub use spans::{Span, spans};

/// Whether a document matches a tree.
#[must_use]
pub fn matches(node: &Node, words: &Words) -> bool {
    spans(node, words).is_some()
}

/// The ids of the queries that a document hits, in the order given.
#[must_use]
pub fn percolate(queries: &[(u64, Node)], words: &Words) -> Vec<u64> {
    queries
        .iter()
        .filter(|(_, root)| matches(root, words))
        .map(|(id, _)| *id)
        .collect()
}

/// The ids of the documents that a query finds, in the order given.
#[must_use]
pub fn search(root: &Node, docs: &[(u64, Words)]) -> Vec<u64> {
    docs.iter()
        .filter(|(_, words)| matches(root, words))
        .map(|(id, _)| *id)
        .collect()
}
