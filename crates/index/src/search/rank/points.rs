//! The part of a weight that depends on how often words occur, in integers.
//!
//! **`bm25`** is Sphinx's formula, also used in `proximity_bm25` and `sph04`:
//!
//! ```text
//! int((sum(tf * idf) + 0.5) * 1000)
//! tf  = n / (n + 1.2)                     for n occurrences
//! idf = ln((rows - documents + 1) / documents) / (2 * ln(1 + rows)) / (words of the query)
//! ```
//!
//! `idf='plain'` takes `ln(rows / documents)` instead; `tfidf_unnormalized` does not divide by the
//! words. The number of words includes excluded words, and counts a pattern once.
//!
//! **`bm25a`** takes the length of a row into account; the length is that of the row's class:
//!
//! ```text
//! int(1000 * sum(tf * idf))
//! tf  = n / (n + 1.2 * (0.25 + 0.75 * length / average))
//! idf = ln(1 + (rows - documents + 0.5) / (documents + 0.5))
//! ```
//!
//! `1000 * idf` is rounded once, in units of a negative power of two, to an integer for each word.
//! All later steps are integer arithmetic, so sums are the same in any order. The unit depends on
//! the number of words alone and lets the sum of a row fit 30 bits, so a value is an `i32`; sums are `i64`. The `bm25` of a word is off by
//! less than two units. So a weight is Sphinx's, or one off where Sphinx's sum lies that close to a
//! whole number.

use hashbrown::HashMap;
use relation::options::{Idf, Ranker};

use super::QueryWord;
use crate::postings::{HITS_OPEN, Shares, SharesCache, class_of, hits_of, length_of_class};

/// Most bits of a point's fraction.
const UNIT_BITS_MAX: u32 = 20;

/// Bits of a sum without its sign.
const SUM_BITS: u32 = 30;

/// The 0.5 in the formula of `bm25`, in points.
const HALF: i64 = 500;

/// Bits of the fraction of a `tf` that depends on length.
const TF_BITS: u32 = 30;

/// Statistics that the values of all words depend on.
pub(super) struct Statistics {
    /// Live rows.
    pub(super) rows: u64,
    /// Words of all live rows, every occurrence counted.
    pub(super) hits: u64,
    /// Distinct words outside of negations, every word that a pattern stands for included.
    pub(super) words: usize,
    /// Distinct words of the query, excluded ones too; a pattern counts as one.
    pub(super) distinct: usize,
}

/// The `idf` of each word of a query as an integer, and how occurrences change it.
pub(super) struct Points {
    /// One point is `2^unit` units.
    unit: u32,
    /// By word: `1000 * idf` in units; 0 for rankers without sums. Negative for a word in most
    /// rows.
    idf: Vec<i64>,
    /// How a row's length changes `tf`; `None` for rankers that ignore it.
    lengths: Option<Lengths>,
}

/// How lengths change `tf`, in whole numbers; `all` is the number of words of all rows: `tf = 10 *
/// n * all / (10 * n * all + 3 * all + 9 * length * rows)`.
struct Lengths {
    rows: u128,
    all: u128,
}

/// Which of the two formulas above gives a ranker's points.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Formula {
    /// That of `bm25a`, with lengths.
    Lucene,
    /// That of `bm25`.
    Sphinx,
    /// Neither: rarity does not count.
    None,
}

