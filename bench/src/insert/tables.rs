//! The tables of a run, and the check of their rows.

use client::Client;

use crate::{
    Server,
    error::{Error, Result},
    percolate::{Prepared, count, insert_queries},
};

/// The tables of a run. Each run creates them again, so that all runs begin alike.
pub(super) struct Tables {
    client: Client,
    percolated: bool,
}

/// Statements that drop the tables, in the only possible order.
const DROPS: [&str; 3] = [
    "DROP TABLE IF EXISTS bench_alerts",
    "DROP TABLE IF EXISTS bench_hits",
    "DROP TABLE IF EXISTS bench_posts",
];

/// Queries in one INSERT.
const INSERT_QUERIES: usize = 1_000;

const POSTS: &str = "CREATE TABLE bench_posts (body text, sub string, ts timestamp, score int)";
const HITS: &str =
    "CREATE TABLE bench_hits (query_id bigint, tags string, doc_id bigint, body text) ENGINE=queue";
const ALERTS: &str = "CREATE TABLE bench_alerts type='pq' on='bench_posts' into='bench_hits'";
/// It hears the messages themselves, by a store of type `percolate`.
const HEARING_ALERTS: &str = "CREATE TABLE bench_alerts (body text, sub string, ts timestamp, score int) type='pq' into='bench_hits'";

impl Tables {
    /// Creates the tables, with standing queries if `queries` has them. `logged`: rows come as messages.
    pub(super) fn create(
        server: &Server,
        queries: Option<&Prepared>,
        logged: bool,
    ) -> Result<Tables> {
        let mut client = server.connect()?;
        for statement in DROPS {
            client.query(statement)?;
        }
        client.query(POSTS)?;
        if let Some(prepared) = queries {
            client.query(HITS)?;
            client.query(if logged { HEARING_ALERTS } else { ALERTS })?;
            insert_queries(&mut client, &prepared.queries, INSERT_QUERIES)?;
        }
        Ok(Tables {
            client,
            percolated: queries.is_some(),
        })
    }

    /// Checks the counts of rows and hits. The rows are 1 to `rows`, which repeat the posts. `hits` is the count of queries that
    /// each post hits.
    pub(super) fn check(&mut self, rows: u64, hits: &[u32]) -> Result<()> {
        let stored = count(&mut self.client, "SELECT COUNT(*) FROM bench_posts")?;
        Error::unless_equal("rows stored of those acknowledged", rows, stored)?;
        if !self.percolated {
            return Ok(());
        }
        let all: u64 = hits.iter().map(|count| u64::from(*count)).sum();
        let rounds = rows / hits.len().max(1) as u64;
        let rest = hits.iter().take((rows % hits.len().max(1) as u64) as usize);
        let expected = rounds * all + rest.map(|count| u64::from(*count)).sum::<u64>();
        let queued = count(&mut self.client, "SELECT COUNT(*) FROM bench_hits")?;
        Error::unless_equal("hits queued", expected, queued)
    }

    /// Drops the tables.
    pub(super) fn drop(mut self) -> Result<()> {
        for statement in DROPS {
            self.client.query(statement)?;
        }
        Ok(())
    }
}
