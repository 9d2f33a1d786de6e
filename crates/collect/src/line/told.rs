//! When the log tells that a store fails, and that it is well again: once each, not at each attempt.
//!
//! ```text
//! second   0       1       2       3 … 9    10       14       20
//! store    fails   fails   well    well     fails    well     well
//! log      WARN                                               INFO
//! ```

use crate::message::Now;

/// A store is well again after this number of looks without trouble: one that opens and then fails at each message is not.
const LOOKS: u64 = 2;

/// What the log has told of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Told {
    /// That it is well, or nothing.
    #[default]
    Well,
    /// That it fails.
    Fails,
    /// That it fails; it has been well since this time. Microseconds of the steady clock.
    FailedUntil(u64),
}

/// What the log is to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The store begins to fail.
    Fails,
    /// It is well again.
    IsWell,
}

impl Told {
    /// Notes how the store is now. `check_us`: time between two looks.
    pub(super) fn hear(&mut self, is_well: bool, now: Now, check_us: u64) -> Option<News> {
        let now_us = now.steady_us;
        let (next, news) = match (*self, is_well) {
            (Told::Well, true) => (Told::Well, None),
            (Told::Well, false) => (Told::Fails, Some(News::Fails)),
            (Told::Fails | Told::FailedUntil(_), false) => (Told::Fails, None),
            (Told::Fails, true) => (Told::FailedUntil(now_us), None),
            (Told::FailedUntil(since), true) if now_us - since < LOOKS * check_us => (*self, None),
            (Told::FailedUntil(_), true) => (Told::Well, Some(News::IsWell)),
        };
        *self = next;
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_tells_once_that_a_store_fails_and_once_that_it_is_well() {
        let mut told = Told::default();
        let heard = [
            (0, true, None),
            (1, false, Some(News::Fails)),
            (2, false, None),
            (3, true, None),
            (12, true, None),
            (13, false, None),
            (20, true, None),
            (29, true, None),
            (30, true, Some(News::IsWell)),
            (31, true, None),
            (32, false, Some(News::Fails)),
        ];
        for (second, is_well, news) in heard {
            let now = Now {
                steady_us: second * 1_000_000,
                ..Now::default()
            };
            let got = told.hear(is_well, now, 5_000_000);
            assert_eq!(got, news, "second {second}");
        }
    }
}
