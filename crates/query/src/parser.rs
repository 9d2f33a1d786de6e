//! The parser of search queries; see `docs/language.md` for the language.

use crate::analysis::Analyzer;
use crate::tree::{FieldSet, Node, Query, QueryError, Word};

/// Parses a query. `fields` are the names of the table's text columns, in order, at most
/// [`crate::schema::TEXT_COLUMNS_MAX`] of them. An empty text is [`Node::All`].
///
/// # Errors
/// [`QueryError`] with the byte position: bad syntax, an unknown field, only negation, an operator that is not built yet, a
/// bound of [`crate::limits`] exceeded.
pub fn parse(text: &str, fields: &[&str], analyzer: &Analyzer) -> Result<Query, QueryError> {
    let _ = fields;
    let mut words = Vec::new();
    analyzer.words(text, &mut |word| {
        words.push(Node::Word(Word {
            text: word.text.into(),
            fields: FieldSet::ALL,
        }));
    });
    let root = match words.len() {
        0 => Node::All,
        1 => words.remove(0),
        _ => Node::And(words),
    };
    Ok(Query {
        root,
        warnings: Vec::new(),
    })
}
