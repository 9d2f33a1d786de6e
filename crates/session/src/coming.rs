//! Rows that large INSERTs are about to store, and their wait for memory.
//!
//! The engine refuses rows for which there is no memory. Memory becomes free as rows go to segments, which takes longer than to store
//! them where clients send one large INSERT after the other. Such a client is slowed down, not refused: its statement waits until there
//! is memory for its rows and for those of all statements that are on their way.
//!
//! The statement also waits for the memory of requests in which its session analyses the rows. Rows for which a session finds no memory
//! are made by the engine's thread, and all who write wait meanwhile.
//!
//! Example: eight clients each store 10,000 rows. The words of each statement take 12 MiB, and 24 MiB are free.
//!
//! | event | past the door | free |
//! |---|---|---|
//! | the first two come: each takes its 12 MiB | 2 | 0 |
//! | the other six wait, in their order | 2 | 0 |
//! | the engine has answered the first, and its words are freed | 1 | 12 |
//! | the third takes them | 2 | 0 |
//!
//! # Invariants
//! - Only the first in line looks for memory, so a large statement is not passed by small ones for ever.
//! - Nobody waits for words while nobody is past the door: then no memory would become free.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use engine::limits::SMALL_SHARE_OF_MEMORY;
use engine::{Interrupt, Wanted};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use crate::budget::Grant;
use crate::limits::BUDGET_WAIT;
use crate::searches::stopped;

/// Time between two looks at the memory.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The door, and what is past it.
pub(crate) struct Coming {
    /// Held by the statement that is first in line, while it waits.
    line: Mutex<()>,
    /// Bytes of all rows that were let through and are not stored yet.
    bytes: AtomicU64,
    /// Statements that were let through and are not answered yet.
    statements: AtomicUsize,
    /// The memory of the engine.
    memory: u64,
}

/// The rows of one statement, until they are stored or refused.
pub(crate) struct ComingRows<'c> {
    all: &'c Coming,
    bytes: AtomicU64,
    /// There is memory for the rows. Else the engine refuses them, perhaps, and what is made of them is counted as memory of requests.
    has_room: bool,
}

impl Coming {
    /// No rows yet, for an engine that has `memory` bytes.
    pub(crate) fn new(memory: u64) -> Coming {
        Coming {
            line: Mutex::new(()),
            bytes: AtomicU64::new(0),
            statements: AtomicUsize::new(0),
            memory,
        }
    }

    /// Waits until there is memory for the rows of a statement, in the tails, and for their words, which `held` then has. Not longer
    /// than [`BUDGET_WAIT`], and not where they would not fit beside all others anyway: then the engine says what is the matter. A
    /// KILL ends the wait. `left`: what is left of the engine's memory now.
    pub(crate) async fn wait(
        &self,
        left: impl Fn() -> u64,
        wanted: Wanted,
        held: &Grant,
        interrupt: &Interrupt,
    ) -> ComingRows<'_> {
        let bytes = wanted.rows as u64;
        let is_free = || {
            let is_alone = self.statements.load(Ordering::Relaxed) == 0;
            self.is_room(left(), bytes) && (held.cover(wanted.words).is_ok() || is_alone)
        };
        let line = async {
            let _first = self.line.lock().await;
            while !is_free() {
                sleep(LOOK_EVERY).await;
            }
            self.let_in(bytes, true)
        };
        let let_in = async {
            tokio::select! {
                biased;
                rows = line => rows,
                _ = stopped(interrupt) => self.let_in(bytes, false),
            }
        };
        let let_in = timeout(BUDGET_WAIT, let_in).await;
        let_in.unwrap_or_else(|_| self.let_in(bytes, false))
    }

    /// The memory of the engine, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    fn let_in(&self, bytes: u64, has_room: bool) -> ComingRows<'_> {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.statements.fetch_add(1, Ordering::Relaxed);
        let has_room = has_room && bytes <= self.most();
        ComingRows {
            all: self,
            bytes: AtomicU64::new(bytes),
            has_room,
        }
    }

    /// Most bytes of rows for which a statement waits. What is above is for small statements.
    pub(crate) fn most(&self) -> u64 {
        self.memory - self.memory / SMALL_SHARE_OF_MEMORY
    }

    /// Whether `bytes` more may come while `left` of the memory is left.
    fn is_room(&self, left: u64, bytes: u64) -> bool {
        let kept = self.memory / SMALL_SHARE_OF_MEMORY;
        let wanted = self.bytes.load(Ordering::Relaxed).saturating_add(bytes);
        bytes > self.most() || wanted <= left.saturating_sub(kept)
    }
}

