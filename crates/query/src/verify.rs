//! Verification: whether and where a document matches a tree. It gives the spans of [`reference`](crate::reference),
//! in time near to linear in the places of the tree's terms; a property holds the two equal. Used where a text must
//! be read again: verification after a search, highlights and weights.

mod counted;
mod operators;
mod spans;
mod tally;
mod terms;

#[cfg(test)]
mod tests;

use crate::analysis::Words;
use crate::reference::Span;
use crate::tree::Node;
pub(crate) use counted::Counted;
pub(crate) use spans::spans;
pub use tally::{Joined, Tally};
pub(crate) use terms::{Places, Terms};

/// A tree prepared for any number of documents: its patterns are compiled once.
#[derive(Debug)]
pub struct Verifier {
    root: Node,
    terms: Terms,
}

impl Verifier {
    /// Prepares a tree. Cost: compiling its patterns.
    #[must_use]
    pub fn new(root: &Node) -> Verifier {
        Verifier {
            root: root.clone(),
            terms: Terms::of(root),
        }
    }

    /// Whether a document matches.
    #[must_use]
    pub fn matches(&self, words: &Words) -> bool {
        self.spans(words).is_some()
    }

    /// The spans at which a document matches, as [`reference::spans`](crate::reference::spans) defines them; `None`
    /// if it does not.
    #[must_use]
    pub fn spans(&self, words: &Words) -> Option<Vec<Span>> {
        spans(&self.root, &Places::new(&self.terms, words))
    }

    /// The occurrences that count for rankers, in a document that matches.
    #[must_use]
    pub fn tally<'w>(&'w self, words: &'w Words) -> Tally<'w> {
        tally::of(&self.root, &Places::new(&self.terms, words))
    }
}
