//! What the steps of a statement took: filled while it runs, if somebody asked for it.
//!
//! Example: a search for `red fox` with a condition on a KEY column notes
//!
//! ```text
//! table  step      rows    detail                                time
//! posts  words     2       1,234 postings in 3 parts             40 µs
//! posts  look-up   17      rows by KEY or id                      9 µs
//! posts  search    3       condition row by row                  21 µs
//! ```

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Steps that are kept one by one. Of a statement with more, such as a long UNION, only the times of the others are kept.
const STEPS_MAX: usize = 1_000;

/// The steps of one statement.
pub struct Profile {
    now_us: Clock,
    state: Mutex<State>,
}

/// Tells the time in microseconds, from any beginning.
pub type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

#[derive(Default)]
struct State {
    /// The table that is read now.
    table: String,
    steps: Vec<Step>,
    /// Of every kind of step: its name, how often it was done, microseconds.
    totals: Vec<(&'static str, u64, u64)>,
}

/// One part of the work, with what it gave and took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The table that it read; empty: none.
    pub table: String,
    /// Which step it was.
    pub name: &'static str,
    /// Rows, or words of the step `words`, that it gave; `None`: it gives none.
    pub rows: Option<u64>,
    /// How it was done.
    pub detail: String,
    /// Microseconds that it took.
    pub us: u64,
}

impl fmt::Debug for Profile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Profile({} steps)", self.state().steps.len())
    }
}

impl Profile {
    /// No step yet.
    #[must_use]
    pub fn new(now_us: Clock) -> Profile {
        Profile {
            now_us,
            state: Mutex::default(),
        }
    }

    /// The steps from now on read this table.
    pub fn reads(&self, table: &str) {
        table.clone_into(&mut self.state().table);
    }

    /// Runs a step. `tell` gives its rows and how it was done.
    pub fn step<T>(
        &self,
        name: &'static str,
        run: impl FnOnce() -> T,
        tell: impl FnOnce(&T) -> (Option<u64>, String),
    ) -> T {
        let from = (self.now_us)();
        let made = run();
        let us = (self.now_us)().saturating_sub(from);
        let (rows, detail) = tell(&made);
        self.note(name, rows, detail, us);
        made
    }

    /// Notes a step that took this long.
    pub fn note(&self, name: &'static str, rows: Option<u64>, detail: String, us: u64) {
        let mut state = self.state();
        match state.totals.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, times, all_us)) => (*times, *all_us) = (*times + 1, *all_us + us),
            None => state.totals.push((name, 1, us)),
        }
        if state.steps.len() < STEPS_MAX {
            let table = state.table.clone();
            state.steps.push(Step {
                table,
                name,
                rows,
                detail,
                us,
            });
        }
    }

    /// The first steps, in the order in which they ended.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        self.state().steps.clone()
    }

    /// Of every kind of step: its name, how often it was done, microseconds. In the order in which they first ended.
    #[must_use]
    pub fn totals(&self) -> Vec<(&'static str, u64, u64)> {
        self.state().totals.clone()
    }

    /// A panic elsewhere leaves the steps whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn steps_beyond_the_bound_still_count_in_the_totals() {
        let clock = AtomicU64::new(0);
        let profile = Profile::new(Box::new(move || clock.fetch_add(3, Ordering::Relaxed)));
        profile.reads("t");
        for at in 0..STEPS_MAX as u64 + 5 {
            let made = profile.step("search", || at, |at| (Some(*at), String::new()));
            assert_eq!(made, at);
        }
        assert_eq!(profile.steps().len(), STEPS_MAX);
        assert_eq!(
            (profile.steps()[7].rows, profile.steps()[7].us),
            (Some(7), 3)
        );
        let times = STEPS_MAX as u64 + 5;
        assert_eq!(profile.totals(), [("search", times, 3 * times)]);
    }
}
