//! What all connections of one server share.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use engine::{Answer, Command, Damaged, Error, Handle, Memory, Now, Reply, SessionId};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, oneshot, watch};
use tokio::time::timeout;

use crate::budget::Budget;
use crate::clock::Clock;
use crate::errors::{self, Failure};
use crate::faults::Faults;
use crate::limits::{
    ACCEPT_PAUSE, BUDGET_WAIT, EVICTION_PAUSE, FILTER_SHARE_OF_MEMORY, REQUEST_SHARE_OF_MEMORY,
    ROWS_INLINE_MAX, STUCK_AFTER, TURN_WAIT, WATCHED_CONNECTIONS_MAX,
};
use crate::listen::Stream;
use crate::logins::Logins;
use crate::places::{Bounds, Full, Newcomer, Peer, Places};
use crate::searches::Searches;
use crate::settings::{Live, Settings};
use crate::status::{Counters, Sample, Shape};

/// The shared state. One a process; connections hold it by reference count.
pub struct Node {
    /// The time.
    pub clock: Clock,
    /// The server's own numbers.
    pub counters: Counters,
    /// Faults that a test asked for.
    pub faults: Faults,
    /// Rings when deliveries of a queue were acknowledged or given back over HTTP: event streams look again.
    pub acknowledged: Notify,
    /// Logins that failed.
    pub logins: Logins,
    /// The searches that run.
    pub searches: Arc<Searches>,
    /// The memory of requests.
    pub budget: Arc<Budget>,
    /// Who makes many rows at once.
    turns: Semaphore,
    settings: RwLock<Arc<Settings>>,
    engine: OnceLock<Handle>,
    stopping: watch::Sender<bool>,
    next_session: AtomicU64,
    places: Places,
    damaged: Mutex<BTreeSet<String>>,
}

impl Node {
    /// A node that still recovers: [`Node::serve`] opens it for statements.
    pub fn new(settings: Settings, faults: Faults) -> Node {
        let request_bytes = settings.memory_bytes / REQUEST_SHARE_OF_MEMORY;
        Node {
            clock: Clock::start(),
            counters: Counters::default(),
            faults,
            acknowledged: Notify::new(),
            logins: Logins::default(),
            searches: Arc::new(Searches::new(
                settings.threads,
                settings.memory_bytes / FILTER_SHARE_OF_MEMORY,
            )),
            budget: Budget::new(request_bytes, BUDGET_WAIT),
            turns: Semaphore::new(settings.threads),
            settings: RwLock::new(Arc::new(settings)),
            engine: OnceLock::new(),
            stopping: watch::Sender::new(false),
            next_session: AtomicU64::new(1),
            places: Places::default(),
            damaged: Mutex::default(),
        }
    }

    /// Recovery is over: statements go to this engine.
    pub fn serve(&self, engine: Handle) {
        // Called once, by the start of the server; a second engine would be ignored.
        let _ = self.engine.set(engine);
    }

    /// The engine, once recovery is over.
    pub fn engine(&self) -> Result<&Handle, Failure> {
        self.engine.get().ok_or_else(|| {
            Failure::new(
                errors::RECOVERING,
                "the server is starting: it reads its journal",
            )
        })
    }

    /// The time, as the engine wants it.
    pub fn now(&self) -> Now {
        Now {
            unix_us: self.clock.unix_us(),
            steady_us: self.clock.steady_us(),
        }
    }

    /// Whether every statement is answered, writes included.
    pub fn ready(&self) -> Result<(), Failure> {
        let engine = self.engine()?;
        if *self.stopping.borrow() {
            return Err(Failure::new(errors::STOPPING, "the server stops"));
        }
        let turn_us = self.turn_us(engine);
        if turn_us > self.faults.stuck_after(STUCK_AFTER).as_micros() as u64 {
            let what = format!(
                "the engine has been busy with one turn for {} s: writes wait",
                turn_us / 1_000_000
            );
            return Err(Failure::new(errors::STUCK, what));
        }
        if engine.status().disk_full {
            return Err(Error::DiskFull.into());
        }
        Ok(())
    }

    /// For how long the engine's turn under way has lasted, in microseconds; 0 while it rests. Does not wait for the engine.
    fn turn_us(&self, engine: &Handle) -> u64 {
        let since_us = engine.turn_since_us();
        since_us.map_or(0, |since_us| {
            self.clock.steady_us().saturating_sub(since_us)
        })
    }

