//! Queries by minute of the log's own clock. Hours, weekdays and the rate over time are sums of minutes.

use rustc_hash::FxHashMap;

use super::super::limits::MINUTES_MAX;

/// What was answered in a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Minute {
    /// Queries whose line was written in the minute.
    pub queries: u64,
    /// Microseconds of their answers.
    pub sum_us: u64,
    /// Queries above 100 ms.
    pub slow: u64,
}

/// Minutes with queries.
#[derive(Clone, Debug, Default)]
pub struct Minutes {
    by_minute: FxHashMap<i64, Minute>,
    /// The minute of the last line, kept out of the map: lines come in the order of time.
    last: Option<(i64, Minute)>,
    left_out: Minute,
}

impl Minute {
    pub(crate) fn merge(&mut self, other: Minute) {
        self.queries += other.queries;
        self.sum_us += other.sum_us;
        self.slow += other.slow;
    }
}

impl Minutes {
    /// Counts a query of `minute`, minutes from 1970 by the log's clock.
    #[inline]
    pub(crate) fn add(&mut self, minute: i64, us: u64) {
        let one = Minute {
            queries: 1,
            sum_us: us,
            slow: u64::from(us > 100_000),
        };
        match &mut self.last {
            Some((last, sums)) if *last == minute => sums.merge(one),
            _ => {
                self.settle();
                self.last = Some((minute, one));
            }
        }
    }

    /// Moves the minute of the last line into the map.
    pub(crate) fn settle(&mut self) {
        if let Some((minute, sums)) = self.last.take() {
            self.merge_minute(minute, sums);
        }
    }

    fn merge_minute(&mut self, minute: i64, sums: Minute) {
        let is_new = !self.by_minute.contains_key(&minute);
        if is_new && self.by_minute.len() >= MINUTES_MAX {
            self.left_out.merge(sums);
        } else {
            self.by_minute.entry(minute).or_default().merge(sums);
        }
    }

    /// Adds other minutes.
    pub(crate) fn merge(&mut self, mut other: Minutes) {
        self.settle();
        other.settle();
        other
            .by_minute
            .into_iter()
            .for_each(|(minute, sums)| self.merge_minute(minute, sums));
        self.left_out.merge(other.left_out);
    }

    /// The minutes with queries, by time: minutes from 1970 by the log's clock.
    pub fn by_time(&self) -> Vec<(i64, Minute)> {
        let mut settled = self.clone();
        settled.settle();
        let mut minutes: Vec<(i64, Minute)> = settled.by_minute.into_iter().collect();
        minutes.sort_unstable_by_key(|(minute, _)| *minute);
        minutes
    }

    /// Queries of minutes above [`MINUTES_MAX`].
    pub fn left_out(&self) -> Minute {
        self.left_out
    }
}