impl Formula {
    fn of(ranker: Ranker) -> Formula {
        match ranker {
            Ranker::Bm25a => Formula::Lucene,
            Ranker::Bm25 | Ranker::ProximityBm25 | Ranker::Sph04 => Formula::Sphinx,
            Ranker::None
            | Ranker::Wordcount
            | Ranker::Proximity
            | Ranker::Matchany
            | Ranker::Fieldmask => Formula::None,
        }
    }
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
        let formula = Formula::of(ranker);
        let unit = match formula {
            // `1000 * idf` has at most 15 bits before its fraction.
            Formula::Lucene => UNIT_BITS_MAX.min((SUM_BITS - 15).saturating_sub(bits)),
            Formula::Sphinx if idf.unnormalized || statistics.distinct < wanted => {
                UNIT_BITS_MAX.saturating_sub(bits)
            }
            Formula::Sphinx | Formula::None => UNIT_BITS_MAX,
        };
        let most = (1 << SUM_BITS) as f64 / wanted as f64;
        let integer = |word: &QueryWord| {
            let idf = match formula {
                _ if word.documents == 0 => 0.0,
                Formula::Lucene => lucene(statistics.rows, word.documents),
                Formula::Sphinx => sphinx(
                    idf,
                    statistics.rows,
                    word.documents,
                    statistics.distinct.max(1),
                ),
                Formula::None => 0.0,
            };
            let integer = 1000.0 * f64::from(1 << unit) * idf;
            integer.round().clamp(-most, most) as i64
        };
        Points {
            unit,
            idf: words.iter().map(integer).collect(),
            lengths: (formula == Formula::Lucene).then(|| Lengths {
                rows: statistics.rows.into(),
                all: statistics.hits.max(1).into(),
            }),
        }
    }

    /// The value of each code of each word. `cache` keeps the factors that do not depend on the word, from one query to the next.
    pub(super) fn tables(&self, ranker: Ranker, cache: &SharesCache) -> Tables {
        let shares = self.lengths.as_ref().map(|lengths| {
            let (owner, shares) = cache.get_or_init(|| (ranker, lengths.shares()));
            match *owner == ranker {
                true => *shares,
                false => lengths.shares(),
            }
        });
        // `idf` is positive and below 2³⁰; a share is at most 2³⁰.
        let with_length = |idf: i64, shares: &Shares| {
            shares.map(|share| ((u64::from(idf as u32) * u64::from(share)) >> TF_BITS) as i32)
        };
        let by_hits_alone = |idf: i64| {
            let of_class = |class: usize| match hits_of((class as u8) << 5) {
                Some(hits) => by_hits(idf, hits),
                // A negative value is nearest to zero where the word occurs least.
                None if idf < 0 => by_hits(idf, HITS_OPEN),
                None => idf,
            };
            let classes: [i64; 8] = std::array::from_fn(of_class);
            std::array::from_fn(|code| classes[code >> 5] as i32)
        };
        let table = |idf: &i64| match &shares {
            Some(shares) => with_length(*idf, shares),
            None => by_hits_alone(*idf),
        };
        if self.idf.len() <= FEW_WORDS {
            return Tables {
                tables: self.idf.iter().map(table).collect(),
                of_word: (0..self.idf.len() as u32).collect(),
            };
        }
        let mut known = HashMap::new();
        let (mut tables, mut of_word) = (Vec::new(), Vec::with_capacity(self.idf.len()));
        for idf in &self.idf {
            let number = *known.entry(*idf).or_insert_with(|| {
                tables.push(table(idf));
                tables.len() as u32 - 1
            });
            of_word.push(number);
        }
        Tables { tables, of_word }
    }

    /// Exact value of a word with `hits` occurrences in a row of that length class.
    pub(super) fn value(&self, word: usize, length_class: u8, hits: u32) -> i64 {
        let idf = self.idf[word];
        match &self.lengths {
            None => by_hits(idf, hits),
            Some(lengths) => (idf * lengths.tf(hits, length_class)) >> TF_BITS,
        }
    }

    /// Whether values depend on a code's class of length.
    #[cfg(test)]
    pub(super) fn has_lengths(&self) -> bool {
        self.lengths.is_some()
    }

    /// Whole points of a sum, rounded down.
    pub(super) fn whole(&self, sum: i64) -> i64 {
        sum >> self.unit
    }

    /// Sphinx's `bm25` of a sum, in points.
    pub(super) fn bm25(&self, sum: i64) -> i64 {
        self.whole(sum.saturating_add(HALF << self.unit))
    }

    /// Least sum of this many whole points.
    pub(super) fn least_whole(&self, points: i64) -> i64 {
        points.saturating_mul(1 << self.unit)
    }

    /// Least sum whose `bm25` is this many points.
    pub(super) fn least_bm25(&self, points: i64) -> i64 {
        self.least_whole(points.saturating_sub(HALF))
    }
}

impl Lengths {
    /// The factor of each code.
    fn shares(&self) -> Shares {
        std::array::from_fn(|code| match hits_of(code as u8) {
            Some(hits) => self.tf(hits, class_of(code as u8)) as u32,
            None => 1 << TF_BITS,
        })
    }

    /// `tf` in units of 2⁻³⁰, rounded down.
    fn tf(&self, hits: u32, length_class: u8) -> i64 {
        let length = u128::from(length_of_class(length_class));
        let matched = 10 * u128::from(hits) * self.all;
        let whole = matched + 3 * self.all + 9 * length * self.rows;
        ((matched << TF_BITS) / whole) as i64
    }
}

/// Words up to which each has a table of its own: a map would cost more.
const FEW_WORDS: usize = 8;

/// By word: the value of each code, exact or, for eight or more occurrences, an upper bound. Words that as many rows hold share a
/// table: a pattern stands for thousands of rare words.
pub(super) struct Tables {
    tables: Vec<[i32; 256]>,
    /// By word: the number of its table.
    of_word: Vec<u32>,
}

impl Tables {
    #[inline]
    pub(super) fn of_word(&self, word: usize) -> &[i32; 256] {
        &self.tables[self.of_word[word] as usize]
    }
}

/// `idf * hits / (hits + 1.2)`, rounded towards zero.
fn by_hits(idf: i64, hits: u32) -> i64 {
    let fifths = 5 * i128::from(hits);
    (i128::from(idf) * fifths / (fifths + 6)) as i64
}

/// Sphinx's `idf`; `words` is the number that it is divided by.
fn sphinx(idf: Idf, rows: u64, documents: u64, words: usize) -> f64 {
    let (rows, documents) = (rows.max(documents) as f64, documents as f64);
    let rarity = match idf.plain {
        true => rows / documents,
        false => (rows - documents + 1.0) / documents,
    };
    let share = if idf.unnormalized { 1.0 } else { words as f64 };
    rarity.ln() / (2.0 * (1.0 + rows).ln()) / share
}

/// Lucene's `idf`; never negative.
fn lucene(rows: u64, documents: u64) -> f64 {
    let (rows, documents) = (rows.max(documents) as f64, documents as f64);
    (1.0 + (rows - documents + 0.5) / (documents + 0.5)).ln()
}
