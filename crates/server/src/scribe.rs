//! The Scribe door: Thrift calls of Scribe's clients, on their way to the journal and to the collector's stores.
//!
//! # Example
//! A client sends `Log` with two messages of `web` and one of `junk`, which no store takes:
//!
//! | | function | what it does |
//! |---|---|---|
//! | 1 | `connection.rs::receive` | reads one Thrift message |
//! | 2 | [`Collector::decide`] | counts `junk` as bad and drops it; gives the two of `web` as one [`engine::Messages`] |
//! | 3 | `Node::submit` | `Command::Collect`: one record in the journal, synced as the category asks |
//! | 4 | `log.rs::log` | OK |
//! | 5 | the collector's threads | write both messages to the store of `web`, at its own pace |
//!
//! What cannot be taken now is answered TRY_LATER: too many bytes on their way to stores, a full mailbox, a full disk, a server
//! that starts or stops. What can never be taken is answered by a Thrift exception, so that a client does not send it for ever.
//!
//! fb303's `shutdown`, `reinitialize` and `setOption` are obeyed for clients on this machine and for the addresses of the setting
//! `scribe_admin`. Others are refused, counted and logged once a second.

mod answer;
mod connection;
mod follow;
mod intake;
mod log;
mod tables;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use collect::config::{self, Configuration, Defaults, Problem, Severity};
use collect::store::Surroundings;
use collect::store::build;
use collect::{Changed, Collector, Counters, Now, Positions, Tables};
use disk::RealDisk;
use engine::{Command, Definition, Handle};
use session::errors::{self, Failure};
use tokio::sync::Notify;

pub(crate) use self::follow::{Followers, Following, Waiting};
pub(crate) use self::intake::{Intake, Sender};
use crate::listen::Listener;
use crate::server::{OWN_SESSION, Server};
use crate::settings::Settings;
use crate::sparse::Sparse;

/// Longest stop of the collector: what is not in a store by then is in a spool or in the journal.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// Errors of the configuration that the status tells; the log has all but those of tables.
const ERRORS_TOLD: usize = 3;

/// What all connections of the door share.
pub(crate) struct Scribe {
    /// Set once recovery is over.
    collector: OnceLock<Collector>,
    /// Scribe's counters. The collector counts in them too.
    counters: Arc<Counters>,
    /// Problems of the configuration that make the status WARNING.
    trouble: Mutex<Option<String>>,
    /// Options of fb303, which nothing reads but `getOption`.
    options: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
    /// Clients that are shown messages as they are taken.
    pub(crate) followers: Arc<Followers>,
    /// A client asked to read the configuration again.
    pub(crate) reload_asked: Notify,
    /// A client asked to stop the server.
    pub(crate) stop_asked: Notify,
    /// Open connections, for `max_conn`.
    connections: AtomicU64,
    /// Start of the server in seconds since 1970.
    alive_since_s: i64,
    told: Told,
}

/// Log lines that strangers cause.
#[derive(Default)]
struct Told {
    /// Bytes that are not Thrift.
    broken: Sparse,
    /// Messages for which there is no memory.
    no_memory: Sparse,
    /// Calls that only administrators may make.
    not_permitted: Sparse,
}

/// A configuration as it was read, and the problems to report.
pub(crate) struct Loaded {
    pub(crate) configuration: Configuration,
    problems: Vec<Problem>,
    /// Tables that could not be made as the configuration says, each with the reason.
    refused: Vec<String>,
}

/// Reads the configuration that the settings name; without one every category goes to a file below the data directory.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn load(settings: &Settings) -> Result<Loaded, String> {
    let Some(path) = &settings.scribe_config else {
        return Ok(Loaded {
            configuration: Configuration::without_file(),
            problems: Vec::new(),
            refused: Vec::new(),
        });
    };
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    let (configuration, problems) = config::read(&text, &name, settings.scribe_defaults);
    for problem in &problems {
        match problem.severity {
            Severity::Error => tracing::error!("{problem}"),
            Severity::Warning => tracing::warn!("{problem}"),
        }
    }
    Ok(Loaded {
        configuration,
        problems,
        refused: Vec::new(),
    })
}

