//! Bounds how many touches a client, and the pages of a site, may tell in a minute.
//!
//! Each client has one of a fixed number of counters, chosen by a hash of its address with a random key. Two clients that share a counter
//! share its bound, which is rare and never allows more. So the memory is fixed, whatever number of strangers comes, and no stranger can
//! choose whose counter it shares.
//!
//! A counter holds a minute since the start, and the requests in it: `minute << 32 | count`.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use session::Remote;

use crate::limits::{TOUCH_CLIENT_COUNTERS, TOUCH_ORIGINS_MAX};

const MINUTE_US: u64 = 60_000_000;

/// The counters of one server: some 520 KiB.
pub(crate) struct Flood {
    key: RandomState,
    clients: Box<[AtomicU64]>,
    /// By the number of an entry of `touch.origins`. After a reload that moves entries, a counter goes on for another for a minute.
    origins: Box<[AtomicU64]>,
}

/// Too many requests came in this minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flooded {
    /// Whose bound was reached: `client` or `origin`.
    pub(crate) of: &'static str,
    /// Seconds until the next minute, 1 to 60.
    pub(crate) retry_after_s: u64,
}

impl Default for Flood {
    fn default() -> Flood {
        let counters = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Flood {
            key: RandomState::new(),
            clients: counters(TOUCH_CLIENT_COUNTERS),
            origins: counters(TOUCH_ORIGINS_MAX),
        }
    }
}

impl fmt::Debug for Flood {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Flood").finish_non_exhaustive()
    }
}

impl Flood {
    /// Counts a request of a client from a page of the entry `origin`. A request beyond the client's bound does not count for the origin.
    ///
    /// # Errors
    /// A bound is reached.
    pub(crate) fn admit(
        &self,
        client: Remote,
        origin: usize,
        (per_client, per_origin): (u32, u32),
        now_us: u64,
    ) -> Result<(), Flooded> {
        let minute = now_us / MINUTE_US;
        let retry_after_s = (MINUTE_US - now_us % MINUTE_US).div_ceil(1_000_000);
        let place = self.key.hash_one(client) as usize % self.clients.len();
        let counters = [
            (self.clients.get(place), per_client, "client"),
            (self.origins.get(origin), per_origin, "origin"),
        ];
        for (counter, most, of) in counters {
            if !counter.is_some_and(|counter| takes(counter, minute, most)) {
                return Err(Flooded { of, retry_after_s });
            }
        }
        Ok(())
    }
}

/// Counts a request in this minute, unless there are `most`.
fn takes(counter: &AtomicU64, minute: u64, most: u32) -> bool {
    let next = |held: u64| match held >> 32 == minute {
        true if held as u32 >= most => None,
        true => Some(held + 1),
        false => Some(minute << 32 | 1),
    };
    counter
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u32) -> Remote {
        Remote::of(std::net::IpAddr::V4(number.into()))
    }

    #[test]
    fn a_client_is_refused_beyond_its_bound_until_the_next_minute() {
        let flood = Flood::default();
        let admit = |now_us| flood.admit(client(1), 0, (3, 100), now_us);
        let mut now_us = 5 * MINUTE_US;
        for _ in 0..3 {
            assert_eq!(admit(now_us), Ok(()));
        }
        now_us += 20_000_000;
        let flooded = Flooded {
            of: "client",
            retry_after_s: 40,
        };
        assert_eq!(admit(now_us), Err(flooded));
        assert_eq!(admit(6 * MINUTE_US), Ok(()));
    }

    #[test]
    fn many_clients_together_are_refused_beyond_the_bound_of_the_origin() {
        let flood = Flood::default();
        let admitted = (0..1_000)
            .filter(|number| flood.admit(client(*number), 7, (10, 50), 0).is_ok())
            .count();
        assert_eq!(admitted, 50);
        assert_eq!(
            flood.admit(client(1), 8, (10, 50), 0),
            Ok(()),
            "another site"
        );
    }

    #[test]
    fn clients_that_send_little_are_admitted_beside_one_that_floods() {
        let flood = Flood::default();
        for _ in 0..1_000 {
            let _ = flood.admit(client(0), 0, (10, u32::MAX), 0);
        }
        let refused = (1..1_000)
            .filter(|number| flood.admit(client(*number), 0, (10, u32::MAX), 0).is_err())
            .count();
        assert!(
            refused <= 3,
            "{refused} share the counter of the one that floods"
        );
    }
}
