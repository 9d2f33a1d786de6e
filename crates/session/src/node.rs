//! State that all connections of one server share, and their only way to the engine.

use std::collections::BTreeSet;
use std::ops::Add;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use engine::{
    Answer, Command, Control, Damaged, Definition, EngineStatus, Envelope, Error, Handle,
    InsertedRows, Interrupt, Kind, MadeRows, MadeWords, Now, Reason, Reply, SessionId, Snapshot,
    Wanted, Work, Write,
};
use relation::request::tables_of;
use tokio::sync::{Notify, oneshot, watch};

use crate::budget::Budget;
use crate::clock::Clock;
use crate::coming::Coming;
use crate::counters::{self, Counters, Sample};
use crate::errors::{self, Failure};
use crate::faults::Faults;
use crate::freeing::Freeing;
use crate::limits::{
    BUDGET_WAIT, FILTER_SHARE_OF_MEMORY, INLINE_UNITS, REQUEST_SHARE_OF_MEMORY, STUCK_AFTER,
};
use crate::list_variables::ListVariables;
use crate::movable::{is_on_loop, long_turn, long_turn_of};
use crate::places::Places;
use crate::query_log::{Pending, QueryLog, Said, tell_percolation};
use crate::rights::{self, Action, Deed};
use crate::scheduler::{self, Scheduler};
use crate::searches::{Search, SearchRequest, Searches};
use crate::session::Session;
use crate::temporary::TableMemory;

/// The settings that statements obey. A reload replaces them as a whole ([`Node::set_bounds`]).
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Most threads of one search; `None`: every idle thread of the pool.
    pub threads_per_query_max: Option<usize>,
    /// Longest time of a search; `None`: no limit.
    pub query_time_max: Option<Duration>,
    /// Most memory for the rows that one search keeps, in bytes.
    pub search_memory_bytes: u64,
    /// Whether every client may write a backup. If not, only clients on a unix socket may.
    pub backups_are_open: bool,
    /// Names and values for SHOW VARIABLES.
    pub variables: Vec<(String, String)>,
}

/// Changes a setting by its name: to a value, or to its default.
pub type SetSetting = dyn Fn(&str, Option<&str>) -> Result<(), Failure> + Send + Sync;

/// The shared state. A process has one; connections hold it by reference count.
pub struct Node {
    /// Source of the time of day and of steady time.
    pub clock: Clock,
    /// Counters of the doors, for SHOW STATUS and `/metrics`.
    pub counters: Counters,
    /// Faults that a test asked for; none in production.
    pub faults: Faults,
    /// Wakes event streams when an HTTP request has ended or returned rows of a queue.
    pub acknowledged: Notify,
    /// The running searches and the threads they share.
    pub searches: Arc<Searches>,
    /// Memory of requests.
    pub budget: Arc<Budget>,
    /// Rows that large INSERTs are about to store.
    coming: Coming,
    freeing: Freeing,
    /// Memory of temporary tables.
    pub(crate) table_memory: TableMemory,
    /// The lists that SET GLOBAL made.
    shared_lists: Mutex<ListVariables>,
    /// The open connections.
    pub places: Places,
    /// The turns of long work.
    pub scheduler: Arc<Scheduler>,
    bounds: RwLock<Arc<Bounds>>,
    set_setting: OnceLock<Box<SetSetting>>,
    engine: OnceLock<Handle>,
    stopping: watch::Sender<bool>,
    next_session: AtomicU64,
    /// The query log.
    pub query_log: Arc<QueryLog>,
    damaged: Mutex<BTreeSet<String>>,
}

/// Memory that rows made beforehand have asked for in vain, in bytes; 0: there was enough.
#[derive(Default)]
struct Lacked {
    /// For the rows, in the engine.
    rows: AtomicU64,
    /// For what requests take.
    requests: AtomicU64,
}

impl Lacked {
    /// Keeps the last that was lacking of each.
    fn note(&self, rows: u64, requests: u64) {
        for (kept, lacking) in [(&self.rows, rows), (&self.requests, requests)] {
            if lacking > 0 {
                kept.store(lacking, Ordering::Relaxed);
            }
        }
    }
}

