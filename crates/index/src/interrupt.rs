//! The meter of one statement, and the switch that stops it.
//!
//! A statement tells the meter what its work costs, in **units**: one unit is roughly a nanosecond of processor time. Each loop whose
//! length somebody else chose counts its work in pieces of at most some 100,000 units, and looks at the switch after each piece.
//! The meter reads no clock. Others act on it:
//!
//! - KILL, a time limit and the end of a client stop it ([`Interrupt::stop`]).
//! - A budget ends it ([`Interrupt::with_units`]): a statement that began on a thread with other duties is run again elsewhere.
//! - A scheduler asks it to wait for its next turn ([`Interrupt::ask_to_give_way`], [`Interrupt::has_turn`]).

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use disk::Reads;
use language::meter::Meter;

use crate::error::{Error, Reason, Result};

/// The bit of the state that asks the statement to give way; the others hold the number of the reason to stop.
const GIVE_WAY: u8 = 0x80;

/// Units left of a statement without a budget.
const UNLIMITED: u64 = u64::MAX;

/// The meter of one statement, shared by all threads that work on it. `Interrupt::default()` has no budget.
pub struct Interrupt {
    /// 0: go on. Else [`GIVE_WAY`], the number of a [`Reason`], or both.
    state: AtomicU8,
    /// Units left; [`UNLIMITED`]: they are not counted.
    units_left: AtomicU64,
    /// Waits for the next turn. Held by the thread that waits; the statement's other threads wait for it. `None`: the statement has
    /// no turn.
    turn: Mutex<Option<Arc<GiveWay>>>,
    /// Number of wide values that the statement's threads hold: [`Interrupt::holds_wide`].
    wide: AtomicU32,
    /// Units that it may spend before it gives way with a wide value in hand.
    wide_units: AtomicU64,
    read: Read,
}

/// What a statement's threads have read from devices.
#[derive(Default)]
struct Read {
    is_counted: AtomicBool,
    faults: AtomicU64,
    bytes: AtomicU64,
}

/// Adds what this thread reads from devices to a statement's count, until it is dropped.
pub struct CountsReads<'i> {
    read: &'i Read,
    begin: Reads,
}

impl Drop for CountsReads<'_> {
    fn drop(&mut self) {
        let own = Reads::of_thread().unwrap_or(self.begin).since(self.begin);
        self.read.faults.fetch_add(own.faults, Ordering::Relaxed);
        self.read.bytes.fetch_add(own.bytes, Ordering::Relaxed);
    }
}

/// Units for which a statement with a wide value does not give way: half a second.
const WIDE_UNITS: u64 = 500_000_000;

/// Waits until a statement has its next turn, or was stopped.
pub type GiveWay = dyn Fn() + Send + Sync;

impl Default for Interrupt {
    fn default() -> Interrupt {
        Interrupt::with_units(UNLIMITED)
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Interrupt")
            .field("state", &self.state)
            .field("units_left", &self.units_left)
            .finish_non_exhaustive()
    }
}

impl Interrupt {
    /// A meter with a budget: once it is spent, the reason to stop is [`Reason::Moved`]. `u64::MAX`: no budget.
    #[must_use]
    pub fn with_units(units: u64) -> Interrupt {
        Interrupt {
            state: AtomicU8::new(0),
            units_left: AtomicU64::new(units),
            turn: Mutex::new(None),
            wide: AtomicU32::new(0),
            wide_units: AtomicU64::new(WIDE_UNITS),
            read: Read::default(),
        }
    }

    /// From now on its threads count what they read from devices.
    pub fn asks_for_reads(&self) {
        self.read.is_counted.store(true, Ordering::Relaxed);
    }

