//! The least speed of a request that has begun.
//!
//! Example: `client_timeout = 60s`, a request that began at second 0 and sent 100 KiB by second 150. Its next byte must come by
//! second 160: 60 s of pause and 100 s that its 100 KiB earn at [`REQUEST_RATE_MIN`]. Without the second rule a client could
//! hold a place and its memory for years by one byte a minute.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use session::Grant;
use tokio::time::{Instant, timeout_at};

use crate::limits::{REQUEST_RATE_MIN, ROOM_RATE_MIN, ROOM_STALL};

/// The request came too slowly. The door closes its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooSlow;

/// Times of one request. Its next byte must come within `patience` of the last byte, and within `patience` plus the time that
/// its bytes earn at [`REQUEST_RATE_MIN`] of its begin. While it holds memory that others wait for, [`ROOM_STALL`] and
/// [`ROOM_RATE_MIN`] take their places.
#[derive(Debug)]
pub(crate) struct Pace {
    patience: Duration,
    begun: Instant,
    last: Instant,
    bytes: u64,
}

impl Pace {
    /// A request that begins now.
    pub(crate) fn new(patience: Duration) -> Pace {
        let now = Instant::now();
        Pace {
            patience,
            begun: now,
            last: now,
            bytes: 0,
        }
    }

    /// Records that `count` bytes have come.
    pub(crate) fn came(&mut self, count: usize) {
        self.last = Instant::now();
        self.bytes += count as u64;
    }

    /// Starts its time anew: the server has kept it waiting.
    pub(crate) fn again(&mut self) {
        *self = Pace::new(self.patience);
    }

    /// Waits for `read`, its next bytes. `held` is the memory of the request.
    pub(crate) async fn next<T>(
        &self,
        held: &Grant,
        read: impl Future<Output = T>,
    ) -> Result<T, TooSlow> {
        let mut read = pin!(read);
        loop {
            let now = Instant::now();
            let until = self.until(held.is_wanted());
            let look = match held.is_empty() {
                false => until.min(now + ROOM_STALL),
                true => until,
            };
            match timeout_at(look, read.as_mut()).await {
                Ok(done) => return Ok(done),
                Err(_) if until <= Instant::now() => return Err(TooSlow),
                Err(_) => {}
            }
        }
    }

    /// Deadline of the next byte.
    fn until(&self, is_wanted: bool) -> Instant {
        let (pause, rate) = match is_wanted {
            true => (ROOM_STALL, ROOM_RATE_MIN),
            false => (self.patience, REQUEST_RATE_MIN),
        };
        let earned = Duration::from_millis(self.bytes.saturating_mul(1_000) / rate);
        (self.last + pause).min(self.begun + pause + earned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A request of `bytes` bytes whose last byte came `took` after the first.
    fn pace(bytes: u64, took: Duration) -> Pace {
        let now = Instant::now();
        Pace {
            patience: PATIENCE,
            begun: now,
            last: now + took,
            bytes,
        }
    }

    #[track_caller]
    fn check(bytes: u64, took_s: u64, is_wanted: bool, wanted_s: u64) {
        let pace = pace(bytes, Duration::from_secs(took_s));
        let until = pace.until(is_wanted) - pace.begun;
        assert_eq!(until, Duration::from_secs(wanted_s));
    }

    #[test]
    fn a_request_may_pause_and_must_come_at_a_rate() {
        check(0, 0, false, 60);
        check(1 << 20, 1, false, 61);
        check(1, 59, false, 60);
        check(100 * REQUEST_RATE_MIN, 150, false, 160);
    }

    #[test]
    fn a_request_whose_room_is_wanted_must_hurry() {
        check(0, 0, true, 1);
        check(ROOM_RATE_MIN, 1, true, 2);
        check(100 * ROOM_RATE_MIN, 10, true, 11);
        check(ROOM_RATE_MIN, 30, true, 2);
    }
}