impl Node {
    /// A node without an engine: statements fail with `RECOVERING` until [`Node::serve`] is called.
    ///
    /// At most `threads` threads search at a time. Requests get a quarter of `memory_bytes`
    /// ([`REQUEST_SHARE_OF_MEMORY`]), temporary tables among them, and cached conditions one 32nd
    /// ([`FILTER_SHARE_OF_MEMORY`]).
    pub fn new(memory_bytes: u64, threads: usize, bounds: Bounds, faults: Faults) -> Node {
        let budget = Budget::new(memory_bytes / REQUEST_SHARE_OF_MEMORY, BUDGET_WAIT);
        let clock = Clock::start();
        let searches = Arc::new(Searches::new(
            threads,
            memory_bytes / FILTER_SHARE_OF_MEMORY,
        ));
        let scheduler = Arc::new(Scheduler::new(threads, clock, searches.pool.clone()));
        Node {
            clock,
            counters: Counters::default(),
            faults,
            acknowledged: Notify::new(),
            scheduler,
            searches,
            table_memory: TableMemory::of(&budget),
            budget,
            coming: Coming::new(memory_bytes),
            freeing: Freeing::start(),
            bounds: RwLock::new(Arc::new(bounds)),
            set_setting: OnceLock::new(),
            engine: OnceLock::new(),
            stopping: watch::Sender::new(false),
            next_session: AtomicU64::new(1),
            shared_lists: Mutex::default(),
            places: Places::default(),
            query_log: Arc::default(),
            damaged: Mutex::default(),
        }
    }

    /// Ends recovery: statements go to this engine from now on.
    pub fn serve(&self, engine: Handle) {
        // The start of the server calls this once. A second engine would be ignored.
        let _ = self.engine.set(engine);
    }

    /// The variables of all sessions that are lists.
    pub(crate) fn shared_lists(&self) -> MutexGuard<'_, ListVariables> {
        self.shared_lists
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The engine. Clients reach it only by [`Node::snapshot`] and [`Node::submit`], which check rights.
    ///
    /// # Errors
    /// `RECOVERING`, until [`Node::serve`].
    pub(crate) fn engine(&self) -> Result<&Handle, Failure> {
        self.engine.get().ok_or_else(|| {
            Failure::new(
                errors::RECOVERING,
                "the server is starting: it reads its journal",
            )
        })
    }

    /// Bytes of collected messages that neither stores nor spools have yet, as of the last batch; 0 during recovery.
    pub fn messages_pending_bytes(&self) -> u64 {
        self.engine()
            .map_or(0, |engine| engine.status().messages_pending_bytes)
    }

    /// Both times, as the engine takes them.
    pub fn now(&self) -> Now {
        Now {
            unix_us: self.clock.unix_us(),
            steady_us: self.clock.steady_us(),
        }
    }

    /// Whether every statement is answered, writes included; `/readyz` asks it.
    ///
    /// # Errors
    /// `RECOVERING`; `STOPPING`; `STUCK` if a turn of the engine lasts longer than [`STUCK_AFTER`]; `DISK_FULL`.
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

    /// Age of the engine's current turn, in microseconds; 0 while the engine rests. Does not wait for the engine.
    fn turn_us(&self, engine: &Handle) -> u64 {
        let since_us = engine.turn_since_us();
        since_us.map_or(0, |since_us| {
            self.clock.steady_us().saturating_sub(since_us)
        })
    }

    /// Histograms of the engine's work; `None` during recovery.
    pub fn work(&self) -> Option<&Work> {
        self.engine.get().map(Handle::work)
    }

