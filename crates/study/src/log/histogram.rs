//! Distributions of times.
//!
//! A bin holds the values above its lower edge, up to and with its upper edge. Edges have two significant decimal digits:
//!
//! ```text
//! bin      0      1 …   10      11        12    …     100      101    …
//! holds    0 µs   1 µs  10 µs   11 µs     12 µs       100 µs   101–110 µs   … 910–1000 µs, 1.0–1.1 ms, …
//! ```
//!
//! So there are 90 bins in each decade above 10 µs, and a bin is 1 to 10 % wide. 1, 10, 100 and 500 ms are edges: the share of
//! values at or below them is exact. The clock of plain and sphinxql lines counts whole milliseconds: each value up to 100 ms has
//! a bin of its own. Values above 1,000 s share the last bin.

/// Values at or below this have a bin for each microsecond.
const LINEAR_US: u64 = 10;
/// Bins of a decade.
const DECADE_BINS: usize = 90;
/// Decades above [`LINEAR_US`]: up to 1,000 s.
const DECADES: usize = 8;
/// Bins, that of values above the last edge included.
pub(crate) const BINS: usize = LINEAR_US as usize + 1 + DECADES * DECADE_BINS + 1;

/// A distribution of times in microseconds.
///
/// Memory: 8 bytes for each bin between the lowest and the highest value. Adding histograms gives that of all values, in any
/// order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Number of the first bin in `counts`.
    first: usize,
    counts: Vec<u64>,
    sum_us: u64,
    max_us: u64,
}

/// The bin of a value.
#[inline]
pub(crate) fn bin_of(us: u64) -> usize {
    if us <= LINEAR_US {
        return us as usize;
    }
    // The upper edge belongs to the bin: 10,000 µs is counted as 9,999 is.
    let below = us - 1;
    let mut power = 1;
    for decade in 0..DECADES {
        if below < power * 100 {
            let digits = (below / power) as usize;
            return LINEAR_US as usize + 1 + decade * DECADE_BINS + digits - 10;
        }
        power *= 10;
    }
    BINS - 1
}

/// The highest value of a bin; of the last, `u64::MAX`.
pub(crate) fn upper_edge_us(bin: usize) -> u64 {
    match bin.checked_sub(LINEAR_US as usize + 1) {
        None => bin as u64,
        Some(_) if bin >= BINS - 1 => u64::MAX,
        Some(above) => (above % DECADE_BINS + 11) as u64 * 10_u64.pow((above / DECADE_BINS) as u32),
    }
}

impl Histogram {
    /// Counts a value.
    #[inline]
    pub fn add(&mut self, us: u64) {
        let bin = bin_of(us);
        self.make_room(bin);
        self.counts[bin - self.first] += 1;
        self.sum_us = self.sum_us.saturating_add(us);
        self.max_us = self.max_us.max(us);
    }

    /// Counts all values of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.is_empty() {
            return;
        }
        self.make_room(other.first);
        self.make_room(other.first + other.counts.len() - 1);
        for (offset, count) in other.counts.iter().enumerate() {
            self.counts[other.first + offset - self.first] += count;
        }
        self.sum_us = self.sum_us.saturating_add(other.sum_us);
        self.max_us = self.max_us.max(other.max_us);
    }

    /// Widens `counts` so that it has `bin`.
    #[inline]
    fn make_room(&mut self, bin: usize) {
        if bin.wrapping_sub(self.first) < self.counts.len() {
            return;
        }
        if self.counts.is_empty() {
            self.first = bin;
            self.counts.push(0);
        } else if bin < self.first {
            self.counts
                .splice(0..0, std::iter::repeat_n(0, self.first - bin));
            self.first = bin;
        } else {
            self.counts.resize(bin - self.first + 1, 0);
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Sum of the values in microseconds.
    pub fn sum_us(&self) -> u64 {
        self.sum_us
    }

    /// Highest value in microseconds, 0 without values.
    pub fn max_us(&self) -> u64 {
        self.max_us
    }

    /// Mean in microseconds; `None` without values.
    pub fn mean_us(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_us as f64 / count as f64)
    }

    /// The bins with values: highest value of the bin in microseconds, at most [`max_us`](Self::max_us), and its count. By rising
    /// value.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        let bins = self.counts.iter().enumerate();
        bins.filter(|(_, count)| **count > 0)
            .map(|(offset, count)| (upper_edge_us(self.first + offset).min(self.max_us), *count))
    }

    /// Number of values at or below `us`, which should be an edge: 1, 2, … 99 times a power of ten. Else the values of the bin
    /// with `us` are left out.
    pub fn count_within(&self, us: u64) -> u64 {
        let bins = self.counts.iter().enumerate();
        bins.take_while(|(offset, _)| upper_edge_us(self.first + offset) <= us)
            .map(|(_, count)| count)
            .sum()
    }

    /// Share of values at or below `us`, as [`count_within`](Self::count_within); `None` without values.
    pub fn share_within(&self, us: u64) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.count_within(us) as f64 / count as f64)
    }

    /// The least edge at or below which at least `share` of the values lie, at most the highest value; `None` without values.
    pub fn quantile_us(&self, share: f64) -> Option<u64> {
        let wanted = ((self.count() as f64 * share).ceil() as u64).max(1);
        let mut below = 0;
        self.bins().find_map(|(edge_us, count)| {
            below += count;
            (below >= wanted).then_some(edge_us)
        })
    }
}

#[cfg(test)]
mod tests;
