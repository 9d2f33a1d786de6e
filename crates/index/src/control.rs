//! What bounds one search from outside: who may stop it, how many threads and how much memory it may take, and what becomes
//! of it where a segment is damaged.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::error::{Error, Reason, Result};
use crate::filters::Filters;
use crate::limits::SEARCH_BYTES_MAX;
use crate::pool::Pool;

/// Below so many steps a search is done before a second thread would have begun: waking one takes 5 to 50 µs, a step one to
/// several nanoseconds.
const HELPED_FROM: u64 = 40_000;

/// A switch that stops a search from another thread. This crate reads no clock: whoever does sets it.
#[derive(Debug, Default)]
pub struct Interrupt(AtomicU8);

impl Interrupt {
    /// Stops the search, within one window of rows. The first reason stays.
    pub fn stop(&self, reason: Reason) {
        let number = reason as u8 + 1;
        // Nothing is handed over with it, and a switch that was set stays: a failure means that somebody was first.
        let _ = self
            .0
            .compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why it was stopped, if it was. Cost: one load.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        const ALL: [Reason; 4] = [Reason::Time, Reason::Killed, Reason::Gone, Reason::Damage];
        let number = self.0.load(Ordering::Relaxed);
        ALL.into_iter().find(|reason| *reason as u8 + 1 == number)
    }
}

/// What a search does about a damaged file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// It fails: what is counted or deleted must be all there is.
    #[default]
    Refuse,
    /// It answers from the other parts, and says so.
    Skip,
}

/// The bounds of one search. Made for each; `Control::default()` has nobody who stops it, the caller's thread alone, and
/// refuses damage.
#[derive(Debug)]
pub struct Control {
    /// Stops it.
    pub interrupt: Arc<Interrupt>,
    /// Whose idle threads help; `None`: nobody does.
    pub pool: Option<Arc<Pool>>,
    /// Most threads, the caller's included; `None`: as many as are idle.
    pub threads: Option<usize>,
    /// Estimated steps (postings and rows looked at) below which no helper is called.
    pub helped_from: u64,
    /// Runs what may take longer than a millisecond. A caller whose thread has other duties gives them away first.
    pub long: fn(&mut dyn FnMut()),
    /// Where a damaged file is met.
    pub on_damage: OnDamage,
    /// What the rows found but not yet given may take.
    pub memory: Arc<Memory>,
    /// Where what conditions on attributes say of segments is kept for the next search; `None`: nowhere.
    pub filters: Option<Arc<Filters>>,
}

/// A row of so many bytes is not asked for: buffers are as large.
const ROW_BYTES_FREE: u64 = 64 << 10;

/// A row is there as values and, in a buffer that grew by doubling, as what is sent.
const ROW_COPIES: u64 = 3;

/// Memory of one search, up to a bound.
pub struct Memory {
    bytes_max: u64,
    bytes: AtomicU64,
    /// Of its largest row so far, or as much as no row is asked for.
    row_bytes: AtomicU64,
    lender: Option<Lender>,
}

/// Gives a search more memory, in bytes, of what all searches share; `false`: there is none now.
pub type Lender = Arc<dyn Fn(u64) -> bool + Send + Sync>;

impl fmt::Debug for Memory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes.load(Ordering::Relaxed);
        write!(out, "Memory({bytes} of {})", self.bytes_max)
    }
}

impl Default for Control {
    fn default() -> Control {
        Control {
            interrupt: Arc::default(),
            pool: None,
            threads: None,
            helped_from: HELPED_FROM,
            long: |work| work(),
            on_damage: OnDamage::default(),
            memory: Arc::new(Memory::new(SEARCH_BYTES_MAX)),
            filters: None,
        }
    }
}

impl Control {
    /// Whether to go on; to be asked once a window of rows. Errors: `Interrupted`.
    pub fn check(&self) -> Result<()> {
        match self.interrupt.reason() {
            None => Ok(()),
            Some(reason) => Err(Error::Interrupted { reason }),
        }
    }
}

impl Memory {
    /// None is taken yet.
    #[must_use]
    pub fn new(bytes_max: u64) -> Memory {
        Memory {
            bytes_max,
            bytes: AtomicU64::new(0),
            row_bytes: AtomicU64::new(ROW_BYTES_FREE),
            lender: None,
        }
    }

    /// The same, taken from `lender` besides.
    #[must_use]
    pub fn lent_by(self, lender: Lender) -> Memory {
        Memory {
            lender: Some(lender),
            ..self
        }
    }

    /// Takes memory for rows found; never given back, as the rows stay until the answer is made. Ask for many rows at a time:
    /// all threads of a search count together. Errors: `SearchMemory`; `NoMemory` where others have it.
    pub fn take(&self, bytes: u64) -> Result<()> {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.bytes_max {
            return Err(Error::SearchMemory {
                max: self.bytes_max,
            });
        }
        match &self.lender {
            Some(lender) if !lender(bytes) => Err(Error::NoMemory),
            _ => Ok(()),
        }
    }

    /// Makes sure that there is memory for a row of so many bytes while it is made and sent. Rows come one after the other, so
    /// that the largest pays for all. Errors: as [`Memory::take`].
    pub fn take_row(&self, bytes: u64) -> Result<()> {
        let most = self.row_bytes.fetch_max(bytes, Ordering::Relaxed);
        match bytes.saturating_sub(most) {
            0 => Ok(()),
            more => self.take(more.saturating_mul(ROW_COPIES)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_row_pays_for_all() {
        let memory = Memory::new(ROW_COPIES * 1000);
        for bytes in [ROW_BYTES_FREE, ROW_BYTES_FREE + 1000, ROW_BYTES_FREE + 10] {
            assert!(memory.take_row(bytes).is_ok());
        }
        assert!(memory.take_row(ROW_BYTES_FREE + 1001).is_err());
    }

    #[test]
    fn the_first_reason_to_stop_stays() {
        let control = Control::default();
        assert!(control.check().is_ok());
        control.interrupt.stop(Reason::Killed);
        control.interrupt.stop(Reason::Time);
        let error = control.check().expect_err("it was stopped");
        let reason = Reason::Killed;
        assert!(matches!(error, Error::Interrupted { reason: why } if why == reason));
    }

    #[test]
    fn memory_is_taken_up_to_the_bound_and_no_further() {
        let memory = Memory::new(100);
        assert!(memory.take(60).is_ok());
        assert!(memory.take(40).is_ok());
        let error = memory.take(1).expect_err("all is taken");
        assert!(matches!(error, Error::SearchMemory { max: 100 }));
    }
}
