//! Stores the queries of a definition in a server over one connection: one, or a thousand, in each statement.

use std::{path::Path, time::Instant};

use super::{Door, Options, Prepared, Target, doors, doors::Table, drive::drive};
use crate::{
    Batch, Effort, Server,
    definition::Definition,
    device::{Device, Paired},
    error::{Error, Result},
    latency::Latencies,
    outcome::{Cell, Outcome},
    runs::{self, Run},
};

/// Counts of queries in a statement.
const ROWS: [u32; 2] = [1, 1_000];

/// Count of documents that are percolated after each load, as a check.
const CHECKED_DOCUMENTS: u64 = 1_000;

/// Runs the benchmark. A run is a whole load into an empty table; then it counts the queries and percolates some documents.
/// `data` is the server's directory if it is on this machine: its disk is measured as well.
///
/// # Errors
/// As [`run`](super::run).
pub fn store(options: &Options, data: Option<&Path>) -> Result<Outcome> {
    let Target::Server(Door::Mysql, server) = &options.place else {
        return Err(Error::BadOption(
            "queries are stored over MySQL: give --addr",
        ));
    };
    let definition = Definition::percolate(&options.definition)?;
    let mut prepared = super::prepare(&definition, options)?;
    let mut notes = prepared.notes(&definition);
    notes.push(match data.map(Device::measure) {
        Some(device) => device.to_string(),
        None => "disk not known: give the server's data directory to measure it".to_owned(),
    });
    notes.push(format!(
        "queries stored over MySQL at {}, one connection; then counted, and {CHECKED_DOCUMENTS} documents asked",
        server.addr
    ));
    prepared.select(1, Some(CHECKED_DOCUMENTS));
    let mut cells = Vec::new();
    for rows in ROWS {
        let effort = Effort {
            runs: if rows == 1 { 1 } else { options.effort.runs },
            ..options.effort
        };
        let doing = format!("storing queries, {rows} in a statement");
        let runs = runs::repeat(effort, &doing, |_| {
            let paired = Paired::begin(data);
            let mut run = load(server, &prepared, rows)?;
            paired.end(&mut run);
            check(server, &prepared, options)?;
            Ok(run)
        })?;
        cells.push(Cell::new(1, Batch::Of(rows), &runs));
    }
    Ok(Outcome {
        name: format!("percolate-store/{}", definition.name),
        element: "queries",
        notes,
        tag: options.tag.clone(),
        cells,
    })
}

/// Makes a load. Its statements are made before the clock starts.
fn load(server: &Server, prepared: &Prepared, rows: u32) -> Result<Run> {
    let mut client = server.connect()?;
    doors::create_table(&mut client)?;
    let queries = prepared.queries.iter();
    let statements: Vec<String> =
        doors::inserts("INSERT", doors::ALERTS, queries, rows as usize).collect();
    let mut latencies = Latencies::default();
    let begun = Instant::now();
    for statement in &statements {
        let sent = Instant::now();
        client.query(statement)?;
        latencies.add(sent.elapsed());
    }
    let elapsed = begun.elapsed();
    Ok(Run {
        elements: prepared.queries.len() as u64,
        elapsed,
        latencies,
        facts: vec![("seconds", elapsed.as_secs_f64())],
    })
}

fn check(server: &Server, prepared: &Prepared, options: &Options) -> Result<()> {
    let table = doors::stored(server, prepared)?;
    let once = Effort {
        seconds_min: 0.0,
        ..options.effort
    };
    let callers = vec![table.connect(prepared)?];
    drive(
        callers,
        prepared,
        Batch::Of(200),
        once,
        options.own_count,
        &mut || {},
    )?;
    table.remove()
}
