//! The distributions of the generated lines, each as a table that a random number looks up.

use super::super::summary::WORD_CLASSES;
use super::super::time::weekday;
use super::INDEXES;

/// Response times with one cause each; the last are the outliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Band {
    /// At most 10 ms.
    Fast,
    /// At most 100 ms.
    Middle,
    /// At most 500 ms.
    Slow,
    /// At most 30 s.
    Outlier,
}

const BANDS: [Band; 4] = [Band::Fast, Band::Middle, Band::Slow, Band::Outlier];
/// Share of each band among all lines.
const BAND_SHARES: [f64; 4] = [0.60, 0.20, 0.19, 0.01];
/// Least, most frequent and highest time of each band in milliseconds.
const BAND_MS: [(f64, f64, f64); 4] = [
    (0.3, 1.5, 9.99),
    (10.0, 35.0, 100.0),
    (100.0, 220.0, 500.0),
    (500.0, 700.0, 30_000.0),
];
/// Share of each class of words among all lines.
const CLASS_SHARES: [f64; WORD_CLASSES.len()] = [0.02, 0.34, 0.30, 0.14, 0.07, 0.045, 0.08, 0.005];
/// Classes of words with bands of their own. The other classes share what is left of each band.
const SPECIAL: [(usize, [f64; 4]); 3] = [
    (5, [0.45, 0.28, 0.26, 0.01]),
    (6, [0.18, 0.27, 0.51, 0.04]),
    (7, [0.45, 0.30, 0.24, 0.01]),
];
/// Share of small, middle and large indexes in each band.
const THIRD_SHARES: [[f64; 3]; 4] = [
    [0.45, 0.35, 0.20],
    [0.25, 0.40, 0.35],
    [0.10, 0.25, 0.65],
    [0.05, 0.15, 0.80],
];
/// Lines of an hour of the day, as parts of the busiest.
const HOURS: [u8; 24] = [
    30, 22, 18, 15, 15, 18, 28, 45, 65, 82, 92, 98, 95, 94, 97, 100, 99, 94, 86, 80, 76, 70, 58, 43,
];
/// Steps of a table: times and indexes.
const STEPS: usize = 4_096;

/// A generator of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64, stream: u32) -> Random {
        Random(mix(seed) ^ mix(u64::from(stream) + 1).rotate_left(32))
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// 0 to 1, without 1.
    #[inline]
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A bijection of 64 bits that leaves no pattern of neighbours.
#[inline]
pub(super) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The distributions as tables, made once for a generator.
#[derive(Clone, Debug)]
pub(super) struct Law {
    /// Upper bounds of the classes in 0 to 1.
    classes: [f64; WORD_CLASSES.len()],
    /// By class: upper bounds of the bands.
    bands: [[f64; 4]; WORD_CLASSES.len()],
    /// By band: milliseconds at even steps of the share.
    times: Vec<Vec<u32>>,
    /// By band: indexes at even steps of the share.
    indexes: Vec<Vec<u16>>,
    /// By class: the binary logarithm of its number of queries plus 1.
    ranks: [f64; WORD_CLASSES.len()],
}

impl Law {
    pub(super) fn new(queries: u64) -> Law {
        Law {
            classes: bounds(CLASS_SHARES),
            bands: std::array::from_fn(|class| bounds(bands_of(class))),
            times: (0..BANDS.len()).map(times_of).collect(),
            indexes: (0..BANDS.len()).map(indexes_of).collect(),
            // The class without words has one query, with no text.
            ranks: CLASS_SHARES.map(|share| (queries as f64 * share).max(1.0).log2()),
        }
    }

    /// Milliseconds to the next line: 0 to twice the mean, and longer when people sleep.
    #[inline]
    pub(super) fn gap_ms(&self, mean_ms: u32, local_ms: i64, random: &mut Random) -> i64 {
        let hour = local_ms.div_euclid(3_600_000).rem_euclid(24) as usize;
        // The mean of HOURS is 64; on a Saturday or Sunday there are a third fewer lines.
        let rest = if weekday(local_ms) >= 5 { 96 } else { 64 };
        let mean = u64::from(mean_ms) * rest / u64::from(HOURS[hour]);
        (random.next() % (2 * mean + 1)) as i64
    }

