//! Tools of all tests: opens many connections, collects their results, fills a queue, repeats a test until the time is up.

use std::time::Duration;

use tokio::task::JoinSet;

use super::{Contender, link::Link, meter::Spent, payload::Payload};
use crate::{
    error::{Error, Result},
    runs::Run,
};

/// Connections that are opened at the same time. A server's backlog holds no more.
const CONNECTED_AT_ONCE: u32 = 64;

/// Opens `clients` connections.
pub(super) async fn connect(contender: &Contender, clients: u32) -> Result<Vec<Link>> {
    let mut links = Vec::new();
    let mut connecting = JoinSet::new();
    let mut next = 1;
    while links.len() < clients as usize {
        while next <= clients && connecting.len() < CONNECTED_AT_ONCE as usize {
            let (contender, number) = (contender.clone(), next);
            connecting.spawn(async move { contender.link(number).await });
            next += 1;
        }
        if let Some(link) = connecting.join_next().await {
            links.push(joined(link)?);
        }
    }
    Ok(links)
}

/// Waits for all clients and gives their results. Errors: the first failure.
pub(super) async fn finish<T: 'static>(mut clients: JoinSet<Result<T>>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    while let Some(client) = clients.join_next().await {
        all.push(joined(client)?);
    }
    Ok(all)
}

fn joined<T>(outcome: std::result::Result<Result<T>, tokio::task::JoinError>) -> Result<T> {
    outcome.map_err(|error| Error::Peer(error.to_string()))?
}

/// Puts the messages 1 to `total`, `rows` in an INSERT.
pub(super) async fn fill(admin: &mut Link, total: i64, rows: i64, payload: Payload) -> Result<()> {
    let mut first = 1;
    while first <= total {
        let next = (first + rows).min(total + 1);
        admin.put_all(first..next, payload).await?;
        first = next;
    }
    Ok(())
}

/// Repeats whole tests until the sum of their timed parts reaches the time.
pub(super) async fn repeat(
    time: Duration,
    mut one: impl AsyncFnMut() -> Result<(Run, Spent)>,
) -> Result<Run> {
    let (mut run, mut spent) = (Run::default(), Spent::default());
    while run.elements == 0 || run.elapsed < time {
        let (once, cost) = one().await?;
        run.elements += once.elements;
        run.elapsed += once.elapsed;
        run.latencies.merge(&once.latencies);
        spent.add(cost);
    }
    spent.tell(&mut run);
    Ok(run)
}
