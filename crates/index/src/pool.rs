//! Parked threads that help searches.
//!
//! A search runs on its caller's thread. While fewer searches and helpers are at work than the pool
//! has threads, it may [call](Crew::call) an idle thread. While there are more, helpers leave
//! between two pieces of work. So one search alone gets every thread, and with as many searches as
//! threads each gets one. Example with 4 threads:
//!
//! ```text
//!                     at work                          busy
//! search A            A and 3 helpers                  4
//! search B begins     A, 3 helpers, B                  5: the next helper to finish a piece leaves
//!                     A, 2 helpers, B                  4
//! search A ends       B, then up to 3 helpers of B     4
//! ```
//!
//! Invariants:
//! - `busy` counts searches, helpers, and helpers that are called but not yet running. Without the
//!   last a search would call more helpers than there are idle threads.
//! - A helper works on data that the caller borrowed. So the caller does not return, not even by a
//!   panic, before the last helper has left. The one `unsafe` block rests on this; `help_scoped`
//!   is its safe twin.
#![allow(unsafe_code)]

#[cfg(test)]
mod tests;

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::background::give_others_precedence;

/// The work of a helper: piece after piece, as long as [`Stay::is_wanted`].
pub(crate) type Work<'a> = dyn Fn(&Stay<'_>) + Sync + 'a;

/// The helping threads. Dropping the pool ends them.
pub struct Pool {
    shared: Arc<Shared>,
    parked: Vec<JoinHandle<()>>,
}

struct Shared {
    /// Most searches and helpers that can work without sharing a core.
    threads: usize,
    /// Searches and helpers at work, and helpers that were called and are not running yet.
    busy: AtomicUsize,
    /// Whether work waits for a thread: helpers then leave, and none is called.
    others_wait: AtomicBool,
    calls: Mutex<Calls>,
    /// Wakes a parked thread: a call was added, or the pool is ending.
    came: Condvar,
}

struct Calls {
    /// One entry for each helper that is wanted.
    waiting: VecDeque<Arc<Call>>,
    is_ending: bool,
}

/// The call of one search for help; shared by its helpers.
struct Call {
    /// The borrowed work. Valid until the search's [`Crew`] is dropped, and never used after that.
    work: &'static Work<'static>,
    inside: Mutex<Inside>,
    /// Wakes the search: its last helper has left.
    empty: Condvar,
}

#[derive(Default)]
struct Inside {
    /// Helpers at work on this call.
    helpers: usize,
    /// Panic of the first helper that panicked.
    panic: Option<Box<dyn Any + Send>>,
}

/// Tells a helper whether to stay.
pub(crate) struct Stay<'a>(Option<&'a Shared>);

/// One search that may call helpers.
pub(crate) struct Crew<'a> {
    shared: &'a Shared,
    work: &'a Work<'a>,
    call: OnceCell<Arc<Call>>,
    /// Number of helpers that it may still call.
    left: Cell<usize>,
}

/// Guard of a search at work; from [`Pool::enter`].
pub(crate) struct Entered<'a>(&'a Shared);

impl Pool {
    /// Starts `threads - 1` parked threads: with a caller, `threads` are busy at most. Errors: a
    /// thread cannot be started.
    pub fn new(threads: usize) -> io::Result<Pool> {
        let shared = Arc::new(Shared {
            threads,
            busy: AtomicUsize::new(0),
            others_wait: AtomicBool::new(false),
            calls: Mutex::new(Calls {
                waiting: VecDeque::new(),
                is_ending: false,
            }),
            came: Condvar::new(),
        });
        let mut pool = Pool {
            shared,
            parked: Vec::new(),
        };
        for _ in 1..threads {
            let shared = Arc::clone(&pool.shared);
            let thread = Builder::new().name("search".to_owned());
            pool.parked.push(thread.spawn(move || {
                give_others_precedence();
                shared.serve();
            })?);
        }
        Ok(pool)
    }

