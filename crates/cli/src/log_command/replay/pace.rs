//! Jobs to connections, in their time.
//!
//! Jobs wait in two kinds of lines of at most [`LINE_MAX`]: one that several connections share, and one for each connection of the
//! log, since the requests of one connection were never at the same time.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use study::log::replay::Due;

use super::super::inputs::Opened;
use super::super::options::Options;
use super::reader::{Job, read};
use super::sender::{Sender, Target};
use super::tallied::{Shared, Tallied, micros};
use super::{CONNECTIONS_MAX, CONNECTIONS_OF_PLAIN, Way, signals};
use crate::progress::{Progress, Reading};

/// Jobs that wait for a connection.
const LINE_MAX: usize = 64;

/// Longest time without a look for a signal.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A job and its time; `None`: at once.
type Timed = (Job, Option<Instant>);

/// Connections of the log that have a number of their own here.
const NAMES_MAX: usize = 65_536;

/// Sends the log once. What cuts the run short is in `tallied`.
pub(super) fn run(
    opened: Opened,
    options: &Options,
    target: &Target,
    way: Way,
    tallied: &mut Tallied,
) {
    let asks_found = tallied.keeps_results();
    let (total, bytes_read) = (opened.total, Arc::clone(&opened.read));
    let began = Instant::now();
    let shared = Shared::new(tallied);
    let filter = &options.summary.filter;
    let mut first = None;
    let inputs = thread::scope(|scope| {
        let mut lines = Lines {
            scope,
            target,
            asks_found,
            shared: &shared,
            way,
            pool: None,
            own: Vec::new(),
            places: HashMap::new(),
        };
        let mut bar = Reading::new(Progress::everywhere(), total, &bytes_read);
        read(opened, filter, target.http.is_some(), &shared, &mut |due| {
            bar.show("queries", || shared.sent());
            // The time begins with the first request, not with the reading before it.
            let first = *first.get_or_insert_with(Instant::now);
            let when = way.speed.map(|speed| first + at_speed(due.after_us, speed));
            wait_until(when, &shared, &mut bar) && lines.put(due, when)
        })
    });
    let elapsed_us = micros(first.unwrap_or(began).elapsed());
    shared.tell(|told| told.elapsed_us = elapsed_us);
    tallied.inputs = inputs;
}

fn at_speed(after_us: u64, speed: f64) -> Duration {
    Duration::from_micros((after_us as f64 / speed) as u64)
}

/// Sleeps until a time; `false`: the run has ended.
fn wait_until(when: Option<Instant>, shared: &Shared<'_>, bar: &mut Reading) -> bool {
    loop {
        if signals::is_asked() || shared.is_ended() {
            return false;
        }
        let left = when.map_or(Duration::ZERO, |when| {
            when.saturating_duration_since(Instant::now())
        });
        if left.is_zero() {
            return true;
        }
        bar.show("queries", || shared.sent());
        thread::sleep(left.min(LOOK_EVERY));
    }
}

/// The lines before the connections. Connections are threads of `scope`, begun when they are needed.
struct Lines<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    target: &'env Target,
    asks_found: bool,
    shared: &'env Shared<'env>,
    way: Way,
    /// The line of all connections without a number in the log.
    pool: Option<SyncSender<Timed>>,
    own: Vec<SyncSender<Timed>>,
    /// Place in `own` by server and number of the connection.
    places: HashMap<(Arc<str>, u64), usize>,
}

impl Lines<'_, '_> {
    /// Puts a job into its line, and waits while the line is full; `false`: the run has ended.
    fn put(&mut self, due: Due<Job>, when: Option<Instant>) -> bool {
        let connection = match (self.way.clients, self.way.speed) {
            // As fast as answered: the log's connections tell nothing of it.
            (Some(_), _) | (None, None) => None,
            (None, Some(_)) => due.item.connection.clone(),
        };
        let line = match connection {
            Some(connection) => self.own_line(connection),
            None => self.pool(),
        };
        // Where the run has ended, the last of the line's senders leaves it behind its request, for which the run waits anyway.
        line.send((due.item, when)).is_ok()
    }

    fn pool(&mut self) -> SyncSender<Timed> {
        if let Some(pool) = &self.pool {
            return pool.clone();
        }
        let count = match (self.way.clients, self.way.speed) {
            (Some(clients), _) => clients,
            (None, None) => 1,
            (None, Some(_)) => CONNECTIONS_OF_PLAIN,
        };
        let line = self.begin(count);
        self.pool = Some(line.clone());
        line
    }

    fn own_line(&mut self, connection: (Arc<str>, u64)) -> SyncSender<Timed> {
        if let Some(place) = self.places.get(&connection) {
            return self.own[*place].clone();
        }
        let place = match self.own.len() < CONNECTIONS_MAX {
            true => {
                let line = self.begin(1);
                self.own.push(line);
                self.own.len() - 1
            }
            false => {
                self.shared.tell(|told| told.shared_connections += 1);
                (connection.1 % CONNECTIONS_MAX as u64) as usize
            }
        };
        if self.places.len() < NAMES_MAX {
            self.places.insert(connection, place);
        }
        self.own[place].clone()
    }

    /// Begins `count` connections that take from one line.
    fn begin(&self, count: usize) -> SyncSender<Timed> {
        let (line, taken) = sync_channel(LINE_MAX);
        let taken = Arc::new(Mutex::new(taken));
        for _ in 0..count {
            let taken = Arc::clone(&taken);
            let mut sender = Sender::new(self.target, self.asks_found);
            let shared = self.shared;
            self.scope.spawn(move || work(&taken, &mut sender, shared));
        }
        line
    }
}

/// Sends jobs until there are none, or the run has ended.
fn work(taken: &Mutex<Receiver<Timed>>, sender: &mut Sender<'_>, shared: &Shared<'_>) {
    loop {
        let next = taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((job, due)) = next else {
            return;
        };
        if signals::is_asked() || shared.is_ended() {
            return;
        }
        sender.send(&job, due, shared);
    }
}