    /// Every number there is: the server's, then the engine's once recovery is over.
    pub fn samples(&self) -> Vec<Sample> {
        let mut samples = vec![Sample {
            status: "uptime",
            metric: "seine_uptime_seconds",
            shape: Shape::Gauge,
            help: "Seconds since the start.",
            value: self.clock.steady_us(),
        }];
        samples.extend(self.counters.samples());
        samples.push(crate::status::requests(&self.budget));
        samples.extend(crate::status::filters(&self.searches.filters));
        if let Some(engine) = self.engine.get() {
            samples.extend(crate::status::engine::samples(&engine.status()));
            samples.push(Sample {
                status: "engine_turn_us",
                metric: "seine_engine_turn_age_seconds",
                shape: Shape::Gauge,
                help: "Age of the engine's turn under way; 0: it rests.",
                value: self.turn_us(engine),
            });
        }
        samples
    }

    /// Sends a command and waits until what it did is durable.
    pub async fn submit(&self, session: SessionId, command: Command) -> Result<Reply, Failure> {
        Ok(self.submit_raw(session, command).await??)
    }

    /// As [`Node::submit`]; the inner error is the engine's, for who wants its facts.
    pub async fn submit_raw(
        &self,
        session: SessionId,
        command: Command,
    ) -> Result<Result<Reply, Error>, Failure> {
        let (sender, answer) = oneshot::channel();
        let reply = Box::new(move |result| {
            // The client is gone; whoever closes its session tells the engine.
            let _ = sender.send(result);
        });
        self.engine()?.submit(session, command, reply)?;
        Ok(answer.await.unwrap_or(Err(Error::Stopped)))
    }

