//! The slow, obvious meaning of a query in both directions: the oracle of every fast path.

use crate::analysis::Words;
use crate::tree::{FieldSet, Node};

/// Whether a document matches a tree.
#[must_use]
pub fn matches(node: &Node, words: &Words) -> bool {
    match node {
        Node::All => true,
        Node::Word(word) => words
            .iter()
            .any(|(text, field, _)| text == &*word.text && word.fields.holds(field)),
        Node::Phrase {
            words: phrase,
            fields,
        } => matches_phrase(phrase, *fields, words),
        Node::And(children) => children.iter().all(|child| matches(child, words)),
        Node::Or(children) => children.iter().any(|child| matches(child, words)),
        Node::Not(child) => !matches(child, words),
    }
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

fn matches_phrase(phrase: &[(Box<str>, u32)], fields: FieldSet, words: &Words) -> bool {
    let stands = |wanted: &str, in_field: u8, at: u32| {
        words
            .iter()
            .any(|(text, field, position)| text == wanted && field == in_field && position == at)
    };
    words.iter().any(|(_, field, start)| {
        fields.holds(field)
            && phrase
                .iter()
                .all(|(text, distance)| stands(text, field, start + distance))
    })
}
