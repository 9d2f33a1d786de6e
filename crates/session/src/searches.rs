//! The running searches: the threads they share, KILL, and the watcher.
//!
//! The watcher is one thread that looks at all running searches every [`SEARCH_LOOK_EVERY`]. It ends a search whose time is
//! over, or whose client is gone: the search's own threads are too busy to notice. It sleeps while no search runs.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::Thread;

use engine::{Filters, Interrupt, Pool, Reason};

use crate::clock::Clock;
use crate::errors::Failure;
use crate::limits::{
    SEARCH_CLIENT_AFTER_US, SEARCH_LOOK_EVERY, SEARCH_LOOKS_IDLE, STOPPED_LOOK_EVERY,
};
use crate::scheduler::Scheduler;

/// Whether a client has closed its end of the connection. Called by a thread other than the one that serves the client.
pub type IsGone = Arc<dyn Fn() -> bool + Send + Sync>;

/// Waits until a statement is stopped, and gives the error that says why. Nobody tells: it is looked at now and then.
pub async fn stopped(interrupt: &Interrupt) -> Failure {
    loop {
        if interrupt.reason().is_some()
            && let Err(error) = engine::goes_on(interrupt)
        {
            return error.into();
        }
        tokio::time::sleep(STOPPED_LOOK_EVERY).await;
    }
}

/// The running searches of a server.
pub struct Searches {
    /// Threads that help a search. `None`: none could be started, and each search runs on its caller's thread alone.
    pub pool: Option<Arc<Pool>>,
    /// Results of conditions on attributes, cached between searches.
    pub filters: Arc<Filters>,
    running: Mutex<BTreeMap<u64, Running>>,
    /// Whether the watcher is awake. If not, a search that begins wakes it.
    is_watched: AtomicBool,
    watcher: OnceLock<Thread>,
}

/// A running search.
struct Running {
    interrupt: Arc<Interrupt>,
    since_us: u64,
    /// When the watcher ends it, in steady microseconds; `None`: never, or it has found its rows already.
    until_us: Option<u64>,
    /// The same of its request.
    asked_until_us: Option<u64>,
    text: Arc<str>,
    client: Option<IsGone>,
}

/// A search that is about to run.
#[derive(Clone)]
pub struct SearchRequest {
    /// The session's number, which KILL names. A session runs one search at a time.
    pub session: u64,
    /// When its statement began, in steady microseconds.
    pub since_us: u64,
    /// When the watcher ends it, in steady microseconds; `None`: never.
    pub until_us: Option<u64>,
    /// The statement or address, for SHOW THREADS.
    pub text: Arc<str>,
    /// Tells whether the client is gone; `None`: not watched.
    pub client: Option<IsGone>,
}

/// Keeps a search listed as running until it is dropped.
pub struct Search {
    searches: Arc<Searches>,
    session: u64,
    /// Ends the search.
    pub interrupt: Arc<Interrupt>,
}

/// A running search, for SHOW THREADS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The session's number.
    pub session: u64,
    /// When its statement began, in steady microseconds.
    pub since_us: u64,
    /// The statement or address.
    pub text: Arc<str>,
}

impl Searches {
    /// A list without searches. At most `threads` threads search at a time; if none can be started, each search runs on its
    /// caller's thread. Cached conditions take at most `filter_bytes_max`.
    pub fn new(threads: usize, filter_bytes_max: u64) -> Searches {
        let pool = Pool::new(threads);
        if let Err(error) = &pool {
            tracing::error!(%error, "cannot start threads: each search runs on one");
        }
        Searches {
            pool: pool.ok().map(Arc::new),
            filters: Arc::new(Filters::new(filter_bytes_max)),
            running: Mutex::default(),
            is_watched: AtomicBool::new(false),
            watcher: OnceLock::new(),
        }
    }

    /// Starts the watcher, which also asks turns of the scheduler to give way. It ends when this list is dropped.
    pub fn watch(
        self: &Arc<Searches>,
        clock: Clock,
        scheduler: &Arc<Scheduler>,
    ) -> std::io::Result<()> {
        let (searches, scheduler) = (Arc::downgrade(self), Arc::downgrade(scheduler));
        let thread = std::thread::Builder::new().name("watch".to_owned());
        let watcher = thread.spawn(move || watch(&searches, &scheduler, &clock))?;
        // The start of the server calls this once.
        let _ = self.watcher.set(watcher.thread().clone());
        Ok(())
    }

