//! The study's measures, each with its definition.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Answer, Reply, Results, Rows};

/// Differing queries that are shown.
const EXAMPLES_MAX: usize = 5;

/// Characters of a query or a message that are shown.
const SHOWN_CHARS: usize = 200;

/// Agreement of two lists of answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    queries: u64,
    /// Count of answers without one on the other side, of each side.
    alone: [u64; 2],
    /// Count of failed queries of each side.
    failed: [u64; 2],
    /// Count of queries that failed on both sides.
    both_failed: u64,
    /// Texts about the first queries that differ.
    examples: Vec<String>,
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
    is_alike: fn(&Rows, &Rows) -> bool,
}

/// The measures, in the order shown.
const LINES: [Line; 6] = [
    Line {
        name: "total results match",
        definition: "both gave as many rows",
        is_alike: |one, other| one.count == other.count,
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
            let first = |rows: &Rows| -> Vec<i128> {
                rows.documents.iter().take(10).map(|(id, _)| *id).collect()
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
        definition: "columns, cells, order and total are all the same; of a failure the number and the message",
        is_alike: |one, other| {
            // A file of version 1 has no digests: ids and weights are what it tells.
            let told = one.digest.zip(other.digest);
            told.is_none_or(|(one, other)| one == other)
                && (one.total_found, one.count) == (other.total_found, other.count)
                && one.documents == other.documents
        },
    },
];

fn ids(rows: &Rows) -> BTreeSet<i128> {
    rows.documents.iter().map(|(id, _)| *id).collect()
}

/// Groups of ids with the same weight, best first, without the last group. Weights are not compared, because the scales of
/// rankers differ.
fn groups(rows: &Rows) -> Vec<BTreeSet<i128>> {
    let mut groups: BTreeMap<i64, BTreeSet<i128>> = BTreeMap::new();
    for (id, weight) in &rows.documents {
        groups.entry(*weight).or_default().insert(*id);
    }
    groups.into_values().skip(1).rev().collect()
}

/// Compares the answers with the same numbers.
///
/// # Errors
/// A message: a number is of two different queries, or no number is on both sides.
pub fn compare(one: &Results, other: &Results) -> Result<Measures, String> {
    let mut measures = Measures::default();
    let (mut ours, mut theirs) = (one.answers.iter(), other.answers.iter());
    let (mut one, mut other) = (ours.next(), theirs.next());
    loop {
        let order = match (one, other) {
            (Some(one), Some(other)) => one.number.cmp(&other.number),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        if let (Ordering::Equal, Some(one), Some(other)) = (order, one, other) {
            measures.add(one, other)?;
        }
        measures.alone[0] += u64::from(order.is_lt());
        measures.alone[1] += u64::from(order.is_gt());
        if order.is_le() {
            one = ours.next();
        }
        if order.is_ge() {
            other = theirs.next();
        }
    }
    if measures.queries == 0 && measures.alone != [0, 0] {
        let [one, other] = measures.alone;
        return Err(format!(
            "{one} queries were asked of one, {other} of the other, and none of both"
        ));
    }
    measures.mismatches.sort_unstable();
    Ok(measures)
}

impl Measures {
    /// Name, definition and number of agreeing queries of each measure.
    pub fn lines(&self) -> impl Iterator<Item = (Line, u64)> {
        LINES.into_iter().zip(self.alike)
    }

    fn add(&mut self, one: &Answer, other: &Answer) -> Result<(), String> {
        if one.query != other.query {
            return Err(format!(
                "query {} is {:?} for one, {:?} for the other",
                one.number, one.query, other.query
            ));
        }
        self.queries += 1;
        let mut is_same = true;
        match (&one.reply, &other.reply) {
            (Reply::Rows(one), Reply::Rows(other)) => {
                for (line, alike) in LINES.iter().zip(&mut self.alike) {
                    let is_alike = (line.is_alike)(one, other);
                    *alike += u64::from(is_alike);
                    is_same &= is_alike;
                }
                self.add_documents(&ids(one), &ids(other));
            }
            (Reply::Failed { .. }, Reply::Failed { .. }) => {
                self.both_failed += 1;
                self.failed = self.failed.map(|failed| failed + 1);
                is_same = one.reply == other.reply;
                // Neither gave a row; only the words may differ.
                for alike in &mut self.alike[..LINES.len() - 1] {
                    *alike += 1;
                }
                self.alike[LINES.len() - 1] += u64::from(is_same);
            }
            (Reply::Failed { .. }, Reply::Rows(rows)) => {
                self.failed[0] += 1;
                is_same = false;
                self.add_documents(&BTreeSet::new(), &ids(rows));
            }
            (Reply::Rows(rows), Reply::Failed { .. }) => {
                self.failed[1] += 1;
                is_same = false;
                self.add_documents(&ids(rows), &BTreeSet::new());
            }
        }
        if !is_same && self.examples.len() < EXAMPLES_MAX {
            self.examples.push(format!(
                "query {}: {}\n  A: {}\n  B: {}",
                one.number,
                shown(&one.query),
                summary(&one.reply),
                summary(&other.reply)
            ));
        }
        Ok(())
    }

    fn add_documents(&mut self, ours: &BTreeSet<i128>, theirs: &BTreeSet<i128>) {
        let mismatched = ours.symmetric_difference(theirs).count() as u64;
        self.documents += ours.union(theirs).count() as u64;
        self.documents_mismatched += mismatched;
        if mismatched > 0 {
            self.mismatches.push(mismatched);
        }
    }

    /// Whether both sides answered the same queries, and all replies are equal, weights and failures included.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.alone == [0, 0] && self.alike.iter().all(|alike| *alike == self.queries)
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

/// A reply in a line.
fn summary(reply: &Reply) -> String {
    match reply {
        Reply::Failed { code, message } => format!("error {code}: {}", shown(message)),
        Reply::Rows(rows) => {
            let documents = rows.documents.iter().take(10);
            let documents: Vec<String> = documents
                .map(|(id, weight)| format!("{id}:{weight}"))
                .collect();
            let digest = rows.digest.map_or(0, |digest| digest >> 96);
            format!(
                "{} of {} rows, digest {digest:08x}, id:weight {}",
                rows.count,
                rows.total_found,
                documents.join(" ")
            )
            .trim_end()
            .to_owned()
        }
    }
}

/// The beginning of a text, on one line.
fn shown(text: &str) -> String {
    report::visible(text).chars().take(SHOWN_CHARS).collect()
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
        let [one, other] = self.failed;
        if one + other > 0 {
            let both = self.both_failed;
            writeln!(f, "failed: {one} of A, {other} of B, {both} of both")?;
        }
        let [one, other] = self.alone;
        if one + other > 0 {
            writeln!(
                f,
                "not compared: {one} queries have an answer of A only, {other} of B only"
            )?;
        }
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
            "max mismatch           {most:>8}     documents of one query"
        )?;
        writeln!(
            f,
            "median mismatch        {:>8}     of the {} queries with any",
            self.median(),
            self.mismatches.len()
        )?;
        write!(
            f,
            "queries by mismatch    {}   how many have 1, 2, … 10 documents mismatched",
            self.distribution()
        )?;
        if !self.examples.is_empty() {
            write!(f, "\nthe first queries that differ:")?;
        }
        self.examples
            .iter()
            .try_for_each(|example| write!(f, "\n{example}"))
    }
}
