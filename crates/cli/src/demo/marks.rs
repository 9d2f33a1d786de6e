//! Places of a post's words that a query matches, for the screen.

use std::ops::Range;

use query::analysis::Analyzer;
use query::tree::Node;

/// Byte ranges of the words in a field's text that the query matches: see [`query::highlight::ranges`].
pub(super) fn of(root: &Node, field: u8, text: &str) -> Vec<Range<usize>> {
    query::highlight::ranges(root, field, text, &Analyzer::default())
}
