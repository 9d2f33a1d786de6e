//! The study's measures, each with its definition.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Answered, Results};
use crate::error::{Error, Result};

/// Agreement of two lists of answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    queries: u64,
    /// Count of queries that agree, by index of [`LINES`].
    alike: [u64; LINES.len()],
    documents: u64,
    documents_mismatched: u64,
    /// Count of mismatched documents of each query that has any, rising.
    mismatches: Vec<u64>,
}

/// A measure that counts the queries for which a condition holds.
#[derive(Clone, Copy)]
pub struct Line {
    /// Name in the study.
    pub name: &'static str,
    /// Condition under which a query counts.
    pub definition: &'static str,
    is_alike: fn(&Answered, &Answered) -> bool,
}

/// The measures, in the order shown.
const LINES: [Line; 6] = [
    Line {
        name: "total results match",
        definition: "both gave as many rows",
        is_alike: |one, other| one.rows.len() == other.rows.len(),
    },
    Line {
        name: "total found match",
        definition: "both counted as many matching rows",
        is_alike: |one, other| one.total_found == other.total_found,
    },
    Line {
        name: "top 10 match",
        definition: "the first ten ids are the same, in the same order",
        is_alike: |one, other| {
            let first = |answer: &Answered| -> Vec<u64> {
                answer.rows.iter().take(10).map(|(id, _)| *id).collect()
            };
            first(one) == first(other)
        },
    },
    Line {
        name: "document set match",
        definition: "the same ids were given, in any order",
        is_alike: |one, other| ids(one) == ids(other),
    },
    Line {
        name: "document groups match",
        definition: "rows of one weight are a group; group by group the same ids, but for the group of the lowest weight, which LIMIT cuts",
        is_alike: |one, other| groups(one) == groups(other),
    },
    Line {
        name: "replies match",
        definition: "ids, weights, order and total are all the same",
        is_alike: |one, other| one == other,
    },
];

fn ids(answer: &Answered) -> BTreeSet<u64> {
    answer.rows.iter().map(|(id, _)| *id).collect()
}

/// Groups of ids with the same weight, best first, without the last group. Weights are not compared, because the scales of
/// rankers differ.
fn groups(answer: &Answered) -> Vec<BTreeSet<u64>> {
    let mut groups: BTreeMap<i64, BTreeSet<u64>> = BTreeMap::new();
    for (id, weight) in &answer.rows {
        groups.entry(*weight).or_default().insert(*id);
    }
    groups.into_values().skip(1).rev().collect()
}

impl Measures {
    pub(super) fn of(one: &Results, other: &Results) -> Result<Measures> {
        let mut measures = Measures::default();
        if one.answers.len() != other.answers.len() {
            let (one, other) = (one.answers.len(), other.answers.len());
            let why = format!("{one} queries were asked of one, {other} of the other");
            return Err(Error::Query(why));
        }
        for (place, (one, other)) in one.answers.iter().zip(&other.answers).enumerate() {
            if one.query != other.query {
                let (one, other) = (&one.query, &other.query);
                let why = format!(
                    "query {} is {one:?} for one, {other:?} for the other",
                    place + 1
                );
                return Err(Error::Query(why));
            }
            measures.add(one, other);
        }
        measures.mismatches.sort_unstable();
        Ok(measures)
    }

    /// Count of queries that agree, by line.
    #[cfg(test)]
    pub(super) fn alike(&self) -> [u64; LINES.len()] {
        self.alike
    }

    fn add(&mut self, one: &Answered, other: &Answered) {
        self.queries += 1;
        for (line, alike) in LINES.iter().zip(&mut self.alike) {
            *alike += u64::from((line.is_alike)(one, other));
        }
        let (ours, theirs) = (ids(one), ids(other));
        let mismatched = ours.symmetric_difference(&theirs).count() as u64;
        self.documents += ours.union(&theirs).count() as u64;
        self.documents_mismatched += mismatched;
        if mismatched > 0 {
            self.mismatches.push(mismatched);
        }
    }

    /// Whether all answers are equal, weights included.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.alike.iter().all(|alike| *alike == self.queries)
    }

    /// Text with the counts of queries that have 1, 2, … 10 mismatched documents.
    fn distribution(&self) -> String {
        let count = |most: u64| {
            self.mismatches
                .iter()
                .filter(|count| **count == most)
                .count()
        };
        let counts: Vec<String> = (1..=10).map(|most| count(most).to_string()).collect();
        counts.join(" ")
    }

    /// The median count of mismatched documents.
    fn median(&self) -> f64 {
        let middle = self.mismatches.len() / 2;
        match self.mismatches.get(middle) {
            None => 0.0,
            Some(upper) if self.mismatches.len() % 2 == 1 => *upper as f64,
            Some(upper) => (*upper + self.mismatches[middle - 1]) as f64 / 2.0,
        }
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 100.0;
    }
    100.0 * part as f64 / whole as f64
}

impl fmt::Display for Measures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} queries, each once", self.queries)?;
        for (line, alike) in LINES.iter().zip(self.alike) {
            // Rounded down, so that 100.00 % means every query.
            let share = (percent(alike, self.queries) * 100.0).floor() / 100.0;
            writeln!(f, "{:<23}{share:>8.2} %   {}", line.name, line.definition)?;
        }
        let share = 100.0 - percent(self.documents - self.documents_mismatched, self.documents);
        let most = self.mismatches.last().copied().unwrap_or(0);
        writeln!(
            f,
            "documents mismatched   {share:>8.2} %   {} of {}: given by one of the two only",
            self.documents_mismatched, self.documents
        )?;
        writeln!(
            f,
            "mismatch of a query    {most:>8}     the most documents; median {} of the {} queries with any",
            self.median(),
            self.mismatches.len()
        )?;
        write!(
            f,
            "queries by mismatch    {}   how many have 1, 2, … 10 documents mismatched",
            self.distribution()
        )
    }
}