    /// Most threads that are busy at one time.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.shared.threads
    }

    /// Number of searches and helpers at work now.
    #[must_use]
    pub fn busy(&self) -> usize {
        self.shared.busy.load(Ordering::Relaxed)
    }

    /// Says whether work waits for a thread. While it does, helpers leave after their piece of work, and none is called.
    pub fn others_wait(&self, wait: bool) {
        if self.shared.others_wait.load(Ordering::Relaxed) != wait {
            self.shared.others_wait.store(wait, Ordering::Relaxed);
        }
    }

    /// Counts a search as running until the guard is dropped. Cost: an atomic addition now and one
    /// at the drop; a cheap search pays nothing else.
    pub(crate) fn enter(&self) -> Entered<'_> {
        self.shared.busy.fetch_add(1, Ordering::Relaxed);
        Entered(&self.shared)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.calls().is_ending = true;
        self.shared.came.notify_all();
        for thread in self.parked.drain(..) {
            // A helper's panic was caught and belongs to its search.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({})", self.threads())
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Entered<'_> {
    /// Runs `own` on this thread; it may call up to `most` helpers, each of which runs `work`.
    /// Returns once all helpers have left. A helper's panic is raised again here.
    pub(crate) fn help<R>(
        &self,
        most: usize,
        work: &Work<'_>,
        own: impl FnOnce(&Crew<'_>) -> R,
    ) -> R {
        let crew = Crew {
            shared: self.0,
            work,
            call: OnceCell::new(),
            left: Cell::new(most),
        };
        let result = own(&crew);
        if let Some(panic) = crew.close() {
            resume_unwind(panic);
        }
        result
    }
}

impl Crew<'_> {
    /// Calls a helper if a thread is idle. Cost: one load if none is, a wake-up (microseconds) if
    /// one is.
    pub(crate) fn call(&self) {
        let left = self.left.get();
        if left == 0 || !self.shared.take_idle() {
            return;
        }
        self.left.set(left - 1);
        let call = self.call.get_or_init(|| {
            // SAFETY: only helpers use the reference, each inside of its call. `close` withdraws
            // the calls and waits for every helper to leave. It runs before `help` returns: `help`
            // calls it, or `drop` does where the caller panics. `help` lends the crew and keeps it,
            // so no caller can forget it. Until then `work` is borrowed.
            let work =
                unsafe { std::mem::transmute::<&Work<'_>, &'static Work<'static>>(self.work) };
            Arc::new(Call {
                work,
                inside: Mutex::default(),
                empty: Condvar::new(),
            })
        });
        self.shared.calls().waiting.push_back(Arc::clone(call));
        self.shared.came.notify_one();
    }

    /// Withdraws the calls that no thread has taken, waits for the helpers, and returns the panic
    /// of one of them.
    fn close(&self) -> Option<Box<dyn Any + Send>> {
        let call = self.call.get()?;
        let mut calls = self.shared.calls();
        let before = calls.waiting.len();
        calls.waiting.retain(|waiting| !Arc::ptr_eq(waiting, call));
        let withdrawn = before - calls.waiting.len();
        drop(calls);
        self.shared.busy.fetch_sub(withdrawn, Ordering::Relaxed);
        let mut inside = call.inside();
        while inside.helpers > 0 {
            inside = call
                .empty
                .wait(inside)
                .unwrap_or_else(PoisonError::into_inner);
        }
        inside.panic.take()
    }
}

impl Drop for Crew<'_> {
    /// Does nothing after `help` has closed the crew. If the caller panics, waits for the helpers.
    fn drop(&mut self) {
        // The caller's own panic is already raised: one is enough.
        let _ = self.close();
    }
}

impl Shared {
    /// The loop of a parked thread.
    fn serve(&self) {
        while let Some(call) = self.next() {
            let work = || (call.work)(&Stay(Some(self)));
            let ended = catch_unwind(AssertUnwindSafe(work));
            self.busy.fetch_sub(1, Ordering::Relaxed);
            call.leave(ended.err());
        }
    }

    /// Waits for a call and joins it; `None` when the pool is ending.
    fn next(&self) -> Option<Arc<Call>> {
        let mut calls = self.calls();
        loop {
            if calls.is_ending {
                return None;
            }
            if let Some(call) = calls.waiting.pop_front() {
                // `close` withdraws under the same lock: it either finds this call or waits for
                // this helper.
                call.inside().helpers += 1;
                return Some(call);
            }
            calls = self
                .came
                .wait(calls)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds one to `busy` if a thread is idle; returns whether it did.
    fn take_idle(&self) -> bool {
        if self.others_wait.load(Ordering::Relaxed) {
            return false;
        }
        let one_more = |busy| (busy < self.threads).then_some(busy + 1);
        let taken = self
            .busy
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        taken.is_ok()
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a helper has left, with its panic if it panicked.
    fn leave(&self, panic: Option<Box<dyn Any + Send>>) {
        let mut inside = self.inside();
        inside.helpers -= 1;
        if inside.panic.is_none() {
            inside.panic = panic;
        }
        if inside.helpers == 0 {
            self.empty.notify_all();
        }
    }
}

impl Stay<'_> {
    /// Whether the helper may take another piece: nobody else needs its core.
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.is_none_or(|shared| {
            let others_wait = shared.others_wait.load(Ordering::Relaxed);
            !others_wait && shared.busy.load(Ordering::Relaxed) <= shared.threads
        })
    }
}

/// As [`Entered::help`] with `helpers` helpers, on threads of the standard library: the safe twin.
#[cfg(test)]
pub(crate) fn help_scoped<R>(helpers: usize, work: &Work<'_>, own: impl FnOnce() -> R) -> R {
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|| work(&Stay(None)));
        }
        own()
    })
}
