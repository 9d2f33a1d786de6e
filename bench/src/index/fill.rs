//! A load of a server's table, and the check of its count.

use std::{
    fmt::Write,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use client::Client;

use crate::{
    Server,
    error::{Error, Result},
    percolate::count,
    workload::push_literal,
};

/// Name of the table, which each load creates again.
const TABLE: &str = "bench_index";

/// Creates the table with `shards` shards; `None`: the server chooses.
pub(super) fn create(server: &Server, shards: Option<u32>) -> Result<Client> {
    let mut client = server.connect()?;
    client.query(&format!("DROP TABLE IF EXISTS {TABLE}"))?;
    let option = shards.map_or(String::new(), |shards| format!(" shards='{shards}'"));
    client.query(&format!("CREATE TABLE {TABLE} (body text){option}"))?;
    Ok(client)
}

/// Has every row sealed into a segment that a durable manifest names. Checks the count of rows.
fn seal(client: &mut Client, rows: usize) -> Result<()> {
    client.query(&format!("FLUSH TABLE {TABLE}"))?;
    let stored = count(client, &format!("SELECT COUNT(*) FROM {TABLE}"))?;
    Error::unless_equal("rows stored", rows as u64, stored)
}

/// Drops the table.
pub(super) fn drop_table(server: &Server) -> Result<()> {
    server
        .connect()?
        .query(&format!("DROP TABLE IF EXISTS {TABLE}"))?;
    Ok(())
}

/// Inserts the documents over several connections. Each waits for the answer to its statement, which comes when the rows are
/// durable. Gives the time to the last seal.
pub(super) fn statements(
    server: &Server,
    documents: &[String],
    batch: u32,
    shards: Option<u32>,
    connections: u32,
) -> Result<Duration> {
    let mut client = create(server, shards)?;
    let batches: Vec<&[String]> = documents.chunks(batch as usize).collect();
    let next = AtomicUsize::new(0);
    let clients = (0..connections).map(|_| server.connect());
    let clients = clients.collect::<Result<Vec<_>>>()?;
    let begun = Instant::now();
    thread::scope(|scope| {
        let (batches, next) = (&batches, &next);
        let threads: Vec<_> = clients
            .into_iter()
            .map(|client| scope.spawn(move || send(client, batches, batch, next)))
            .collect();
        for thread in threads {
            match thread.join() {
                Ok(sent) => sent?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok::<(), Error>(())
    })?;
    seal(&mut client, documents.len())?;
    Ok(begun.elapsed())
}

fn send(mut client: Client, batches: &[&[String]], batch: u32, next: &AtomicUsize) -> Result<()> {
    let mut statement = String::new();
    loop {
        let number = next.fetch_add(1, Relaxed);
        let Some(rows) = batches.get(number) else {
            return Ok(());
        };
        statement.clear();
        let _ = write!(statement, "INSERT INTO {TABLE} (id, body) VALUES ");
        let first = number * batch as usize + 1;
        for (place, text) in rows.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            // Writing into a string cannot fail.
            let _ = write!(statement, "{comma}({},", first + place);
            push_literal(&mut statement, text);
            statement.push(')');
        }
        client.query(&statement)?;
    }
}

/// Runs `seine load` on a file; it chooses batches and connections itself. Gives the time to the last seal.
pub(super) fn load(server: &Server, seine: &Path, file: &Path, rows: usize) -> Result<Duration> {
    let mut client = create(server, None)?;
    let begun = Instant::now();
    let status = Command::new(seine)
        .args(["load", TABLE])
        .arg(file)
        .args(["--addr", &server.addr, "--user", &server.user])
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(Error::Peer(format!("seine load: {status}")));
    }
    seal(&mut client, rows)?;
    Ok(begun.elapsed())
}
