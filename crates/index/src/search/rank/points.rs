//! The part of a weight that comes from how often words occur, in integers.
//!
//! **`bm25`** (with `proximity_bm25` and `sph04`) is Sphinx's: `int((sum(tf * idf) + 0.5) * 1000)` with `tf = hits / (hits + 1.2)` and
//! `idf = ln((rows - documents + 1) / documents) / (2 * ln(1 + rows)) / (words of the query)`. `idf='plain'` has
//! `ln(rows / documents)` instead, `tfidf_unnormalized` does not divide by the words. Excluded words are among those that it divides
//! by, and a pattern is one of them.
//!
//! **`bm25a`** counts a row's length: `int(1000 * sum(tf * idf))` with `idf = ln(1 + (rows - documents + 0.5) / (documents + 0.5))`,
//! `tf = hits / (hits + 1.2 * (0.25 + 0.75 * length / average))`, the length being that which stands for the row's class.
//!
//! `1000 * idf` is rounded once, to a power of two called the unit, into one integer for each word; everything after that is
//! integer arithmetic, and sums of integers are the same in any order. The unit is chosen from the number of words alone, such
//! that the sum of a row fits an `i32`. A word's `bm25` is then off by less than two units, so the weight is Sphinx's unless
//! Sphinx's own sum lies that close to a whole number, and then it is one off.

use std::sync::OnceLock;

use query::options::{Idf, Ranker};

use super::QueryWord;
use crate::postings::{HITS_OPEN, Shares, class_of, hits_of, length_of_class};

/// Bits of the unit at most.
const UNIT_BITS_MAX: u32 = 20;

/// Bits of a sum, whatever its sign.
const SUM_BITS: u32 = 30;

/// The 0.5 in the formula of `bm25`, in points.
const HALF: i64 = 500;

/// Bits to which a `tf` with length is cut.
const TF_BITS: u32 = 30;

/// What the points of every word depend on.
pub(super) struct Statistics {
    /// Live rows.
    pub(super) rows: u64,
    /// Their words.
    pub(super) hits: u64,
    /// Distinct words whose points are added, those that a pattern stands for each.
    pub(super) words: usize,
    /// Distinct words of the query, excluded ones too; a pattern is one.
    pub(super) distinct: usize,
}

/// The integers of the words of a query.
pub(super) struct Points {
    /// `2^unit` is one point.
    unit: u32,
    /// `1000 * idf` in units; 0 for every word if the ranker has no use for them.
    idf: Vec<i64>,
    lengths: Option<Lengths>,
}

/// How lengths change `tf`: `tf = 10 * hits * all / (10 * hits * all + 3 * all + 9 * length * rows)`, `all` being the words of
/// all rows.
struct Lengths {
    rows: u128,
    all: u128,
}

impl Points {
    pub(super) fn new(
        ranker: Ranker,
        idf: Idf,
        words: &[QueryWord],
        statistics: &Statistics,
    ) -> Points {
        let wanted = statistics.words.max(1);
        let bits = wanted.next_power_of_two().ilog2();
        let unit = match ranker {
            Ranker::Bm25a => UNIT_BITS_MAX.min((SUM_BITS - 15).saturating_sub(bits)),
            _ if idf.unnormalized || statistics.distinct < wanted => {
                UNIT_BITS_MAX.saturating_sub(bits)
            }
            _ => UNIT_BITS_MAX,
        };
        let most = (1 << SUM_BITS) as f64 / wanted as f64;
        let integer = |word: &QueryWord| {
            let idf = match ranker {
                _ if word.documents == 0 => 0.0,
                Ranker::Bm25a => lucene(statistics.rows, word.documents),
                Ranker::Bm25 | Ranker::ProximityBm25 | Ranker::Sph04 => sphinx(
                    idf,
                    statistics.rows,
                    word.documents,
                    statistics.distinct.max(1),
                ),
                _ => 0.0,
            };
            let integer = 1000.0 * f64::from(1 << unit) * idf;
            integer.round().clamp(-most, most) as i64
        };
        Points {
            unit,
            idf: words.iter().map(integer).collect(),
            lengths: (ranker == Ranker::Bm25a).then(|| Lengths {
                rows: statistics.rows.into(),
                all: statistics.hits.max(1).into(),
            }),
        }
    }

