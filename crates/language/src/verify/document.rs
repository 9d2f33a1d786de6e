//! A document as the operators read it.

use crate::reference::Span;
use crate::tree::Unit;

/// The places of a tree's terms in one document. [`Words`](crate::analysis::Words) give them after a pass over the text; an index
/// gives them from its posting lists.
pub trait Document {
    /// The places of a term, given by its number in the [`Verifier`](super::Verifier): rising, each once.
    fn standing(&self, term: usize) -> &[Span];

    /// The last position of a field; `None` of one without words.
    fn last(&self, field: u8) -> Option<u32>;

    /// The first and the last position of the field's sentence or paragraph around `position`.
    fn unit_bounds(&self, unit: Unit, field: u8, position: u32) -> (u32, u32);
}