    /// Counts what this thread reads until the guard is dropped; `None`: nobody asked, or the system does not count. Cost: two system
    /// calls, or one load.
    #[must_use]
    pub fn counts_reads(&self) -> Option<CountsReads<'_>> {
        let is_counted = self.read.is_counted.load(Ordering::Relaxed);
        let begin = is_counted.then(Reads::of_thread).flatten()?;
        Some(CountsReads {
            read: &self.read,
            begin,
        })
    }

    /// What was counted since the last call.
    pub fn take_reads(&self) -> Reads {
        Reads {
            faults: self.read.faults.swap(0, Ordering::Relaxed),
            bytes: self.read.bytes.swap(0, Ordering::Relaxed),
        }
    }

    /// A thread of the statement holds a wide value, up to a call of [`Interrupt::lets_go_of_wide`]. Till then, but for half a second
    /// at most, the statement does not give way: of all that have given way, none has a wide value in memory then.
    pub(crate) fn holds_wide(&self) {
        if self.wide.fetch_add(1, Ordering::Relaxed) == 0 {
            self.wide_units.store(WIDE_UNITS, Ordering::Relaxed);
        }
    }

    /// The value is gone.
    pub(crate) fn lets_go_of_wide(&self) {
        self.wide.fetch_sub(1, Ordering::Relaxed);
    }

    /// The statement has a turn from now on: it has no budget, and where it is asked to give way it calls `wait`, which returns when
    /// its next turn has come, or when it was stopped. `wait` runs on any thread of the statement, on one at a time.
    pub fn has_turn(&self, wait: Arc<GiveWay>) {
        self.allow(None);
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.state.fetch_and(!GIVE_WAY, Ordering::Relaxed);
        *turn = Some(wait);
    }

    /// The statement has no turn any more: it gives way to nobody, such as on a thread for which others wait.
    pub fn leaves_turn(&self) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.state.fetch_and(!GIVE_WAY, Ordering::Relaxed);
        *turn = None;
    }

    /// Gives the statement a new budget, or with `None` no budget. One that had spent its budget may go on.
    pub fn allow(&self, units: Option<u64>) {
        self.units_left
            .store(units.unwrap_or(UNLIMITED), Ordering::Relaxed);
        let moved = Reason::Moved as u8 + 1;
        let unless_moved = |state: u8| (state & !GIVE_WAY == moved).then_some(state & GIVE_WAY);
        // The update fails only if there is no reason to stop, or another one, which stays.
        let _ = self
            .state
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, unless_moved);
    }

    /// Asks the statement to wait for its next turn, at the next piece of its work. Without effect where it has no turn.
    pub fn ask_to_give_way(&self) {
        self.state.fetch_or(GIVE_WAY, Ordering::Relaxed);
    }

    /// Whether it was asked to give way and has not done so.
    #[must_use]
    pub fn is_asked_to_give_way(&self) -> bool {
        self.state.load(Ordering::Relaxed) & GIVE_WAY != 0
    }

    /// Stops the statement before its next piece of work. The first reason stays.
    pub fn stop(&self, reason: Reason) {
        let number = reason as u8 + 1;
        let first = |state: u8| (state & !GIVE_WAY == 0).then_some(state | number);
        // The update fails only if another reason was first, and that one stays.
        let _ = self
            .state
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, first);
    }

    /// The reason to stop; `None`: go on. Never waits. Cost: one load.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        const ALL: [Reason; 4] = [Reason::Time, Reason::Killed, Reason::Gone, Reason::Moved];
        let number = self.state.load(Ordering::Relaxed) & !GIVE_WAY;
        ALL.into_iter().find(|reason| *reason as u8 + 1 == number)
    }

    /// Counts `units` of work that was done or comes next, of about a nanosecond each. Waits for the next turn if the statement was
    /// asked to give way. Cost: two loads, and an exchange where there is a budget.
    #[inline]
    pub fn spend(&self, units: u64) {
        if self.units_left.load(Ordering::Relaxed) != UNLIMITED {
            self.count(units);
        }
        if self.state.load(Ordering::Relaxed) & GIVE_WAY != 0 {
            self.give_way(units);
        }
    }

    /// Whether to go on. Waits for the next turn if the statement was asked to give way. Cost: one load.
    ///
    /// # Errors
    /// `Interrupted`, with the reason to stop.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.state.load(Ordering::Relaxed) {
            0 => Ok(()),
            _ => self.look(),
        }
    }

    /// Units left of the budget; `None`: there is no budget.
    #[must_use]
    pub fn units_left(&self) -> Option<u64> {
        let left = self.units_left.load(Ordering::Relaxed);
        (left != UNLIMITED).then_some(left)
    }

    fn count(&self, units: u64) {
        let less = |left: u64| Some(left.saturating_sub(units));
        let before = self
            .units_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        if before.is_ok_and(|before| before <= units) {
            self.stop(Reason::Moved);
        }
    }

    #[cold]
    fn look(&self) -> Result<()> {
        if self.state.load(Ordering::Relaxed) & GIVE_WAY != 0 {
            self.give_way(0);
        }
        match self.reason() {
            None => Ok(()),
            Some(reason) => Err(Error::Interrupted { reason }),
        }
    }

    /// Waits for the next turn, unless another thread of the statement has done so. With a wide value in hand it goes on, and counts
    /// `units`.
    #[cold]
    fn give_way(&self, units: u64) {
        if self.wide.load(Ordering::Relaxed) > 0 {
            let less = |left: u64| Some(left.saturating_sub(units));
            let left = self
                .wide_units
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
            if left.is_ok_and(|left| left > units) {
                return;
            }
        }
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.state.load(Ordering::Relaxed) & GIVE_WAY == 0 {
            return;
        }
        if let (None, Some(wait)) = (self.reason(), &*turn) {
            wait();
        }
        self.state.fetch_and(!GIVE_WAY, Ordering::Relaxed);
    }
}

