//! Measures the time from sending a message to its delivery to a waiting consumer: one consumer on an idle server, or one of ten
//! thousand.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinSet,
    time::{MissedTickBehavior, interval, timeout},
};

use super::{Contender, Shape, clients::connect, link::Link, meter::Meter, payload::Payload};
use crate::{
    error::{Error, Result},
    runs::Run,
};

/// Pause between two messages to one consumer: it waits again by then, and the server is idle.
const IDLE_FOR: Duration = Duration::from_millis(2);
/// Time between two messages to many consumers.
const EVERY: Duration = Duration::from_millis(1);
/// Longest time of a delivery. A later message counts as lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// A delivery: the message's number, and the time.
type Delivered = (i64, Instant);

/// Measures one waiting consumer. The producer sends when the consumer waits.
pub(super) async fn one(contender: &Contender, time: Duration) -> Result<Run> {
    let payload = Payload::default();
    let mut admin = contender.link(0).await?;
    admin.reset(payload).await?;
    let (told, mut delivered) = unbounded_channel();
    let mut consumers = JoinSet::new();
    consumers.spawn(consume(contender.link(1).await?, told));
    let mut meter = Meter::begin(contender);
    let mut run = Run::default();
    let begun = Instant::now();
    while begun.elapsed() < time {
        tokio::time::sleep(IDLE_FOR).await;
        let sent = Instant::now();
        let number = run.elements.cast_signed();
        admin.put(number, payload).await?;
        let (value, at) = wait(&mut delivered, &mut consumers).await?;
        Error::unless_equal(
            "as the message delivered",
            run.elements,
            value.cast_unsigned(),
        )?;
        run.latencies.add(at.saturating_duration_since(sent));
        run.elements += 1;
    }
    run.elapsed = begun.elapsed();
    meter.spent().tell(&mut run);
    consumers.abort_all();
    while consumers.join_next().await.is_some() {}
    // Create the queue again: the next run must not get the message that is still held.
    admin.reset(payload).await?;
    admin.clear().await?;
    Ok(run)
}

/// Measures many waiting consumers, with a message every millisecond.
pub(super) async fn many(contender: &Contender, shape: Shape, time: Duration) -> Result<Run> {
    let payload = Payload::default();
    let mut admin = contender.link(0).await?;
    admin.reset(payload).await?;
    let (told, mut delivered) = unbounded_channel();
    let mut consumers = JoinSet::new();
    for link in connect(contender, shape.clients).await? {
        consumers.spawn(consume(link, told.clone()));
    }
    // All consumers wait now: the last one has sent its wait before this answer.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut meter = Meter::begin(contender);
    let sent = Arc::new(Mutex::new(Vec::new()));
    let begun = Instant::now();
    let producer = tokio::spawn(produce(admin, Arc::clone(&sent), begun + time));
    let mut run = Run::default();
    let mut seen = Vec::new();
    let mut finished = false;
    let mut total = usize::MAX;
    while seen.len() < total {
        if !finished && producer.is_finished() {
            finished = true;
            total = sent.lock().unwrap_or_else(PoisonError::into_inner).len();
            continue;
        }
        let (value, at) = match timeout(EVERY * 20, wait(&mut delivered, &mut consumers)).await {
            Ok(found) => found?,
            Err(_) if !finished => continue,
            Err(_) => wait(&mut delivered, &mut consumers).await?,
        };
        let times = sent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(time) = usize::try_from(value).ok().and_then(|at| times.get(at)) {
            run.latencies.add(at.saturating_duration_since(*time));
        }
        seen.push(value);
    }
    run.elapsed = begun.elapsed();
    let spent = meter.spent();
    let mut admin = producer
        .await
        .map_err(|error| Error::Peer(error.to_string()))??;
    run.elements = seen.len() as u64;
    spent.tell_load(&mut run);
    spent.tell(&mut run);
    seen.sort_unstable();
    seen.dedup();
    Error::unless_equal("messages delivered", total as u64, seen.len() as u64)?;
    consumers.abort_all();
    while consumers.join_next().await.is_some() {}
    admin.reset(payload).await?;
    admin.clear().await?;
    Ok(run)
}

/// Sends a message every millisecond. After a slow answer it catches up.
async fn produce(mut link: Link, sent: Arc<Mutex<Vec<Instant>>>, until: Instant) -> Result<Link> {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut number = 0;
    while Instant::now() < until {
        ticks.tick().await;
        sent.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Instant::now());
        link.put(number, Payload::default()).await?;
        number += 1;
    }
    Ok(link)
}

/// Takes messages and reports each, until it is stopped.
async fn consume(mut link: Link, told: UnboundedSender<Delivered>) -> Result<()> {
    loop {
        let value = link.next().await?;
        if told.send((value, Instant::now())).is_err() {
            return Ok(());
        }
    }
}

/// Waits for the next delivery. Errors: a consumer has failed, or [`PATIENCE`] is over.
async fn wait(
    delivered: &mut UnboundedReceiver<Delivered>,
    consumers: &mut JoinSet<Result<()>>,
) -> Result<Delivered> {
    tokio::select! {
        biased;
        Some(found) = delivered.recv() => Ok(found),
        Some(ended) = consumers.join_next() => {
            ended.map_err(|error| Error::Peer(error.to_string()))??;
            Err(Error::Peer("a consumer ended".to_owned()))
        }
        () = tokio::time::sleep(PATIENCE) => {
            Err(Error::Peer(format!("no message was delivered for {PATIENCE:?}")))
        }
    }
}
