//! Lucene's syntax, as Elasticsearch's `query_string` reads it.

use crate::analysis::Analyzer;
use crate::tree::{Query, QueryError};

/// How a text is read that does not say it itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {}

/// Parses a query.
///
/// # Errors
/// This syntax is not built yet.
pub fn parse(_: &str, _: &[&str], _: &Analyzer, _: Options) -> Result<Query, QueryError> {
    Err(QueryError {
        position: 0,
        message: "not yet: syntax='lucene'".to_owned(),
    })
}