impl Meter for Interrupt {
    fn spend(&self, units: u64) {
        Interrupt::spend(self, units);
    }

    #[inline]
    fn is_stopped(&self) -> bool {
        self.check().is_err()
    }

    fn holds_wide(&self) {
        Interrupt::holds_wide(self);
    }

    fn lets_go_of_wide(&self) {
        Interrupt::lets_go_of_wide(self);
    }
}

/// Units of work that a statement may still do once its time is over, to give the rows that it has found.
pub(crate) const LATE_UNITS: u64 = 50_000_000;

/// The meter of work that goes on for [`LATE_UNITS`] once the time is over. Every other reason to stop ends it at once.
#[derive(Debug)]
pub(crate) struct Late<'i> {
    interrupt: &'i Interrupt,
    units_left: Cell<u64>,
}

impl Late<'_> {
    pub(crate) fn new(interrupt: &Interrupt) -> Late<'_> {
        Late {
            interrupt,
            units_left: Cell::new(LATE_UNITS),
        }
    }
}

impl Meter for Late<'_> {
    fn spend(&self, units: u64) {
        self.interrupt.spend(units);
        if self.interrupt.reason() == Some(Reason::Time) {
            self.units_left
                .set(self.units_left.get().saturating_sub(units));
        }
    }

    fn is_stopped(&self) -> bool {
        match self.interrupt.reason() {
            Some(Reason::Time) => self.units_left.get() == 0,
            Some(_) => true,
            None => false,
        }
    }

    fn holds_wide(&self) {
        self.interrupt.holds_wide();
    }

    fn lets_go_of_wide(&self) {
        self.interrupt.lets_go_of_wide();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_value_is_put_down_before_the_statement_gives_way_or_is_held_for_half_a_second() {
        let interrupt = Interrupt::default();
        let waits = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&waits);
        interrupt.has_turn(Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        let asked = |units: u64| {
            interrupt.ask_to_give_way();
            interrupt.spend(units);
            waits.load(Ordering::Relaxed)
        };
        interrupt.holds_wide();
        interrupt.holds_wide();
        assert_eq!(asked(1_000), 0);
        interrupt.lets_go_of_wide();
        assert_eq!(asked(1_000), 0, "another thread holds one");
        interrupt.lets_go_of_wide();
        assert_eq!(asked(1_000), 1);
        interrupt.holds_wide();
        assert_eq!(asked(WIDE_UNITS / 2), 1);
        assert_eq!(asked(WIDE_UNITS / 2), 2, "half a second is over");
        interrupt.lets_go_of_wide();
        interrupt.holds_wide();
        assert_eq!(asked(1_000), 2, "the next value has its own half second");
        interrupt.stop(Reason::Killed);
        assert!(interrupt.check().is_err(), "KILL waits for no value");
    }

    #[test]
    fn the_first_reason_to_stop_stays() {
        let interrupt = Interrupt::default();
        assert!(interrupt.check().is_ok());
        interrupt.stop(Reason::Killed);
        interrupt.stop(Reason::Time);
        let error = interrupt.check().expect_err("it was stopped");
        let reason = Reason::Killed;
        assert!(matches!(error, Error::Interrupted { reason: why } if why == reason));
    }

    #[test]
    fn every_reason_to_stop_is_read_back() {
        for reason in [Reason::Time, Reason::Killed, Reason::Gone, Reason::Moved] {
            let interrupt = Interrupt::default();
            interrupt.has_turn(Arc::new(|| ()));
            interrupt.ask_to_give_way();
            interrupt.stop(reason);
            assert_eq!(interrupt.reason(), Some(reason));
        }
    }

    #[test]
    fn a_budget_ends_with_its_last_unit() {
        let interrupt = Interrupt::with_units(100);
        interrupt.spend(60);
        interrupt.spend(39);
        assert!(interrupt.check().is_ok());
        assert_eq!(interrupt.units_left(), Some(1));
        interrupt.spend(u64::MAX);
        assert_eq!(interrupt.reason(), Some(Reason::Moved));
        let without = Interrupt::default();
        without.spend(u64::MAX);
        assert_eq!((without.reason(), without.units_left()), (None, None));
    }

    #[test]
    fn a_statement_gives_way_once_for_each_time_it_is_asked_to() {
        let interrupt = Interrupt::default();
        let turns = Arc::new(AtomicU32::new(0));
        interrupt.ask_to_give_way();
        let counted = Arc::clone(&turns);
        interrupt.has_turn(Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        interrupt.spend(1);
        assert_eq!(
            turns.load(Ordering::Relaxed),
            0,
            "nobody had a turn to give"
        );
        for asked in 1..=3 {
            interrupt.ask_to_give_way();
            interrupt.ask_to_give_way();
            interrupt.spend(1);
            interrupt.spend(1);
            assert!(interrupt.check().is_ok());
            assert_eq!(turns.load(Ordering::Relaxed), asked);
        }
        interrupt.ask_to_give_way();
        assert!(interrupt.check().is_ok());
        assert_eq!(turns.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn a_new_budget_forgets_the_spent_one_and_no_other_reason() {
        let interrupt = Interrupt::with_units(1);
        interrupt.spend(1);
        assert_eq!(interrupt.reason(), Some(Reason::Moved));
        interrupt.allow(Some(5));
        assert_eq!(
            (interrupt.reason(), interrupt.units_left()),
            (None, Some(5))
        );
        interrupt.stop(Reason::Killed);
        interrupt.allow(None);
        assert_eq!(interrupt.reason(), Some(Reason::Killed));
        assert_eq!(interrupt.units_left(), None);
    }

    #[test]
    fn a_statement_that_left_its_turn_gives_way_to_nobody() {
        let interrupt = Interrupt::default();
        interrupt.has_turn(Arc::new(|| panic!("it has no turn")));
        interrupt.ask_to_give_way();
        interrupt.leaves_turn();
        assert!(interrupt.check().is_ok());
        interrupt.ask_to_give_way();
        assert!(interrupt.check().is_ok());
    }

    #[test]
    fn late_work_goes_on_for_its_units_and_ends_at_any_other_reason() {
        let interrupt = Interrupt::default();
        let late = Late::new(&interrupt);
        late.spend(LATE_UNITS);
        assert!(!late.is_stopped(), "the time is not over yet");
        interrupt.stop(Reason::Time);
        late.spend(LATE_UNITS - 1);
        assert!(!late.is_stopped());
        late.spend(1);
        assert!(late.is_stopped());
        for reason in [Reason::Killed, Reason::Gone, Reason::Moved] {
            let interrupt = Interrupt::default();
            interrupt.stop(reason);
            assert!(Late::new(&interrupt).is_stopped());
        }
    }

    #[test]
    fn a_stopped_statement_waits_for_no_turn() {
        let interrupt = Interrupt::default();
        let turns = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&turns);
        interrupt.has_turn(Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        interrupt.ask_to_give_way();
        interrupt.stop(Reason::Killed);
        interrupt.spend(1);
        assert!(interrupt.check().is_err());
        assert_eq!(turns.load(Ordering::Relaxed), 0);
    }
}
