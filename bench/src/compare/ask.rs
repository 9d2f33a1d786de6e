//! Gets results from a live server, by the MySQL protocol.

use std::collections::BTreeSet;

use client::Client;

use super::{Answered, Results};
use crate::error::{Error, Result};

const STUDY_QUERIES: &str = include_str!("../../../benchmarks/definitions/study-queries.txt");

/// The queries, and how they are asked.
#[derive(Clone, Debug)]
pub struct Asking {
    /// Queries, each a line of words; `None`: the study's.
    pub queries: Option<String>,
    /// Count of the first queries that are asked.
    pub first: usize,
    /// Name of the table.
    pub table: String,
    /// True: rows with one of the words; false: rows with all words.
    pub any: bool,
    /// Value of `OPTION ranker=`.
    pub ranker: String,
    /// Most rows of an answer.
    pub limit: u64,
    /// Other options for OPTION, such as `threads=1`; may be empty.
    pub options: String,
}

impl Asking {
    /// The distinct queries, in their order.
    fn queries(&self) -> Vec<&str> {
        let text = self.queries.as_deref().unwrap_or(STUDY_QUERIES);
        let mut seen = BTreeSet::new();
        let lines = text.lines().map(str::trim).take(self.first);
        lines
            .filter(|line| !line.is_empty() && seen.insert(*line))
            .collect()
    }

    fn statement(&self, query: &str) -> String {
        let words: Vec<&str> = query.split_whitespace().collect();
        let text = words.join(if self.any { " | " } else { " " });
        let text = text.replace('\\', "\\\\").replace('\'', "\\'");
        let more = if self.options.is_empty() { "" } else { ", " };
        format!(
            "SELECT id, weight() FROM {} WHERE MATCH('{text}') LIMIT {} OPTION ranker={}, max_matches={}{more}{}",
            self.table,
            self.limit,
            self.ranker,
            self.limit.max(1),
            self.options
        )
    }
}

/// Asks a server each query once.
///
/// # Errors
/// The server cannot be reached, or refuses a query.
pub fn results_of(address: &str, user: &str, password: &str, asking: &Asking) -> Result<Results> {
    let mut client = Client::connect(address, user, password)?;
    let mut results = Results::default();
    for query in asking.queries() {
        let rows = client.query(&asking.statement(query))?.rows;
        let rows: Option<Vec<_>> = rows.iter().map(|row| row_of(row)).collect();
        let found = client.query("SHOW META LIKE 'total_found'")?.rows;
        let total = found.first().and_then(|row| number(row.get(1)?));
        let (Some(rows), Some(total_found)) = (rows, total) else {
            return Err(Error::Query(format!(
                "{address} answers {query:?} with something else than ids and weights"
            )));
        };
        results.answers.push(Answered {
            query: query.to_owned(),
            total_found,
            rows,
        });
    }
    Ok(results)
}

fn row_of(row: &[Option<Vec<u8>>]) -> Option<(u64, i64)> {
    Some((number(row.first()?)?, number(row.get(1)?)?))
}

fn number<T: std::str::FromStr>(cell: &Option<Vec<u8>>) -> Option<T> {
    std::str::from_utf8(cell.as_deref()?).ok()?.parse().ok()
}
