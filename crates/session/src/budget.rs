//! Memory of requests: one budget for packets and bodies, the values that they are parsed to, sorted rows, hits, and answers
//! that wait for their client.
//!
//! Example, a budget of 64 MiB, all in MiB (packet headers left out):
//!
//! ```text
//! event                                                              INSERT  SELECT  body   free
//! an INSERT of 3 arrives: its packet fills a buffer of 3               3        –       –     61
//! its parse begins with an estimate of 6, twice the text             3 + 6      –       –     55
//! the values take 5: the parser keeps 5, the packet goes               5        –       –     59
//! a SELECT sorts rows of 12; its client reads nothing yet              5       12       –     47
//! an HTTP body needs 70: LIMIT at once, 70 would never fit             5       12       –     47
//! a body needs 50: it gets 47 and waits for 3, at most BUDGET_WAIT     5       12      47      0
//! the INSERT ends and drops its grant: the body goes on                –       12      50      2
//! a SELECT needs 3 and cannot wait: OVERLOADED                         –       12      50      2
//! ```
//!
//! Invariants:
//! - A request takes bytes from the budget before it allocates them, by their final size: a parser's count, a list's capacity.
//! - A [`Grant`] holds the memory of one part of a request: its packet, its values, its rows or its answer. Dropping the grant
//!   gives all of it back.
//! - The first [`GRANT_FREE_BYTES`] of a grant are free and not counted: most requests never touch the budget.
//! - A request keeps its memory while it waits for more. Two requests may so wait for each other; the time limit ends that.
//! - Requests that wait are served in their order, and the first of them gets all that becomes free: small requests cannot
//!   starve a large one.
//!
//! Operations: [`Grant::reserve`] waits, [`Grant::cover`] and [`Grant::take`] do not; [`Grant::keep`] gives a part back.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::Memory;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::errors::{self, Failure};
use crate::limits::{GRANT_FREE_BYTES, GRANT_STEP_BYTES};

/// The memory that all requests share.
#[derive(Debug)]
pub struct Budget {
    /// One permit for each free KiB.
    free_kib: Semaphore,
    total_kib: u64,
    /// Count of requests that wait for memory.
    waiting: AtomicU64,
    /// Longest time that a request waits for memory.
    wait: Duration,
}

/// How a request got its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It was free.
    Free,
    /// The request waited until others gave it back.
    Waited,
}

/// Counts a request as waiting until it is dropped, however the wait ends.
struct Waiting<'a>(&'a AtomicU64);

impl Waiting<'_> {
    fn among(count: &AtomicU64) -> Waiting<'_> {
        count.fetch_add(1, Ordering::Relaxed);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Memory that one part of a request holds. Several threads may take from it at a time.
#[derive(Debug)]
pub struct Grant {
    budget: Arc<Budget>,
    /// KiB taken from the budget.
    held_kib: AtomicU64,
    /// Sum of the bytes that [`Grant::take`] was asked for, refused ones included.
    taken_bytes: AtomicU64,
}

impl Budget {
    /// A free budget of `bytes`, rounded down to KiB. A request waits for memory at most `wait`.
    pub fn new(bytes: u64, wait: Duration) -> Arc<Budget> {
        let total_kib = (bytes >> 10).min(Semaphore::MAX_PERMITS as u64 >> 1);
        Arc::new(Budget {
            free_kib: Semaphore::new(total_kib as usize),
            total_kib,
            waiting: AtomicU64::new(0),
            wait,
        })
    }

    /// A grant that holds nothing yet.
    pub fn grant(self: &Arc<Budget>) -> Grant {
        Grant {
            budget: Arc::clone(self),
            held_kib: AtomicU64::new(0),
            taken_bytes: AtomicU64::new(0),
        }
    }

    /// Size of the whole budget, in bytes.
    pub fn total_bytes(&self) -> usize {
        (self.total_kib << 10) as usize
    }

    /// Bytes that requests hold now.
    pub fn held_bytes(&self) -> u64 {
        let free_kib = self.free_kib.available_permits() as u64;
        self.total_kib.saturating_sub(free_kib) << 10
    }

    /// The error of a request that the whole budget cannot hold.
    pub fn too_large(&self, bytes: usize) -> Failure {
        let message = format!(
            "the request takes {bytes} bytes of memory, more than the {} that requests may take: send less, or raise memory",
            self.total_bytes()
        );
        Failure::new(errors::LIMIT, message)
    }
}

/// The error while other requests hold the memory; the client may try again.
fn overloaded() -> Failure {
    let message = "the memory of requests is taken: try again later, or ask for less";
    Failure::new(errors::OVERLOADED, message)
}

