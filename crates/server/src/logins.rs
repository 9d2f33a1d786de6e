//! Failed logins: counted for each address, so that the address's next login waits.
//!
//! Example: four logins of an address fail. Its fifth login waits 800 ms before the password is checked, right or wrong. If the
//! password is right, the address's failures are forgotten. The wait holds a connection but no thread.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use session::Remote;

use crate::limits::{
    LOGIN_ADDRESSES_MAX, LOGIN_DELAY_FIRST, LOGIN_DELAY_MAX, LOGIN_FORGET_AFTER, LOGIN_LOG_EVERY,
};
use crate::sparse::Sparse;

/// Failed logins by address, of at most [`LOGIN_ADDRESSES_MAX`] addresses. A further one displaces the address whose last
/// failure is oldest.
#[derive(Debug, Default)]
pub(crate) struct Logins {
    failures: Mutex<AllFailures>,
    lines: Sparse,
}

#[derive(Debug, Default)]
struct AllFailures(BTreeMap<Remote, Failures>);

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
        let all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = all.0.get(&from);
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
        let mut all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        all.0.remove(&from);
    }

    /// Records a failed login. If a log line is due, gives the count of failed logins since the last line, this one included.
    /// A line is due once in [`LOGIN_LOG_EVERY`].
    pub(crate) fn failed(&self, from: Remote, now_us: u64) -> Option<u64> {
        let mut all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.0.contains_key(&from) && all.0.len() >= LOGIN_ADDRESSES_MAX {
            all.forget_oldest();
        }
        let failures = all.0.entry(from).or_insert(Failures {
            count: 0,
            last_us: now_us,
        });
        if !failures.is_remembered(now_us) {
            failures.count = 0;
        }
        failures.count = failures.count.saturating_add(1);
        failures.last_us = now_us;
        self.lines.due(LOGIN_LOG_EVERY, now_us)
    }
}

impl AllFailures {
    fn forget_oldest(&mut self) {
        let oldest = self.0.iter().min_by_key(|(_, held)| held.last_us);
        if let Some(from) = oldest.map(|(from, _)| *from) {
            self.0.remove(&from);
        }
    }
}

impl Failures {
    fn is_remembered(&self, now_us: u64) -> bool {
        now_us.saturating_sub(self.last_us) < LOGIN_FORGET_AFTER.as_micros() as u64
    }
}
