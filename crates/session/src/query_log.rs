//! The query log: each search with its time, its rows and the client's own text, on its way to a file or a table.
//!
//! Example: `SELECT * FROM posts WHERE MATCH('storm')` over MySQL.
//!
//! ```text
//! parsed            the text is kept, cut at LOGGED_TEXT_BYTES_MAX
//! begun             Pending: tables, query, sort mode, window, of the statement; the session holds it
//! found             rows that matched
//! sent, or dropped  the time is taken; an entry below `query_log_min_msec` is forgotten, another goes into a block
//! 50 ms or 4 MiB    the writer takes the blocks; their entries are among the last ones from now on
//! ```
//!
//! Invariants:
//! - A statement never waits for the log's disk: an entry that finds no room is counted ([`QueryLog::lost`]) and forgotten.
//! - A search whose client vanished, or that failed, is logged as well, since its session drops the entry.
//! - An entry is small, whatever the statement: each of its texts is cut, and making it looks at no more than a bound of the
//!   statement's tree. The last entries are bounded in bytes, too.
//! - Only searches and percolations are logged, so no password of CREATE USER and no row of an INSERT comes here.

mod block;
#[cfg(test)]
mod tests;
mod told;

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use engine::Reads;
use study::log::MatchMode;

pub use block::{Block, Logged, LoggedAt};
pub(crate) use told::{is_logged, tell, tell_percolation};

use crate::clock::Clock;
use crate::limits::{
    LOGGED_BLOCK_BYTES, LOGGED_LAST_BYTES_MAX, LOGGED_LAST_MAX, LOGGED_SPARE_MAX,
    LOGGED_TEXT_BYTES_MAX, LOGGED_WAITING_BYTES_MAX, LOGGED_WAKING_BYTES,
};
use block::{Number, Text, Told};

/// The log as sessions see it: off until [`QueryLog::begin`].
#[derive(Default)]
pub struct QueryLog {
    /// Whether it has a writer; in it the table that gets the entries: searches on that are none.
    begun: OnceLock<Option<String>>,
    /// Entries that took less are forgotten, in microseconds.
    min_us: AtomicU64,
    lost: AtomicU64,
    rows_lost: AtomicU64,
    kept: Mutex<Kept>,
    /// Tells the writer that it should not wait for its time: much is there.
    is_much: Condvar,
}

/// Entries in memory. In time, the last ones come before those that wait, and these before those that are filled.
#[derive(Default)]
struct Kept {
    /// Takes the next entry.
    filled: Block,
    /// Full blocks that the writer has not taken.
    waiting: VecDeque<Arc<Block>>,
    /// Bytes of `filled` and `waiting`.
    waiting_bytes: usize,
    /// Blocks that the writer has taken, for [`QueryLog::last`].
    last: VecDeque<Arc<Block>>,
    /// Entries and bytes of `last`.
    last_count: usize,
    last_bytes: usize,
    /// Memory of blocks that were among the last ones, at most [`LOGGED_SPARE_MAX`].
    spare: Vec<Block>,
}

impl Kept {
    /// Begins a new block behind the filled one.
    fn turn(&mut self) {
        let next = self.spare.pop().unwrap_or_default();
        let full = std::mem::replace(&mut self.filled, next);
        self.waiting.push_back(Arc::new(full));
    }

    /// Puts a block among the last ones; the first of them go where they are too many.
    fn keep(&mut self, block: &Arc<Block>) {
        self.last_count += block.len();
        self.last_bytes += block.bytes();
        self.last.push_back(Arc::clone(block));
        while let Some(first) = self.last.front()
            && (self.last_count - first.len() >= LOGGED_LAST_MAX
                || self.last_bytes > LOGGED_LAST_BYTES_MAX)
        {
            self.last_count -= first.len();
            self.last_bytes -= first.bytes();
            let gone = self.last.pop_front().map(Arc::try_unwrap);
            if let Some(Ok(mut block)) = gone
                && self.spare.len() < LOGGED_SPARE_MAX
            {
                block.clear();
                self.spare.push(block);
            }
        }
    }
}

/// The entries of a log, for its writer.
pub struct Entries {
    log: Arc<QueryLog>,
}

