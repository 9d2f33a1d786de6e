//! Decides on a call of `Log`, as Scribe does, before the journal has it.
//!
//! # Example
//! With `max_msg_per_second=100` and stores for `web` only, in one second:
//!
//! | call | decision |
//! |---|---|
//! | 40 of `web` | store: 40 messages |
//! | 50 of `web` | store: more come in this second than half the rate, so the call passes whatever came before |
//! | 61 of `web` | store, as above |
//! | 45 of `web` | store: 85 of the smaller calls |
//! | 20 of `web` | later: they would be 105 |
//! | 2 of `web`, 1 without category, 1 of `mail` | store: 2 messages; 1 blank, 1 bad, both dropped |
//!
//! # The queue throttle
//! Scribe answers TRY_LATER while any queue is longer than `max_queue_size`, because its queue is memory that a crash loses.
//! Here a queue goes to its spool, so only a queue counts that is longer *and* whose spool could not be written at the last
//! checkpoint, as on a full disk. The engine bounds the bytes that wait in memory over all lines.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Messages, SyncMode};

use crate::counters::{Counter, Counters};
use crate::message::{Incoming, Now};
use crate::route::{Router, is_clean};

/// More live lines than this are not begun: a call that needs one is answered TRY_LATER.
pub const LINES_MAX: usize = 100_000;
/// A call has fewer categories than this.
pub const CATEGORIES_OF_CALL_MAX: usize = LINES_MAX;
/// Time between two lines in the log about categories without a store. Microseconds.
const WARN_US: u64 = 60_000_000;

/// The answer to a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    /// The client tries again later.
    TryLater,
    /// The call can never be taken, for this reason.
    Never(&'static str),
    /// OK: no message has a store, or there is none.
    Nothing,
    /// OK after the journal has the messages, synced as said.
    Store {
        /// Those that have a store.
        messages: Messages,
        /// The strongest `sync=` of their stores; `None`: the server's setting.
        sync: Option<SyncMode>,
        /// To be counted once the journal has them.
        received: Received,
    },
}

/// Messages of a call by category and counter. All names that are refused count as [`REFUSED`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Received(BTreeMap<Box<[u8]>, (Counter, u64)>);

/// Stands for all names that are no clean path; no category has this name.
const REFUSED: &[u8] = b"\0";

/// Messages of small calls in one second.
#[derive(Debug, Default)]
struct Window {
    second: u64,
    count: u64,
}

/// What the connections share with the dispatcher.
#[derive(Debug, Default)]
pub(crate) struct Door {
    router: Mutex<Arc<Router>>,
    window: Mutex<Window>,
    /// A category whose queue is too long and cannot go to a spool.
    full: Mutex<Option<Box<[u8]>>>,
    pub is_stopping: AtomicBool,
    pub line_count: AtomicUsize,
    warned_us: Mutex<Option<u64>>,
}

