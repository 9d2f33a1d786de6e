//! Histograms of the engine's work: how often a number fell into which range.
//!
//! The thread that runs a turn adds values; any thread reads them. Each counter is read by itself: during an `add`, a reader may
//! find a value in `count` that is not yet in `sum`.

use std::sync::atomic::{AtomicU64, Ordering};

/// Most ranges of a histogram, the last range included, which has no upper end.
const RANGES_MAX: usize = 16;

/// Counts of values by range, in atomic counters without a lock.
///
/// With the bounds 1 and 10 there are three ranges: 0 to 1, 2 to 10, and 11 and above. The values 1, 2 and 1,000 count once in
/// each; [`Histogram::at_most`] is then (1, 1), (10, 2), and [`Histogram::count`] is 3.
#[derive(Debug)]
pub struct Histogram {
    /// Upper ends of the ranges but the last one, rising, each belonging to its range.
    bounds: &'static [u64],
    counts: [AtomicU64; RANGES_MAX],
    sum: AtomicU64,
}

impl Histogram {
    /// An empty histogram over rising bounds, at most 15. Panics with more.
    const fn new(bounds: &'static [u64]) -> Histogram {
        assert!(bounds.len() < RANGES_MAX, "a range a bound and one above");
        Histogram {
            bounds,
            counts: [const { AtomicU64::new(0) }; RANGES_MAX],
            sum: AtomicU64::new(0),
        }
    }

    /// Counts a value.
    pub(crate) fn add(&self, value: u64) {
        let range = self.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get(range) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// For each bound, rising: the bound and the number of values at or below it.
    pub fn at_most(&self) -> Vec<(u64, u64)> {
        let mut total = 0;
        let ranges = self.bounds.iter().zip(&self.counts);
        ranges
            .map(|(bound, count)| {
                total += count.load(Ordering::Relaxed);
                (*bound, total)
            })
            .collect()
    }

    /// Number of values, those above the last bound included.
    pub fn count(&self) -> u64 {
        self.counts
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .sum()
    }

    /// Sum of all values, in their unit.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }
}

const COUNTS: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16_384];
const BYTES: &[u64] = &[
    256,
    1 << 10,
    4 << 10,
    16 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
    16 << 20,
    64 << 20,
];
const TIMES_US: &[u64] = &[
    50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000,
];

/// How the engine's thread works: batches, syncs, turns.
#[derive(Debug)]
pub struct Work {
    /// Commands of a batch; an empty batch is not counted.
    pub batch_commands: Histogram,
    /// Bytes of the records that a batch appends as one frame; a batch without a record is not counted.
    pub batch_bytes: Histogram,
    /// Rows that one sync made durable.
    pub sync_rows: Histogram,
    /// Time of a sync, in microseconds.
    pub sync_us: Histogram,
    /// Time of a turn, its sync included, in microseconds. A command that comes meanwhile waits for its end.
    pub turn_us: Histogram,
}

impl Default for Work {
    fn default() -> Work {
        Work {
            batch_commands: Histogram::new(COUNTS),
            batch_bytes: Histogram::new(BYTES),
            sync_rows: Histogram::new(COUNTS),
            sync_us: Histogram::new(TIMES_US),
            turn_us: Histogram::new(TIMES_US),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_belongs_to_the_range_that_ends_with_it() {
        let histogram = Histogram::new(&[1, 10]);
        for value in [0, 1, 2, 10, 11, 1000] {
            histogram.add(value);
        }
        assert_eq!(histogram.at_most(), [(1, 2), (10, 4)]);
        assert_eq!((histogram.count(), histogram.sum()), (6, 1024));
    }
}
