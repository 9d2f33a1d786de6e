//! The languages in which a query may be written.

use crate::analysis::Analyzer;
use crate::parser::{Leniency, parse_as};
use crate::tree::{Query, QueryError};

/// A query language. Both parse to the same kind of tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Sphinx's extended syntax.
    #[default]
    Sphinx,
    /// Lucene's, as Elasticsearch's `query_string` reads it.
    Lucene,
}

impl Syntax {
    /// The language named `sphinx` or `lucene`, in any case, as in `syntax='…'`.
    #[must_use]
    pub fn named(name: &str) -> Option<Syntax> {
        [Syntax::Sphinx, Syntax::Lucene]
            .into_iter()
            .find(|syntax| syntax.name().eq_ignore_ascii_case(name))
    }

    /// The name that [`Syntax::named`] reads.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Syntax::Sphinx => "sphinx",
            Syntax::Lucene => "lucene",
        }
    }

    /// Parses a query; see [`crate::parse`] and [`crate::lucene::parse`].
    ///
    /// # Errors
    /// Those of these two functions.
    pub fn parse(
        self,
        text: &str,
        fields: &[&str],
        analyzer: &Analyzer,
    ) -> Result<Query, QueryError> {
        match self {
            Syntax::Sphinx => crate::parse(text, fields, analyzer),
            Syntax::Lucene => {
                crate::lucene::parse(text, fields, analyzer, crate::lucene::Options::default())
            }
        }
    }

    /// Parses a stored query. A text that is refused today but was accepted by an earlier build keeps its earlier
    /// meaning.
    ///
    /// # Errors
    /// Those of [`Syntax::parse`], if no build accepted the text.
    pub fn parse_stored(
        self,
        text: &str,
        fields: &[&str],
        analyzer: &Analyzer,
    ) -> Result<Query, QueryError> {
        let as_before = Leniency {
            as_before: true,
            ..Leniency::default()
        };
        self.parse(text, fields, analyzer)
            .or_else(|error| match self {
                Syntax::Sphinx => parse_as(as_before, text, fields, analyzer).map_err(|_| error),
                Syntax::Lucene => Err(error),
            })
    }
}
