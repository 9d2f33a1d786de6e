//! Rows that large INSERTs are about to store, and their wait for memory.
//!
//! The engine refuses rows for which there is no memory. Memory becomes free as rows go to segments, which takes longer than to store
//! them where clients send one large INSERT after the other. Such a client is slowed down, not refused: its statement waits until there
//! is memory for its rows and for those of all statements that are on their way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::limits::SMALL_SHARE_OF_MEMORY;
use engine::{Handle, Interrupt};

use crate::limits::BUDGET_WAIT;

/// Memory that a row takes in the tail, for each byte of the statement: its columns, and the postings of short words.
const BYTES_A_BYTE: u64 = 6;

/// Time between two looks at the memory.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Bytes of all rows that were let through and are not stored yet.
pub(crate) struct Coming {
    bytes: AtomicU64,
    /// The memory of the engine.
    memory: u64,
}

/// The rows of one statement, until they are stored or refused.
pub(crate) struct ComingRows<'c> {
    all: &'c Coming,
    bytes: u64,
}

impl Coming {
    /// No rows yet, for an engine that has `memory` bytes.
    pub(crate) fn new(memory: u64) -> Coming {
        let bytes = AtomicU64::new(0);
        Coming { bytes, memory }
    }

    /// Waits until there is memory for the rows of a statement of `sent_bytes`. Not longer than [`BUDGET_WAIT`], and not where they
    /// would not fit beside all others anyway: then the engine says what is the matter. A KILL ends the wait.
    pub(crate) async fn wait(
        &self,
        engine: &Handle,
        sent_bytes: u64,
        interrupt: &Interrupt,
    ) -> ComingRows<'_> {
        let bytes = sent_bytes.saturating_mul(BYTES_A_BYTE);
        let looks = BUDGET_WAIT.as_millis() / LOOK_EVERY.as_millis();
        for _ in 0..looks {
            let left = engine.status().memory_left(self.memory);
            if self.is_room(left, bytes) || interrupt.reason().is_some() {
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        ComingRows { all: self, bytes }
    }

    /// Whether `bytes` more may come while `left` of the memory is left.
    fn is_room(&self, left: u64, bytes: u64) -> bool {
        let kept = self.memory / SMALL_SHARE_OF_MEMORY;
        let most = self.memory - kept;
        let wanted = self.bytes.load(Ordering::Relaxed).saturating_add(bytes);
        bytes > most || wanted <= left.saturating_sub(kept)
    }
}

impl Drop for ComingRows<'_> {
    fn drop(&mut self) {
        self.all.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let rows = ComingRows {
            all: &coming,
            bytes: 100 * MIB,
        };
        drop(rows);
        assert!(is_room(26, 10));
    }

    #[test]
    fn what_never_fits_does_not_wait() {
        let coming = Coming::new(256 * MIB);
        assert!(!coming.is_room(100 * MIB, 240 * MIB));
        assert!(coming.is_room(100 * MIB, 241 * MIB));
    }
}
