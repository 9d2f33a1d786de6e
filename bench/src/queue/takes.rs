//! Takes many rows in a call. Each call ends the rows of the call before.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

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

/// Count of rows in an INSERT that fills the queue.
const FILL_ROWS: i64 = 1_000;

/// Empties full queues until the sum of the timed parts reaches the time.
pub(super) async fn run(contender: &Contender, shape: Shape, time: Duration) -> Result<Run> {
    repeat(time, async || empty_one(contender, shape).await).await
}

async fn empty_one(contender: &Contender, shape: Shape) -> Result<(Run, Spent)> {
    let payload = Payload {
        length: shape.length,
    };
    let mut admin = contender.link(0).await?;
    admin.reset(payload).await?;
    let each = shape.messages / shape.clients / shape.rows * shape.rows;
    let total = i64::from(each * shape.clients);
    fill(&mut admin, total, FILL_ROWS, payload).await?;
    let links = connect(contender, shape.clients).await?;
    let mut meter = Meter::begin(contender);
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for link in links {
        clients.spawn(take(link, each, shape.rows));
    }
    let (mut values, mut latencies) = (Vec::new(), Latencies::default());
    let clients = finish(clients).await?;
    let elapsed = begun.elapsed();
    for (taken, times) in clients {
        values.push(taken);
        latencies.merge(&times);
    }
    let spent = meter.spent();
    let expected = Expected {
        received: total.unsigned_abs(),
        least: 1,
        greatest: total,
        alike: 1,
        left: 0,
    };
    expected.check(&values, admin.count().await?)?;
    admin.clear().await?;
    let run = Run {
        elements: total.unsigned_abs(),
        elapsed,
        latencies,
        facts: Vec::new(),
    };
    Ok((run, spent))
}

/// Takes `each` rows in calls of at most `rows`.
async fn take(link: Link, each: u32, rows: u32) -> Result<(Vec<i64>, Latencies)> {
    let Link::Table(mut table) = link else {
        return Err(Error::BadOption("only a table gives many rows at once"));
    };
    let (mut values, mut latencies) = (Vec::new(), Latencies::default());
    while values.len() < each as usize {
        let wanted = rows.min(each - values.len() as u32);
        let begun = Instant::now();
        table.next_rows(wanted, &mut values).await?;
        latencies.add(begun.elapsed());
    }
    table.finish().await?;
    Ok((values, latencies))
}