impl Grant {
    /// Makes sure that this grant holds `bytes` in all; waits for them if need be.
    ///
    /// # Errors
    /// `LIMIT`: more than the whole budget. `OVERLOADED`: not free in time.
    pub async fn reserve(&self, bytes: usize) -> Result<Room, Failure> {
        let Some(more_kib) = self.missing_kib(bytes)? else {
            return Ok(Room::Free);
        };
        let free_kib = &self.budget.free_kib;
        let (permit, room) = match free_kib.try_acquire_many(more_kib) {
            Ok(permit) => (permit, Room::Free),
            Err(_) => {
                let _waiting = Waiting::among(&self.budget.waiting);
                let free = timeout(self.budget.wait, free_kib.acquire_many(more_kib)).await;
                let Ok(Ok(permit)) = free else {
                    return Err(overloaded());
                };
                (permit, Room::Waited)
            }
        };
        permit.forget();
        self.held_kib.fetch_add(more_kib.into(), Ordering::Relaxed);
        Ok(room)
    }

    /// Whether it holds nothing of the budget.
    pub fn is_empty(&self) -> bool {
        self.held_kib.load(Ordering::Relaxed) == 0
    }

    /// Whether it holds memory while another request waits for some.
    pub fn is_wanted(&self) -> bool {
        !self.is_empty() && self.budget.waiting.load(Ordering::Relaxed) > 0
    }

    /// As [`Grant::reserve`], for callers that cannot wait. Takes at least [`GRANT_STEP_BYTES`] at a time where they are free.
    ///
    /// # Errors
    /// `LIMIT`: more than the whole budget. `OVERLOADED`: not free now.
    pub fn cover(&self, bytes: usize) -> Result<(), Failure> {
        let Some(mut more_kib) = self.missing_kib(bytes)? else {
            return Ok(());
        };
        // An answer grows row by row; it asks the budget once in 256 KiB instead.
        let step_kib = more_kib.max(GRANT_STEP_BYTES as u32 >> 10);
        let permit = match self.budget.free_kib.try_acquire_many(step_kib) {
            Ok(permit) => {
                more_kib = step_kib;
                permit
            }
            Err(_) => self
                .budget
                .free_kib
                .try_acquire_many(more_kib)
                .map_err(|_| overloaded())?,
        };
        permit.forget();
        self.held_kib.fetch_add(more_kib.into(), Ordering::Relaxed);
        Ok(())
    }

    /// Takes `bytes` more than earlier calls of `take` did; does not wait.
    ///
    /// # Errors
    /// As [`Grant::cover`].
    pub fn take(&self, bytes: u64) -> Result<(), Failure> {
        let before = self.taken_bytes.fetch_add(bytes, Ordering::Relaxed);
        let all = before.saturating_add(bytes);
        self.cover(usize::try_from(all).unwrap_or(usize::MAX))
    }

    /// Memory for the rows of one SELECT, at most `bytes_max`. The engine takes it bit by bit, and this grant holds it.
    pub fn for_rows(self: &Arc<Grant>, bytes_max: u64) -> Memory {
        let held = Arc::clone(self);
        let lender = Arc::new(move |bytes| held.take(bytes).is_ok());
        Memory::new(bytes_max.min(self.budget.total_bytes() as u64)).lent_by(lender)
    }

    /// Gives back all but `bytes`.
    pub fn keep(&self, bytes: usize) {
        let kept_kib = kib_of(bytes);
        let before = self.held_kib.fetch_min(kept_kib, Ordering::Relaxed);
        self.give_back(before.saturating_sub(kept_kib));
    }

    /// KiB that this grant lacks to hold `bytes`; `None`: it holds them. Errors: `LIMIT`.
    fn missing_kib(&self, bytes: usize) -> Result<Option<u32>, Failure> {
        let wanted_kib = kib_of(bytes);
        let held_kib = self.held_kib.load(Ordering::Relaxed);
        if wanted_kib <= held_kib {
            return Ok(None);
        }
        if wanted_kib > self.budget.total_kib {
            return Err(self.budget.too_large(bytes));
        }
        match u32::try_from(wanted_kib - held_kib) {
            Ok(more_kib) => Ok(Some(more_kib)),
            Err(_) => Err(self.budget.too_large(bytes)),
        }
    }

    fn give_back(&self, kib: u64) {
        if kib > 0 {
            self.budget.free_kib.add_permits(kib as usize);
        }
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.give_back(self.held_kib.load(Ordering::Relaxed));
    }
}

/// KiB that the budget counts for `bytes`, rounded up; 0 up to [`GRANT_FREE_BYTES`].
fn kib_of(bytes: usize) -> u64 {
    if bytes <= GRANT_FREE_BYTES {
        return 0;
    }
    (bytes as u64).div_ceil(1024)
}