impl Loaded {
    /// The first errors, as Scribe's status text; `None`: no error.
    fn trouble(&self) -> Option<String> {
        let errors = self
            .problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error);
        let told: Vec<String> = errors.take(ERRORS_TOLD).map(ToString::to_string).collect();
        (!told.is_empty()).then(|| format!("Bad config - {}", told.join("; ")))
    }

    /// As [`trouble`](Self::trouble), with the tables that could not be made.
    fn all_trouble(&self) -> Option<String> {
        self.trouble().or_else(|| {
            self.refused
                .first()
                .map(|why| format!("Bad config - {why}"))
        })
    }
}

impl Scribe {
    /// The door of a server that started at this time, in microseconds since 1970.
    pub(crate) fn new(started_us: i64) -> Scribe {
        Scribe {
            collector: OnceLock::new(),
            counters: Arc::default(),
            trouble: Mutex::default(),
            options: Mutex::default(),
            followers: Arc::default(),
            reload_asked: Notify::new(),
            stop_asked: Notify::new(),
            connections: AtomicU64::new(0),
            alive_since_s: started_us / 1_000_000,
            told: Told::default(),
        }
    }

    /// Makes the tables of a configuration's stores, unless they exist. What cannot be made is logged and told by the status; its
    /// messages are answered TRY_LATER.
    pub(crate) async fn make_tables(&self, server: &Server, loaded: &mut Loaded) {
        let refused = tables::make(server, &loaded.configuration).await;
        let more = refused.len().saturating_sub(ERRORS_TOLD);
        for (table, why) in refused.into_iter().take(ERRORS_TOLD) {
            tracing::error!(
                table,
                why,
                more,
                "a table of Scribe's configuration cannot be made as it says; more: tables behind these"
            );
            loaded.refused.push(format!("table '{table}': {why}"));
        }
    }

    /// Starts the collector once the engine has recovered. It takes up what its spools and the journal hold. `seed`: start of its
    /// random numbers.
    ///
    /// # Errors
    /// A thread cannot be started, or the disk cannot be opened.
    pub(crate) fn start(
        &self,
        server: &Arc<Server>,
        engine: &Handle,
        loaded: Loaded,
        seed: u64,
    ) -> Result<(), String> {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = loaded.all_trouble();
        let settings = server.settings();
        let data = std::path::absolute(&settings.data)
            .map_err(|error| format!("{}: {error}", settings.data.display()))?;
        let folder = |name: &str| {
            let path = data.join(name);
            path.to_string_lossy().trim_start_matches('/').to_owned()
        };
        let surroundings = Surroundings {
            disk: Arc::new(RealDisk::whole(&data)),
            folder: folder("collected"),
            spools: folder("spools"),
            host_name: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            counters: self.counters.clone(),
            max_queue_size: loaded.configuration.max_queue_size,
            queue_bytes: Arc::default(),
            tables: Arc::new(ByEngine(engine.clone())),
            seed,
        };
        let clock = Arc::clone(server);
        let (upto, cursors) = engine.collected();
        let collector = Collector::start(
            loaded.configuration,
            Box::new(build),
            surroundings,
            engine.handover(),
            Arc::new(InJournal(engine.clone())),
            (*upto, cursors.clone().into_iter().collect()),
            Arc::new(move || now(&clock)),
        )?;
        // Recovery ends once.
        let _ = self.collector.set(collector);
        Ok(())
    }

