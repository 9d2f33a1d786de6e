//! Tests, queries and right answers: `benchmarks/definitions/search.toml` and the study's queries, compiled in.

use std::fmt;

use serde::Deserialize;

use super::corpus::Corpus;
use crate::error::{Error, Result};

const SEARCH: &str = include_str!("../../../../benchmarks/definitions/search.toml");
const QUERIES: &str = include_str!("../../../../benchmarks/definitions/study-queries.txt");

/// Mode of a query.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Matching {
    /// Finds rows with one of the words.
    Any,
    /// Finds rows with all words.
    All,
    /// Finds rows with all words next to each other, in order.
    Phrase,
}

impl fmt::Display for Matching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Matching::Any => "any",
            Matching::All => "all",
            Matching::Phrase => "phrase",
        })
    }
}

impl Matching {
    /// The query's text in our query language; `words` come from analysis.
    pub(super) fn text(self, words: &[String]) -> String {
        let words = words.join(" ");
        match self {
            Matching::Any => format!("\"{words}\"/1"),
            Matching::All => words,
            Matching::Phrase => format!("\"{words}\""),
        }
    }
}

/// A test of searches, as benchmarks/search.toml has it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(super) struct Test {
    /// Name on the command line.
    pub(super) name: String,
    pub(super) matching: Matching,
    pub(super) ranker: String,
    /// Whether it is one of the usual tests, which run if none is named.
    #[serde(default)]
    pub(super) usual: bool,
}

/// Sum of the totals of all queries over known records.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Known {
    #[serde(rename = "name")]
    _name: String,
    records: u64,
    bytes: u64,
    any: u64,
    all: u64,
    phrase: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    test: Vec<Test>,
    #[serde(default)]
    corpus: Vec<Known>,
}

fn file() -> Result<File> {
    toml::from_str(SEARCH).map_err(|error| Error::BadDefinition(error.to_string()))
}

/// The named tests, in that order; without names the usual tests.
pub(super) fn named(names: &[String]) -> Result<Vec<Test>> {
    let known = file()?.test;
    if names.is_empty() {
        return Ok(known.into_iter().filter(|test| test.usual).collect());
    }
    let find = |name: &String| {
        let found = known.iter().find(|test| test.name == *name);
        found.cloned().ok_or_else(|| Error::UnknownDefinition {
            name: name.clone(),
            known: known.iter().map(|test| test.name.clone()).collect(),
        })
    };
    names.iter().map(find).collect()
}

/// Sum of the totals of all the study's queries over this corpus; `None`: the corpus is not a known one.
pub(super) fn expected(corpus: &Corpus, matching: Matching) -> Result<Option<u64>> {
    let known = file()?
        .corpus
        .into_iter()
        .find(|known| (known.records, known.bytes) == (corpus.records() as u64, corpus.bytes()));
    Ok(known.map(|known| match matching {
        Matching::Any => known.any,
        Matching::All => known.all,
        Matching::Phrase => known.phrase,
    }))
}

/// The lines of the study's queries.
pub(super) fn study_queries() -> impl Iterator<Item = &'static str> {
    QUERIES.lines()
}

#[cfg(test)]
mod tests {
    use super::{Matching, named, study_queries};

    #[test]
    fn definitions_that_are_compiled_in_can_be_read() {
        assert!(!named(&[]).unwrap().is_empty());
        assert_eq!(study_queries().count(), 10_000);
    }

    #[test]
    fn an_unknown_test_is_refused_with_those_there_are() {
        let error = named(&["any".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("any-matchany, "), "{error}");
    }

    #[test]
    fn a_query_is_written_in_the_language() {
        let words = ["a".to_owned(), "b".to_owned()];
        let texts = [Matching::Any, Matching::All, Matching::Phrase].map(|m| m.text(&words));
        assert_eq!(texts, ["\"a b\"/1", "a b", "\"a b\""]);
    }
}