    /// All numbers: the server's, then the engine's once recovery is over.
    pub fn samples(&self) -> Vec<Sample> {
        let mut samples = vec![Sample {
            status: "uptime",
            metric: "seine_uptime_seconds",
            help: "Seconds since the start.",
            value: self.clock.steady_us(),
        }];
        samples.extend(self.counters.samples());
        samples.push(Sample {
            status: "query_log_lost",
            metric: "seine_query_log_lost_total",
            help: "Searches that found no room on their way to the query log, or could not be written to it.",
            value: self.query_log.lost(),
        });
        samples.push(Sample {
            status: "query_log_rows_lost",
            metric: "seine_query_log_rows_lost_total",
            help: "Searches of the query log that did not become rows of its table.",
            value: self.query_log.rows_lost(),
        });
        samples.push(counters::requests(&self.budget));
        samples.extend(counters::long_turns(self.scheduler.status()));
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

    /// Checks whether the client of a session may do this; to each table, if several are searched as one.
    ///
    /// # Errors
    /// `NOT_PERMITTED`.
    pub fn permit(&self, session: &Session, action: Action<'_>) -> Result<(), Failure> {
        let backups_are_open = self.bounds().backups_are_open;
        let check = |action| rights::check(session, backups_are_open, action);
        match action {
            Action(_, None) => check(action),
            Action(deed, Some(name)) => {
                tables_of(name).try_for_each(|table| check(Action(deed, Some(table))))
            }
        }
    }

    /// The published snapshot of all tables, for this action. Does not wait for the engine.
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

    /// Sends a command to the engine and waits for its reply. The reply to a write comes after its sync.
    ///
    /// # Errors
    /// As [`Node::permit`]; `RECOVERING`; the engine's own.
    pub async fn submit(&self, session: &Session, command: Command) -> Result<Reply, Failure> {
        Ok(self.submit_raw(session, command).await??)
    }

    /// As [`Node::submit`]. The inner error is the engine's, for callers that look at its facts.
    ///
    /// A command that reads rows, or inserts many, is listed as running meanwhile, and KILL ends it.
    pub async fn submit_raw(
        &self,
        session: &Session,
        command: Command,
    ) -> Result<Result<Reply, Error>, Failure> {
        if command.inserts_much() || self.inserts_long(&command) {
            return Box::pin(self.insert_much(session, command)).await;
        }
        let Some(table) = command.reads_rows_of() else {
            return self.send(session, command, None, Vec::new()).await;
        };
        let search = self.list(session, format!("rows of '{table}' to change"));
        let interrupt = Arc::clone(&search.interrupt);
        self.submit_planned(session, command, interrupt).await
    }

    /// Whether a command inserts rows that may take long to make: standing queries with regular expressions, JSON.
    fn inserts_long(&self, command: &Command) -> bool {
        let Some(engine) = self.engine.get() else {
            return false;
        };
        let is_long = |insert: &InsertedRows<'_>| {
            let definition = engine.snapshot().definition(insert.table);
            definition.is_ok_and(|of| insert.is_made(&of) && insert.is_long_behind(&of, 0))
        };
        command.inserts().iter().any(is_long)
    }

    /// Lists a command as running, so that KILL ends it until the value is dropped or the command is decided.
    pub(crate) fn list(&self, session: &Session, text: String) -> Search {
        self.searches.begin(SearchRequest {
            session: session.id.0,
            since_us: session.started_us,
            until_us: None,
            text: text.into(),
            // A write is done even if its client has not waited for the answer.
            client: None,
        })
    }