impl Entries {
    /// The next entries; `None`: none wait.
    pub fn next(&self) -> Option<Arc<Block>> {
        let mut kept = self.log.kept();
        if kept.waiting.is_empty() && !kept.filled.is_empty() {
            kept.turn();
        }
        let next = kept.waiting.pop_front()?;
        kept.waiting_bytes -= next.bytes();
        kept.keep(&next);
        Some(next)
    }

    /// Waits until much is there, for this time at most.
    pub fn wait(&self, most: Duration) {
        let kept = self.log.kept();
        let is_little = |kept: &mut Kept| kept.waiting_bytes < LOGGED_WAKING_BYTES;
        // What woke it up is of no interest: the writer looks.
        let _ = self.log.is_much.wait_timeout_while(kept, most, is_little);
    }
}

impl QueryLog {
    /// Turns the log on. `table`: the one that gets the entries, in lower case. A second call gives nothing: the log has its writer.
    pub fn begin(self: &Arc<QueryLog>, table: Option<String>) -> Option<Entries> {
        self.begun.set(table).ok()?;
        Some(Entries {
            log: Arc::clone(self),
        })
    }

    /// Whether searches are logged.
    pub fn is_on(&self) -> bool {
        self.begun.get().is_some()
    }

    /// Sets `query_log_min_msec`.
    pub fn set_least(&self, milliseconds: u64) {
        let us = milliseconds.saturating_mul(1_000);
        self.min_us.store(us, Ordering::Relaxed);
    }

    /// Entries that found no room on their way to the writer, or that it could not write to the file.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Counts entries that the writer could not write to the file.
    pub fn lose(&self, entries: u64) {
        self.lost.fetch_add(entries, Ordering::Relaxed);
    }

    /// Entries that did not become rows of the table, beside those of [`QueryLog::lost`].
    pub fn rows_lost(&self) -> u64 {
        self.rows_lost.load(Ordering::Relaxed)
    }

    /// Counts entries that did not become rows of the table.
    pub fn lose_rows(&self, entries: u64) {
        self.rows_lost.fetch_add(entries, Ordering::Relaxed);
    }

    /// The last entries, the latest first; at most [`LOGGED_LAST_MAX`], and of those that the writer has taken at most
    /// [`LOGGED_LAST_BYTES_MAX`].
    pub fn last(&self) -> impl Iterator<Item = Logged> {
        let mut kept = self.kept();
        if !kept.filled.is_empty() {
            kept.turn();
        }
        let blocks: Vec<_> = kept.last.iter().chain(&kept.waiting).cloned().collect();
        drop(kept);
        let latest_first = blocks.into_iter().rev();
        latest_first
            .flat_map(Logged::backwards)
            .take(LOGGED_LAST_MAX)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, told: &Told, clock: Clock) {
        let mut kept = self.kept();
        if kept.waiting_bytes + told.bytes_max() > LOGGED_WAITING_BYTES_MAX {
            drop(kept);
            return self.lose(1);
        }
        let before = kept.waiting_bytes;
        let after = before + kept.filled.push(told, clock);
        kept.waiting_bytes = after;
        if kept.filled.bytes() >= LOGGED_BLOCK_BYTES {
            kept.turn();
        }
        if before < LOGGED_WAKING_BYTES && after >= LOGGED_WAKING_BYTES {
            drop(kept);
            self.is_much.notify_one();
        }
    }
}

/// A search that is not over. It goes to the log when it is dropped.
pub struct Pending {
    log: Arc<QueryLog>,
    clock: Clock,
    started_us: u64,
    /// Time that it waited for a thread, in microseconds.
    queued_us: AtomicU64,
    /// Rows that were sent, and one; 0: none are known.
    returned: AtomicU64,
    /// What it read from devices, if that was counted.
    reads: Mutex<Option<Reads>>,
    /// Why it failed.
    failure: OnceLock<Box<str>>,
    told: Told,
}

/// The client's own text, as far as a line of the log has it.
pub struct Said {
    text: Vec<u8>,
    /// Length of the whole text.
    whole: usize,
}

