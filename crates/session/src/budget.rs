//! Memory of requests: one budget for packets and bodies, what they unpack and parse to, rows that are sorted, hits, and
//! answers that wait to be read.
//!
//! Example, a budget of 64 MiB: an INSERT of 3 MiB holds 4 MiB for its packet and, once read, 10 MiB for its rows; a sorted
//! answer that nobody reads holds 12 MiB until its client takes it or is given up. 38 MiB are free. A body that
//! unpacks to 127 MiB could never fit: [`errors::LIMIT`]. One that unpacks to 40 MiB waits five seconds for room, then
//! is refused: [`errors::OVERLOADED`].
//!
//! - Bytes are taken before they are allocated, by the amount that they become: a parser's count, a list's capacity.
//! - What a request takes it holds in one [`Grant`]; dropping that gives all of it back.
//! - The first [`GRANT_FREE_BYTES`] of each request cost nothing and are not counted: most requests never touch the budget.
//! - Whoever waits holds what was granted before. The wait ends by itself, so requests that wait for one another end, too.
//! - Large requests are served in their order: a small one does not overtake and starve a large one.

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
    /// A permit is a KiB.
    free_kib: Semaphore,
    total_kib: u64,
    /// Requests that wait for room.
    waiting: AtomicU64,
    /// How long a request waits for room.
    wait: Duration,
}

/// How a request got its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It was free.
    Free,
    /// Others had to give it back.
    Waited,
}

/// One of the requests that wait; dropping it, however the wait ends, counts it no more.
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

/// What one request holds. Several threads may take from it.
#[derive(Debug)]
pub struct Grant {
    budget: Arc<Budget>,
    /// KiB taken from the budget.
    held_kib: AtomicU64,
    /// Bytes asked for by [`Grant::take`].
    taken_bytes: AtomicU64,
}

impl Budget {
    /// Nothing is taken of so many bytes; who finds no room waits so long.
    pub fn new(bytes: u64, wait: Duration) -> Arc<Budget> {
        let total_kib = (bytes >> 10).min(Semaphore::MAX_PERMITS as u64 >> 1);
        Arc::new(Budget {
            free_kib: Semaphore::new(total_kib as usize),
            total_kib,
            waiting: AtomicU64::new(0),
            wait,
        })
    }

    /// A request that holds nothing yet.
    pub fn grant(self: &Arc<Budget>) -> Grant {
        Grant {
            budget: Arc::clone(self),
            held_kib: AtomicU64::new(0),
            taken_bytes: AtomicU64::new(0),
        }
    }

    /// All of it, in bytes.
    pub fn total_bytes(&self) -> usize {
        (self.total_kib << 10) as usize
    }

    /// Bytes that requests hold now.
    pub fn held_bytes(&self) -> u64 {
        let free_kib = self.free_kib.available_permits() as u64;
        self.total_kib.saturating_sub(free_kib) << 10
    }

    fn too_large(&self, bytes: usize) -> Failure {
        let message = format!(
            "the request takes {bytes} bytes of memory, more than the {} that requests may take: send less, or raise memory",
            self.total_bytes()
        );
        Failure::new(errors::LIMIT, message)
    }
}

/// Others hold the memory: the caller may try again.
fn overloaded() -> Failure {
    let message = "the memory of requests is taken: try again later, or ask for less";
    Failure::new(errors::OVERLOADED, message)
}

impl Grant {
    /// Makes sure that the request holds so many bytes in all; waits for room.
    ///
    /// # Errors
    /// `LIMIT` where it could never have them, `OVERLOADED` where nothing became free in time.
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

    /// Whether it holds nothing that others could wait for.
    pub fn is_empty(&self) -> bool {
        self.held_kib.load(Ordering::Relaxed) == 0
    }

    /// Whether it holds what others wait for.
    pub fn is_wanted(&self) -> bool {
        !self.is_empty() && self.budget.waiting.load(Ordering::Relaxed) > 0
    }

    /// As [`Grant::reserve`], for callers that cannot wait: what is not free now is refused.
    ///
    /// # Errors
    /// `LIMIT`, `OVERLOADED`.
    pub fn cover(&self, bytes: usize) -> Result<(), Failure> {
        let Some(mut more_kib) = self.missing_kib(bytes)? else {
            return Ok(());
        };
        // What grows in small steps asks in larger ones, where they are free.
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

    /// Takes more, beside what was taken so before; does not wait.
    ///
    /// # Errors
    /// `LIMIT`, `OVERLOADED`.
    pub fn take(&self, bytes: u64) -> Result<(), Failure> {
        let before = self.taken_bytes.fetch_add(bytes, Ordering::Relaxed);
        let all = before.saturating_add(bytes);
        self.cover(usize::try_from(all).unwrap_or(usize::MAX))
    }

    /// Memory for the rows of one SELECT, at most so many bytes, which this request then holds.
    pub fn for_rows(self: &Arc<Grant>, bytes_max: u64) -> Memory {
        let held = Arc::clone(self);
        let lender = Arc::new(move |bytes| held.take(bytes).is_ok());
        Memory::new(bytes_max.min(self.budget.total_bytes() as u64)).lent_by(lender)
    }

    /// Gives back what is held beyond so many bytes.
    pub fn keep(&self, bytes: usize) {
        let kept_kib = kib_of(bytes);
        let before = self.held_kib.fetch_min(kept_kib, Ordering::Relaxed);
        self.give_back(before.saturating_sub(kept_kib));
    }

    /// KiB that are missing for so many bytes; `None`: none. Errors: `LIMIT`.
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

/// What is counted of so many bytes.
fn kib_of(bytes: usize) -> u64 {
    if bytes <= GRANT_FREE_BYTES {
        return 0;
    }
    (bytes as u64).div_ceil(1024)
}
