//! Bands: the peaks of a distribution over the logarithm of the time, and the valleys between them.
//!
//! Searches that are answered from memory, from disk, or that wait show as hills of their own. They are found, not assumed:
//! 1. The bins are joined to ten intervals a decade. The density of an interval is its share divided by its width in decades.
//! 2. The densities are smoothed over three intervals.
//! 3. Each highest interval among its neighbours is a peak; the lowest interval between two peaks is their border.
//! 4. While a band has less than [`BAND_SHARE_MIN`] of the queries or less than [`BAND_QUERIES_MIN`], or a border is not below [`VALLEY_MAX`] of the lower of its
//!    peaks, that band is joined to its neighbour behind the higher border.

use super::histogram::Histogram;

/// Least share of the queries in a band.
pub const BAND_SHARE_MIN: f64 = 0.02;
/// Least number of queries in a band, unless it is the only one: fewer say little of a hill.
pub const BAND_QUERIES_MIN: u64 = 100;
/// Highest density of a border, as a part of the lower peak beside it.
pub const VALLEY_MAX: f64 = 0.8;
/// Intervals of a decade, by their upper edges.
const EDGES: [u64; 10] = [12, 15, 20, 25, 30, 40, 50, 60, 80, 100];
/// Those that are whole milliseconds where the decade begins at 1 ms.
const WHOLE_EDGES: [u64; 7] = [20, 30, 40, 50, 60, 80, 100];
/// The first interval begins at 0, which no log axis has: it is drawn as if it began at this part of its end.
const FIRST_BEGIN: f64 = 0.4;

/// An interval of times: above `low_us`, up to and with `high_us`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower edge in microseconds; that of the first interval is where it is drawn.
    pub low_us: u64,
    /// Upper edge in microseconds.
    pub high_us: u64,
    /// Queries whose time lies in it.
    pub count: u64,
    /// Share of all queries a decade.
    pub density: f64,
}

/// A hill of the distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Times above this belong to it, in microseconds; 0 for the first.
    pub low_us: u64,
    /// Times up to this belong to it.
    pub high_us: u64,
    /// The interval with the highest density: lower and upper edge.
    pub peak_us: (u64, u64),
    /// Queries whose time lies in it.
    pub count: u64,
}

/// The intervals from the first to the last with queries: they hold all queries. `whole_ms`: the log's clock counts whole milliseconds.
pub fn intervals(times: &Histogram, whole_ms: bool) -> Vec<Interval> {
    let total = times.count();
    let mut found: Vec<Interval> = Vec::new();
    let mut below = 0;
    let mut low_us = 0;
    for high_us in edges(whole_ms) {
        let within = times.count_within(high_us);
        let count = within - below;
        below = within;
        let low = std::mem::replace(&mut low_us, high_us);
        if found.is_empty() && count == 0 {
            continue;
        }
        let drawn_us = if low == 0 {
            (high_us as f64 * FIRST_BEGIN) as u64
        } else {
            low
        };
        found.push(interval(drawn_us, high_us, count, total));
        if within == total {
            return found;
        }
    }
    if below < total {
        // Above the last edge, 1,000 s.
        found.push(interval(low_us, times.max_us(), total - below, total));
    }
    found
}

/// An interval of `count` of `total` queries.
fn interval(low_us: u64, high_us: u64, count: u64, total: u64) -> Interval {
    let decades = (high_us as f64 / low_us.max(1) as f64).log10();
    Interval {
        low_us,
        high_us,
        count,
        density: count as f64 / total as f64 / decades,
    }
}

/// Upper edges of the intervals, from 10 µs or 1 ms to 1,000 s.
fn edges(whole_ms: bool) -> impl Iterator<Item = u64> {
    let first = if whole_ms { 1_000 } else { 10 };
    let decades = (0..9)
        .map(|power| 10_u64.pow(power))
        .skip_while(move |unit| unit * 10 < first);
    let inside = move |unit: u64| {
        let edges: &[u64] = if whole_ms && unit * 10 == first {
            &WHOLE_EDGES
        } else {
            &EDGES
        };
        edges.iter().map(move |edge| edge * unit)
    };
    std::iter::once(first).chain(decades.flat_map(inside))
}

