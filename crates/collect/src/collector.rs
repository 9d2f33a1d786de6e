//! The collector: takes messages that the journal has, and sees to it that each gets to its stores.
//!
//! # The way of a message
//! | | thread | function | what it does |
//! |---|---|---|---|
//! | 1 | a connection's | [`Collector::decide`] | has the category a store; may the call pass now |
//! | 2 | a connection's | the caller | puts the messages into the journal, replies OK, calls [`Collector::took`] |
//! | 3 | dispatcher | `Dispatcher::dispatch` | appends the record's runs to the queues of their lines |
//! | 4 | a worker | `Line::serve` | writes a batch to the store when it is due by size or time |
//! | 5 | dispatcher | `Dispatcher::checkpoint` | has lines sync, spools what they have not, notes the position in the journal |
//!
//! Threads: one dispatcher, two workers for lines that write to disks, eight for lines that may wait for a network. A store that
//! hangs holds one worker, and neither the dispatcher nor a checkpoint.
//!
//! # What is promised
//! - A message gets to its stores at least once, and exactly once if the server was stopped by [`Collector::stop`] in time and
//!   the store did not fail in the middle of a batch.
//! - A line keeps the order of the journal. After a failure or a crash it repeats a stretch, from its beginning, in order.
//! - A message whose category lost all its stores by a change of the configuration between two starts counts as `lost`.

mod dispatch;
mod pool;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use dispatch::Dispatcher;
use engine::Handover;
use pool::Pools;

use crate::config::{Configuration, StoreConfig};
use crate::counters::Counters;
use crate::door::{Decision, Door, Received};
use crate::line::Line;
use crate::message::{Incoming, Now};
use crate::store::{Store, Surroundings};

/// Workers for lines without a network.
const DISK_WORKERS: usize = 2;
/// Workers for lines with a network in their tree.
const NETWORK_WORKERS: usize = 8;
/// The dispatcher looks for a reload, a stop and a checkpoint as often as this while no message comes.
const IDLE: Duration = Duration::from_millis(100);
/// … and as often as this while it waits for lines.
const WAITING: Duration = Duration::from_millis(2);
/// A reload holds messages back until old stores have ended, at most for this time. Microseconds.
const CHANGE_US_MAX: u64 = 5_000_000;

/// Builds a store: its configuration, the category, how often it is a copy of a model, and what it is built with.
pub type Factory = Box<
    dyn Fn(&StoreConfig, &[u8], usize, &Surroundings) -> Result<Box<dyn Store>, String>
        + Send
        + Sync,
>;

/// A clock, asked by the collector's own threads.
pub type Clock = Arc<dyn Fn() -> Now + Send + Sync>;

/// Cursors as the journal keeps them: the name of a line and what it noted.
pub type Cursors = Vec<(Box<[u8]>, Box<[u8]>)>;

/// Cursors that changed; `None`: the line has no spool any more.
pub type Changed = Vec<(Box<[u8]>, Option<Box<[u8]>>)>;

/// Where the collector notes how far it is.
pub trait Positions: Send + Sync {
    /// No store needs the journal's messages at or below `upto`, together with these cursors, which replace older ones of
    /// their names. Durable on return. `upto` never falls.
    ///
    /// # Errors
    /// Why it could not be noted; the collector tries again at the next checkpoint.
    fn collected(&self, upto: u64, cursors: Changed) -> Result<(), String>;

    /// Whether files that the noted cursors do not need may be removed. Not while a backup copies the files of older cursors.
    /// Asked after each note.
    fn may_remove(&self) -> bool;
}

/// What all threads share.
#[derive(Default)]
pub(crate) struct Shared {
    door: Door,
    lines: Mutex<BTreeMap<Box<[u8]>, Arc<Line>>>,
    pools: Pools,
    counters: Arc<Counters>,
}

enum Order {
    Reload(Configuration, mpsc::Sender<Result<(), String>>),
    Stop(Duration, mpsc::Sender<()>),
}

/// A running collector.
pub struct Collector {
    shared: Arc<Shared>,
    orders: Mutex<mpsc::Sender<Order>>,
}