    /// Lists a search as running, and wakes the watcher if it sleeps.
    pub fn begin(self: &Arc<Searches>, request: SearchRequest) -> Search {
        let interrupt = Arc::new(Interrupt::default());
        let running = Running {
            interrupt: Arc::clone(&interrupt),
            since_us: request.since_us,
            until_us: request.until_us,
            asked_until_us: request.until_us,
            text: request.text,
            client: request.client,
        };
        self.running().insert(request.session, running);
        if !self.is_watched.load(Ordering::Relaxed)
            && !self.is_watched.swap(true, Ordering::Relaxed)
            && let Some(watcher) = self.watcher.get()
        {
            watcher.unpark();
        }
        Search {
            searches: Arc::clone(self),
            session: request.session,
            interrupt,
        }
    }

    /// Ends the search of a session; false if it has none.
    pub fn kill(&self, session: u64) -> bool {
        let running = self.running();
        let search = running.get(&session);
        search.is_some_and(|search| {
            search.interrupt.stop(Reason::Killed);
            true
        })
    }

    /// Ends all searches: the server stops.
    pub fn stop(&self) {
        let running = self.running();
        let searches = running.values();
        searches.for_each(|search| search.interrupt.stop(Reason::Killed));
    }

    /// The running searches, by rising session number.
    pub fn list(&self) -> Vec<Listed> {
        let running = self.running();
        let listed = |(session, search): (&u64, &Running)| Listed {
            session: *session,
            since_us: search.since_us,
            text: Arc::clone(&search.text),
        };
        running.iter().map(listed).collect()
    }

    /// Ends each search whose time is over or whose client is gone. Gives whether any search runs.
    fn stop_overdue(&self, now_us: u64) -> bool {
        let running = self.running();
        for search in running.values() {
            if search.until_us.is_some_and(|until_us| until_us <= now_us) {
                search.interrupt.stop(Reason::Time);
            }
            let runs_us = now_us.saturating_sub(search.since_us);
            let client = search.client.as_deref();
            if runs_us >= SEARCH_CLIENT_AFTER_US && client.is_some_and(|is_gone| is_gone()) {
                search.interrupt.stop(Reason::Gone);
            }
        }
        !running.is_empty()
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<u64, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Search {
    /// Checks, while rows are sent, that nobody has killed the search. Errors: `Interrupted`, after KILL or a stop.
    pub fn check(&self) -> engine::Result<()> {
        match self.interrupt.reason() {
            Some(Reason::Killed) => Err(engine::Error::Interrupted),
            _ => Ok(()),
        }
    }

    /// Marks the rows as found: from here on only KILL ends the search. Sending the rows notices a client that is gone.
    pub fn found(&self) {
        if let Some(search) = self.searches.running().get_mut(&self.session) {
            search.until_us = None;
            search.client = None;
        }
    }

    /// Ends the search at the time of its request after all, though its rows were found: they are kept, and a part of them would
    /// look whole.
    pub fn ends_in_time(&self) {
        if let Some(search) = self.searches.running().get_mut(&self.session) {
            search.until_us = search.asked_until_us;
        }
    }

    /// Ends the search at this steady time, if one is given: work on its rows goes on after they were found.
    pub fn ends_at(&self, until_us: Option<u64>) {
        if let Some(search) = self.searches.running().get_mut(&self.session) {
            search.until_us = until_us;
        }
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        self.searches.running().remove(&self.session);
    }
}

impl Drop for Searches {
    fn drop(&mut self) {
        if let Some(watcher) = self.watcher.get() {
            watcher.unpark();
        }
    }
}

/// The watcher. Looks while searches run and for [`SEARCH_LOOKS_IDLE`] looks more; then sleeps until one begins.
fn watch(searches: &Weak<Searches>, scheduler: &Weak<Scheduler>, clock: &Clock) {
    let mut idle = 0;
    while let Some(searches) = searches.upgrade() {
        if let Some(scheduler) = scheduler.upgrade() {
            scheduler.look();
        }
        idle = if searches.stop_overdue(clock.steady_us()) {
            0
        } else {
            idle + 1
        };
        if idle < SEARCH_LOOKS_IDLE {
            drop(searches);
            std::thread::sleep(SEARCH_LOOK_EVERY);
            continue;
        }
        searches.is_watched.store(false, Ordering::Relaxed);
        // A search that began before the store did not wake this thread, so look once more. Any later one wakes it.
        let is_idle = !searches.stop_overdue(clock.steady_us());
        drop(searches);
        idle = 0;
        if is_idle {
            std::thread::park();
        }
    }
}