/// The bands by rising time. They hold all queries; empty without queries.
pub fn bands(times: &Histogram, whole_ms: bool) -> Vec<Band> {
    let intervals = intervals(times, whole_ms);
    let total = times.count();
    let smooth = smoothed(&intervals);
    let mut ranges = hills(&smooth);
    while let Some(weak) = weakest(&ranges, &intervals, &smooth, total) {
        join(&mut ranges, weak, &smooth);
    }
    let last = ranges.len().saturating_sub(1);
    let mut band_low_us = 0;
    let bands = ranges.iter().enumerate().map(|(number, (from, to))| {
        let peak = peak_of(&smooth, *from, *to);
        let band = Band {
            low_us: band_low_us,
            high_us: if number == last {
                times.max_us()
            } else {
                intervals[to - 1].high_us
            },
            peak_us: (intervals[peak].low_us, intervals[peak].high_us),
            count: 0,
        };
        band_low_us = band.high_us;
        band
    });
    let mut below = 0;
    let counted = bands.map(|band| {
        let within = if band.high_us == times.max_us() {
            total
        } else {
            times.count_within(band.high_us)
        };
        let count = within - std::mem::replace(&mut below, within);
        Band { count, ..band }
    });
    counted.collect()
}

fn smoothed(intervals: &[Interval]) -> Vec<f64> {
    let at = |place: Option<usize>| {
        place
            .and_then(|place| intervals.get(place))
            .map_or(0.0, |interval| interval.density)
    };
    (0..intervals.len())
        .map(|place| (at(place.checked_sub(1)) + 2.0 * at(Some(place)) + at(Some(place + 1))) / 4.0)
        .collect()
}

/// Ranges of intervals with one peak each, cut at the lowest place between two peaks.
fn hills(smooth: &[f64]) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut from = 0;
    let mut falling = false;
    for place in 1..smooth.len() {
        if smooth[place] < smooth[place - 1] {
            falling = true;
        } else if smooth[place] > smooth[place - 1] && falling {
            ranges.push((from, place));
            from = place;
            falling = false;
        }
    }
    if from < smooth.len() {
        ranges.push((from, smooth.len()));
    }
    ranges
}

fn peak_of(smooth: &[f64], from: usize, to: usize) -> usize {
    (from..to).fold(from, |best, place| {
        if smooth[place] > smooth[best] {
            place
        } else {
            best
        }
    })
}

/// A band that is to be joined: one with too few queries, else the lower one beside a border that is too high.
fn weakest(
    ranges: &[(usize, usize)],
    intervals: &[Interval],
    smooth: &[f64],
    total: u64,
) -> Option<usize> {
    if ranges.len() < 2 {
        return None;
    }
    let height = |number: usize| smooth[peak_of(smooth, ranges[number].0, ranges[number].1)];
    let queries = |number: usize| {
        let (from, to) = ranges[number];
        intervals[from..to]
            .iter()
            .map(|interval| interval.count)
            .sum::<u64>()
    };
    let least = BAND_QUERIES_MIN.max((total as f64 * BAND_SHARE_MIN).ceil() as u64);
    let few = (0..ranges.len())
        .filter(|number| queries(*number) < least)
        .min_by_key(|number| queries(*number));
    few.or_else(|| {
        (1..ranges.len()).find_map(|right| {
            let border = border_of(ranges, right, smooth);
            let lower = if height(right) < height(right - 1) {
                right
            } else {
                right - 1
            };
            (border > VALLEY_MAX * height(lower)).then_some(lower)
        })
    })
}

/// The density between a band and the one before it.
fn border_of(ranges: &[(usize, usize)], right: usize, smooth: &[f64]) -> f64 {
    let place = ranges[right].0;
    smooth[place].min(smooth[place - 1])
}

/// Joins a band to the neighbour behind the higher border.
fn join(ranges: &mut Vec<(usize, usize)>, weak: usize, smooth: &[f64]) {
    let before = (weak > 0).then(|| border_of(ranges, weak, smooth));
    let after = (weak + 1 < ranges.len()).then(|| border_of(ranges, weak + 1, smooth));
    let left = if before >= after { weak - 1 } else { weak };
    let (_, to) = ranges.remove(left + 1);
    ranges[left].1 = to;
}

#[cfg(test)]
mod tests;
