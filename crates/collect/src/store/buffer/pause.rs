//! Time between two attempts to reach the primary.
//!
//! ```text
//! retry_interval=300, retry_interval_range=60     270 s to 329.999 s, drawn again after each attempt
//! adaptive_backoff=yes, 5 s to 100 s, offset 20   5 → 5 × 1.414 + 0..20 s at a failure, 2 s less at a success
//! ```

use crate::config::BufferConfig;
use crate::store::random::Random;

const SECOND_US: u64 = 1_000_000;

/// Longest interval: a year, so that no sum of times overflows. Seconds.
const INTERVAL_S_MAX: u64 = 365 * 24 * 3_600;

/// Adaptive interval: less by this after a success. Seconds.
const STEP_S: u64 = 2;

#[derive(Debug)]
pub(super) struct Pause {
    kind: Kind,
    random: Random,
    now_us: u64,
}

#[derive(Debug)]
enum Kind {
    Drawn {
        interval_us: u64,
        range_us: u64,
    },
    Adaptive {
        min_us: u64,
        max_us: u64,
        offset_us: u64,
    },
}

impl Pause {
    pub(super) fn new(config: &BufferConfig, seed: u64) -> Pause {
        let us = |seconds: u64| seconds.min(INTERVAL_S_MAX) * SECOND_US;
        let kind = if config.adaptive_backoff {
            let bounds = (config.min_retry_interval_s, config.max_retry_interval_s);
            // Scribe takes both defaults where the bounds contradict each other.
            let (min, max) = if bounds.0 > bounds.1 {
                (5, 100)
            } else {
                bounds
            };
            Kind::Adaptive {
                min_us: us(min),
                max_us: us(max),
                offset_us: us(config.max_random_offset_s),
            }
        } else {
            let interval_us = us(config.retry_interval_s);
            Kind::Drawn {
                interval_us,
                range_us: us(config.retry_interval_range_s).min(interval_us),
            }
        };
        let now_us = match kind {
            Kind::Adaptive { min_us, .. } => min_us,
            Kind::Drawn { .. } => 0,
        };
        let random = Random::new(seed);
        let mut pause = Pause {
            kind,
            random,
            now_us,
        };
        pause.draw();
        pause
    }

    /// The time to wait after an attempt. Microseconds.
    pub(super) fn us(&self) -> u64 {
        self.now_us
    }

    /// The primary failed.
    pub(super) fn failed(&mut self) {
        if let Kind::Adaptive {
            max_us, offset_us, ..
        } = self.kind
        {
            let offset_us = self.random.below(offset_us);
            self.now_us = (self.now_us * 1_414 / 1_000 + offset_us).min(max_us);
        }
        self.draw();
    }

    /// The primary took a batch or a whole file.
    pub(super) fn succeeded(&mut self) {
        if let Kind::Adaptive { min_us, .. } = self.kind {
            self.now_us = self.now_us.saturating_sub(STEP_S * SECOND_US).max(min_us);
        }
    }

    fn draw(&mut self) {
        if let Kind::Drawn {
            interval_us,
            range_us,
        } = self.kind
        {
            self.now_us = interval_us - range_us / 2 + self.random.below(range_us);
        }
    }
}
