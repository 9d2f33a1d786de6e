//! Log lines that strangers cause: at most one in a time, with the count of those that were left out.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// One kind of line.
#[derive(Debug, Default)]
pub(crate) struct Sparse(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// When the last line went to the log, in steady microseconds.
    logged_us: Option<u64>,
    /// Events since that line.
    unlogged: u64,
}

impl Sparse {
    /// Counts an event. If a line is due, gives the count of events since the last line, this one included. A line is due once
    /// in `pause`.
    pub(crate) fn due(&self, pause: Duration, now_us: u64) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.unlogged += 1;
        let pause_us = pause.as_micros() as u64;
        let is_due = state
            .logged_us
            .is_none_or(|logged_us| now_us.saturating_sub(logged_us) >= pause_us);
        is_due.then(|| {
            state.logged_us = Some(now_us);
            std::mem::take(&mut state.unlogged)
        })
    }
}