    /// Reads the configuration again. One with an error is not used: the stores go on as they are, and the status says why.
    pub(crate) async fn reload(&self, server: &Server) {
        let (used, trouble) = match self.reloaded(server).await {
            Ok(trouble) => (true, trouble),
            Err(trouble) => (false, Some(trouble)),
        };
        match (used, &trouble) {
            (true, _) => tracing::info!("Scribe's configuration was read again"),
            (false, trouble) => {
                let trouble = trouble.as_deref().unwrap_or_default();
                tracing::error!("Scribe's configuration stays as it was: {trouble}");
            }
        }
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// What is wrong with the configuration that is used from now on, if anything. Error: why it is not used.
    async fn reloaded(&self, server: &Server) -> Result<Option<String>, String> {
        let read = tokio::task::block_in_place(|| load(&server.settings()));
        let mut loaded = read.map_err(|error| format!("Bad config - {error}"))?;
        if let Some(trouble) = loaded.trouble() {
            return Err(trouble);
        }
        let Some(collector) = self.collector.get() else {
            return Ok(None);
        };
        self.make_tables(server, &mut loaded).await;
        let trouble = loaded.all_trouble();
        tokio::task::block_in_place(|| collector.reload(loaded.configuration))?;
        Ok(trouble)
    }

    /// Ends the collector: what stores have not taken goes to spools, and the journal notes how far they are.
    pub(crate) fn stop(&self) {
        if let Some(collector) = self.collector.get() {
            collector.stop(STOP_WITHIN);
        }
    }

    /// Whether a store takes a category now.
    ///
    /// # Errors
    /// `RECOVERING`; `INVALID` for a name that no category has.
    pub(crate) fn takes(&self, category: &[u8]) -> Result<bool, Failure> {
        let Some(collector) = self.collector.get() else {
            let why = "the server starts: try again later";
            return Err(Failure::new(errors::RECOVERING, why));
        };
        collector
            .takes(category)
            .map_err(|why| Failure::new(errors::INVALID, why))
    }

    /// Counts a connection; `None` where `max_conn` of the configuration are open.
    fn connect(&self) -> Option<Connected<'_>> {
        let most = self.collector.get().map_or(0, Collector::max_conn);
        let before = self.connections.fetch_add(1, Ordering::Relaxed);
        let connected = Connected(&self.connections);
        (most == 0 || before < most).then_some(connected)
    }
}

/// One of the connections that `max_conn` counts, until it is dropped.
struct Connected<'a>(&'a AtomicU64);

impl Drop for Connected<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The time, as the collector takes it.
pub(crate) fn now(server: &Server) -> Now {
    let unix_us = server.clock.unix_us();
    Now {
        unix_us,
        utc_offset_s: utc_offset_s(unix_us),
        steady_us: server.clock.steady_us(),
    }
}

/// Local time minus UTC, in seconds; 0 where the system's time zone is not known.
fn utc_offset_s(unix_us: i64) -> i32 {
    let moment = jiff::Timestamp::from_microsecond(unix_us).unwrap_or_default();
    jiff::tz::TimeZone::system().to_offset(moment).seconds()
}

/// The engine's tables.
struct ByEngine(Handle);

impl Tables for ByEngine {
    fn definition(&self, name: &str) -> Option<Arc<Definition>> {
        self.0.snapshot().definition(name).ok()
    }
}

/// Notes positions in the engine's journal.
struct InJournal(Handle);

impl Positions for InJournal {
    fn collected(&self, upto: u64, cursors: Changed) -> Result<(), String> {
        let (sender, outcome) = mpsc::channel();
        let reply = Box::new(move |result| drop(sender.send(result)));
        let submitted = self
            .0
            .submit(OWN_SESSION, Command::Collected { upto, cursors }, reply);
        submitted.map_err(|error| error.to_string())?;
        match outcome.recv() {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the engine has ended".to_owned()),
        }
    }

    fn may_remove(&self) -> bool {
        !self.0.is_backing_up()
    }
}

/// Serves one listener until the server stops.
pub(crate) async fn listen(server: Arc<Server>, scribe: Arc<Scribe>, listener: Listener) {
    let connected = |stream| connection::serve(Arc::clone(&server), Arc::clone(&scribe), stream);
    server.accept("scribe", listener, connected).await;
}

/// What [`check`] found.
pub struct CheckedScribe {
    /// One line each, in the order of the file.
    pub problems: Vec<String>,
    /// Stores that a server would have.
    pub stores: usize,
    /// Whether no problem is an error.
    pub is_sound: bool,
}

/// Checks a configuration of Scribe without a server, by the defaults of 2.2.
///
/// # Errors
/// The file cannot be read.
pub fn check(path: &Path) -> Result<CheckedScribe, String> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    let (configuration, problems) = config::read(&text, &name, Defaults::V2_2);
    Ok(CheckedScribe {
        stores: configuration.stores.len(),
        is_sound: problems
            .iter()
            .all(|problem| problem.severity == Severity::Warning),
        problems: problems.iter().map(ToString::to_string).collect(),
    })
}
