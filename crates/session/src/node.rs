//! What all connections of one server share.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use engine::{
    Answer, Command, Damaged, Error, Handle, Memory, Now, Reply, SessionId, Snapshot, Work,
};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, oneshot, watch};
use tokio::time::timeout;

use crate::budget::Budget;
use crate::clock::Clock;
use crate::counters::{self, Counters, Sample};
use crate::errors::{self, Failure};
use crate::faults::Faults;
use crate::limits::{
    BUDGET_WAIT, FILTER_SHARE_OF_MEMORY, REQUEST_SHARE_OF_MEMORY, ROWS_INLINE_MAX, STUCK_AFTER,
    TURN_WAIT,
};
use crate::places::Places;
use crate::rights::{self, Action};
use crate::searches::Searches;
use crate::session::Session;

/// The server's settings, as far as statements go by them.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Most threads of one search; `None`: those that are idle.
    pub threads_per_query_max: Option<usize>,
    /// A search's time; `None`: as long as it takes.
    pub query_time_max: Option<Duration>,
    /// Memory of the rows that one search keeps, in bytes.
    pub search_memory_bytes: u64,
    /// Every client may have a backup written; else those on a unix socket.
    pub backups_are_open: bool,
    /// Names and values for SHOW VARIABLES.
    pub variables: Vec<(String, String)>,
}

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
    /// The searches that run.
    pub searches: Arc<Searches>,
    /// The memory of requests.
    pub budget: Arc<Budget>,
    /// The open connections.
    pub places: Places,
    /// Who makes many rows at once.
    turns: Semaphore,
    bounds: RwLock<Arc<Bounds>>,
    engine: OnceLock<Handle>,
    stopping: watch::Sender<bool>,
    next_session: AtomicU64,
    damaged: Mutex<BTreeSet<String>>,
}

impl Node {
    /// A node that still recovers: [`Node::serve`] opens it for statements.
    /// `threads` search at the same time; requests and kept conditions have their shares of `memory_bytes`.
    pub fn new(memory_bytes: u64, threads: usize, bounds: Bounds, faults: Faults) -> Node {
        Node {
            clock: Clock::start(),
            counters: Counters::default(),
            faults,
            acknowledged: Notify::new(),
            searches: Arc::new(Searches::new(
                threads,
                memory_bytes / FILTER_SHARE_OF_MEMORY,
            )),
            budget: Budget::new(memory_bytes / REQUEST_SHARE_OF_MEMORY, BUDGET_WAIT),
            turns: Semaphore::new(threads),
            bounds: RwLock::new(Arc::new(bounds)),
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

    /// The engine, once recovery is over. Clients reach it by [`Node::snapshot`] and [`Node::submit`].
    pub(crate) fn engine(&self) -> Result<&Handle, Failure> {
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

    /// Distributions of the engine's work, once recovery is over.
    pub fn work(&self) -> Option<&Work> {
        self.engine.get().map(Handle::work)
    }

    /// Every number there is: the server's, then the engine's once recovery is over.
    pub fn samples(&self) -> Vec<Sample> {
        let mut samples = vec![Sample {
            status: "uptime",
            metric: "seine_uptime_seconds",
            help: "Seconds since the start.",
            value: self.clock.steady_us(),
        }];
        samples.extend(self.counters.samples());
        samples.push(counters::requests(&self.budget));
        samples.extend(counters::filters(&self.searches.filters));
        if let Some(engine) = self.engine.get() {
            samples.extend(counters::engine::samples(&engine.status()));
            samples.push(Sample {
                status: "engine_turn_us",
                metric: "seine_engine_turn_age_seconds",
                help: "Age of the engine's turn under way; 0: it rests.",
                value: self.turn_us(engine),
            });
        }
        samples
    }

    /// Whether the client of a session may do this.
    ///
    /// # Errors
    /// `NOT_PERMITTED`.
    pub fn permit(&self, session: &Session, action: Action<'_>) -> Result<(), Failure> {
        rights::check(session, self.bounds().backups_are_open, action)
    }

    /// The tables as they are now, for this action.
    ///
    /// # Errors
    /// As [`Node::permit`]; `RECOVERING`.
    pub fn snapshot(
        &self,
        session: &Session,
        action: Action<'_>,
    ) -> Result<Arc<Snapshot>, Failure> {
        self.permit(session, action)?;
        Ok(self.engine()?.snapshot())
    }

    /// Sends a command and waits until what it did is durable.
    ///
    /// # Errors
    /// As [`Node::permit`]; `RECOVERING`; the engine's.
    pub async fn submit(&self, session: &Session, command: Command) -> Result<Reply, Failure> {
        Ok(self.submit_raw(session, command).await??)
    }

    /// As [`Node::submit`]; the inner error is the engine's, for who wants its facts.
    pub async fn submit_raw(
        &self,
        session: &Session,
        command: Command,
    ) -> Result<Result<Reply, Error>, Failure> {
        rights::each(&command, &mut |action| self.permit(session, action))?;
        let (sender, answer) = oneshot::channel();
        let reply = Box::new(move |result| {
            // The client is gone; whoever closes its session tells the engine.
            let _ = sender.send(result);
        });
        session.has_asked.store(true, Ordering::Relaxed);
        self.engine()?.submit(session.id, command, reply)?;
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

    /// Tells the engine that a session is over, if it knows of it.
    pub fn close_session(&self, session: &Session) {
        if session.has_asked.swap(false, Ordering::Relaxed)
            && let Some(engine) = self.engine.get()
        {
            // Refused only by an engine that has ended, and its sessions with it.
            let _ = engine.submit(session.id, Command::SessionClosed, Box::new(|_| {}));
        }
    }

    /// The bounds as they are now.
    pub fn bounds(&self) -> Arc<Bounds> {
        Arc::clone(&self.bounds.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes new bounds for the statements that begin from now on.
    pub fn set_bounds(&self, bounds: Bounds) {
        *self.bounds.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(bounds);
    }

    /// Asks every connection to end after its statement.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Becomes true when the server stops.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// A session number for one request of a door without sessions.
    pub fn next_session(&self) -> SessionId {
        SessionId(self.next_session.fetch_add(1, Ordering::Relaxed))
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