    /// Waits for its turn to find or write so many rows, where they are many. As many do that at a time as searches have
    /// threads: else what is short would wait for the processor behind all of them. No turn is waited for longer than
    /// [`TURN_WAIT`], so that those that take minutes share the processor instead.
    pub async fn turn(&self, rows: Option<usize>) -> Option<SemaphorePermit<'_>> {
        match rows {
            Some(rows) if rows as u64 <= ROWS_INLINE_MAX => None,
            _ => timeout(TURN_WAIT, self.turns.acquire()).await.ok()?.ok(),
        }
    }

    /// The rows of a reply to [`Command::Read`], taken from `memory`. Those that take long are read on this thread; the loop's
    /// other tasks move elsewhere. A fault in it ends the statement.
    pub async fn rows_of(&self, reply: Reply, memory: &Memory) -> Result<Answer, Error> {
        let reading = match reply {
            Reply::Rows(answer) => return Ok(answer),
            Reply::Reading(reading) => reading,
            _ => {
                let what = "a read was answered without rows".to_owned();
                return Err(Error::Internal { what });
            }
        };
        let _turn = self.turn(None).await;
        let work = std::panic::AssertUnwindSafe(|| reading.run(memory));
        let done = tokio::task::block_in_place(|| std::panic::catch_unwind(work));
        done.unwrap_or_else(|_| {
            let what = "panic in a read".to_owned();
            Err(Error::Internal { what })
        })
    }

    /// Tells the engine that a connection is gone.
    pub fn close_session(&self, session: SessionId) {
        if let Some(engine) = self.engine.get() {
            // Refused only by an engine that has ended, and its sessions with it.
            let _ = engine.submit(session, Command::SessionClosed, Box::new(|_| {}));
        }
    }

    /// The settings as they are now.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes new values of what may change while running.
    pub fn reload(&self, live: Live) {
        let mut settings = self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let mut changed = Settings::clone(&settings);
        changed.live = live;
        *settings = Arc::new(changed);
    }

    /// Asks every connection to end after its statement.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Becomes true when the server stops.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// Takes a place among the connections, or refuses where all are taken.
    pub fn admit(
        self: &Arc<Node>,
        door: &'static str,
        stream: &Stream,
    ) -> Result<Admitted, Failure> {
        self.admit_watching(door, stream, WATCHED_CONNECTIONS_MAX)
    }

    /// The same; a client is looked after only where fewer than `watched_max` connections are open.
    fn admit_watching(
        self: &Arc<Node>,
        door: &'static str,
        stream: &Stream,
        watched_max: usize,
    ) -> Result<Admitted, Failure> {
        let settings = self.settings();
        let bounds = Bounds {
            connections_max: settings.live.connections_max,
            per_address_max: settings.live.connections_per_address,
        };
        let remote = stream.remote();
        let newcomer = Newcomer {
            id: self.next_session.fetch_add(1, Ordering::Relaxed),
            host: stream.peer(),
            remote,
            door,
            now_us: self.clock.steady_us(),
            // At the HTTP door each request is judged; a MySQL client passes its login first, where there is one.
            may_reserve: door == "http"
                || remote.is_owners_process()
                || remote.is_local() && settings.live.login.is_some(),
        };
        let client = |open: usize| {
            let is_watched = open < watched_max;
            is_watched
                .then(|| stream.duplicate())
                .flatten()
                .map(Arc::new)
        };
        match self.places.take(newcomer, &bounds, client) {
            Ok(taken) => {
                let counters = &self.counters;
                counters.connections.fetch_add(1, Ordering::Relaxed);
                counters
                    .evicted
                    .fetch_add(u64::from(taken.has_evicted), Ordering::Relaxed);
                let open = self.places.count() as u64;
                counters.connections_open.store(open, Ordering::Relaxed);
                Ok(Admitted {
                    node: Arc::clone(self),
                    peer: taken.peer,
                })
            }
            Err(Full::Places) => Err(self.no_place("too many connections")),
            Err(Full::Address) => {
                Err(self
                    .no_place("too many connections from this address: connections_per_address"))
            }
        }
    }

    /// A connection could not be accepted, as a rule because no file descriptor is left: closes one that owes something, and
    /// waits until the next one may be tried.
    pub async fn could_not_accept(&self, door: &'static str, error: &std::io::Error) {
        if self.places.evict() {
            self.counters.evicted.fetch_add(1, Ordering::Relaxed);
            // Its task closes the socket as soon as it runs.
            tokio::time::sleep(EVICTION_PAUSE).await;
        } else {
            tracing::warn!(%error, door, "cannot accept a connection");
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }

    /// The refusal of a client for which there is no place; counts it.
    pub fn no_place(&self, message: &str) -> Failure {
        self.counters.refused.fetch_add(1, Ordering::Relaxed);
        Failure::new(errors::TOO_MANY_CONNECTIONS, message)
    }

    /// Whether this client, which has passed the login where there is one, is the server's owner: on a unix socket as the
    /// server's own user, or on this machine with the password.
    pub fn is_owner(&self, peer: &Peer) -> bool {
        let has_login = self.settings().live.login.is_some();
        peer.remote.is_owners_process() || has_login && peer.remote.is_local()
    }

    /// A session number for one request of a door without sessions.
    pub fn next_session(&self) -> SessionId {
        SessionId(self.next_session.fetch_add(1, Ordering::Relaxed))
    }

    /// Waits as long as a login of this client must, for those that failed before it.
    pub async fn slow_login(&self, peer: &Peer) {
        let delay = self.logins.delay(peer.remote, self.clock.steady_us());
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
    }

    /// Takes note of a login that failed; the log tells of it, unless it did so a moment ago.
    pub fn login_failed(&self, peer: &Peer) {
        self.counters.logins_refused.fetch_add(1, Ordering::Relaxed);
        let now_us = self.clock.steady_us();
        if let Some(count) = self.logins.failed(peer.remote, now_us) {
            let (address, door) = (peer.remote, peer.door);
            tracing::warn!(%address, door, count, "a login failed; count: those since the last such line");
        }
    }

    /// The open connections, by number.
    pub fn peers(&self) -> Vec<Arc<Peer>> {
        self.places.all()
    }

    /// How many connections are open.
    pub fn peer_count(&self) -> usize {
        self.places.count()
    }

    /// Takes note of files that an answer had to do without; the log names each once. Gives the warnings for the client.
    pub fn note_damaged(&self, damaged: &Damaged) -> Vec<String> {
        let files = damaged.files();
        if files.is_empty() {
            return Vec::new();
        }
        self.counters
            .answers_damaged
            .fetch_add(1, Ordering::Relaxed);
        let mut known = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        let mut warnings = Vec::new();
        for (file, sentence) in files {
            if known.insert(file.clone()) {
                tracing::error!(file, "{sentence}");
            }
            warnings.push(sentence);
        }
        let count = known.len() as u64;
        self.counters.files_damaged.store(count, Ordering::Relaxed);
        warnings
    }

    /// Files that were found damaged by searches since the start, by name.
    pub fn damaged_files(&self) -> Vec<String> {
        let known = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().cloned().collect()
    }

    /// Ends the search of a session and leaves its connection; false where there is neither.
    pub fn kill_search(&self, id: u64) -> bool {
        self.searches.kill(id) || self.places.get(id).is_some()
    }

    /// Ends a connection and its search, or a search without a connection of its own; false where there is none of that
    /// number.
    pub fn kill(&self, id: u64) -> bool {
        let searched = self.searches.kill(id);
        self.places.get(id).map_or(searched, |peer| {
            peer.killed.notify_one();
            true
        })
    }
}

/// A place among the connections; dropping it gives the place back and closes the session.
pub struct Admitted {
    node: Arc<Node>,
    /// The connection.
    pub peer: Arc<Peer>,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let open = self.node.places.leave(self.peer.id) as u64;
        let counters = &self.node.counters;
        counters.connections_open.store(open, Ordering::Relaxed);
        self.node.close_session(SessionId(self.peer.id));
    }
}
