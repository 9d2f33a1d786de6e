//! Points of a row from the words that stand in each of its fields, where words and fields are few.
//!
//! Example: `proximity_bm25` and the query `black cat`, on fields of the weights 1 and 3. Each byte of a [`ByField`] is the set of
//! the words that stand in one field:
//!
//! ```text
//! field      0            1
//! words      black        black, cat
//! byte       0b01         0b11
//! points     1 x 1        3 x 2         7 at most; 4 where black and cat are apart in field 1
//! ```
//!
//! Where it is known which words of the query follow each other in a row ([`Neighbours`]), they bound its runs: no run of that row
//! has both words.
//!
//! A query of more words has the number of the words in each byte, up to 255. All words of a pattern have one place in the query:
//! then it is enough that there are any.
//!
//! Invariant: the points are at least those of every row with these words in these fields. They are exact for a weigher that needs
//! fields at most.

use relation::options::Ranker;

use super::bound::Groups;
use super::{Needs, QueryWords, Weigher};

/// Most words, and most fields: a set of either is a byte.
const MOST: usize = 8;

/// For each field, at its byte, the set of the words that stand in it; their number where a query has more than eight words.
#[derive(Clone, Copy, Default)]
pub(crate) struct ByField(pub(crate) u64);

/// By set of fields: bit 0 of the byte of each field in the set.
const SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut fields = 0;
    while fields < 256 {
        let mut field = 0;
        while field < MOST {
            spread[fields] |= (fields as u64 >> field & 1) << (field * 8);
            field += 1;
        }
        fields += 1;
    }
    spread
};

/// Words of the query that stand side by side in it, where each of few words has one place of its own.
///
/// Example: `black cat -dog food`. Black and cat are neighbours. In a row in which cat never follows black, no run has both, but
/// one of black and food, or of cat and food, may.
#[derive(Default)]
pub(crate) struct Neighbours {
    /// The numbers of both words, the left one first; by rising place.
    pub(crate) pairs: Vec<[u32; 2]>,
    /// By set of the pairs that a row may have: the most words of a run.
    longest: Vec<usize>,
}

/// Most words whose neighbours are looked at.
const NEIGHBOURS: usize = 4;

impl Neighbours {
    /// None, where there are more words, or two have one place.
    fn new(query_words: &QueryWords) -> Neighbours {
        let words = query_words.words.iter().zip(0..);
        let words = words.filter_map(|(word, number)| Some((*word.places.first()?, number)));
        let mut words: Vec<(u32, u32)> = words.collect();
        words.sort_unstable();
        let is_one_each = words.windows(2).all(|two| two[0].0 != two[1].0);
        if !is_one_each || words.len() > NEIGHBOURS {
            return Neighbours::default();
        }
        let are_neighbours = |two: &&[(u32, u32)]| two[0].0 + 1 == two[1].0;
        let pairs = words.windows(2).filter(are_neighbours);
        let pairs: Vec<[u32; 2]> = pairs.map(|two| [two[0].1, two[1].1]).collect();
        let longest = (0..1 << pairs.len()).map(|held: usize| {
            let may_follow = |left: u32, right: u32| {
                let pair = pairs.iter().position(|pair| *pair == [left, right]);
                pair.is_none_or(|pair| held >> pair & 1 == 1)
            };
            // By word: the most words of a run that ends with it.
            let mut runs: Vec<usize> = Vec::new();
            for (at, (_, word)) in words.iter().enumerate() {
                let before = (0..at).filter(|before| may_follow(words[*before].1, *word));
                runs.push(1 + before.map(|before| runs[before]).max().unwrap_or(0));
            }
            runs.into_iter().max().unwrap_or(0)
        });
        Neighbours {
            longest: longest.collect(),
            pairs,
        }
    }

    /// The most words of a run, by the set of the pairs that a row may have.
    #[inline(always)]
    pub(crate) fn longest(&self, pairs: usize) -> usize {
        self.longest.get(pairs).copied().unwrap_or(MOST)
    }
}

/// The points of each field, by the words that stand in it.
pub(crate) struct FieldPoints {
    /// By the most words of a run, from 1 on, the last for any more; then field by field; for each, one entry for each value of its
    /// byte in a [`ByField`].
    points: Vec<i64>,
    /// Values of a byte.
    values: usize,
    fields: usize,
    /// 7 where bytes are sets; 0 where they are numbers of words.
    shift: u32,
    pub(crate) neighbours: Neighbours,
}

/// Values of a byte that is the number of words.
const COUNTS: usize = 256;

