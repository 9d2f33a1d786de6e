//! Counts the server's rows and compares them with the account.

use client::Client;

use super::account::{Account, Expected, Hit};
use super::screen::{Screen, grouped};
use super::{Checks, Failure, Result, failed};

/// The server's rows beside the expected ones.
pub(super) struct Counted {
    acknowledged: u64,
    /// Count of rows of `posts`.
    documents: u64,
    /// Rows of `hits`, ascending.
    found: Vec<Hit>,
    expected: Expected,
}

/// How two ascending lists of hits differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Count of hits that are expected and not there.
    pub(super) missing: u64,
    /// Count of hits that are there and not expected.
    pub(super) strange: u64,
    /// Count of repetitions of a hit.
    pub(super) doubled: u64,
}

impl Counted {
    /// Reads all hits and counts the posts.
    pub(super) fn take(
        client: &mut Client,
        account: &Account,
        acknowledged: u64,
    ) -> Result<Counted> {
        let documents = number(client, "SELECT COUNT(*) FROM posts")?;
        let mut found = Vec::new();
        let mut unread = 0_u64;
        client
            .query_rows("SELECT query_id, doc_id FROM hits", &mut |row| match row {
                [Some(query), Some(doc)] => match (parse(query), parse(doc)) {
                    (Some(query), Some(doc)) => found.push((query, doc)),
                    _ => unread += 1,
                },
                _ => unread += 1,
            })
            .map_err(failed("reading hits"))?;
        if unread > 0 {
            return Err(Failure(format!("{unread} rows of hits hold no ids")));
        }
        found.sort_unstable();
        Ok(Counted {
            acknowledged,
            documents,
            found,
            expected: account.expected()?,
        })
    }

    /// Shows the counts and checks them.
    pub(super) fn check(&self, screen: &mut Screen, checks: &mut Checks) {
        let fact = format!(
            "{} posts acknowledged, {} found",
            grouped(self.acknowledged),
            grouped(self.documents)
        );
        checks.see(screen, self.acknowledged == self.documents, &fact);
        let difference = difference(&self.expected.hits, &self.found);
        let fact = format!(
            "{} hits expected, {} found: {} missing, {} strange, {} doubled",
            grouped(self.expected.hits.len() as u64),
            grouped(self.found.len() as u64),
            difference.missing,
            difference.strange,
            difference.doubled
        );
        checks.see(screen, difference == Difference::default(), &fact);
    }

    /// Checks that the reference evaluator agrees on the sample.
    pub(super) fn check_sample(&self, screen: &mut Screen, checks: &mut Checks) {
        let Expected {
            sampled, disputed, ..
        } = self.expected;
        let fact = match disputed {
            0 => format!("the slow reference evaluator agrees on the {sampled} posts it was given"),
            _ => format!("the slow reference evaluator disagrees on {disputed} of {sampled} posts"),
        };
        checks.see(screen, disputed == 0, &fact);
    }

    /// Count of rows of `hits`.
    pub(super) fn hits(&self) -> u64 {
        self.found.len() as u64
    }

    /// Count of stored posts.
    pub(super) fn documents(&self) -> u64 {
        self.documents
    }

    /// The posts that hit a query, ascending.
    pub(super) fn posts_of(&self, query: u64) -> &[Hit] {
        let start = self.found.partition_point(|(one, _)| *one < query);
        let end = self.found.partition_point(|(one, _)| *one <= query);
        &self.found[start..end]
    }
}

/// Compares two ascending lists. The first must have no repetition.
pub(super) fn difference(expected: &[Hit], found: &[Hit]) -> Difference {
    let mut difference = Difference::default();
    let mut expected = expected.iter().peekable();
    let mut last = None;
    for hit in found {
        if last == Some(hit) {
            difference.doubled += 1;
            continue;
        }
        last = Some(hit);
        while expected.next_if(|one| *one < hit).is_some() {
            difference.missing += 1;
        }
        if expected.next_if(|one| *one == hit).is_none() {
            difference.strange += 1;
        }
    }
    difference.missing += expected.count() as u64;
    difference
}

/// The number in the only cell of a statement's answer.
pub(super) fn number(client: &mut Client, sql: &str) -> Result<u64> {
    let result = client.query(sql).map_err(failed(sql))?;
    let cell = result
        .rows
        .first()
        .and_then(|row| row.first())
        .and_then(Option::as_deref);
    cell.and_then(parse)
        .ok_or_else(|| Failure(format!("{sql}: the answer is no number")))
}

/// Count of syncs of the running server since its start, from SHOW STATUS.
pub(super) fn syncs(client: &mut Client) -> Result<u64> {
    let sql = "SHOW STATUS LIKE 'journal_syncs'";
    let result = client.query(sql).map_err(failed(sql))?;
    let cell = result
        .rows
        .first()
        .and_then(|row| row.get(1))
        .and_then(Option::as_deref);
    cell.and_then(parse)
        .ok_or_else(|| Failure(format!("{sql}: no such counter")))
}

fn parse(cell: &[u8]) -> Option<u64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}
