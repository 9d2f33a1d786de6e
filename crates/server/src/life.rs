//! The life of a server, from start to end.
//!
//! 1. It claims the data directory.
//! 2. It opens the doors, which answer "recovering".
//! 3. It recovers, then prints `ready`.
//! 4. It serves until a signal.
//! 5. It lets connections finish, writes everything into files, and ends.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use disk::RealDisk;
use engine::{Claim, Command, Engine, Handle, Options, Recovered};
use rustix::process::Resource;
use session::Faults;
use session::limits::{FILTER_SHARE_OF_MEMORY, REQUEST_SHARE_OF_MEMORY};
use tokio::sync::oneshot;

use crate::limits::{
    IDLE_THREAD, LISTENS_AGAIN_WITHIN, LOOP_THREADS_MIN, ROOM_LOOK_EVERY, STOP_ENGINE_GRACE,
    STOP_GRACE,
};
use crate::listen::{Address, Listener};
use crate::logs::Logs;
use crate::query_log::QueryLogFile;
use crate::scribe::{Loaded, Scribe};
use crate::server::{OWN_SESSION, Server};
use crate::settings::{BadSetting, Settings};
use crate::signals::{Signal, Signals};

/// Serves until SIGTERM or SIGINT. `reload` reads all sources of the settings again, on SIGHUP. `announce` gets the line with
/// the doors' addresses once recovery is over. The exit code tells whether the stop succeeded.
pub fn serve(
    settings: Settings,
    reload: &dyn Fn() -> Result<Settings, BadSetting>,
    announce: &dyn Fn(&str),
) -> ExitCode {
    let logs = crate::logs::start(&settings.live.log, settings.log_format);
    crate::logs::log_panics();
    raise_file_limit();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.max(LOOP_THREADS_MIN))
        // Long work runs on threads beside the loop's. An idle one keeps up to a mebibyte, so it ends soon.
        .thread_keep_alive(IDLE_THREAD)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "cannot start threads");
            return ExitCode::FAILURE;
        }
    };
    let ended = runtime.block_on(Life::run(settings, &logs, reload, announce));
    // A connection that did not end in time must not keep the process alive.
    runtime.shutdown_timeout(Duration::from_secs(1));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            tracing::error!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Raises the limit of file descriptors to its maximum: a connection takes two, and the usual limit is 1,024.
fn raise_file_limit() {
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = rustix::process::setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
}

struct Life<'a> {
    server: Arc<Server>,
    scribe: Arc<Scribe>,
    query_log: QueryLogFile,
    /// The engine; `None` during recovery.
    engine: Option<Handle>,
    logs: &'a Logs,
    reload: &'a dyn Fn() -> Result<Settings, BadSetting>,
    announce: &'a dyn Fn(&str),
    signals: Signals,
}

/// Messages of the engine's thread, in this order.
struct EngineThread {
    opened: oneshot::Receiver<(Handle, Recovered)>,
    ended: oneshot::Receiver<Result<(), engine::Error>>,
}