impl Shared {
    fn lines(&self) -> MutexGuard<'_, BTreeMap<Box<[u8]>, Arc<Line>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, line: Arc<Line>) {
        let mut lines = self.lines();
        lines.insert(line.id.clone(), line);
        self.door.line_count.store(lines.len(), Ordering::Relaxed);
    }

    fn retain(&self, keep: impl Fn(&Line) -> bool) {
        let mut lines = self.lines();
        lines.retain(|_, line| keep(line));
        self.door.line_count.store(lines.len(), Ordering::Relaxed);
    }
}

impl Collector {
    /// Starts the threads. `noted` and `cursors` are those that the journal noted last; `handover` first gives the messages
    /// above `noted`.
    ///
    /// # Errors
    /// A spool cannot be read, or a thread cannot be started.
    pub fn start(
        configuration: Configuration,
        factory: Factory,
        surroundings: Surroundings,
        handover: Arc<Handover>,
        positions: Arc<dyn Positions>,
        noted: (u64, Cursors),
        clock: Clock,
    ) -> Result<Collector, String> {
        let shared = Arc::new(Shared {
            counters: surroundings.counters.clone(),
            ..Shared::default()
        });
        shared.door.set_tables(Arc::clone(&surroundings.tables));
        let dispatcher = Dispatcher::new(
            configuration,
            factory,
            surroundings,
            positions,
            noted,
            shared.clone(),
        )?;
        let now = clock();
        let lines: Vec<Arc<Line>> = shared.lines().values().cloned().collect();
        for line in lines {
            shared.pools.plan(&line, now);
        }
        for index in 0..DISK_WORKERS + NETWORK_WORKERS {
            let (shared, clock) = (shared.clone(), clock.clone());
            spawn("collect-store", move || {
                let pools = &shared.pools;
                let pool = if index < DISK_WORKERS {
                    &pools.disk
                } else {
                    &pools.network
                };
                pools.work(pool, &*clock, &shared.counters);
            })?;
        }
        let (orders, taken) = mpsc::channel();
        let of_dispatcher = shared.clone();
        spawn("collect", move || {
            run(dispatcher, &of_dispatcher, &handover, &taken, &*clock)
        })?;
        let orders = Mutex::new(orders);
        Ok(Collector { shared, orders })
    }

    /// Decides on the messages of one call. Never blocks on a disk.
    pub fn decide<'a, M: Into<Incoming<'a>>>(
        &self,
        entries: impl Iterator<Item = M> + Clone,
        now: Now,
    ) -> Decision {
        let shared = &self.shared;
        let router = shared.door.router();
        let has_line = |category: &[u8]| {
            let lines = shared.lines();
            router
                .targets(category)
                .all(|target| lines.contains_key(&target.id[..]))
        };
        shared.door.decide(entries, now, &shared.counters, has_line)
    }

    /// Counts the messages of a decision that the journal has taken.
    pub fn took(&self, received: &Received) {
        received.add_to(&self.shared.counters);
    }

    /// Goes over to another configuration. Messages that were taken under the old one get to a store of either. Blocks until
    /// the dispatcher has done it.
    ///
    /// # Errors
    /// A spool that is to be used again cannot be read; the old configuration stays. Or the collector has stopped.
    pub fn reload(&self, configuration: Configuration) -> Result<(), String> {
        let (sender, done) = mpsc::channel();
        self.order(Order::Reload(configuration, sender));
        done.recv()
            .unwrap_or_else(|_| Err("the collector has stopped".to_owned()))
    }

