//! Which bytes of a post made a query match, for the screen.

use std::ops::Range;

use query::analysis::Analyzer;
use query::tree::Node;

/// The bytes in one field's text of the words that the query asks for there; see [`query::highlight::ranges`].
pub(super) fn of(root: &Node, field: u8, text: &str) -> Vec<Range<usize>> {
    query::highlight::ranges(root, field, text, &Analyzer::default())
}
