//! Gets results from a live server, by the MySQL protocol.

use std::collections::BTreeSet;

use client::{Client, ClientError};
use study::results::{Answer, Reply, ReplySet, Results, Rows};

use crate::error::Result;

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
/// The server cannot be reached, or the connection breaks. A query that the server refuses is an answer.
pub fn results_of(address: &str, user: &str, password: &str, asking: &Asking) -> Result<Results> {
    let mut client = Client::connect(address, user, password)?;
    let mut results = Results::default();
    for (number, query) in (1..).zip(asking.queries()) {
        let reply = match client.query_sets(&asking.statement(query)) {
            Ok(sets) => {
                let found = client.query("SHOW META LIKE 'total_found'")?.rows;
                let found = found.first().and_then(|row| self::number(row.get(1)?));
                let sets: Vec<ReplySet> = sets.into_iter().map(set).collect();
                Reply::Rows(Rows::of_sets(&sets, found))
            }
            Err(ClientError::Server(error)) => Reply::Failed {
                code: error.code,
                message: error.message,
            },
            Err(error) => return Err(error.into()),
        };
        results.answers.push(Answer {
            number,
            query: query.to_owned(),
            reply,
        });
    }
    Ok(results)
}

fn set(result: client::QueryResult) -> ReplySet {
    ReplySet {
        columns: result
            .columns
            .into_iter()
            .map(|column| column.name)
            .collect(),
        rows: result.rows,
    }
}

fn number<T: std::str::FromStr>(cell: &Option<Vec<u8>>) -> Option<T> {
    std::str::from_utf8(cell.as_deref()?).ok()?.parse().ok()
}
