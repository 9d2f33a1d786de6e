//! `seine bench statements`: statements of a list, sent over connections to a running server.
//!
//! It measures any statement whose answer does not change: look-ups, searches, groups, joins, CALL PQ. With [`Options::is_once`] it
//! measures changes: each statement is sent once, and the time is that of the whole list.
//!
//! An answer's sum depends on its rows in their order, on each cell, and on the count of affected rows.

use std::borrow::Cow;
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use client::Client;

use crate::{
    Batch, Effort, Server,
    error::{Error, Result},
    latency::Latencies,
    outcome::{Cell, Outcome},
    process::Process,
    runs::{self, Run, work_watched},
};

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server. Its tables are the caller's.
    pub server: Server,
    /// The statements, each a text of its own. It may hold several, joined by `;`. Not empty.
    pub statements: Vec<String>,
    /// Counts of connections, each 1 or more. The connections of a cell take statements from the one list.
    pub connections: Vec<u32>,
    /// Whether each statement is sent once, as changes are. Otherwise the list begins again at its end until the time of a run is
    /// over, and every answer must be the first one of its statement.
    pub is_once: bool,
    /// Text that is appended to each line of the CSV.
    pub tag: Option<String>,
    /// Count and length of runs.
    pub effort: Effort,
}

/// Runs the benchmark. Blocks for connections × runs × seconds and a pass over the list, or for one pass with `is_once`.
///
/// A note has the sum of all answers: two servers that answer alike have the same one, if the same program asked them.
///
/// # Errors
/// [`Error::BadOption`]: there is nothing to send, or statements that are sent once would be sent again. The server's.
/// [`Error::OtherAnswer`]: an answer differs from the first one of its statement.
pub fn run(options: &Options) -> Result<Outcome> {
    options.effort.check()?;
    if options.statements.is_empty() || options.connections.contains(&0) {
        return Err(Error::BadOption("statements and connections are 1 or more"));
    }
    if options.is_once && (options.effort.runs != 1 || options.connections.len() != 1) {
        return Err(Error::BadOption(
            "statements that are sent once have 1 run of one count of connections",
        ));
    }
    let list = &options.statements;
    let server = Process::listening(&options.server.addr);
    let first = match options.is_once {
        true => Vec::new(),
        false => first_pass(&options.server, list)?,
    };
    let mut sum = sum_of(first.iter().copied().enumerate());
    let mut cells = Vec::new();
    for &connections in &options.connections {
        let doing = format!("statements, {connections} connections");
        let next = AtomicUsize::new(0);
        let runs = runs::repeat(options.effort, &doing, |tick| {
            let asking = Asking {
                list,
                first: &first,
                next: &next,
                time: options.effort.run_time(),
            };
            let (run, answers) = drive(options, &asking, connections, server.as_ref(), tick)?;
            sum = sum.wrapping_add(answers);
            Ok(run)
        })?;
        let mut cell = Cell::new(connections, Batch::Of(1), &runs);
        cell.name = "statements".to_owned();
        cells.push(cell);
    }
    Ok(Outcome {
        name: "statements".to_owned(),
        element: "statements",
        notes: vec![
            format!(
                "{} statements over MySQL at {}",
                list.len(),
                options.server.addr
            ),
            format!("answers {sum:016x}"),
        ],
        tag: options.tag.clone(),
        cells,
    })
}

/// The sum of each statement's answer, over one connection.
fn first_pass(server: &Server, list: &[String]) -> Result<Vec<u64>> {
    let mut client = server.connect()?;
    list.iter().map(|text| ask(&mut client, text)).collect()
}

/// The sum of answers, whatever order they came in. `answers`: a statement's place in the list, and its answer's sum.
fn sum_of(answers: impl Iterator<Item = (usize, u64)>) -> u64 {
    answers.fold(0, |sum, answer| {
        let mut hasher = DefaultHasher::new();
        answer.hash(&mut hasher);
        sum.wrapping_add(hasher.finish())
    })
}

