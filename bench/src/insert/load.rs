//! Connections that insert as fast as the server answers.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use client::Client;

use super::logged::Logged;
use super::{Load, POSTS_TABLE};
use crate::{
    Server,
    error::Result,
    latency::Latencies,
    percolate::cell,
    runs::{Effort, Run, work_watched},
    workload::{Post, push_literal},
};

/// The posts as SQL, without their ids.
pub(crate) struct Rows {
    tuples: Vec<String>,
}

impl Rows {
    pub(crate) fn new(posts: &[Post]) -> Rows {
        let tuple = |post: &Post| {
            let mut text = String::from(",");
            push_literal(&mut text, &post.body);
            text.push(',');
            push_literal(&mut text, &post.sub);
            text.push(',');
            push_literal(&mut text, &post.ts);
            text + &format!(",{})", post.score)
        };
        Rows {
            tuples: posts.iter().map(tuple).collect(),
        }
    }

    /// Writes an INSERT of `count` rows with rising ids. Row `id` is post `id - 1`; behind the last post comes the first again.
    pub(crate) fn statement(&self, table: &str, first_id: u64, count: u32, text: &mut String) {
        text.clear();
        text.push_str("INSERT INTO ");
        text.push_str(table);
        text.push_str(" (id, body, sub, ts, score) VALUES ");
        for id in first_id..first_id + u64::from(count) {
            let tuple = &self.tuples[((id - 1) % self.tuples.len() as u64) as usize];
            text.push_str(if id == first_id { "(" } else { ",(" });
            text.push_str(&id.to_string());
            text.push_str(tuple);
        }
    }
}

/// The server's own counters.
#[derive(Clone, Copy)]
struct Counters {
    syncs: f64,
    rows: f64,
}

impl Counters {
    fn read(client: &mut Client) -> Result<Counters> {
        let mut read = |name: &str| {
            let answer = client.query(&format!("SHOW STATUS LIKE '{name}'"))?;
            let value = answer
                .rows
                .first()
                .and_then(|row| cell(row, 1)?.parse().ok());
            Ok::<f64, crate::Error>(value.unwrap_or(0.0))
        };
        Ok(Counters {
            syncs: read("journal_syncs")?,
            rows: read("journal_rows_synced")?,
        })
    }
}

/// A connection that inserts.
enum Connection<'p> {
    Statements(Client),
    Logged(Logged<'p>),
}

/// Inserts until the time is up, over Scribe's door if `logged` has its address and the posts. The acknowledged rows are exactly those of the ids 1 to `elements`.
pub(super) fn run(
    server: &Server,
    rows: &Rows,
    logged: Option<(&str, &[Post])>,
    load: Load,
    effort: Effort,
    tick: &mut dyn FnMut(),
) -> Result<Run> {
    let mut watcher = server.connect()?;
    let connect = |_| match logged {
        Some((addr, posts)) => Logged::connect(addr, POSTS_TABLE, posts).map(Connection::Logged),
        None => server.connect().map(Connection::Statements),
    };
    let clients: Result<Vec<_>> = (0..load.connections).map(connect).collect();
    let next_id = AtomicU64::new(1);
    let before = Counters::read(&mut watcher)?;
    let begun = Instant::now();
    let until = begun + effort.run_time();
    let next = &next_id;
    let worker = |client| move || insert_until(client, rows, load, next, until);
    let workers = clients?.into_iter().map(worker).collect();
    let latencies = work_watched(workers, until, tick)?;
    let elapsed = begun.elapsed();
    let after = Counters::read(&mut watcher)?;
    let rows_a_sync = (after.rows - before.rows) / (after.syncs - before.syncs).max(1.0);
    let elements = next_id.into_inner() - 1;
    Ok(Run {
        elements,
        elapsed,
        latencies,
        facts: vec![("rows/sync", rows_a_sync)],
    })
}

fn insert_until(
    mut client: Connection<'_>,
    rows: &Rows,
    load: Load,
    next_id: &AtomicU64,
    until: Instant,
) -> Result<Latencies> {
    let mut latencies = Latencies::default();
    let mut statement = String::new();
    loop {
        let begun = Instant::now();
        if begun >= until {
            return Ok(latencies);
        }
        let first_id = next_id.fetch_add(u64::from(load.rows), Relaxed);
        match &mut client {
            Connection::Statements(client) => {
                rows.statement(POSTS_TABLE, first_id, load.rows, &mut statement);
                client.query(&statement)?;
            }
            Connection::Logged(client) => client.insert(first_id, load.rows)?,
        }
        latencies.add(begun.elapsed());
    }
}
