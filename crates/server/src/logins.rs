//! Failed logins: counted for each address, so that the address's next login waits.
//!
//! Example: four logins of an address fail. Its fifth login waits 800 ms before the password is checked, right or wrong. If the
//! password is right, the address's failures are forgotten. The wait holds a connection but no thread.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::limits::{
    LOGIN_ADDRESSES_MAX, LOGIN_DELAY_FIRST, LOGIN_DELAY_MAX, LOGIN_FORGET_AFTER, LOGIN_LOG_EVERY,
};
use session::Remote;

/// Failed logins by address, of at most [`LOGIN_ADDRESSES_MAX`] addresses. A further one displaces the address whose last
/// failure is oldest.
#[derive(Debug, Default)]
pub(crate) struct Logins(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: BTreeMap<Remote, Failures>,
    /// When the last line went to the log, in steady microseconds.
    logged_us: Option<u64>,
    /// Failed logins since that line.
    unlogged: u64,
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    /// Failures in a row, at least 1.
    count: u32,
    /// When the last failure was, in steady microseconds.
    last_us: u64,
}

impl Logins {
    /// Wait of the next login from this address: zero without a failure, 100 ms after the first, doubled by each further one
    /// up to [`LOGIN_DELAY_MAX`].
    pub(crate) fn delay(&self, from: Remote, now_us: u64) -> Duration {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = state.failures.get(&from);
        let count = failures
            .filter(|failures| failures.is_remembered(now_us))
            .map_or(0, |failures| failures.count);
        match count.checked_sub(1) {
            None => Duration::ZERO,
            Some(doubled) => LOGIN_DELAY_FIRST
                .saturating_mul(1_u32.checked_shl(doubled).unwrap_or(u32::MAX))
                .min(LOGIN_DELAY_MAX),
        }
    }

    /// Records a login that passed: the failures of its address are forgotten.
    pub(crate) fn passed(&self, from: Remote) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures.remove(&from);
    }

    /// Records a failed login. If a log line is due, gives the count of failed logins since the last line, this one included.
    /// A line is due once in [`LOGIN_LOG_EVERY`].
    pub(crate) fn failed(&self, from: Remote, now_us: u64) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.failures.contains_key(&from) && state.failures.len() >= LOGIN_ADDRESSES_MAX {
            state.forget_oldest();
        }
        let failures = state.failures.entry(from).or_insert(Failures {
            count: 0,
            last_us: now_us,
        });
        if !failures.is_remembered(now_us) {
            failures.count = 0;
        }
        failures.count = failures.count.saturating_add(1);
        failures.last_us = now_us;
        state.unlogged += 1;
        let pause_us = LOGIN_LOG_EVERY.as_micros() as u64;
        let is_due = state
            .logged_us
            .is_none_or(|logged_us| now_us.saturating_sub(logged_us) >= pause_us);
        is_due.then(|| {
            state.logged_us = Some(now_us);
            std::mem::take(&mut state.unlogged)
        })
    }
}

impl State {
    fn forget_oldest(&mut self) {
        let oldest = self.failures.iter().min_by_key(|(_, held)| held.last_us);
        if let Some(from) = oldest.map(|(from, _)| *from) {
            self.failures.remove(&from);
        }
    }
}

impl Failures {
    fn is_remembered(&self, now_us: u64) -> bool {
        now_us.saturating_sub(self.last_us) < LOGIN_FORGET_AFTER.as_micros() as u64
    }
}
