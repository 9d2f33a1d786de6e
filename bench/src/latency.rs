//! Latencies in a histogram: any count of them in 30 KB, each with an error of at most 1.6 %.

use std::time::Duration;

/// Count of buckets for each power of two.
const STEPS: usize = 64;
const STEP_BITS: u32 = STEPS.ilog2();
/// Count of all buckets, for latencies up to 2^63 ns.
const BUCKETS: usize = STEPS * (64 - STEP_BITS as usize + 1);

/// Count of latencies in each bucket.
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
    /// Adds a latency.
    pub(crate) fn add(&mut self, latency: Duration) {
        let ns = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(ns)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
    }

    /// Adds all latencies of `other`.
    pub(crate) fn merge(&mut self, other: &Latencies) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
    }

    /// Count of latencies.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Mean latency in milliseconds; 0 without latencies.
    pub(crate) fn mean_ms(&self) -> f64 {
        self.sum_ns as f64 / self.count.max(1) as f64 / 1e6
    }

    /// The least latency that the share `part` of the latencies does not exceed, in milliseconds; 0 without latencies.
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

/// The bucket of a latency. Each latency below 64 ns has a bucket of its own. Above, a power of two has 64 buckets, chosen by the
/// six bits behind the highest bit.
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