    /// Sends a large INSERT. Its rows are converted and analysed, or its standing queries compiled, here, in a turn: then the engine's
    /// thread, which all writers wait for, has less to do. KILL ends it before it is decided.
    async fn insert_much(
        &self,
        session: &Session,
        command: Command,
    ) -> Result<Result<Reply, Error>, Failure> {
        let inserts = command.inserts();
        let table = inserts.first().map_or("", |first| first.table);
        let search = self.list(session, format!("rows for '{table}'"));
        let stop = Some(Arc::clone(&search.interrupt));
        let sent_bytes = command.bytes();
        let definitions = self.definitions_to_make(session, &inserts)?;
        let Some(kind) = definitions.iter().flatten().next().map(|it| &it.kind) else {
            return self.send(session, command, stop, Vec::new()).await;
        };
        let to_make = || inserts.iter().zip(&definitions);
        let to_make = || to_make().filter_map(|(insert, of)| of.as_deref().map(|of| (insert, of)));
        let wanted = to_make().map(|(insert, of)| insert.wanted(of));
        let wanted = wanted.fold(Wanted::default(), Wanted::add);
        let held = self.budget.grant();
        let engine = self.engine()?;
        let left = || engine.status().memory_left(self.coming.memory());
        let coming = self.coming.wait(left, wanted, &held, &search.interrupt);
        let coming = coming.await;
        let lacked = Lacked::default();
        let room = |wanted: Wanted| {
            let (bytes, rows) = (coming.of_requests(wanted), wanted.rows as u64);
            let (has_rows, is_free) = (coming.grow(rows, left()), held.cover(bytes).is_ok());
            lacked.note(
                rows * u64::from(!has_rows),
                bytes as u64 * u64::from(!is_free),
            );
            has_rows && is_free
        };
        let interrupt = &search.interrupt;
        let made = self.make(session, &command, &room, interrupt).await?;
        let made = match made {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        let taken = made.iter().flatten().map(MadeRows::bytes);
        held.keep(coming.of_requests(taken.fold(Wanted::default(), Wanted::add)));
        let words: Vec<MadeWords> = made.iter().flatten().map(MadeRows::words).collect();
        let needed = match lacked.requests.into_inner() {
            0 => 0,
            lacked => lacked as usize + sent_bytes, // its values are there, too
        };
        let lacked_rows = lacked.rows.into_inner();
        // Later there is not more memory than there is at most.
        let is_never = needed > self.budget.total_bytes() && !coming.may_fit_later();
        let counts = made.iter().map(|of| of.as_ref().map_or(0, MadeRows::count));
        let mut with_counts = to_make().zip(counts);
        let is_long = with_counts.any(|((insert, of), made)| insert.is_long_behind(of, made));
        let answer = match is_long {
            // The engine's thread would work for as long as it may, while all who write wait, and then refuse them.
            true if needed > 0 && !is_never => Ok(Err(Error::Overloaded)),
            true if lacked_rows > 0 => Ok(Err(self.no_room(kind, &engine.status(), lacked_rows))),
            _ => self.send(session, command, stop, made).await,
        };
        self.freeing.free((words, held));
        match answer {
            Ok(Err(Error::Overloaded)) if is_never => Err(self.budget.too_large(needed)),
            answer => answer,
        }
    }

    /// The definition of the table of each INSERT, if its rows are made beforehand.
    fn definitions_to_make(
        &self,
        session: &Session,
        inserts: &[InsertedRows<'_>],
    ) -> Result<Vec<Option<Arc<Definition>>>, Failure> {
        let of = |insert: &InsertedRows<'_>| {
            let action = Action(Deed::Write, Some(insert.table));
            let definition = self.snapshot(session, action)?.definition(insert.table);
            Ok(definition.ok().filter(|of| insert.is_made(of)))
        };
        inserts.iter().map(of).collect()
    }

    /// Why there is no memory for rows: those in memory go to segments, standing queries stay.
    fn no_room(&self, kind: &Kind, status: &EngineStatus, bytes: u64) -> Error {
        let max = self.coming.most();
        let stays = matches!(kind, Kind::Percolate { .. });
        match stays && status.query_bytes.saturating_add(bytes) > max {
            true => Error::Limit {
                what: "bytes of standing queries",
                max,
            },
            false => Error::Overloaded,
        }
    }

    /// The first rows of the INSERTs in a command, as far as there is `room`. It does not wait for memory: what the statement holds already, others
    /// wait for.
    async fn make(
        &self,
        session: &Session,
        command: &Command,
        room: &(dyn Fn(Wanted) -> bool + Sync),
        interrupt: &Arc<Interrupt>,
    ) -> Result<Result<Vec<Option<MadeRows>>, Error>, Failure> {
        self.long_within(session, interrupt).await;
        let snapshot = self.engine()?.snapshot();
        let made = guarded(self, || Ok(snapshot.make_rows(command, room, interrupt)));
        // The writer looks at the switch, too: it waits for nobody's turn.
        interrupt.leaves_turn();
        made
    }

    /// As [`Node::submit_raw`], of a command that `interrupt` ends, before it is decided. Rows that the engine wants to be chosen by
    /// another thread ([`Reply::Plan`]) are chosen here, in a turn.
    pub async fn submit_planned(
        &self,
        session: &Session,
        mut command: Command,
        interrupt: Arc<Interrupt>,
    ) -> Result<Result<Reply, Error>, Failure> {
        let is_within = matches!(command, Command::Within(_) | Command::Commit);
        loop {
            let stop = Some(Arc::clone(&interrupt));
            let planning = match self.send(session, command, stop, Vec::new()).await? {
                Ok(Reply::Plan(planning)) => planning,
                outcome => return Ok(outcome),
            };
            let held = Arc::new(self.budget.grant());
            let control = Control {
                interrupt: Arc::clone(&interrupt),
                pool: self.searches.pool.clone(),
                memory: Arc::new(held.for_rows(self.bounds().search_memory_bytes)),
                filters: Some(Arc::clone(&self.searches.filters)),
                ..Control::default()
            };
            self.long_within(session, &interrupt).await;
            let planned = guarded(self, || Ok(planning.run(&control)));
            // The writer looks at the switch, too: it waits for nobody's turn.
            interrupt.leaves_turn();
            match planned? {
                Ok(planned) if is_within => {
                    command = Command::Within(Box::new(Command::Write(Write::Planned(planned))));
                }
                Ok(planned) => command = Command::Write(Write::Planned(planned)),
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// Sends a command to the engine, and waits for its reply.
    async fn send(
        &self,
        session: &Session,
        command: Command,
        interrupt: Option<Arc<Interrupt>>,
        made: Vec<Option<MadeRows>>,
    ) -> Result<Result<Reply, Error>, Failure> {
        rights::each(&command, &mut |action| self.permit(session, action))?;
        let (sender, answer) = oneshot::channel();
        let reply = Box::new(move |result| {
            // Fails if the client is gone: then `close_session` tells the engine.
            let _ = sender.send(result);
        });
        session.has_asked.store(true, Ordering::Relaxed);
        self.engine()?.send(Envelope {
            session: session.id,
            command,
            interrupt,
            made,
            reply,
        })?;
        Ok(answer.await.unwrap_or(Err(Error::Stopped)))
    }

    /// A percolation that begins without a statement, for the query log; `None`: it is off. `body`: the client's request.
    pub fn percolates(
        &self,
        session: &Session,
        started_us: u64,
        table: &str,
        body: &[u8],
    ) -> Option<Pending> {
        let (log, client) = (&self.query_log, (session.id.0, &*session.host));
        let said = log.is_on().then(|| Said::new(body));
        let since = (self.clock, started_us);
        Pending::begin(log, since, client, said, |told| {
            tell_percolation(table, told)
        })
    }

    /// Waits for a turn of this session's user; what follows may take long, up to the next wait. See [`crate::movable`].
    pub async fn long(&self, session: &Session) {
        let since_us = self.clock.steady_us();
        long_turn(&session.payer).await;
        session.waited(self.clock.steady_us().saturating_sub(since_us));
    }

    /// Runs a read, which takes the time that it takes in a turn of the session's user. Unless `is_long`, it first runs on this
    /// thread, within [`INLINE_UNITS`] of its switch: most reads end before another thread would have begun. A read that has used
    /// them up begins anew, so `read` must give the same each time. A panic becomes an error of this statement.
    pub async fn read<T>(
        &self,
        session: &Session,
        interrupt: &Arc<Interrupt>,
        is_long: bool,
        mut read: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if !is_long && is_on_loop() {
            interrupt.allow(Some(INLINE_UNITS));
            let done = counted(session, interrupt, || guarded(self, &mut read));
            let is_spent = interrupt.reason() == Some(Reason::Moved);
            interrupt.allow(None);
            if done.is_ok() || !is_spent {
                return done;
            }
        }
        self.long_within(session, interrupt).await;
        counted(session, interrupt, || guarded(self, read))
    }

    /// As [`Node::long`], for work that this switch stops. The work gives way to others where it looks at the switch.
    pub async fn long_within(&self, session: &Session, interrupt: &Arc<Interrupt>) {
        let since_us = self.clock.steady_us();
        long_turn_of(&session.payer, Arc::downgrade(interrupt)).await;
        session.waited(self.clock.steady_us().saturating_sub(since_us));
        scheduler::heeds(interrupt);
    }

    /// The rows of a reply to [`Command::Read`]. Rows that the engine has not read itself are read here, in a turn, within
    /// `control`. A panic of the read becomes an error of this statement.
    pub async fn rows_of(
        &self,
        session: &Session,
        reply: Reply,
        control: &Control,
    ) -> Result<Answer, Error> {
        let reading = match reply {
            Reply::Rows(answer) => return Ok(answer),
            Reply::Reading(reading) => reading,
            _ => {
                let what = "a read was answered without rows".to_owned();
                return Err(Error::Internal { what });
            }
        };
        self.long_within(session, &control.interrupt).await;
        let work = AssertUnwindSafe(|| reading.run(control));
        counted(session, &control.interrupt, || catch_unwind(work)).unwrap_or_else(|_| {
            let what = "panic in a read".to_owned();
            Err(Error::Internal { what })
        })
    }

    /// Tells the engine that a session is over, if it has received a command of it. Rows that the session owns come back.
    pub fn close_session(&self, session: &Session) {
        if session.has_asked.swap(false, Ordering::Relaxed)
            && let Some(engine) = self.engine.get()
        {
            // Only an engine that has ended refuses this, and its sessions ended with it.
            let _ = engine.submit(session.id, Command::SessionClosed, Box::new(|_| {}));
        }
    }

    /// The current bounds.
    pub fn bounds(&self) -> Arc<Bounds> {
        Arc::clone(&self.bounds.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the bounds. Statements that begin from now on obey the new ones.
    pub fn set_bounds(&self, bounds: Bounds) {
        *self.bounds.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(bounds);
    }

    /// Lets SET GLOBAL change settings, by this function.
    pub fn take_settings(&self, set: Box<SetSetting>) {
        // The start of the server calls this once. A second function would be ignored.
        let _ = self.set_setting.set(set);
    }

    /// SET GLOBAL of a setting; `None`: to its default.
    ///
    /// # Errors
    /// `READ_ONLY_VARIABLE`; `INVALID`.
    pub(crate) fn set_setting(&self, name: &str, text: Option<&str>) -> Result<(), Failure> {
        match self.set_setting.get() {
            Some(set) => set(name, text),
            None => Err(Failure::new(
                errors::READ_ONLY_VARIABLE,
                format!("SET GLOBAL {name}: no settings"),
            )),
        }
    }

    /// Asks every connection to end after its statement.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// A receiver whose value becomes true when the server stops.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// A new session number, from 1, unique in this process.
    pub fn next_session(&self) -> SessionId {
        SessionId(self.next_session.fetch_add(1, Ordering::Relaxed))
    }

    /// Records the damaged files that an answer left out; the log names each file once. Gives the warnings for the client.
    pub fn note_damaged(&self, damaged: &Damaged) -> Vec<String> {
        let files = damaged.files();
        if files.is_empty() {
            return Vec::new();
        }
        self.counters
            .answers_damaged
            .fetch_add(1, Ordering::Relaxed);
        self.note_damaged_files(files)
    }

    /// Records damaged files, each with a sentence; the log names each file once. Gives the sentences.
    pub fn note_damaged_files(&self, files: Vec<(String, String)>) -> Vec<String> {
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

    /// Names of the files that searches found damaged since the start, sorted.
    pub fn damaged_files(&self) -> Vec<String> {
        let known = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().cloned().collect()
    }

    /// KILL QUERY: ends the search of a session, or its wait for a row, and leaves its connection open. False if there is neither
    /// search nor connection.
    pub fn kill_search(&self, id: u64) -> bool {
        let is_there = self.searches.kill(id) || self.places.get(id).is_some();
        if let Some(engine) = self.engine.get().filter(|_| is_there) {
            // Only an engine that has ended refuses this, and its waits ended with it.
            let _ = engine.submit(SessionId(id), Command::EndWait, Box::new(|_| {}));
        }
        is_there
    }

    /// KILL: ends a connection and its search, or the search of an HTTP request. False if neither has that number.
    pub fn kill(&self, id: u64) -> bool {
        let searched = self.searches.kill(id);
        self.places.get(id).map_or(searched, |peer| {
            peer.killed.notify_one();
            true
        })
    }
}

/// Reads, and tells the entry of the query log, if there is one, what was read from devices. On a thread that serves sockets a read
/// is short, and not each is counted there.
pub(crate) fn counted<T>(session: &Session, interrupt: &Interrupt, read: impl FnOnce() -> T) -> T {
    let logged = session.logged.as_ref();
    let Some(logged) = logged.filter(|it| it.counts_short_reads() || !is_on_loop()) else {
        return read();
    };
    interrupt.asks_for_reads();
    let Some(counts) = interrupt.counts_reads() else {
        return read();
    };
    let done = read();
    drop(counts);
    logged.read(interrupt.take_reads());
    done
}

/// Runs a read and turns a panic into an error of this statement. That is safe: a read changes only values of its own and
/// reads an immutable snapshot, so a panic leaves nothing half changed.
pub fn guarded<T>(node: &Node, read: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result,
        Err(_) => {
            counters::add(&node.counters.panics, 1);
            Err(Failure::new(
                errors::INTERNAL,
                "internal error; the server's log has the detail",
            ))
        }
    }
}
