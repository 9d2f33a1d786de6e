//! Tests, queries and right answers: `benchmarks/definitions/search.toml` and the study's queries, compiled in.

use std::fmt;

use serde::Deserialize;

use super::corpus::Corpus;
use crate::error::{Error, Result};

const SEARCH: &str = include_str!("../../../benchmarks/definitions/search.toml");
const QUERIES: &str = include_str!("../../../benchmarks/definitions/study-queries.txt");
/// Lines of a [`Matching`] and the words of a query of it, with a tab between.
const OPERATORS: &str = include_str!("../../../benchmarks/definitions/place-queries.txt");

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
    /// Finds rows with two words at most [`NEAR`] positions apart.
    Near,
    /// Finds rows with at least [`QUORUM`] of the words.
    Quorum,
    /// Finds rows with two words in one sentence.
    Sentence,
    /// Finds rows that begin with the word.
    Start,
    /// Finds rows in which the first word stands somewhere before the second.
    Before,
    /// Finds rows with a word that begins with these letters.
    Prefix,
}

/// Most positions between two words of [`Matching::Near`].
pub(super) const NEAR: u32 = 5;

/// Least words of a row that [`Matching::Quorum`] finds.
pub(super) const QUORUM: usize = 3;

impl fmt::Display for Matching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Matching::Any => "any",
            Matching::All => "all",
            Matching::Phrase => "phrase",
            Matching::Near => "near",
            Matching::Quorum => "quorum",
            Matching::Sentence => "sentence",
            Matching::Start => "start",
            Matching::Before => "before",
            Matching::Prefix => "prefix",
        })
    }
}

impl Matching {
    /// The query's text in our query language; `words` come from analysis.
    pub(super) fn text(self, words: &[String]) -> String {
        let spaced = words.join(" ");
        match self {
            Matching::Any => format!("\"{spaced}\"/1"),
            Matching::All => spaced,
            Matching::Phrase => format!("\"{spaced}\""),
            Matching::Near => words.join(&format!(" NEAR/{NEAR} ")),
            Matching::Quorum => format!("\"{spaced}\"/{QUORUM}"),
            Matching::Sentence => words.join(" SENTENCE "),
            Matching::Start => format!("^{spaced}"),
            Matching::Before => words.join(" << "),
            Matching::Prefix => format!("{spaced}*"),
        }
    }

    /// Whether the study does not have it. Its tests have queries of their own, over a table that knows sentences.
    pub(super) fn is_operator(self) -> bool {
        !matches!(self, Matching::Any | Matching::All | Matching::Phrase)
    }

    /// Rows of an answer that are shown.
    pub(super) fn rows(self) -> u64 {
        if self.is_operator() { 20 } else { 100 }
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
    Ok(known.and_then(|known| match matching {
        Matching::Any => Some(known.any),
        Matching::All => Some(known.all),
        Matching::Phrase => Some(known.phrase),
        _ => None,
    }))
}

/// The lines of the study's queries.
pub(super) fn study_queries() -> impl Iterator<Item = &'static str> {
    QUERIES.lines()
}

/// The lines of the queries that operators have: the name of the [`Matching`], a tab, and the words.
pub(super) fn operator_lines() -> impl Iterator<Item = &'static str> {
    OPERATORS.lines()
}

/// The words of each query of an operator.
pub(super) fn operator_queries(matching: Matching) -> Vec<Vec<String>> {
    let name = matching.to_string();
    let of_line = |line: &str| {
        let (own, words) = line.split_once('\t')?;
        (own == name).then(|| words.split(' ').map(str::to_owned).collect())
    };
    operator_lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::{Matching, file, named, operator_lines, operator_queries, study_queries};

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
        let texts = [Matching::Near, Matching::Quorum, Matching::Sentence].map(|m| m.text(&words));
        assert_eq!(texts, ["a NEAR/5 b", "\"a b\"/3", "a SENTENCE b"]);
        assert_eq!(Matching::Before.text(&words), "a << b");
        let texts = [Matching::Start, Matching::Prefix].map(|m| m.text(&words[..1]));
        assert_eq!(texts, ["^a", "a*"]);
    }

    #[test]
    fn every_operator_has_twenty_queries_and_more() {
        let mut lines = 0;
        let tests = file().unwrap().test;
        for test in tests.iter().filter(|test| test.matching.is_operator()) {
            let queries = operator_queries(test.matching);
            assert!(queries.len() >= 20, "{}", test.name);
            lines += queries.len();
        }
        // Each operator has a test for each of two rankers.
        assert_eq!(lines, 2 * operator_lines().count());
    }
}
