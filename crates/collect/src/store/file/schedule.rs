//! When a file ends by time.
//!
//! `hourly` and `daily` divide local time into slots, which begin at `rotate_minute` of each hour and at
//! `rotate_hour`:`rotate_minute` of each day. A file ends when a later slot than its own has begun.
//!
//! ```text
//! hourly, rotate_minute=15    a file of 13:20 ends at 14:15
//! clock set back to 13:10     the slot before its own: the file goes on, as it does when daylight saving ends
//! clock set back to 11:00     two slots before: the clock was wrong, the file ends
//! ```
//!
//! A period of n seconds goes by the steady clock, from the opening on: no change of the wall clock matters.

use crate::config::{FileBase, RotatePeriod};
use crate::message::Now;

use super::names::local_s;

/// The time at which a file was opened, as rotation sees it.
#[derive(Clone, Copy)]
pub(super) struct Opened {
    slot: i64,
    steady_us: u64,
}

impl Opened {
    pub(super) fn new(base: &FileBase, now: Now) -> Opened {
        Opened {
            slot: slot(base, now),
            steady_us: now.steady_us,
        }
    }

    /// Whether a file that was opened then has to end.
    pub(super) fn is_over(self, base: &FileBase, now: Now) -> bool {
        match base.rotate_period {
            RotatePeriod::Never => false,
            RotatePeriod::Every { seconds } => {
                let open_us = now.steady_us.saturating_sub(self.steady_us);
                open_us >= seconds.saturating_mul(1_000_000)
            }
            RotatePeriod::Hourly | RotatePeriod::Daily => {
                let slot = slot(base, now);
                slot > self.slot || slot + 1 < self.slot
            }
        }
    }
}

/// Number of the slot of a time; 0 where there are none.
fn slot(base: &FileBase, now: Now) -> i64 {
    let minute_s = i64::from(base.rotate_minute) * 60;
    let (begin_s, slot_s) = match base.rotate_period {
        RotatePeriod::Never | RotatePeriod::Every { .. } => return 0,
        RotatePeriod::Hourly => (minute_s, 3_600),
        RotatePeriod::Daily => (i64::from(base.rotate_hour) * 3_600 + minute_s, 86_400),
    };
    (local_s(now) - begin_s).div_euclid(slot_s)
}
