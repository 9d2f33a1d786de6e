//! Puts messages as fast as the server acknowledges them: one, or a thousand, in a statement.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{
    Contender, Shape,
    clients::{connect, finish},
    meter::Meter,
    payload::Payload,
};
use crate::{
    error::{Error, Result},
    latency::Latencies,
    runs::Run,
};

/// Puts `rows` messages at once from each client until the time is up, then counts the queue.
pub(super) async fn run(contender: &Contender, shape: Shape, time: Duration) -> Result<Run> {
    let payload = Payload {
        length: shape.length,
    };
    let mut admin = contender.link(0).await?;
    admin.reset(payload).await?;
    let links = connect(contender, shape.clients).await?;
    let mut meter = Meter::begin(contender);
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for mut link in links {
        let rows = i64::from(shape.rows);
        clients.spawn(async move {
            let mut latencies = Latencies::default();
            while begun.elapsed() < time {
                let asked = Instant::now();
                link.put_all(0..rows, payload).await?;
                latencies.add(asked.elapsed());
            }
            Ok::<Latencies, Error>(latencies)
        });
    }
    let mut run = Run::default();
    let clients = finish(clients).await?;
    run.elapsed = begun.elapsed();
    for latencies in &clients {
        run.latencies.merge(latencies);
    }
    run.elements = run.latencies.count() * u64::from(shape.rows);
    let spent = meter.spent();
    spent.tell(&mut run);
    let stored = admin.count().await?;
    Error::unless_equal(
        "messages stored of those acknowledged",
        run.elements,
        stored,
    )?;
    admin.clear().await?;
    Ok(run)
}
