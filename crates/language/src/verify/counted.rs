//! The occurrences of a tree's words that count: under an operator on positions, only those where it matches.

use super::buffers::Buffers;
use super::operators::Bound;
use super::places::Places;
use super::prepared::Prepared;
use super::spans::spans;
use crate::reference::Span;
use crate::tree::{FieldSet, Node, Term, Word};

/// Visits the places of a tree's terms that count, some of them several times. Words under a NOT, and to the right of
/// NOTNEAR, do not count.
pub(crate) struct Counted<'p, 'd, V> {
    places: &'p Places<'d>,
    /// The enclosing operators' spans: a word counts only inside a span of each.
    bounds: Vec<Bound>,
    visit: V,
}

impl<'p, 'd, V: FnMut(&Term, Span)> Counted<'p, 'd, V> {
    /// Cost: near to linear in the places of the tree's words, times its depth.
    pub(crate) fn each(root: &Node, places: &'p Places<'d>, visit: V) {
        let mut counted = Counted {
            places,
            bounds: Vec::new(),
            visit,
        };
        counted.collect(root);
    }

    fn collect(&mut self, node: &Node) {
        match node {
            Node::All | Node::Not(_) => {}
            Node::Word(Word { term, fields })
            | Node::Repeated {
                word: Word { term, fields },
                ..
            } => self.term(term, *fields),
            Node::Phrase { words, fields } => {
                let found = self.spans(node);
                for (term, distance) in words {
                    let at = found.iter().map(|span| Span {
                        start: span.start + distance,
                        end: span.start + distance,
                        ..*span
                    });
                    self.bounds.push(Bound::of(at));
                    self.term(term, *fields);
                    self.bounds.pop();
                }
            }
            Node::Proximity { terms, fields, .. } => self.inside(node, |counted| {
                terms.iter().for_each(|term| counted.term(term, *fields));
            }),
            Node::Order(parts) | Node::Together { parts, .. } => {
                self.inside(node, |counted| {
                    parts.iter().for_each(|part| counted.collect(part))
                });
            }
            Node::Near { left, right, .. } => self.inside(node, |counted| {
                counted.collect(left);
                counted.collect(right);
            }),
            Node::NotNear { left, .. } => self.inside(node, |counted| counted.collect(left)),
            Node::Quorum { parts, .. } | Node::And(parts) | Node::Or(parts) => {
                parts.iter().for_each(|part| self.collect(part));
            }
            Node::Maybe(left, right) => {
                self.collect(left);
                self.collect(right);
            }
        }
    }

    fn spans(&self, node: &Node) -> Vec<Span> {
        let node = Prepared::new(node, self.places.terms());
        let found = spans(&node, self.places, &mut Buffers::default());
        found.map_or_else(Vec::new, |found| found.to_vec())
    }

    /// Collects inside the spans of a node.
    fn inside(&mut self, node: &Node, collect: impl FnOnce(&mut Self)) {
        let found = self.spans(node);
        self.bounds.push(Bound::of(found.into_iter()));
        collect(self);
        self.bounds.pop();
    }

    fn term(&mut self, term: &Term, fields: FieldSet) {
        for span in self.places.spans(term, fields) {
            if self.bounds.iter().all(|bound| bound.holds(&span)) {
                (self.visit)(term, span);
            }
        }
    }
}