/// The stores of a category, as far as the door needs them.
#[derive(Clone, Copy)]
struct Verdict {
    is_taken: bool,
    sync: Option<SyncMode>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Door {
    pub(crate) fn set_router(&self, router: Arc<Router>) {
        *lock(&self.router) = router;
    }

    /// After each checkpoint: a category whose queue is too long and cannot go to a spool, or none.
    pub(crate) fn set_full(&self, category: Option<Box<[u8]>>) {
        *lock(&self.full) = category;
    }

    pub(crate) fn router(&self) -> Arc<Router> {
        lock(&self.router).clone()
    }

    /// Decides on a call. `has_line` says whether a category's lines live; it is asked only near the bound of lines. Cost: a
    /// lock or two a call and a look-up a run of one category; each message is copied once.
    pub(crate) fn decide<'a, M: Into<Incoming<'a>>>(
        &self,
        entries: impl Iterator<Item = M> + Clone,
        now: Now,
        counters: &Counters,
        has_line: impl Fn(&[u8]) -> bool,
    ) -> Decision {
        if self.is_stopping.load(Ordering::Relaxed) {
            return Decision::TryLater;
        }
        let entries = entries.map(Into::into);
        let (count, bytes) = size(entries.clone());
        let router = self.router();
        if self.is_throttled(count, &router, now, counters) {
            return Decision::TryLater;
        }
        let line_count = self.line_count.load(Ordering::Relaxed);
        let mut messages = Messages::with_capacity(bytes);
        let mut received = Received::default();
        let mut strongest: Option<Option<SyncMode>> = None;
        // The run under way: category, verdict, messages so far.
        let mut run: Option<(&[u8], Verdict, u64)> = None;
        for Incoming { category, body, .. } in entries {
            let verdict = match &mut run {
                Some((name, verdict, count)) if *name == category => {
                    *count += 1;
                    *verdict
                }
                _ => {
                    let verdict = verdict(&router, category);
                    received.add(run.replace((category, verdict, 1)));
                    if received.0.len() >= CATEGORIES_OF_CALL_MAX {
                        return Decision::Never("a call has fewer than 100,000 categories");
                    }
                    if verdict.is_taken {
                        // Each category of this call may need a line.
                        let is_full = line_count + received.0.len() >= LINES_MAX;
                        if is_full && !has_line(category) {
                            return Decision::TryLater;
                        }
                        // `None` is the server's mode, of which every other is at most as strong.
                        let weakest = strongest.unwrap_or(verdict.sync);
                        strongest = Some(weakest.zip(verdict.sync).map(|(a, b)| a.min(b)));
                    }
                    verdict
                }
            };
            if verdict.is_taken {
                messages.push(category, body);
            }
        }
        received.add(run);
        self.warn(&received, now);
        if messages.count() == 0 {
            received.add_to(counters);
            return Decision::Nothing;
        }
        let sync = strongest.flatten();
        Decision::Store {
            messages,
            sync,
            received,
        }
    }

    fn is_throttled(&self, count: u64, router: &Router, now: Now, counters: &Counters) -> bool {
        if self.is_above_rate(count, router.configuration().max_msg_per_second, now) {
            counters.add_overall(Counter::DeniedForRate, 1);
            return true;
        }
        let full = lock(&self.full);
        if let Some(category) = &*full {
            counters.add(category, Counter::DeniedForQueueSize, 1);
        }
        full.is_some()
    }

    /// Scribe's rule: the window is one second, and a call above half the rate passes, or it never would.
    fn is_above_rate(&self, count: u64, rate: u64, now: Now) -> bool {
        if rate == 0 || count > rate / 2 {
            return false;
        }
        let mut window = lock(&self.window);
        let second = now.steady_us / 1_000_000;
        if window.second != second {
            *window = Window { second, count: 0 };
        }
        if window.count + count > rate {
            return true;
        }
        window.count += count;
        false
    }

    /// Logs that messages are dropped, if this call has any and no line told it within [`WARN_US`].
    fn warn(&self, received: &Received, now: Now) {
        let mut counted = received.0.iter();
        let bad = counted.find(|(_, (counter, _))| *counter == Counter::ReceivedBad);
        let Some((category, _)) = bad else { return };
        let mut warned = lock(&self.warned_us);
        if warned.is_some_and(|at| now.steady_us < at + WARN_US) {
            return;
        }
        *warned = Some(now.steady_us);
        let shown = category
            .get(..PART_SHOWN)
            .unwrap_or(category)
            .escape_ascii();
        tracing::warn!("messages are dropped: no store takes category \"{shown}\"");
    }
}

/// Bytes of a category's name that the log shows.
const PART_SHOWN: usize = 100;

fn verdict(router: &Router, category: &[u8]) -> Verdict {
    let mut verdict = Verdict {
        is_taken: false,
        sync: None,
    };
    if !is_clean(category) {
        return verdict;
    }
    for store in router.stores(category) {
        let both = verdict.sync.zip(store.sync).map(|(a, b)| a.min(b));
        verdict.sync = if verdict.is_taken { both } else { store.sync };
        verdict.is_taken = true;
    }
    verdict
}

/// Number of messages, and bytes of their encoded form, about.
fn size<'a>(entries: impl Iterator<Item = Incoming<'a>>) -> (u64, usize) {
    let (mut count, mut bytes) = (0, 0);
    let mut last = None;
    for Incoming { category, body, .. } in entries {
        count += 1;
        bytes += body.len() + 4;
        if last != Some(category) {
            bytes += category.len() + 8;
            last = Some(category);
        }
    }
    (count, bytes)
}

impl Received {
    fn add(&mut self, run: Option<(&[u8], Verdict, u64)>) {
        let Some((category, verdict, messages)) = run else {
            return;
        };
        let (name, counter) = match verdict.is_taken {
            true => (category, Counter::ReceivedGood),
            false if category.is_empty() => (category, Counter::ReceivedBlankCategory),
            // A stranger's names must not fill the memory.
            false if is_clean(category) => (category, Counter::ReceivedBad),
            false => (REFUSED, Counter::ReceivedBad),
        };
        match self.0.get_mut(name) {
            Some((_, count)) => *count += messages,
            None => drop(self.0.insert(name.into(), (counter, messages))),
        }
    }

    pub(crate) fn add_to(&self, counters: &Counters) {
        for (category, (counter, count)) in &self.0 {
            match &category[..] {
                b"" | REFUSED => counters.add_overall(*counter, *count),
                category => counters.add(category, *counter, *count),
            }
        }
    }
}

#[cfg(test)]
mod tests;
