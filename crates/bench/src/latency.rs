//! Latencies in a histogram: any number of them in 30 KB, each within 1.6 % of what it was.

use std::time::Duration;

/// Buckets of one power of two.
const STEPS: usize = 64;
const STEP_BITS: u32 = STEPS.ilog2();
/// Up to 2^63 ns.
const BUCKETS: usize = STEPS * (64 - STEP_BITS as usize + 1);

/// How often each latency came.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    counts: Box<[u64]>,
    count: u64,
    sum_ns: u128,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies {
            counts: vec![0; BUCKETS].into(),
            count: 0,
            sum_ns: 0,
        }
    }
}

impl Latencies {
    /// Adds one.
    pub(crate) fn add(&mut self, latency: Duration) {
        let ns = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(ns)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
    }

    /// Adds all of another.
    pub(crate) fn merge(&mut self, other: &Latencies) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 of none.
    pub(crate) fn mean_ms(&self) -> f64 {
        self.sum_ns as f64 / self.count.max(1) as f64 / 1e6
    }

    /// The least that is not below this part of them; 0 of none.
    pub(crate) fn percentile_ms(&self, part: f64) -> f64 {
        let wanted = (self.count as f64 * part).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return lowest(bucket) as f64 / 1e6;
            }
        }
        0.0
    }
}

/// Below 64 ns a bucket each; above, the six bits that follow the highest one choose among 64 to a power of two.
fn bucket(ns: u64) -> usize {
    if ns < STEPS as u64 {
        return ns as usize;
    }
    let power = ns.ilog2() - STEP_BITS;
    (power as usize + 1) * STEPS + ((ns >> power) as usize & (STEPS - 1))
}

/// The lowest latency of a bucket, in nanoseconds.
fn lowest(bucket: usize) -> u64 {
    match (bucket / STEPS, (bucket % STEPS) as u64) {
        (0, step) => step,
        (power, step) => (STEPS as u64 + step) << (power - 1),
    }
}

#[cfg(test)]
mod tests;
