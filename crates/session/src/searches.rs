//! The searches that run: the threads they share, who may stop them, and when they are stopped by themselves.
//!
//! One thread looks at them now and then: it ends those whose time is over, and those whose client is gone, which their own
//! threads have no time to notice. It sleeps while nobody searches.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::Thread;

use engine::{Filters, Interrupt, Pool, Reason};

use crate::clock::Clock;
use crate::limits::{SEARCH_CLIENT_AFTER_US, SEARCH_LOOK_EVERY, SEARCH_LOOKS_IDLE};

/// Whether a client has closed its end of the connection. Called by another thread than the one that serves the client.
pub type IsGone = Arc<dyn Fn() -> bool + Send + Sync>;

/// All searches of a server.
pub struct Searches {
    /// The threads; `None` until there are some, and then searches run on their callers' alone.
    pub pool: Option<Arc<Pool>>,
    /// What conditions on attributes say, kept from search to search.
    pub filters: Arc<Filters>,
    running: Mutex<BTreeMap<u64, Running>>,
    /// Whether the watcher looks by itself.
    is_watched: AtomicBool,
    watcher: OnceLock<Thread>,
}

/// A search at work.
struct Running {
    interrupt: Arc<Interrupt>,
    since_us: u64,
    /// When it is cut; `None`: never, or it has found its rows already.
    until_us: Option<u64>,
    text: Arc<str>,
    client: Option<IsGone>,
}

/// What a search brings with it.
#[derive(Clone)]
pub struct SearchRequest {
    /// The session's number: what KILL names.
    pub session: u64,
    /// Now, in steady microseconds.
    pub since_us: u64,
    /// When it is cut.
    pub until_us: Option<u64>,
    /// The statement, for SHOW THREADS.
    pub text: Arc<str>,
    /// Tells whether anybody waits for the answer.
    pub client: Option<IsGone>,
}

/// A search's place among the running ones; dropping it gives the place back.
pub struct Search {
    searches: Arc<Searches>,
    session: u64,
    /// Stops it.
    pub interrupt: Arc<Interrupt>,
}

/// A running search, for SHOW THREADS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The session's number.
    pub session: u64,
    /// Since when, in steady microseconds.
    pub since_us: u64,
    /// The statement.
    pub text: Arc<str>,
}

impl Searches {
    /// None runs. `threads` are to be busy at most; where none can be started, each search has its caller's.
    /// Conditions may take so many bytes.
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

    /// Starts the thread that looks at them; it ends with them.
    pub fn watch(self: &Arc<Searches>, clock: Clock) -> std::io::Result<()> {
        let searches = Arc::downgrade(self);
        let thread = std::thread::Builder::new().name("watch".to_owned());
        let watcher = thread.spawn(move || watch(&searches, &clock))?;
        // Called once, by the start of the server.
        let _ = self.watcher.set(watcher.thread().clone());
        Ok(())
    }

    /// Lists a search as running.
    pub fn begin(self: &Arc<Searches>, request: SearchRequest) -> Search {
        let interrupt = Arc::new(Interrupt::default());
        let running = Running {
            interrupt: Arc::clone(&interrupt),
            since_us: request.since_us,
            until_us: request.until_us,
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

    /// Ends the search of a session; false where none runs.
    pub fn kill(&self, session: u64) -> bool {
        let running = self.running();
        let search = running.get(&session);
        search.is_some_and(|search| {
            search.interrupt.stop(Reason::Killed);
            true
        })
    }

    /// Ends all of them: the server stops.
    pub fn stop(&self) {
        let running = self.running();
        let searches = running.values();
        searches.for_each(|search| search.interrupt.stop(Reason::Killed));
    }

    /// Those that run, by session.
    pub fn list(&self) -> Vec<Listed> {
        let running = self.running();
        let listed = |(session, search): (&u64, &Running)| Listed {
            session: *session,
            since_us: search.since_us,
            text: Arc::clone(&search.text),
        };
        running.iter().map(listed).collect()
    }

    /// Stops those whose time is over or whose client is gone; whether any runs.
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
    /// Whether its rows are still to be sent. Errors: `Interrupted`, after KILL.
    pub fn check(&self) -> engine::Result<()> {
        match self.interrupt.reason() {
            Some(Reason::Killed) => Err(engine::Error::Interrupted),
            _ => Ok(()),
        }
    }

    /// The rows are found: only KILL ends it from here on. A client that is gone is noticed when they are sent.
    pub fn found(&self) {
        if let Some(search) = self.searches.running().get_mut(&self.session) {
            search.until_us = None;
            search.client = None;
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

/// Looks as long as there are searches, and for some looks longer; then sleeps until one begins.
fn watch(searches: &Weak<Searches>, clock: &Clock) {
    let mut idle = 0;
    while let Some(searches) = searches.upgrade() {
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
        // One that began since the last look did not ring; one that begins after this look does.
        let is_idle = !searches.stop_overdue(clock.steady_us());
        drop(searches);
        idle = 0;
        if is_idle {
            std::thread::park();
        }
    }
}