impl Said {
    /// The beginning of a text.
    #[must_use]
    pub fn new(text: &[u8]) -> Said {
        let begin = &text[..text.len().min(LOGGED_TEXT_BYTES_MAX)];
        let mut text_and_more = SPARE.take();
        // The entry's other texts go behind it.
        text_and_more.reserve(begin.len() + OTHER_TEXTS_BYTES);
        text_and_more.extend_from_slice(begin);
        Said {
            text: text_and_more,
            whole: text.len(),
        }
    }
}

/// Room for the texts of an entry beside its statement, if they are short.
const OTHER_TEXTS_BYTES: usize = 64;

/// Most memory of texts that a thread keeps for its next entry, in bytes.
const SPARE_BYTES_MAX: usize = 4 << 10;

thread_local! {
    /// Empty memory of the texts of the last entry that ended on this thread: a look-up would ask for some each time.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Pending {
    /// A search that begins; `None`: the log is off. `started_us`: by `clock`. `said`: the client's text. `tell` adds what it is.
    #[must_use]
    pub(crate) fn begin(
        log: &Arc<QueryLog>,
        (clock, started_us): (Clock, u64),
        (connection, host): (u64, &str),
        said: Option<Said>,
        tell: impl FnOnce(&mut Told),
    ) -> Option<Pending> {
        let own_table = log.begun.get()?;
        let mut told = match said {
            Some(said) => Told::new(said.text, said.whole as u64),
            None => Told::default(),
        };
        tell(&mut told);
        if let Some(own) = own_table
            && told.tables() == own.as_bytes()
        {
            return None;
        }
        told.set(Number::Connection, Some(connection));
        if !host.is_empty() {
            told.add(Text::Client, host.as_bytes());
        }
        Some(Pending {
            log: Arc::clone(log),
            clock,
            started_us,
            queued_us: AtomicU64::new(0),
            returned: AtomicU64::new(0),
            reads: Mutex::new(None),
            failure: OnceLock::new(),
            told,
        })
    }

    /// Notes how many rows matched.
    pub fn found(&mut self, rows: u64) {
        self.told.set(Number::Found, Some(rows));
    }

    /// Notes how many rows were sent.
    pub fn returned(&self, rows: u64) {
        self.returned
            .store(rows.saturating_add(1), Ordering::Relaxed);
    }

    /// Notes time that the search waited for a thread, in microseconds.
    pub fn waited(&self, us: u64) {
        self.queued_us.fetch_add(us, Ordering::Relaxed);
    }

    /// Whether what it reads is counted even where it is short. That costs half a microsecond: a good part of a look-up.
    pub(crate) fn counts_short_reads(&self) -> bool {
        self.told.number(Number::Mode) == Some(MatchMode::Extended2 as u64)
    }

    /// Notes what it has read from devices, beside what it had before.
    pub(crate) fn read(&self, more: Reads) {
        let mut all = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        let before = all.unwrap_or_default();
        *all = Some(Reads {
            faults: before.faults + more.faults,
            bytes: before.bytes + more.bytes,
        });
    }

    /// Notes that it failed. The first failure counts.
    pub fn failed(&self, message: &str) {
        self.failure.get_or_init(|| told::cut(message).into());
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let ended_us = self.clock.steady_us();
        let real_us = ended_us.saturating_sub(self.started_us);
        if real_us < self.log.min_us.load(Ordering::Relaxed) {
            return;
        }
        let told = &mut self.told;
        told.set(Number::EndedUs, Some(ended_us));
        told.set(Number::RealUs, Some(real_us));
        told.set(Number::QueuedUs, Some(*self.queued_us.get_mut()));
        let returned = self.returned.get_mut().checked_sub(1);
        told.set(Number::Returned, returned);
        let reads = *self.reads.get_mut().unwrap_or_else(PoisonError::into_inner);
        told.set(Number::Faults, reads.map(|reads| reads.faults));
        told.set(Number::ReadBytes, reads.map(|reads| reads.bytes));
        if let Some(failure) = self.failure.get() {
            told.set(Number::Found, None);
            told.add(Text::Error, failure.as_bytes());
        }
        self.log.add(&self.told, self.clock);
        let mut texts = self.told.take_texts();
        if texts.capacity() <= SPARE_BYTES_MAX {
            texts.clear();
            SPARE.set(texts);
        }
    }
}