impl ComingRows<'_> {
    /// Whether there is memory for rows that take `bytes` in all. It may be more than was waited for: what a regular expression takes
    /// is known once it is compiled. `left`: what is left of the engine's memory now.
    pub(crate) fn grow(&self, bytes: u64, left: u64) -> bool {
        let more = bytes.saturating_sub(self.bytes.load(Ordering::Relaxed));
        if more == 0 || !self.has_room {
            return true; // else all is memory of requests
        }
        let has_room = bytes <= self.all.most() && self.all.is_room(left, more);
        if has_room {
            self.bytes.fetch_add(more, Ordering::Relaxed);
            self.all.bytes.fetch_add(more, Ordering::Relaxed);
        }
        has_room
    }

    /// Whether they have waited in vain for memory that is there at times.
    pub(crate) fn may_fit_later(&self) -> bool {
        !self.has_room && self.bytes.load(Ordering::Relaxed) <= self.all.most()
    }

    /// What of the memory that is wanted is memory of requests: words always, and rows for which the engine has none yet.
    pub(crate) fn of_requests(&self, wanted: Wanted) -> usize {
        match self.has_room {
            true => wanted.words,
            false => wanted.all(),
        }
    }
}

impl Drop for ComingRows<'_> {
    fn drop(&mut self) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.all.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.all.statements.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use engine::Reason;

    use super::*;
    use crate::budget::Budget;

    const MIB: u64 = 1 << 20;

    #[test]
    fn rows_come_while_there_is_memory_for_all_that_come_and_for_small_statements() {
        let coming = Coming::new(256 * MIB);
        let is_room = |left, bytes| coming.is_room(left * MIB, bytes * MIB);
        assert!(is_room(256, 100));
        assert!(is_room(26, 10));
        assert!(!is_room(25, 10));
        coming.bytes.fetch_add(100 * MIB, Ordering::Relaxed);
        assert!(is_room(126, 10));
        assert!(!is_room(125, 10));
        coming.statements.fetch_add(1, Ordering::Relaxed);
        drop(ComingRows {
            all: &coming,
            bytes: AtomicU64::new(100 * MIB),
            has_room: true,
        });
        assert!(is_room(26, 10));
    }

    #[test]
    fn rows_may_take_more_than_they_waited_for_while_there_is_memory() {
        let coming = Coming::new(256 * MIB);
        let rows = coming.let_in(10 * MIB, true);
        assert!(rows.grow(10 * MIB, 0), "it has waited for them");
        assert!(!rows.grow(100 * MIB, 100 * MIB));
        assert!(rows.grow(100 * MIB, 200 * MIB));
        assert_eq!(coming.bytes.load(Ordering::Relaxed), 100 * MIB);
        assert!(!rows.grow(300 * MIB, 400 * MIB), "more than there ever is");
        drop(rows);
        assert_eq!(coming.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_never_fits_does_not_wait() {
        let coming = Coming::new(256 * MIB);
        assert!(!coming.is_room(100 * MIB, 240 * MIB));
        assert!(coming.is_room(100 * MIB, 241 * MIB));
    }

    /// A door for rows of any size, a budget of 1 MiB for their words, and what words of a share of it want.
    fn door() -> (Coming, Arc<Budget>) {
        (Coming::new(256 * MIB), Budget::new(MIB, BUDGET_WAIT))
    }

    fn words(bytes: u64) -> Wanted {
        Wanted {
            rows: 0,
            words: bytes as usize,
        }
    }

    #[tokio::test]
    async fn a_statement_waits_for_its_words_until_another_is_answered() {
        let (coming, budget) = door();
        let left = || 256 * MIB;
        let wanted = words(MIB * 3 / 4);
        let (first, second) = (budget.grant(), budget.grant());
        let interrupt = Interrupt::default();
        let rows = coming.wait(left, wanted, &first, &interrupt).await;
        let answer = async {
            tokio::task::yield_now().await;
            drop((rows, first));
        };
        let (later, ()) = tokio::join!(coming.wait(left, wanted, &second, &interrupt), answer);
        assert_eq!(later.of_requests(wanted), wanted.words);
        assert_eq!(budget.held_bytes(), MIB * 3 / 4, "its words are held");
    }

    #[tokio::test]
    async fn a_statement_that_is_alone_passes_without_memory_for_all_its_words() {
        let (coming, budget) = door();
        let taken = budget.grant();
        taken.cover(MIB as usize / 2).unwrap();
        let begun = Instant::now();
        let (held, interrupt) = (budget.grant(), Interrupt::default());
        coming
            .wait(|| 256 * MIB, words(MIB), &held, &interrupt)
            .await;
        assert!(begun.elapsed() < BUDGET_WAIT);
    }

    #[tokio::test]
    async fn kill_ends_the_wait_of_one_that_is_not_the_first() {
        let (coming, budget) = door();
        let full = || 0;
        let wanted = Wanted { rows: 5, words: 7 };
        let stopped = Interrupt::default();
        stopped.stop(Reason::Killed);
        let (held, interrupt, begun) = (budget.grant(), Interrupt::default(), Instant::now());
        let first = coming.wait(full, wanted, &held, &interrupt);
        let second = async {
            tokio::task::yield_now().await;
            coming.wait(full, wanted, &held, &stopped).await;
            assert!(begun.elapsed() < BUDGET_WAIT);
            interrupt.stop(Reason::Killed);
        };
        let (rows, ()) = tokio::join!(first, second);
        assert!(begun.elapsed() < BUDGET_WAIT);
        assert_eq!(rows.of_requests(wanted), 12, "no tail has room for it");
    }
}
