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
//! Invariant: the points are at least those of every row with these words in these fields. They are exact for a weigher that needs
//! fields at most.

use query::options::Ranker;

use super::bound::Groups;
use super::{Needs, QueryWords, Weigher};

/// Most words, and most fields: a set of either is a byte.
const MOST: usize = 8;

/// For each field, at its byte, the set of the words that stand in it.
#[derive(Clone, Copy, Default)]
pub(crate) struct ByField(u64);

impl ByField {
    /// A word that stands in the fields of the set `fields`.
    #[inline(always)]
    pub(crate) fn of(word: u32, fields: u8) -> ByField {
        ByField(SPREAD[usize::from(fields)] << (word & 7))
    }

    /// The words of both.
    #[inline(always)]
    pub(crate) fn and(self, other: ByField) -> ByField {
        ByField(self.0 | other.0)
    }

    /// All of it where `mask` is all ones; nothing where it is zero.
    #[inline(always)]
    pub(crate) fn masked(self, mask: u64) -> ByField {
        ByField(self.0 & mask)
    }
}

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

/// The points of each field, by the set of the words that stand in it.
pub(crate) struct FieldPoints {
    /// By the most words of a run, from 1 on, the last for any more; then field by field; for each, one entry for each set of the
    /// words.
    points: Vec<i64>,
    words: usize,
    fields: usize,
    pub(crate) neighbours: Neighbours,
}

impl FieldPoints {
    /// `None` where the points are not told by fields, or words or fields are many.
    pub(super) fn new(weigher: &Weigher, groups: &Groups) -> Option<FieldPoints> {
        let (words, fields) = (weigher.query_words.words.len(), &weigher.fields);
        if weigher.needs < Needs::Fields || words > MOST || fields.len() > MOST {
            return None;
        }
        let weights: Vec<i64> = match weigher.ranker {
            Ranker::None | Ranker::Bm25a | Ranker::Wordcount => return None,
            Ranker::Fieldmask => (0..fields.len()).map(|field| 1 << field).collect(),
            _ => fields.clone(),
        };
        let neighbours = match weigher.weighs_places() {
            true => Neighbours::new(&weigher.query_words),
            false => Neighbours::default(),
        };
        let runs = match neighbours.pairs.is_empty() {
            true => MOST..=MOST,
            false => 1..=words,
        };
        let points = runs.flat_map(|run| {
            let sets: Vec<i64> = (0..1 << words)
                .map(|set| points_of(set, run as i64, weigher, groups))
                .collect();
            let weighed = weights.iter().flat_map(|weight| {
                let points = sets.iter();
                points.map(|points| points.saturating_mul(*weight))
            });
            weighed.collect::<Vec<i64>>()
        });
        Some(FieldPoints {
            points: points.collect(),
            words,
            fields: fields.len(),
            neighbours,
        })
    }

    /// The points of all fields in a row without a run of more than `run` words.
    #[inline(always)]
    pub(super) fn of(&self, ByField(mut words): ByField, run: usize) -> i64 {
        let sets = 1 << self.words;
        let of_run = self.fields * sets;
        let last = self.points.len().saturating_sub(of_run);
        let start = ((run - 1) * of_run).min(last);
        let mut sum: i64 = 0;
        for points in self.points[start..start + of_run].chunks_exact(sets) {
            let set = words as usize & (points.len() - 1);
            sum = sum.saturating_add(points[set]);
            words >>= 8;
        }
        sum
    }
}

/// The most points of a field of weight 1 in which these words stand, and no run is of more than `run`.
fn points_of(set: u64, run: i64, weigher: &Weigher, groups: &Groups) -> i64 {
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
