//! When requests are sent.
//!
//! A log has its lines in the order of the answers. A request that took 3 s began 3 s before its line:
//!
//! ```text
//! line 1: answered 10:00:01.000, real 0.001 → began 10:00:00.999
//! line 2: answered 10:00:03.000, real 3.000 → began 10:00:00.000: sent first, 999 ms before line 1
//! ```
//!
//! The schedule looks [`LOOKAHEAD_MAX`] requests ahead, or [`LOOKAHEAD_BYTES_MAX`] of their texts. A request that began before all
//! of those that were given out already is due at once. Where another log begins, or times go back by more than [`STEP_BACK_US`]
//! because the clock was set, the schedule goes on without a gap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests that are held to sort them.
pub(super) const LOOKAHEAD_MAX: usize = 4_096;

/// Bytes of their texts.
const LOOKAHEAD_BYTES_MAX: usize = 16 << 20;

/// Least step back of the log's time that is no long query. Microseconds.
const STEP_BACK_US: i64 = 600 * 1_000_000;

/// A request and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due<T> {
    /// Microseconds of the log's time from the first request to this one.
    pub after_us: u64,
    /// What was pushed, unchanged.
    pub item: T,
}

/// Requests in the order in which they began.
#[derive(Debug)]
pub struct Schedule<T> {
    waiting: BinaryHeap<Reverse<Waiting<T>>>,
    waiting_bytes: usize,
    /// Number of requests so far: equal times keep the order of the log.
    count: u64,
    /// Number of other logs and steps back so far: what is before one is sent first.
    epoch: u64,
    /// Latest beginning since the last step.
    latest_us: Option<i64>,
    /// Epoch and beginning of the last request that was given out.
    given: Option<(u64, i64)>,
    after_us: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    key: (u64, i64, u64),
    bytes: usize,
    item: T,
}

impl<T> PartialEq for Waiting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Waiting<T> {}

impl<T> PartialOrd for Waiting<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Waiting<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl<T> Default for Schedule<T> {
    fn default() -> Schedule<T> {
        Schedule {
            waiting: BinaryHeap::new(),
            waiting_bytes: 0,
            count: 0,
            epoch: 0,
            latest_us: None,
            given: None,
            after_us: 0,
        }
    }
}

impl<T> Schedule<T> {
    /// The requests that follow are of another log, whose times have nothing to do with those before.
    pub fn begin_log(&mut self) {
        self.epoch += 1;
        self.latest_us = None;
    }

    /// Adds a request that began at `began_us` by the clock of the log, with a text of `bytes`.
    pub fn push(&mut self, began_us: i64, bytes: usize, item: T) {
        if self
            .latest_us
            .is_some_and(|latest| began_us < latest - STEP_BACK_US)
        {
            self.begin_log();
        }
        self.latest_us = Some(
            self.latest_us
                .map_or(began_us, |latest| latest.max(began_us)),
        );
        self.count += 1;
        self.waiting_bytes += bytes;
        self.waiting.push(Reverse(Waiting {
            key: (self.epoch, began_us, self.count),
            bytes,
            item,
        }));
    }

    /// The next request, if enough are held to know that it is the next; after the `last` one was added, each.
    pub fn next(&mut self, last: bool) -> Option<Due<T>> {
        let is_full =
            self.waiting.len() > LOOKAHEAD_MAX || self.waiting_bytes > LOOKAHEAD_BYTES_MAX;
        if !is_full && !last {
            return None;
        }
        let Reverse(next) = self.waiting.pop()?;
        self.waiting_bytes -= next.bytes;
        let (epoch, began_us, _) = next.key;
        let before = self.given.filter(|(given, _)| *given == epoch);
        let gap = before.map_or(0, |(_, before)| (began_us - before).max(0));
        self.after_us += gap.unsigned_abs();
        self.given = Some((epoch, before.map_or(began_us, |(_, us)| us.max(began_us))));
        Some(Due {
            after_us: self.after_us,
            item: next.item,
        })
    }
}
