//! The bounds of one search: its stop switch, threads, memory, and behaviour at damage.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Reason, Result};
use crate::filters::Filters;
use crate::interrupt::Interrupt;
use crate::limits::SEARCH_BYTES_MAX;
use crate::pool::Pool;
use crate::profile::Profile;

/// Steps below which no helper is called: waking a thread takes 5 to 50 µs, a step one to several
/// nanoseconds.
const HELPED_FROM: u64 = 40_000;

/// The behaviour of a search that meets a damaged file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// The search fails: a count or a deletion must see every row.
    #[default]
    Refuse,
    /// The search answers from the other parts, with a warning. Counts and SELECTs by id fail all
    /// the same.
    Skip,
}

/// The bounds of one search. `Control::default()` has nobody to stop it, uses the caller's thread
/// only, and refuses damage.
#[derive(Debug)]
pub struct Control {
    /// The meter of the statement, and the switch that stops it.
    pub interrupt: Arc<Interrupt>,
    /// Pool whose idle threads help; `None`: no helpers.
    pub pool: Option<Arc<Pool>>,
    /// Most threads, the caller's included; `None`: all idle ones.
    pub threads: Option<usize>,
    /// Estimated steps (postings and rows read) below which no helper is called.
    pub helped_from: u64,
    /// Behaviour at a damaged file.
    pub on_damage: OnDamage,
    /// Memory for rows that are found and not yet returned.
    pub memory: Arc<Memory>,
    /// Kept pages of conditions; `None`: nothing is kept.
    pub filters: Option<Arc<Filters>>,
    /// Where the steps are noted; `None`: nobody asked for them.
    pub profile: Option<Arc<Profile>>,
}

/// Bytes up to which a row takes no memory from the bound: the buffers are as large.
const ROW_BYTES_FREE: u64 = 64 << 10;

/// Copies of a row at one time: its values, and the reply in a buffer that grew by doubling.
const ROW_COPIES: u64 = 3;

/// The memory of one search, up to a bound.
pub struct Memory {
    bytes_max: u64,
    bytes: AtomicU64,
    /// Bytes of the largest row so far; at first [`ROW_BYTES_FREE`].
    row_bytes: AtomicU64,
    lender: Option<Lender>,
}

/// Lends a search this many more bytes of the memory that all searches share; `false`: none left
/// now.
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
            on_damage: OnDamage::default(),
            memory: Arc::new(Memory::new(SEARCH_BYTES_MAX)),
            filters: None,
            profile: None,
        }
    }
}

impl Control {
    /// Runs a step, and notes it where the statement is profiled: [`Profile::step`].
    pub fn step<T>(
        &self,
        name: &'static str,
        run: impl FnOnce() -> T,
        tell: impl FnOnce(&T) -> (Option<u64>, String),
    ) -> T {
        match &self.profile {
            Some(profile) => profile.step(name, run, tell),
            None => run(),
        }
    }

    /// Runs work that may, if `is_long`, take longer than a millisecond. Such work is not begun where there is a budget of units.
    /// Errors: `Interrupted`, with [`Reason::Moved`].
    pub(crate) fn run<T>(&self, is_long: bool, work: impl FnOnce() -> T) -> Result<T> {
        if is_long && self.interrupt.units_left().is_some() {
            self.interrupt.stop(Reason::Moved);
            self.check()?;
        }
        Ok(work())
    }

    /// Fails once the search was stopped; to be called on each page, and on each row that is evaluated on its own, since one
    /// may take a second. Errors: as [`Interrupt::check`].
    #[inline]
    pub fn check(&self) -> Result<()> {
        self.interrupt.check()
    }

    /// Counts work that was done, and fails once the search was stopped. Errors: as [`Interrupt::check`].
    #[inline]
    pub fn spend(&self, units: u64) -> Result<()> {
        self.interrupt.spend(units);
        self.interrupt.check()
    }
}

impl Memory {
    /// `bytes_max` bytes, none of them taken.
    #[must_use]
    pub fn new(bytes_max: u64) -> Memory {
        Memory {
            bytes_max,
            bytes: AtomicU64::new(0),
            row_bytes: AtomicU64::new(ROW_BYTES_FREE),
            lender: None,
        }
    }

    /// Every byte taken is also borrowed from `lender`.
    #[must_use]
    pub fn lent_by(self, lender: Lender) -> Memory {
        Memory {
            lender: Some(lender),
            ..self
        }
    }

    /// Takes memory for rows found; it is never returned, since the rows stay until the answer is
    /// made. Take it for many rows at a time: all threads of a search share the counter. Errors:
    /// `SearchMemory`; `NoMemory` where the lender has none.
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

    /// Takes memory for one row while it is read and sent. Rows are sent one after another, so only
    /// a new largest row takes more. Errors: as [`Memory::take`].
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
    fn long_work_is_not_begun_within_a_budget() {
        let control = |units| Control {
            interrupt: Arc::new(Interrupt::with_units(units)),
            ..Control::default()
        };
        for (units, is_long) in [(u64::MAX, false), (u64::MAX, true), (9, false)] {
            let ran = control(units).run(is_long, || 7);
            assert!(matches!(ran, Ok(7)), "{units} {is_long}");
        }
        let error = control(9).run(true, || 7).expect_err("it is long");
        let reason = Reason::Moved;
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