    /// Whether a store takes this category.
    ///
    /// # Errors
    /// Why no category has this name.
    pub fn takes(&self, category: &[u8]) -> Result<bool, &'static str> {
        self.shared.door.takes(category)
    }

    /// Memory of the rows that [`decide`](Self::decide) makes of these messages, at most, about, in bytes.
    pub fn row_bytes<'a>(&self, entries: impl Iterator<Item = Incoming<'a>>) -> usize {
        self.shared.door.row_bytes(entries)
    }

    /// What is wrong with the first store that has something wrong, tables first, then in order of the lines' names; `None`:
    /// nothing.
    #[must_use]
    pub fn status(&self) -> Option<String> {
        let lines: Vec<Arc<Line>> = self.shared.lines().values().cloned().collect();
        let of_table = self.shared.door.trouble();
        of_table.or_else(|| lines.iter().find_map(|line| line.status()))
    }

    /// Scribe's counters, by its names.
    #[must_use]
    pub fn counters(&self) -> BTreeMap<Vec<u8>, u64> {
        self.shared.counters.all()
    }

    /// `max_conn` of the configuration; 0: no bound.
    #[must_use]
    pub fn max_conn(&self) -> u64 {
        self.shared.door.router().configuration().max_conn
    }

    /// Takes no more calls, hands out what the journal has given, lets stores take and sync it, spools the rest, notes the
    /// position, and ends. The engine must still run. Waits for stores at most for `within`, in both of its two steps.
    pub fn stop(&self, within: Duration) {
        self.shared.door.is_stopping.store(true, Ordering::Relaxed);
        let (sender, done) = mpsc::channel();
        self.order(Order::Stop(within, sender));
        // An error: the collector has stopped before.
        let _ = done.recv();
    }

    fn order(&self, order: Order) {
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        // An error: the dispatcher has ended, and the order's own channel says so.
        let _ = orders.send(order);
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(body);
    thread
        .map(drop)
        .map_err(|error| format!("cannot start a thread: {error}"))
}

/// The body of the dispatcher's thread.
fn run(
    mut dispatcher: Dispatcher,
    shared: &Shared,
    handover: &Handover,
    orders: &mpsc::Receiver<Order>,
    clock: &(dyn Fn() -> Now + Send + Sync),
) {
    let mut hold_until_us = 0;
    let mut pause = Duration::ZERO;
    loop {
        match orders.recv_timeout(pause) {
            Ok(Order::Reload(configuration, done)) => {
                let reloaded = dispatcher.reload(configuration, clock());
                hold_until_us = clock().steady_us + CHANGE_US_MAX;
                let _ = done.send(reloaded);
            }
            Ok(Order::Stop(within, done)) => {
                stop(&mut dispatcher, shared, handover, clock, within);
                let _ = done.send(());
                return;
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            // The collector was dropped without a stop: what was not noted comes again at the next start.
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                shared.pools.end(Duration::ZERO);
                return;
            }
        }
        let now = clock();
        let is_waiting = dispatcher.checkpoint(now);
        if now.steady_us < hold_until_us && dispatcher.is_changing(now) {
            pause = WAITING;
            continue;
        }
        hold_until_us = 0;
        let taken = handover.take(if is_waiting { WAITING } else { IDLE });
        // Without an engine only an order ends the wait.
        pause = if taken.is_some() {
            Duration::ZERO
        } else {
            IDLE
        };
        for batch in taken.iter().flatten() {
            dispatcher.dispatch(batch, clock());
        }
    }
}

fn stop(
    dispatcher: &mut Dispatcher,
    shared: &Shared,
    handover: &Handover,
    clock: &(dyn Fn() -> Now + Send + Sync),
    within: Duration,
) {
    // An older checkpoint that is under way has older marks.
    dispatcher.finish();
    while let Some(batches) = handover
        .take(Duration::ZERO)
        .filter(|batches| !batches.is_empty())
    {
        batches
            .iter()
            .for_each(|batch| dispatcher.dispatch(batch, clock()));
    }
    let end_us = clock().steady_us + u64::try_from(within.as_micros()).unwrap_or(u64::MAX);
    dispatcher.begin(clock());
    while dispatcher.is_waiting() && clock().steady_us < end_us {
        // Workers tell their progress by the state of their lines only.
        thread::sleep(WAITING);
    }
    shared.pools.end(within);
    dispatcher.finish();
    let lines: Vec<Arc<Line>> = shared.lines().values().cloned().collect();
    for line in lines {
        line.close(clock());
    }
}

#[cfg(test)]
mod tests;