/// A cell with a fraction, to six decimals: builds and servers write equal floats with more decimals or fewer.
fn six_decimals(cell: &[u8]) -> Cow<'_, [u8]> {
    let number = cell.contains(&b'.').then(|| std::str::from_utf8(cell).ok());
    match number.flatten().and_then(|text| text.parse::<f64>().ok()) {
        Some(number) => Cow::Owned(format!("{number:.6}").into_bytes()),
        None => Cow::Borrowed(cell),
    }
}

/// Sends a statement, and gives the sum of its answer.
fn ask(client: &mut Client, text: &str) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    let summary = client.query_rows(text, &mut |cells| {
        for cell in cells {
            cell.map(six_decimals).hash(&mut hasher);
        }
    })?;
    (summary.rows, summary.affected).hash(&mut hasher);
    Ok(hasher.finish())
}

/// State that the connections of a run share.
struct Asking<'a> {
    list: &'a [String],
    /// The sum of each statement's answer; empty if each is sent once.
    first: &'a [u64],
    /// Place in the list of the next statement, counted on beyond its end.
    next: &'a AtomicUsize,
    time: Duration,
}

/// Runs the connections, each on a thread of its own. Gives the run, and the sum of the answers of statements that are sent once.
fn drive(
    options: &Options,
    asking: &Asking<'_>,
    connections: u32,
    server: Option<&Process>,
    tick: &mut dyn FnMut(),
) -> Result<(Run, u64)> {
    let connect = |_| options.server.connect();
    let clients: Result<Vec<Client>> = (0..connections).map(connect).collect();
    let mut sums = vec![0; connections as usize];
    let processor = || {
        [
            server.and_then(Process::processor),
            Process::own().processor(),
        ]
    };
    let before = processor();
    let begun = Instant::now();
    let until = begun + asking.time;
    let worker = |(client, sum)| {
        move || match options.is_once {
            true => ask_once(client, asking, sum),
            false => ask_until(client, asking, until),
        }
    };
    let workers = clients?.into_iter().zip(&mut sums).map(worker).collect();
    let latencies = work_watched(workers, until, tick)?;
    let elapsed = begun.elapsed();
    let count = latencies.count();
    let facts = ["server us/statement", "client us/statement"]
        .into_iter()
        .zip(before.into_iter().zip(processor()))
        .filter_map(|(name, (before, after))| {
            let spent = after?.saturating_sub(before?);
            Some((name, spent.as_secs_f64() * 1e6 / count.max(1) as f64))
        });
    let run = Run {
        elements: count,
        elapsed,
        facts: facts.collect(),
        latencies,
    };
    Ok((run, sums.into_iter().fold(0, u64::wrapping_add)))
}

/// Sends statements until the time is up.
fn ask_until(mut client: Client, asking: &Asking<'_>, until: Instant) -> Result<Latencies> {
    let mut latencies = Latencies::default();
    let mut begun = Instant::now();
    while begun < until {
        let place = asking.next.fetch_add(1, Relaxed) % asking.list.len();
        if ask(&mut client, &asking.list[place])? != asking.first[place] {
            return Err(Error::OtherAnswer { query: place + 1 });
        }
        let now = Instant::now();
        latencies.add(now - begun);
        begun = now;
    }
    Ok(latencies)
}

/// Sends statements until each of the list was sent. Adds their answers to the sum.
fn ask_once(mut client: Client, asking: &Asking<'_>, sum: &mut u64) -> Result<Latencies> {
    let mut latencies = Latencies::default();
    loop {
        let place = asking.next.fetch_add(1, Relaxed);
        let Some(text) = asking.list.get(place) else {
            return Ok(latencies);
        };
        let begun = Instant::now();
        let answer = ask(&mut client, text)?;
        latencies.add(begun.elapsed());
        *sum = sum.wrapping_add(sum_of([(place, answer)].into_iter()));
    }
}
