//! Whether a document matches a node: the answer of [`spans`], without gathering what nobody asks for.
//!
//! Example: `big NEAR/2 cat` in a text of forty cats is decided by the first pair that is near. AND, OR and NOT ask for no span.

use super::buffers::{Buffers, Spans};
use super::document::Document;
use super::operators::{common_units, is_ordered, near};
use super::prepared::{Kind, Prepared, Standing};
use super::spans::{each, spans};

/// Whether a node matches.
pub(super) fn matches<D: Document>(node: &Prepared, document: &D, buffers: &mut Buffers) -> bool {
    let mut one = |part: &Prepared| matches(part, document, buffers);
    match &node.kind {
        Kind::All => true,
        Kind::Word(word) => word.stands(document),
        Kind::And(parts) => parts.iter().all(one),
        Kind::AtLeast(parts, least) => {
            let matching = parts.iter().filter(|part| one(part));
            matching.take(*least as usize).count() == *least as usize
        }
        Kind::Maybe(left, _) => one(left),
        Kind::Not(part) => !one(part),
        Kind::Near(asked) => {
            let Some(left) = spans(&asked.left, document, buffers) else {
                return false;
            };
            let right = spans(&asked.right, document, buffers);
            let are_near = right.as_deref().is_some_and(|right| {
                let (few, many) = if left.len() <= right.len() {
                    (&*left, right)
                } else {
                    (right, &*left)
                };
                near(few, many, asked.distance).next().is_some()
            });
            buffers.give(left);
            right.into_iter().for_each(|right| buffers.give(right));
            are_near
        }
        Kind::Order(parts) => of_all(parts, document, buffers, is_ordered),
        Kind::Together(unit, parts) => of_all(parts, document, buffers, |parts| {
            common_units(*unit, parts, document).next().is_some()
        }),
        Kind::Repeated(..) | Kind::Phrase(_) | Kind::Proximity(_) | Kind::NotNear(..) => {
            let found = spans(node, document, buffers);
            let is_any = found.is_some();
            found.into_iter().for_each(|found| buffers.give(found));
            is_any
        }
    }
}

/// Whether all parts match, and `decide` accepts their spans.
fn of_all<D: Document>(
    parts: &[Prepared],
    document: &D,
    buffers: &mut Buffers,
    decide: impl FnOnce(&[Spans<'_>]) -> bool,
) -> bool {
    let found = each(parts, document, buffers);
    let is_accepted = found.as_deref().is_some_and(decide);
    let found = found.into_iter().flatten();
    found.for_each(|part| buffers.give(part));
    is_accepted
}

impl Standing {
    /// Whether the term stands somewhere.
    fn stands<D: Document>(&self, document: &D) -> bool {
        let mut all = document.standing(self.term).iter();
        match self.is_free() {
            true => all.next().is_some(),
            false => all.any(|span| self.holds(span, document)),
        }
    }
}