impl FieldPoints {
    /// `None` where the points are not told by fields, or fields are many. `may_count`, `is_tree`: as in
    /// [`Weigher::bound_by_fields`].
    pub(super) fn new(
        weigher: &Weigher,
        groups: &Groups,
        may_count: &dyn Fn(usize, u64) -> bool,
        is_tree: bool,
    ) -> Option<FieldPoints> {
        let (words, fields) = (weigher.query_words.words.len(), &weigher.fields);
        if weigher.needs < Needs::Fields || fields.len() > MOST || is_tree && words > MOST {
            return None;
        }
        let weights: Vec<i64> = match weigher.ranker {
            // Counts end at 255 words.
            Ranker::Matchany if weigher.needs == Needs::Fields && words > MOST => return None,
            Ranker::Fieldmask => (0..fields.len()).map(|field| 1 << field).collect(),
            _ => fields.clone(),
        };
        let neighbours = match weigher.weighs_places() && words <= MOST {
            true => Neighbours::new(&weigher.query_words),
            false => Neighbours::default(),
        };
        let runs = match neighbours.pairs.is_empty() {
            true => MOST..=MOST,
            false => 1..=words,
        };
        let (values, shift) = match words <= MOST {
            true => (1 << words, MOST as u32 - 1),
            false => (COUNTS, 0),
        };
        let points = runs.flat_map(|run| {
            let of_value: Vec<i64> = (0..values as u64)
                .map(|value| match shift {
                    0 => points_of_count(value, weigher, groups),
                    _ => points_of_set(value, run as i64, weigher, groups),
                })
                .collect();
            let weighed = weights.iter().enumerate().flat_map(|(field, weight)| {
                let points = of_value.iter().zip(0..);
                points.map(move |(points, value)| match may_count(field, value) {
                    true => points.saturating_mul(*weight),
                    false => 0,
                })
            });
            weighed.collect::<Vec<i64>>()
        });
        Some(FieldPoints {
            points: points.collect(),
            values,
            fields: fields.len(),
            shift,
            neighbours,
        })
    }

    /// Adds a word that stands in the fields of the set `fields`; once for each word.
    #[inline(always)]
    pub(crate) fn add(&self, ByField(words): ByField, word: u32, fields: u8) -> ByField {
        // A byte that is full stays so: its own lowest bit is not added.
        let is_full = (words & LOW_SEVEN).wrapping_add(LOWEST) & words & !LOW_SEVEN;
        let added = SPREAD[usize::from(fields)] & !(is_full >> 7);
        ByField(words.wrapping_add(added << (word & self.shift)))
    }

    /// The points of all fields in a row without a run of more than `run` words.
    #[inline(always)]
    pub(super) fn of(&self, ByField(mut words): ByField, run: usize) -> i64 {
        let of_run = self.fields * self.values;
        let last = self.points.len().saturating_sub(of_run);
        let start = ((run - 1) * of_run).min(last);
        let mut sum: i64 = 0;
        for points in self.points[start..start + of_run].chunks_exact(self.values) {
            let value = words as usize & (points.len() - 1);
            sum = sum.saturating_add(points[value]);
            words >>= 8;
        }
        sum
    }
}

/// The lowest bit of each byte, and all bits but the highest.
const LOWEST: u64 = 0x0101_0101_0101_0101;
const LOW_SEVEN: u64 = 0x7F7F_7F7F_7F7F_7F7F;

/// The most points of a field of weight 1 in which these words stand, and no run is of more than `run`.
fn points_of_set(set: u64, run: i64, weigher: &Weigher, groups: &Groups) -> i64 {
    match weigher.needs {
        _ if set == 0 => 0,
        Needs::Positions => {
            let (longest, count) = groups.longest(set, u64::MAX);
            weigher.most(longest.min(run), count)
        }
        _ if weigher.ranker == Ranker::Matchany => i64::from(set.count_ones()),
        _ => 1,
    }
}

/// As [`points_of_set`] for a number of words; the highest stands for any more.
fn points_of_count(count: u64, weigher: &Weigher, groups: &Groups) -> i64 {
    if count == 0 || weigher.needs < Needs::Positions {
        return (count > 0).into();
    }
    let (longest, all) = groups.longest(u64::MAX, u64::MAX);
    let is_open = count as usize == COUNTS - 1;
    let count = if is_open {
        all
    } else {
        (count as i64).min(all)
    };
    let words = weigher.query_words.words.iter();
    let places = words.map(|word| word.places.len() as i64).max();
    let run = count.saturating_mul(places.unwrap_or(0)).min(longest);
    weigher.most(run, count)
}
