//! The first pass: compares the answers of every engine before anything is measured.

use super::{
    answer_sum::AnswerSum,
    corpus::Corpus,
    definition,
    engine::{Entry, Standing, TestQueries},
    oracle,
};
use crate::error::{Error, Result};

/// Makes the first pass of every entry and checks the answers.
pub(super) fn begin(
    corpus: &Corpus,
    asked: &TestQueries<'_>,
    entries: &[Entry<'_>],
    notes: &mut Vec<String>,
) -> Result<Vec<Standing>> {
    let mut standings: Vec<Standing> = Vec::new();
    for entry in entries {
        let standing = entry.begin(asked)?;
        match standings.first() {
            None => check(corpus, asked, &standing.first, notes)?,
            Some(ours) if entry.engine.is_ours() => same(&ours.first, &standing.first)?,
            Some(ours) => notes.push(format!(
                "{}: {} finds as many rows as seine for {:.2} % of the queries",
                asked.test.name,
                entry.name,
                share(&ours.first, &standing.first) * 100.0
            )),
        }
        standings.push(standing);
    }
    Ok(standings)
}

/// Count of the study's queries that have a word.
fn study_queries_with_words() -> usize {
    super::words_of(definition::study_queries()).count()
}

/// Compares totals with the slow count over all records, for a sample of the queries; and their sum with the definition's.
fn check(
    corpus: &Corpus,
    asked: &TestQueries<'_>,
    first: &[AnswerSum],
    notes: &mut Vec<String>,
) -> Result<()> {
    let matching = asked.test.matching;
    let sample = oracle::totals(corpus, asked.words, matching);
    for (number, expected) in &sample {
        let what = format!("rows found by query {}", number + 1);
        Error::unless_equal(what, *expected, first[*number].total.unwrap_or_default())?;
    }
    let sum: u64 = first.iter().filter_map(|found| found.total).sum();
    let expected = definition::expected(corpus, matching)?;
    if let Some(expected) =
        expected.filter(|_| !asked.are_own && first.len() == study_queries_with_words())
    {
        Error::unless_equal("rows found by all queries", expected, sum)?;
    }
    notes.push(format!(
        "{}: {sum} rows found by all queries; {} totals counted otherwise as well, and right",
        asked.test.name,
        sample.len()
    ));
    Ok(())
}

/// Checks that two settings of Seine have given the same answers.
fn same(one: &[AnswerSum], other: &[AnswerSum]) -> Result<()> {
    let differs = one
        .iter()
        .zip(other)
        .position(|(one, other)| !one.agrees(*other));
    match differs {
        Some(number) => Err(Error::OtherAnswer { query: number + 1 }),
        None => Ok(()),
    }
}

/// Share of the queries whose totals are equal.
fn share(ours: &[AnswerSum], theirs: &[AnswerSum]) -> f64 {
    let equal = ours
        .iter()
        .zip(theirs)
        .filter(|(ours, theirs)| ours.total == theirs.total);
    equal.count() as f64 / ours.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{same, share};
    use crate::search::answer_sum::AnswerSum;

    fn found(totals: &[u64]) -> Vec<AnswerSum> {
        let one = |total: &u64| AnswerSum {
            total: Some(*total),
            rows: None,
        };
        totals.iter().map(one).collect()
    }

    #[test]
    fn the_first_query_that_differs_is_named() {
        let told = same(&found(&[1, 2, 3]), &found(&[1, 9, 9]));
        assert!(told.unwrap_err().to_string().contains("query 2 "));
        assert!(same(&found(&[1, 2]), &found(&[1, 2])).is_ok());
    }

    #[test]
    fn a_share_of_the_queries_agrees() {
        assert_eq!(share(&found(&[1, 2, 3, 4]), &found(&[1, 2, 3, 5])), 0.75);
    }
}