    /// A class of words.
    #[inline]
    pub(super) fn class(&self, random: &mut Random) -> usize {
        step(&self.classes, random.share())
    }

    /// The rank of a query in its class, from 0. Rank r has the share log(1 + 1 / (r + 1)) / log(n + 1): Zipf's law.
    #[inline]
    pub(super) fn rank(&self, class: usize, random: &mut Random) -> u64 {
        if class == 0 {
            return 0;
        }
        (random.share() * self.ranks[class]).exp2() as u64 - 1
    }

    /// A band and a time in milliseconds.
    #[inline]
    pub(super) fn time(&self, class: usize, random: &mut Random) -> (Band, u64) {
        let band = step(&self.bands[class], random.share());
        let at = random.next() as usize % STEPS;
        (BANDS[band], u64::from(self.times[band][at]))
    }

    /// The number of an index, 0 to 179.
    #[inline]
    pub(super) fn index(&self, band: Band, random: &mut Random) -> u32 {
        u32::from(self.indexes[band as usize][random.next() as usize % STEPS])
    }

    /// Bytes read from disk: few by fast answers, many by slow ones, in pages of 4 KiB.
    pub(super) fn read_bytes(&self, band: Band, random: &mut Random) -> u64 {
        let pages = match band {
            Band::Fast => random.next() % 2,
            Band::Middle => 2 + random.next() % 16,
            Band::Slow => 30 + random.next() % 200,
            Band::Outlier => 300 + random.next() % 2_000,
        };
        pages * 4_096
    }
}

/// The first bound above `share`.
#[inline]
fn step<const N: usize>(bounds: &[f64; N], share: f64) -> usize {
    bounds
        .iter()
        .position(|bound| share < *bound)
        .unwrap_or(N - 1)
}

fn bounds<const N: usize>(shares: [f64; N]) -> [f64; N] {
    let mut sum = 0.0;
    shares.map(|share| {
        sum += share;
        sum
    })
}

/// The bands of a class: its own, or what the special classes leave of [`BAND_SHARES`].
fn bands_of(class: usize) -> [f64; 4] {
    if let Some((_, shares)) = SPECIAL.iter().find(|(special, _)| *special == class) {
        return *shares;
    }
    let special: f64 = SPECIAL.iter().map(|(class, _)| CLASS_SHARES[*class]).sum();
    std::array::from_fn(|band| {
        let taken: f64 = SPECIAL
            .iter()
            .map(|(class, shares)| CLASS_SHARES[*class] * shares[band])
            .sum();
        (BAND_SHARES[band] - taken) / (1.0 - special)
    })
}

/// Times of a band: a triangle over the logarithm, with its top at the most frequent time. Times of the first band are cut to
/// milliseconds, so that 0 ms occurs; others are rounded up, so that they stay above the band's lower bound.
fn times_of(band: usize) -> Vec<u32> {
    let (least, middle, most) = BAND_MS[band];
    let width = (most / least).ln();
    let top = (middle / least).ln() / width;
    let times = (0..STEPS).map(|at| {
        let share = (at as f64 + 0.5) / STEPS as f64;
        let place = if share < top {
            (share * top).sqrt()
        } else {
            1.0 - ((1.0 - share) * (1.0 - top)).sqrt()
        };
        least * (width * place).exp()
    });
    let first = band == 0;
    times
        .map(|ms| {
            if first {
                ms.floor() as u32
            } else {
                (ms.ceil() as u32).min(most as u32)
            }
        })
        .collect()
}

/// Indexes of a band: a third of the indexes by [`THIRD_SHARES`], in it by Zipf's law.
fn indexes_of(band: usize) -> Vec<u16> {
    let third = INDEXES as usize / 3;
    let bounds = bounds(THIRD_SHARES[band]);
    let indexes = (0..STEPS).map(|at| {
        let share = (at as f64 + 0.5) / STEPS as f64;
        let part = step(&bounds, share);
        let below = if part == 0 { 0.0 } else { bounds[part - 1] };
        let inside = (share - below) / (bounds[part] - below);
        let rank = ((third + 1) as f64).powf(inside) as usize - 1;
        (part * third + rank.min(third - 1)) as u16
    });
    indexes.collect()
}
