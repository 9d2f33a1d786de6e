//! Matching in a server, by CALL PQ.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::Instant,
};

use super::Prepared;
use crate::{
    Server,
    client::Client,
    error::{Error, Result},
    latency::Latencies,
    runs::{Effort, Run},
    workload::{push_literal, statements},
};

/// Queries in one INSERT.
const INSERT_QUERIES: usize = 1_000;

/// The table of queries on the server.
pub(super) struct Alerts {
    server: Server,
}

/// One connection and what it counted.
struct Caller {
    client: Client,
    latencies: Latencies,
    rows: u64,
    pairs: u64,
}

impl Alerts {
    /// Makes the table anew and stores the queries.
    pub(super) fn create(server: &Server, prepared: &Prepared) -> Result<Alerts> {
        let mut client = server.connect()?;
        client.query("DROP TABLE IF EXISTS bench_alerts")?;
        client.query("CREATE TABLE bench_alerts (body text) type='pq'")?;
        insert_queries(&mut client, &prepared.queries)?;
        let stored = count(&mut client, "SELECT COUNT(*) FROM bench_alerts")?;
        Error::unless_equal("queries stored", prepared.queries.len() as u64, stored)?;
        Ok(Alerts {
            server: server.clone(),
        })
    }

    /// Passes over all documents until the time is up. Every pass must give every pair.
    pub(super) fn run(
        &self,
        prepared: &Prepared,
        batch: u32,
        clients: u32,
        effort: Effort,
        tick: &mut dyn FnMut(),
    ) -> Result<Run> {
        let document = |text: &mut String, document: &String| push_literal(text, document);
        let end = "), 0 AS docs_json, 1 AS docs)";
        let calls: Vec<String> = statements(
            "CALL PQ('bench_alerts', (",
            prepared.texts.iter(),
            batch as usize,
            end,
            document,
        )
        .collect();
        let connect = || {
            let client = self.server.connect()?;
            Ok(Caller {
                client,
                latencies: Latencies::default(),
                rows: 0,
                pairs: 0,
            })
        };
        let mut callers = (0..clients)
            .map(|_| connect())
            .collect::<Result<Vec<Caller>>>()?;
        let begun = Instant::now();
        let mut passes = 0;
        while passes == 0 || begun.elapsed() < effort.run_time() {
            pass(&calls, &mut callers)?;
            passes += 1;
            let pairs = callers.iter().map(|caller| caller.pairs).sum();
            Error::unless_equal("pairs after a pass", prepared.matches * passes, pairs)?;
            tick();
        }
        let elapsed = begun.elapsed();
        let mut latencies = Latencies::default();
        callers
            .iter()
            .for_each(|caller| latencies.merge(&caller.latencies));
        let elements = passes * prepared.texts.len() as u64;
        let rows: u64 = callers.iter().map(|caller| caller.rows).sum();
        let facts = vec![
            (
                "matches/doc",
                prepared.matches as f64 / prepared.texts.len() as f64,
            ),
            ("rows/doc", rows as f64 / elements as f64),
        ];
        Ok(Run {
            elements,
            elapsed,
            latencies,
            facts,
        })
    }

    /// Takes the table away.
    pub(super) fn drop(self) -> Result<()> {
        self.server.connect()?.query("DROP TABLE bench_alerts")?;
        Ok(())
    }
}

/// Every call once; the connections take them as they come.
fn pass(calls: &[String], callers: &mut [Caller]) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = |caller: &mut Caller| {
        while let Some(statement) = calls.get(next.fetch_add(1, Relaxed)) {
            caller.call(statement)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = callers
            .iter_mut()
            .map(|caller| scope.spawn(|| work(caller)))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| match thread.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
    })
}

impl Caller {
    /// One CALL PQ, all its rows read. Documents are counted by the commas between them.
    fn call(&mut self, statement: &str) -> Result<()> {
        let begun = Instant::now();
        let pairs = &mut self.pairs;
        let mut count = |cells: &[Option<&[u8]>]| {
            if let Some(Some(documents)) = cells.get(1) {
                *pairs += 1 + documents.iter().filter(|byte| **byte == b',').count() as u64;
            }
        };
        self.rows += self.client.query_rows(statement, &mut count)?.rows;
        self.latencies.add(begun.elapsed());
        Ok(())
    }
}

/// Stores queries in `bench_alerts`, with ids from 1.
pub(crate) fn insert_queries(client: &mut Client, queries: &[String]) -> Result<()> {
    let row = |text: &mut String, (query, id): (&String, u64)| {
        *text += &format!("({id},");
        push_literal(text, query);
        text.push(')');
    };
    let insert = "INSERT INTO bench_alerts (id, query) VALUES ";
    for statement in statements(insert, queries.iter().zip(1..), INSERT_QUERIES, "", row) {
        client.query(&statement)?;
    }
    Ok(())
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