impl Life<'_> {
    async fn run(
        settings: Settings,
        logs: &Logs,
        reload: &dyn Fn() -> Result<Settings, BadSetting>,
        announce: &dyn Fn(&str),
    ) -> Result<(), String> {
        let faults = Faults::read(&std::env::var("SEINE_FAULTS").unwrap_or_default());
        if faults.any() {
            tracing::warn!("SEINE_FAULTS is set: this server fails on purpose");
        }
        for name in crate::settings::unknown_variables(std::env::vars().map(|(name, _)| name)) {
            tracing::warn!(name, "no setting has this name in the environment");
        }
        warn_of_readable_secrets(&settings);
        let signals =
            Signals::new().map_err(|error| format!("cannot listen for signals: {error}"))?;
        let server = Arc::new(Server::new(settings, faults));
        let (set, logs_of_set) = (Arc::downgrade(&server), logs.clone());
        server.take_settings(Box::new(move |name, text| match set.upgrade() {
            Some(server) => server.set_global(name, text, &logs_of_set),
            None => Ok(()), // the process ends
        }));
        server
            .searches
            .watch(server.clock, &server.scheduler)
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        let mut life = Life {
            query_log: QueryLogFile::default(),
            scribe: Arc::new(Scribe::new(server.clock.unix_us())),
            server,
            engine: None,
            logs,
            reload,
            announce,
            signals,
        };
        // The directory is claimed before a port is bound: a second server on it never reaches a client.
        let loaded = crate::scribe::load(&life.server.settings())?;
        let claim = claim(&life.server).map_err(|error| error.to_string())?;
        // A second server with these settings does not come here, and so leaves the lines of the first alone.
        life.query_log = QueryLogFile::begin(&life.server)?;
        let ready = life.open_doors(&loaded).await?;
        let engine = life.start_engine(claim);
        let ended = life.live(engine, loaded, &ready).await;
        tokio::task::block_in_place(|| life.query_log.end());
        ended
    }

    /// Binds every address and begins to answer, with "recovering" for now. Gives the line to print when ready.
    async fn open_doors(&self, loaded: &Loaded) -> Result<String, String> {
        let settings = self.server.settings();
        let mysql = bind(&settings.mysql).await?;
        let http = bind(&settings.http).await?;
        let scribe = match bind(&scribe_addresses(&settings, loaded)).await {
            // A second server on this machine needs no Scribe door unless it asks for one.
            Err(why) if !settings.is_scribe_given && loaded.configuration.port == 0 => {
                tracing::warn!(
                    "{why}; the Scribe door stays closed: give it an address with --scribe"
                );
                Vec::new()
            }
            bound => bound?,
        };
        let scribe_names = match scribe.is_empty() {
            true => "off".to_owned(),
            false => names(&scribe),
        };
        let syslog = crate::syslog::bind(&settings).await?;
        let mut ready = format!(
            "ready mysql={} http={} scribe={scribe_names}",
            names(&mysql),
            names(&http),
        );
        tracing::info!(
            mysql = names(&mysql),
            http = names(&http),
            scribe = scribe_names,
            "listening"
        );
        for (name, addresses) in syslog.names() {
            tracing::info!(addresses, "listening for {name}");
            ready.push_str(&format!(" {name}={addresses}"));
        }
        syslog.listen(&self.server, &self.scribe);
        for listener in mysql {
            tokio::spawn(crate::mysql::listen(Arc::clone(&self.server), listener));
        }
        for listener in http {
            tokio::spawn(crate::http::listen(
                Arc::clone(&self.server),
                Arc::clone(&self.scribe),
                listener,
            ));
        }
        for listener in scribe {
            tokio::spawn(crate::scribe::listen(
                Arc::clone(&self.server),
                Arc::clone(&self.scribe),
                listener,
            ));
        }
        Ok(ready)
    }

    fn start_engine(&self, claim: Claim) -> EngineThread {
        let (opened_sender, opened) = oneshot::channel();
        let (ended_sender, ended) = oneshot::channel();
        let server = Arc::clone(&self.server);
        let thread = std::thread::Builder::new().name("engine".to_owned());
        let spawned = thread.spawn(move || {
            // The receiver is gone only if the process is ending.
            let _ = ended_sender.send(run_engine(&server, claim, opened_sender));
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "cannot start the engine's thread");
        }
        EngineThread { opened, ended }
    }

    /// Serves until a signal stops the server or its engine fails.
    async fn live(
        &mut self,
        engine: EngineThread,
        loaded: Loaded,
        ready: &str,
    ) -> Result<(), String> {
        let mut loaded = Some(loaded);
        let EngineThread { opened, mut ended } = engine;
        let mut opened = Some(opened);
        let mut look = tokio::time::interval(ROOM_LOOK_EVERY);
        let mut is_full = false;
        loop {
            tokio::select! {
                result = &mut ended => return self.died(result).await,
                handle = wait(&mut opened) => {
                    if let Some((handle, recovered)) = handle {
                        log_recovered(&recovered);
                        self.engine = Some(handle.clone());
                        keep_listening(handle.clone());
                        let is_written = !self.server.settings().read_only;
                        let damaged = handle.snapshot().damaged_queries();
                        self.server.note_damaged_files(damaged.files());
                        self.server.serve(handle.clone());
                        if let Some(mut loaded) = loaded.take().filter(|_| is_written) {
                            self.scribe.make_tables(&self.server, &mut loaded).await;
                            self.scribe.start(&self.server, &handle, loaded, draw_number())?;
                        }
                        if self.server.settings().read_only {
                            tracing::warn!("read-only: nothing is written, and no hits are sent");
                        } else {
                            crate::webhook::start(&self.server);
                            crate::http::prepare_touches(&self.server).await;
                        }
                        (self.announce)(ready);
                    }
                }
                () = self.scribe.reload_asked.notified() => self.reload().await,
                () = self.scribe.stop_asked.notified() => return self.stop(ended).await,
                signal = self.signals.next() => match signal {
                    Signal::Reload => self.reload().await,
                    Signal::Reopen => self.query_log.reopen(),
                    Signal::Stop => return self.stop(ended).await,
                },
                _ = look.tick() => is_full = self.tell_of_room(is_full),
            }
        }
    }

    /// Logs when the disk becomes full and when it has room again. Gives whether it is full now.
    fn tell_of_room(&self, was_full: bool) -> bool {
        let Some(engine) = &self.engine else {
            return was_full;
        };
        let is_full = engine.status().disk_full;
        match (was_full, is_full) {
            (false, true) => {
                tracing::warn!("the disk is full: inserts are refused, deletes and reads go on");
            }
            (true, false) => tracing::info!("the disk has room again"),
            _ => {}
        }
        is_full
    }

    async fn reload(&self) {
        match (self.reload)() {
            Ok(settings) => {
                for name in self.server.settings().fixed_changes(&settings) {
                    tracing::warn!(name, "this setting changes at the next start");
                }
                self.server.reload(&settings, self.logs);
                warn_of_readable_secrets(&settings);
                tracing::info!("settings were read again");
            }
            Err(error) => tracing::error!(%error, "the settings stay as they were"),
        }
        self.query_log.reopen();
        self.scribe.reload(&self.server).await;
    }

    /// Lets statements finish, then ends the searches that are late and refuses statements, folds everything into files, ends.
    /// It does not wait for an engine that hangs: the process may end without losing an acknowledged write.
    async fn stop(
        &self,
        ended: oneshot::Receiver<Result<(), engine::Error>>,
    ) -> Result<(), String> {
        tracing::info!("stopping");
        self.server.stop();
        let Some(engine) = &self.engine else {
            return Ok(());
        };
        let faults = &self.server.faults;
        self.drained(faults.stop_grace(STOP_GRACE)).await;
        self.server.searches.stop();
        tokio::task::block_in_place(|| self.scribe.stop());
        engine.refuse_statements();
        let (sender, checkpoint) = oneshot::channel();
        let reply = Box::new(move |outcome| drop(sender.send(outcome)));
        // Only an engine that has ended already refuses it, and `ended` tells that.
        let _ = engine.submit(OWN_SESSION, Command::Shutdown, reply);
        let grace = faults.stop_grace(STOP_ENGINE_GRACE);
        let Ok(ended) = tokio::time::timeout(grace, ended).await else {
            return Err(format!(
                "stopped without putting everything into files: the engine did not end within {} s; the next start reads \
                 the journal",
                grace.as_secs()
            ));
        };
        match ended {
            Ok(Ok(())) => {
                match checkpoint.await {
                    Ok(Err(error)) => {
                        tracing::warn!(%error, "stopped; what is in no file yet is in the journal")
                    }
                    _ => tracing::info!("stopped; everything is in files"),
                }
                Ok(())
            }
            Ok(Err(error)) => Err(format!("stopped by a failure: {error}")),
            Err(_) => Err("the engine's thread is gone".to_owned()),
        }
    }

    async fn died(
        &self,
        result: Result<Result<(), engine::Error>, oneshot::error::RecvError>,
    ) -> Result<(), String> {
        self.server.stop();
        self.drained(Duration::from_secs(1)).await;
        match result {
            Ok(Ok(())) => Err("the engine ended by itself".to_owned()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the engine's thread is gone".to_owned()),
        }
    }

    /// Waits until every connection has ended, at most `grace`.
    async fn drained(&self, grace: Duration) {
        const LOOK_EVERY: Duration = Duration::from_millis(5);
        let ended = async {
            while self.server.places.count() > 0 {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        if tokio::time::timeout(grace, ended).await.is_err() {
            tracing::warn!(
                connections = self.server.places.count(),
                "connections did not end in time"
            );
        }
    }
}

/// Locks the data directory for this process.
fn claim(server: &Arc<Server>) -> Result<Claim, engine::Error> {
    let settings = server.settings();
    let unusable = |error: std::io::Error| engine::Error::Invalid {
        what: format!("data directory {}: {error}", settings.data.display()),
    };
    let disk = match settings.read_only {
        true => RealDisk::open_to_read(&settings.data),
        false => RealDisk::open(&settings.data),
    };
    let disk = disk.map_err(unusable)?;
    let faulty = Arc::clone(server);
    let mut options = Options::new(Arc::new(disk));
    options.incarnation = draw_number(); // receipts of earlier starts are late
    options.memory_bytes = settings.memory_bytes
        - settings.memory_bytes / REQUEST_SHARE_OF_MEMORY
        - settings.memory_bytes / FILTER_SHARE_OF_MEMORY;
    options.journal_bytes_max = settings.journal_bytes_max;
    options.sync = settings.sync;
    options.read_only = settings.read_only;
    let backup_dir = settings.backup_dir.clone();
    options.backups = Some(crate::backups::door(backup_dir, settings.data.clone()));
    options.spools = Some(Arc::new(|disk, cursors| {
        let cursors = cursors.values().map(|cursor| &**cursor);
        collect::spool_files(disk, "spools", cursors)
    }));
    options.on_apply = server
        .faults
        .any()
        .then_some(Arc::new(move |_| faulty.faults.on_apply()));
    let claim = Engine::claim(options)?;
    warn_of_wide_rights(&settings.data);
    Ok(claim)
}

/// Warns if other users may read or write the data directory. An older version may have created it so; its owner decides.
fn warn_of_wide_rights(data: &Path) {
    const OTHERS: u32 = 0o077;
    let mode = std::fs::metadata(data).map(|found| found.permissions().mode() & 0o7777);
    if let Ok(mode) = mode
        && mode & OTHERS != 0
    {
        let (data, mode) = (data.display(), format!("{mode:04o}"));
        tracing::warn!(%data, mode, "the data directory is open to other users of this machine: chmod 700");
    }
}

/// Warns of each file with a secret in it that any user of this machine may read or write.
fn warn_of_readable_secrets(settings: &Settings) {
    const ANYBODY: u32 = 0o006;
    for path in settings.secret_files() {
        let mode = std::fs::metadata(&path).map(|found| found.permissions().mode() & 0o7777);
        if let Ok(mode) = mode
            && mode & ANYBODY != 0
        {
            let (path, mode) = (path.display(), format!("{mode:04o}"));
            tracing::warn!(%path, mode, "a file with a password or secret is open to every user of this machine: chmod 600");
        }
    }
}

/// Keeps a thread waiting for the sockets during long turns of the engine.
///
/// A caller may do a turn of the engine on one of tokio's threads. If that thread was the one that waits for the sockets, no
/// other thread takes over before the turn ends. While a device hangs, `/livez` would then not answer. An empty task wakes
/// another thread, which then waits for the sockets.
fn keep_listening(engine: Handle) {
    let runtime = tokio::runtime::Handle::current();
    let look = move || {
        loop {
            std::thread::sleep(LISTENS_AGAIN_WITHIN);
            if engine.turn_since_us().is_some() {
                runtime.spawn(async {});
            }
        }
    };
    let thread = std::thread::Builder::new().name("listening".to_owned());
    if let Err(error) = thread.spawn(look) {
        tracing::error!(%error, "cannot start a thread: a hanging device may hold up the answers of /livez");
    }
}

/// The engine's thread: recovers, gives the handle away, runs until the engine ends.
fn run_engine(
    server: &Arc<Server>,
    claim: Claim,
    opened: oneshot::Sender<(Handle, Recovered)>,
) -> Result<(), engine::Error> {
    let (engine, recovered) = claim.open(server.now())?;
    server.faults.on_recovered();
    let (handle, mailbox) = engine.mailbox();
    // The receiver is gone if a signal came first; the engine then ends by its Shutdown command.
    let _ = opened.send((handle, recovered));
    let clock = Arc::clone(server);
    engine.run(mailbox, move || clock.now())
}

/// A random number for this start. Never 0: a receipt without an incarnation has 0.
fn draw_number() -> u64 {
    RandomState::new().build_hasher().finish().max(1)
}

/// Addresses of the Scribe door: the setting's, or all addresses with the port of Scribe's configuration, as Scribe has it.
fn scribe_addresses(settings: &Settings, loaded: &Loaded) -> Vec<Address> {
    match loaded.configuration.port {
        _ if settings.read_only => Vec::new(),
        0 => settings.scribe.clone(),
        _ if settings.is_scribe_given => settings.scribe.clone(),
        port => vec![Address::Tcp(format!("0.0.0.0:{port}"))],
    }
}

async fn bind(addresses: &[Address]) -> Result<Vec<Listener>, String> {
    let mut listeners = Vec::new();
    for address in addresses {
        let listener = Listener::bind(address).await;
        listeners.push(listener.map_err(|error| format!("cannot listen on {address}: {error}"))?);
    }
    Ok(listeners)
}

fn names(listeners: &[Listener]) -> String {
    let names: Vec<String> = listeners
        .iter()
        .map(|listener| listener.address().to_string())
        .collect();
    names.join(",")
}

/// The receiver's value, once; `None` if the sender is gone, and then `ended` tells why. Later calls wait for ever.
async fn wait<T>(receiver: &mut Option<oneshot::Receiver<T>>) -> Option<T> {
    match receiver.as_mut() {
        None => std::future::pending().await,
        Some(waiting) => {
            let value = waiting.await.ok();
            *receiver = None;
            value
        }
    }
}

fn log_recovered(recovered: &Recovered) {
    tracing::info!(
        tables = recovered.tables,
        records_replayed = recovered.records_replayed,
        records_skipped = recovered.records_skipped,
        orphans_removed = recovered.orphans_removed,
        "recovered"
    );
    if recovered.bytes_cut > 0 {
        tracing::warn!(
            bytes = recovered.bytes_cut,
            "cut a torn end of the journal; nothing in it was acknowledged"
        );
    }
}
