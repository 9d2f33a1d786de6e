//! Places of a post's words that a query matches, for the screen.

use std::ops::Range;

use language::analysis::Analyzer;
use language::tree::Node;

/// Byte ranges of the words in a field's text that the query matches: see [`language::highlight::ranges`].
pub(super) fn of(root: &Node, field: u8, text: &str) -> Vec<Range<usize>> {
    language::highlight::ranges(root, field, text, &Analyzer::default())
}
