//! Q4M's three tests: `05-multireader`, `05-multirw` and `05-multiwait`.

use std::time::{Duration, Instant};

use tokio::{sync::watch, task::JoinSet};

use super::{
    Contender, Shape,
    account::Expected,
    clients::{connect, fill, finish, repeat},
    link::Link,
    meter::{Meter, Spent},
    payload::Payload,
};
use crate::{
    error::{Error, Result},
    latency::Latencies,
    runs::Run,
};

/// The way in which clients of a test take rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Readers empty a full queue.
    Multireader,
    /// Each client puts a message and takes one.
    Multirw,
    /// Each client takes a message and puts one. There are fewer messages than clients.
    Multiwait,
}

/// Count of rows in an INSERT that fills the queue.
const FILL_ROWS: i64 = 100;
/// Clients of multiwait for each message that the queue begins with.
const CLIENTS_A_SEED: u32 = 4;

/// Result of a client.
struct Did {
    values: Vec<i64>,
    latencies: Latencies,
}

/// A client's part of a test.
#[derive(Clone, Copy)]
struct ClientShare {
    kind: Kind,
    /// Number of the first message it puts.
    first: i64,
    rounds: i64,
    payload: Payload,
}

/// Repeats whole tests until the sum of their timed parts reaches the time.
pub(super) async fn run(
    kind: Kind,
    contender: &Contender,
    shape: Shape,
    time: Duration,
) -> Result<Run> {
    repeat(time, async || one_test(kind, contender, shape).await).await
}

async fn one_test(kind: Kind, contender: &Contender, shape: Shape) -> Result<(Run, Spent)> {
    let payload = Payload {
        length: shape.length,
    };
    let mut admin = contender.link(0).await?;
    admin.reset(payload).await?;
    let mut meter = Meter::begin(contender);
    let rounds = i64::from(shape.messages / shape.clients);
    let total = rounds * i64::from(shape.clients);
    let part = move |number: u32| ClientShare {
        kind,
        first: rounds * i64::from(number) + i64::from(kind == Kind::Multiwait),
        rounds,
        payload,
    };
    let (begun, clients) = match kind {
        Kind::Multireader => {
            fill(&mut admin, total, FILL_ROWS, payload).await?;
            let (go, started) = watch::channel(false);
            let readers = connect(contender, shape.clients).await?;
            meter.again();
            let mut clients = JoinSet::new();
            for (number, link) in (0..).zip(readers) {
                clients.spawn(read(link, part(number), started.clone()));
            }
            let begun = Instant::now();
            start(&mut admin, contender, shape.clients, &go).await?;
            (begun, finish(clients).await?)
        }
        Kind::Multirw | Kind::Multiwait => {
            meter.again();
            let begun = Instant::now();
            let mut clients = JoinSet::new();
            for number in 0..shape.clients {
                let contender = contender.clone();
                clients.spawn(async move {
                    let link = contender.link(number + 1).await?;
                    work(link, part(number)).await
                });
            }
            if kind == Kind::Multiwait {
                let zeros = std::iter::repeat_n(0, seeds(shape) as usize);
                admin.put_all(zeros, payload).await?;
            }
            (begun, finish(clients).await?)
        }
    };
    let elapsed = begun.elapsed();
    let spent = meter.spent();
    let left = admin.count().await?;
    let results = admin.results().await?;
    admin.clear().await?;
    if let Some(stored) = results {
        Error::unless_equal("rows stored by transactions", total.unsigned_abs(), stored)?;
    }
    judge(kind, shape, total, &clients, left)?;
    let mut latencies = Latencies::default();
    for client in &clients {
        latencies.merge(&client.latencies);
    }
    let run = Run {
        elements: total.unsigned_abs(),
        elapsed,
        latencies,
        facts: Vec::new(),
    };
    Ok((run, spent))
}

fn seeds(shape: Shape) -> u64 {
    u64::from(shape.clients / CLIENTS_A_SEED)
}

fn judge(kind: Kind, shape: Shape, total: i64, clients: &[Did], left: u64) -> Result<()> {
    let expected = Expected {
        received: total.unsigned_abs(),
        least: i64::from(kind == Kind::Multireader),
        greatest: if kind == Kind::Multirw {
            total - 1
        } else {
            total
        },
        alike: if kind == Kind::Multiwait {
            seeds(shape)
        } else {
            1
        },
        left: if kind == Kind::Multiwait {
            seeds(shape)
        } else {
            0
        },
    };
    let values: Vec<Vec<i64>> = clients.iter().map(|client| client.values.clone()).collect();
    expected.check(&values, left)
}

/// Sends the signal to start: rows in a second queue, as in Q4M's test, or without a second queue a message within this process.
async fn start(
    admin: &mut Link,
    contender: &Contender,
    clients: u32,
    go: &watch::Sender<bool>,
) -> Result<()> {
    match admin {
        Link::Table(table) if contender.door.is_q4m() => table.give_start(clients).await,
        _ => {
            go.send_replace(true);
            Ok(())
        }
    }
}

async fn read(
    mut link: Link,
    part: ClientShare,
    mut started: watch::Receiver<bool>,
) -> Result<Did> {
    match &mut link {
        Link::Table(table) if table.waits_by_table() => table.wait_for_start().await?,
        _ => {
            // The sender lives as long as the readers.
            let _ = started.wait_for(|go| *go).await;
        }
    }
    work(link, part).await
}

async fn work(mut link: Link, part: ClientShare) -> Result<Did> {
    let mut did = Did {
        values: Vec::with_capacity(part.rounds.unsigned_abs() as usize),
        latencies: Latencies::default(),
    };
    for round in 0..part.rounds {
        if part.kind == Kind::Multirw {
            link.put(part.first + round, part.payload).await?;
        }
        let begun = Instant::now();
        did.values.push(link.next().await?);
        did.latencies.add(begun.elapsed());
        if part.kind == Kind::Multiwait {
            link.put(part.first + round, part.payload).await?;
        }
    }
    link.finish().await?;
    Ok(did)
}
