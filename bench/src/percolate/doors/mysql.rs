//! Percolates in a server by CALL PQ: in Seine, or in another server that has the statement.

use std::{cell::Cell, ops::Range};

use client::Client;

use super::{Table, body::document};
use crate::{
    Server,
    error::{Error, Result},
    percolate::{
        Prepared,
        caller::{Caller, Counts},
        queries::{Queries, Query},
    },
    workload::{Post, push_literal, statements},
};

/// Queries in one INSERT.
const INSERT_QUERIES: usize = 1_000;

/// Statements that create a table of queries again. Its columns are those of a post; only `body` is a text column.
pub(super) fn anew(name: &str) -> [String; 2] {
    [
        format!("DROP TABLE IF EXISTS {name}"),
        format!("CREATE TABLE {name} (body text, sub string, ts timestamp, score int) type='pq'"),
    ]
}

/// Name of the table of queries.
pub(crate) const ALERTS: &str = "bench_alerts";

/// Name of a second table whose queries change, for measurements in turns.
pub(crate) const CHANGING: &str = "bench_alerts_changing";

/// A table of queries on the server.
pub(crate) struct Alerts {
    server: Server,
    name: &'static str,
    /// Each document as an SQL literal, made before the clock starts.
    literals: Vec<String>,
    /// Text of the statement behind the documents.
    options: &'static str,
}

/// A connection and its counts.
struct Connection<'p> {
    client: Client,
    alerts: &'p Alerts,
    statement: String,
    counts: Counts,
}

impl Alerts {
    pub(super) fn create(server: &Server, prepared: &Prepared) -> Result<Alerts> {
        Alerts::create_as(ALERTS, server, prepared)
    }

    /// Creates the table [`CHANGING`] again.
    pub(crate) fn create_changing(server: &Server, prepared: &Prepared) -> Result<Alerts> {
        Alerts::create_as(CHANGING, server, prepared)
    }

    fn create_as(name: &'static str, server: &Server, prepared: &Prepared) -> Result<Alerts> {
        let mut client = server.connect()?;
        for statement in anew(name) {
            client.query(&statement)?;
        }
        for statement in inserts("INSERT", name, prepared.queries.iter(), INSERT_QUERIES) {
            client.query(&statement)?;
        }
        Alerts::stored_as(name, server, prepared)
    }

    /// The existing table. Checks that it has every query.
    pub(super) fn stored(server: &Server, prepared: &Prepared) -> Result<Alerts> {
        Alerts::stored_as(ALERTS, server, prepared)
    }

    fn stored_as(name: &'static str, server: &Server, prepared: &Prepared) -> Result<Alerts> {
        let mut client = server.connect()?;
        let stored = count(&mut client, &format!("SELECT COUNT(*) FROM {name}"))?;
        Error::unless_equal("queries stored", prepared.queries.len() as u64, stored)?;
        let as_json = prepared.filtered;
        Ok(Alerts {
            server: server.clone(),
            name,
            literals: prepared
                .posts
                .iter()
                .map(|post| literal(post, as_json))
                .collect(),
            options: match as_json {
                true => "), 1 AS docs_json, 1 AS docs)",
                false => "), 0 AS docs_json, 1 AS docs)",
            },
        })
    }
}

impl Table for Alerts {
    fn connect<'p>(&'p self, _: &'p Prepared) -> Result<Box<dyn Caller + 'p>> {
        Ok(Box::new(Connection {
            client: self.server.connect()?,
            alerts: self,
            statement: String::new(),
            counts: Counts::default(),
        }))
    }

    fn remove(&self) -> Result<()> {
        let drop = format!("DROP TABLE {}", self.name);
        self.server.connect()?.query(&drop)?;
        Ok(())
    }
}

impl Caller for Connection<'_> {
    /// Sends a CALL PQ and reads all rows. Counts a row's documents by the commas between them.
    fn call(&mut self, documents: Range<usize>) -> Result<()> {
        let text = &mut self.statement;
        text.clear();
        text.push_str("CALL PQ('");
        text.push_str(self.alerts.name);
        text.push_str("', (");
        let first = documents.start;
        for (literal, number) in self.alerts.literals[documents].iter().zip(first..) {
            text.push_str(if number == first { "" } else { "," });
            text.push_str(literal);
        }
        text.push_str(self.alerts.options);
        let pairs = &mut self.counts.pairs;
        let documents = Cell::new(None);
        let summary = self.client.query_named_rows(
            text,
            &mut |columns| {
                let named = |name: &str| name.eq_ignore_ascii_case("documents");
                documents.set(columns.iter().position(|column| named(&column.name)));
            },
            &mut |cells| {
                let listed = documents
                    .get()
                    .and_then(|column: usize| *cells.get(column)?);
                if let Some(listed) = listed {
                    *pairs += 1 + listed.iter().filter(|byte| **byte == b',').count() as u64;
                }
            },
        )?;
        self.counts.rows += summary.rows;
        Ok(())
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

/// The literal of a document for CALL PQ: its text, or a JSON object if queries have filters.
fn literal(post: &Post, as_json: bool) -> String {
    let mut text = String::new();
    match as_json {
        true => push_literal(&mut text, &document(post).to_string()),
        false => push_literal(&mut text, &post.body),
    }
    text
}

/// Creates an empty `bench_alerts` again.
pub(crate) fn create_table(client: &mut Client) -> Result<()> {
    for statement in anew(ALERTS) {
        client.query(&statement)?;
    }
    Ok(())
}

/// Stores queries in `bench_alerts`, `rows` in a statement.
pub(crate) fn insert_queries(client: &mut Client, queries: &Queries, rows: usize) -> Result<()> {
    for statement in inserts("INSERT", ALERTS, queries.iter(), rows) {
        client.query(&statement)?;
    }
    Ok(())
}

/// Statements that INSERT or REPLACE queries, several in each.
pub(crate) fn inserts<'q>(
    verb: &str,
    table: &str,
    queries: impl Iterator<Item = Query<'q>>,
    rows: usize,
) -> impl Iterator<Item = String> {
    let row = |text: &mut String, query: Query<'_>| {
        *text += &format!("({},", query.id);
        push_literal(text, query.text);
        text.push(',');
        push_literal(text, query.filters);
        text.push(')');
    };
    let begin = format!("{verb} INTO {table} (id, query, filters) VALUES ");
    statements(begin, queries, rows, "", row)
}

/// A cell as text.
pub(crate) fn cell(row: &[Option<Vec<u8>>], column: usize) -> Option<&str> {
    std::str::from_utf8(row.get(column)?.as_deref()?).ok()
}

/// The number in the first cell of an answer.
pub(crate) fn count(client: &mut Client, statement: &str) -> Result<u64> {
    let answer = client.query(statement)?;
    let number = answer
        .rows
        .first()
        .and_then(|row| cell(row, 0)?.parse().ok());
    number.ok_or(Error::BadOption("the server did not answer with a number"))
}
