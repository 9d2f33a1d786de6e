//! Worker threads and the timers of the lines that they serve.
//!
//! Invariants: a line that is not served now has a timer, unless it has ended; a timer that its line has replaced is skipped;
//! lines are served in the order in which they became due, so a line with a long backlog holds no other back.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::counters::Counters;
use crate::line::Line;
use crate::message::Now;

/// Longest sleep of a worker.
const SLEEP: Duration = Duration::from_secs(1);

/// The timers of some lines, and how many threads serve them.
#[derive(Default)]
pub(crate) struct Pool {
    timers: Mutex<Timers>,
    changed: Condvar,
}

#[derive(Default)]
struct Timers {
    /// By time in microseconds, then by the order in which they were set.
    lines: BTreeMap<(u64, u64), Arc<Line>>,
    set_count: u64,
    worker_count: usize,
    has_ended: bool,
}

/// The pools: one for lines that write to disks, one for lines that may wait for a network.
#[derive(Default)]
pub(crate) struct Pools {
    pub disk: Pool,
    pub network: Pool,
}

impl Pools {
    /// Sets the line's timer, if it needs another than it has.
    pub(crate) fn plan(&self, line: &Arc<Line>, now: Now) {
        let Some(at) = line.schedule(now) else {
            return;
        };
        let pool = match line.has_network.load(Ordering::Relaxed) {
            true => &self.network,
            false => &self.disk,
        };
        let mut timers = pool.timers();
        timers.set_count += 1;
        let order = timers.set_count;
        timers.lines.insert((at, order), line.clone());
        drop(timers);
        pool.changed.notify_one();
    }

    /// Serves one line of a pool that is due. Returns false if none is. A panic in a store stays a matter of its line.
    pub(crate) fn serve_one(&self, pool: &Pool, now: Now, counters: &Counters) -> bool {
        let line = pool.timers().pop(now);
        if let Some(line) = &line {
            let served = catch_unwind(AssertUnwindSafe(|| line.serve(now, counters)));
            if served.is_err() {
                line.after_panic(now);
            }
            self.plan(line, now);
        }
        line.is_some()
    }

    /// Ends both pools, one after the other.
    pub(crate) fn end(&self, within: Duration) {
        self.disk.end(within);
        self.network.end(within);
    }

    /// The body of a worker thread: serves lines until the pool ends.
    pub(crate) fn work(
        &self,
        pool: &Pool,
        clock: &(dyn Fn() -> Now + Send + Sync),
        counters: &Counters,
    ) {
        pool.timers().worker_count += 1;
        while !pool.timers().has_ended {
            if !self.serve_one(pool, clock(), counters) {
                pool.sleep(clock());
            }
        }
        pool.timers().worker_count -= 1;
        pool.changed.notify_all();
    }
}

impl Pool {
    fn timers(&self) -> MutexGuard<'_, Timers> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep(&self, now: Now) {
        let timers = self.timers();
        let first = timers.lines.first_key_value().map(|((at, _), _)| *at);
        let sleep = first.map_or(SLEEP, |at| {
            Duration::from_micros(at.saturating_sub(now.steady_us)).min(SLEEP)
        });
        if !timers.has_ended && !sleep.is_zero() {
            drop(self.changed.wait_timeout(timers, sleep));
        }
    }

    /// No line is served any more. Waits for the workers, at most for `within`; a store may still hold one then.
    fn end(&self, within: Duration) {
        let mut timers = self.timers();
        timers.has_ended = true;
        self.changed.notify_all();
        let waited = self
            .changed
            .wait_timeout_while(timers, within, |timers| timers.worker_count > 0);
        drop(waited);
    }
}

impl Timers {
    fn pop(&mut self, now: Now) -> Option<Arc<Line>> {
        loop {
            let first = self.lines.first_entry()?;
            let at = first.key().0;
            if at > now.steady_us {
                return None;
            }
            let line = first.remove();
            if line.claim(at) {
                return Some(line);
            }
        }
    }
}
