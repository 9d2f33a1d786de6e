//! The reference: the slow, obvious meaning of a query in both directions. Tests compare every fast path with it.
//!
//! A node matches a document at *spans*, stretches of one field. Operators on positions ask where the spans of their
//! operands lie; the others only ask whether there are any.
//!
//! Example: in the text `storm over gulf coast` the node `storm` has the span 1..1 and `"gulf coast"` the span 3..4.
//! So `storm NEAR/2 "gulf coast"` matches, since 3 is 2 behind 1, and its spans are both of these.

mod spans;

use crate::analysis::Words;
use crate::tree::Node;

pub use spans::{Span, spans};

/// Whether a document matches a tree.
#[must_use]
pub fn matches(node: &Node, words: &Words) -> bool {
    spans(node, words).is_some()
}

/// The ids of the queries that match a document, in the order given.
#[must_use]
pub fn percolate(queries: &[(u64, Node)], words: &Words) -> Vec<u64> {
    queries
        .iter()
        .filter(|(_, root)| matches(root, words))
        .map(|(id, _)| *id)
        .collect()
}

/// The ids of the documents that match a query, in the order given.
#[must_use]
pub fn search(root: &Node, docs: &[(u64, Words)]) -> Vec<u64> {
    docs.iter()
        .filter(|(_, words)| matches(root, words))
        .map(|(id, _)| *id)
        .collect()
}
