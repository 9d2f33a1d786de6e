//! How a collector's files catch up after the server that writes them was away.
//!
//! # Example
//! At 1,000 messages a second the files stand still from 10 s to 70 s, and have everything at 90 s:
//!
//! ```text
//! seconds        10        70        90
//! acknowledged   10,000    70,000    90,000
//! in files       10,000    10,000    90,000      80,000 in 20 s: 4,000 a second, 4 × the arrivals
//! ```

use std::time::Duration;

use crate::error::{Error, Result};

/// What is known at a moment of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Since the run began.
    pub at: Duration,
    /// Messages that were answered OK.
    pub acknowledged: u64,
    /// Messages in the files, by the files' lengths.
    pub in_files: u64,
}

/// The longest time without a message in the files, and what followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CatchUp {
    /// Seconds without a message.
    pub away_s: f64,
    /// Messages that waited when the files began to grow again.
    pub waiting: u64,
    /// Messages that came into the files a second, from then until less than one second's arrivals waited.
    pub drained_per_s: f64,
    /// Messages acknowledged a second in the same time.
    pub arrived_per_s: f64,
}

impl CatchUp {
    /// Errors: the files never stood still for `away`, or never caught up.
    pub(super) fn of(samples: &[Sample], away: Duration) -> Result<CatchUp> {
        let mut longest: Option<(usize, usize)> = None;
        let mut from = 0;
        for (place, sample) in samples.iter().enumerate() {
            if samples[from].in_files != sample.in_files {
                from = place;
            }
            let length = |(from, to): (usize, usize)| samples[to].at - samples[from].at;
            if longest.is_none_or(|pair| length((from, place)) > length(pair)) {
                longest = Some((from, place));
            }
        }
        let (from, back) =
            longest.ok_or(Error::BadOption("a run needs some time to be watched"))?;
        let stood = samples[back].at - samples[from].at;
        if stood < away {
            return Err(Error::WrongAnswer {
                what: "milliseconds that the files stood still".to_owned(),
                expected: away.as_millis() as u64,
                counted: stood.as_millis() as u64,
            });
        }
        let before = samples[back];
        let caught_up = samples[back..].iter().find(|sample| {
            let a_second = sample.acknowledged as f64 / sample.at.as_secs_f64().max(1e-9);
            (sample.acknowledged.saturating_sub(sample.in_files) as f64) < a_second
        });
        let waiting = before.acknowledged.saturating_sub(before.in_files);
        let caught_up = caught_up.ok_or(Error::WrongAnswer {
            what: "messages that still waited at the end of the run".to_owned(),
            expected: 0,
            counted: waiting,
        })?;
        let seconds = (caught_up.at - before.at).as_secs_f64().max(1e-9);
        Ok(CatchUp {
            away_s: stood.as_secs_f64(),
            waiting,
            drained_per_s: (caught_up.in_files - before.in_files) as f64 / seconds,
            arrived_per_s: (caught_up.acknowledged - before.acknowledged) as f64 / seconds,
        })
    }

    pub(super) fn facts(self) -> [(&'static str, f64); 4] {
        [
            ("away s", self.away_s),
            ("waited", self.waiting as f64),
            ("drained/s", self.drained_per_s),
            ("arrived/s", self.arrived_per_s),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: u64, acknowledged: u64, in_files: u64) -> Sample {
        Sample {
            at: Duration::from_secs(at),
            acknowledged,
            in_files,
        }
    }

    #[test]
    fn the_drain_begins_after_the_longest_pause_and_ends_when_less_than_a_second_waits() {
        let samples = [
            sample(1, 1_000, 1_000),
            sample(10, 10_000, 10_000),
            sample(70, 70_000, 10_000),
            sample(80, 80_000, 50_000),
            sample(90, 90_000, 89_500),
            sample(95, 95_000, 95_000),
        ];
        let found = CatchUp::of(&samples, Duration::from_secs(60)).unwrap();
        assert_eq!(
            found,
            CatchUp {
                away_s: 60.0,
                waiting: 60_000,
                drained_per_s: 79_500.0 / 20.0,
                arrived_per_s: 1_000.0,
            }
        );
        assert!(
            CatchUp::of(&samples, Duration::from_secs(61)).is_err(),
            "too short a pause"
        );
        assert!(
            CatchUp::of(&samples[..4], Duration::from_secs(60)).is_err(),
            "never caught up"
        );
    }
}