    /// By word, what each code adds to a sum: exactly, or at most where it stands for eight hits or more. `shares` keeps what
    /// does not depend on the word, from one query to the next.
    pub(super) fn tables(&self, shares: &OnceLock<Shares>) -> Vec<[i32; 256]> {
        let lengths = self.lengths.as_ref();
        let shares = lengths.map(|lengths| shares.get_or_init(|| lengths.shares()));
        // `idf` is positive, and both are below 2³⁰.
        let with_length = |idf: i64, shares: &Shares| {
            shares.map(|share| ((u64::from(idf as u32) * u64::from(share)) >> TF_BITS) as i32)
        };
        let by_hits_alone = |idf: i64| {
            let of_class = |class: usize| match hits_of((class as u8) << 5) {
                Some(hits) => by_hits(idf, hits),
                // A common word takes away the least where it is rarest.
                None if idf < 0 => by_hits(idf, HITS_OPEN),
                None => idf,
            };
            let classes: [i64; 8] = std::array::from_fn(of_class);
            std::array::from_fn(|code| classes[code >> 5] as i32)
        };
        let table = |idf: &i64| match shares {
            Some(shares) => with_length(*idf, shares),
            None => by_hits_alone(*idf),
        };
        self.idf.iter().map(table).collect()
    }

    /// What a word adds to the sum of a row, whatever its hits.
    pub(super) fn value(&self, word: usize, length_class: u8, hits: u32) -> i64 {
        let idf = self.idf[word];
        match &self.lengths {
            None => by_hits(idf, hits),
            Some(lengths) => (idf * lengths.tf(hits, length_class)) >> TF_BITS,
        }
    }

    /// A sum as whole points.
    pub(super) fn whole(&self, sum: i64) -> i64 {
        sum >> self.unit
    }

    /// Sphinx's `bm25` of a sum.
    pub(super) fn bm25(&self, sum: i64) -> i64 {
        self.whole(sum.saturating_add(HALF << self.unit))
    }

    /// The least sum that is so many whole points.
    pub(super) fn least_whole(&self, points: i64) -> i64 {
        points.saturating_mul(1 << self.unit)
    }

    /// The least sum of which Sphinx's `bm25` is so many points.
    pub(super) fn least_bm25(&self, points: i64) -> i64 {
        self.least_whole(points.saturating_sub(HALF))
    }
}

impl Lengths {
    fn shares(&self) -> Shares {
        std::array::from_fn(|code| match hits_of(code as u8) {
            Some(hits) => self.tf(hits, class_of(code as u8)) as u32,
            None => 1 << TF_BITS,
        })
    }

    /// In 2⁻³⁰, rounded down.
    fn tf(&self, hits: u32, length_class: u8) -> i64 {
        let length = u128::from(length_of_class(length_class));
        let matched = 10 * u128::from(hits) * self.all;
        let whole = matched + 3 * self.all + 9 * length * self.rows;
        ((matched << TF_BITS) / whole) as i64
    }
}

/// `idf * hits / (hits + 1.2)`, cut towards zero.
fn by_hits(idf: i64, hits: u32) -> i64 {
    let fifths = 5 * i128::from(hits);
    (i128::from(idf) * fifths / (fifths + 6)) as i64
}

fn sphinx(idf: Idf, rows: u64, documents: u64, words: usize) -> f64 {
    let (rows, documents) = (rows.max(documents) as f64, documents as f64);
    let rarity = match idf.plain {
        true => rows / documents,
        false => (rows - documents + 1.0) / documents,
    };
    let share = if idf.unnormalized { 1.0 } else { words as f64 };
    rarity.ln() / (2.0 * (1.0 + rows).ln()) / share
}

fn lucene(rows: u64, documents: u64) -> f64 {
    let (rows, documents) = (rows.max(documents) as f64, documents as f64);
    (1.0 + (rows - documents + 0.5) / (documents + 0.5)).ln()
}
