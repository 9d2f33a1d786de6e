//! Upper bounds of a row's weight, from the set of the query's words that it holds.
//!
//! A set of words is a `u64`: word `n` is bit `n`, and bit 63 stands for all words from number 63
//! on. Example, `proximity_bm25` and the query `black white cat` (places 0, 1, 2) on two fields of
//! weight 1:
//!
//! ```text
//! words in the row     places    longest run    points of both fields
//! {black}              0                  1                         2
//! {black, cat}         0, 2               2                         4
//! all                  0, 1, 2            3                         6
//! ```
//!
//! The bound knows which words the row holds, but not where: it assumes the longest run in each
//! field. A row with black in one field and cat in the other has only 2 points.
//!
//! Invariant: more words never lower a bound. The executor relies on it when it lets the bound of
//! all words stand for any row.

use relation::options::Ranker;

use super::field_points::{ByField, FieldPoints};
use super::{FIELD_POINTS, Needs, QueryWords, Weigher};

/// Bits of a set of words; the last stands for all words from there on.
const BITS: usize = 64;

/// The words behind one bit: one word, or all from number 63 on.
#[derive(Clone, Copy, Default)]
struct Group {
    /// Number of words.
    words: i64,
    /// Number of their places in the query, added up.
    places: i64,
    /// Set of these places, where the query has at most 64.
    at: u64,
    /// Set of the fields in which at least one of the words may count.
    fields: u64,
}

/// The groups of a query's words, one for each bit.
pub(super) struct Groups {
    groups: Vec<Group>,
    /// Whether [`Group::at`] is filled.
    is_short: bool,
    /// Whether each word may count in every field.
    every: bool,
    /// Points of the fields for each set of the words; empty where there are more than
    /// [`READY_WORDS`].
    sets: Vec<i64>,
}

/// Most words for which the points of every set are computed in advance.
const READY_WORDS: usize = 8;

impl Groups {
    pub(super) fn new(query_words: &QueryWords, fields: usize) -> Groups {
        let mut groups = vec![Group::default(); query_words.words.len().min(BITS)];
        let is_short = query_words.end() as usize <= BITS;
        let all = u64::MAX
            .checked_shr((BITS - fields.min(BITS)) as u32)
            .unwrap_or(0);
        let mut every = true;
        for (number, word) in query_words.words.iter().enumerate() {
            if word.places.is_empty() {
                continue;
            }
            let group = &mut groups[number.min(BITS - 1)];
            group.words += 1;
            group.places += word.places.len() as i64;
            group.fields |= word.fields;
            if is_short {
                group.at |= word.places.iter().fold(0, |at, place| at | 1 << place);
            }
            every &= word.fields == all;
        }
        Groups {
            groups,
            is_short,
            every,
            sets: Vec::new(),
        }
    }

    /// The groups in a set of words.
    fn of(&self, words: u64) -> impl Iterator<Item = &Group> + Clone {
        let groups = self.groups.iter().enumerate();
        let chosen = groups.filter(move |(bit, _)| words >> bit & 1 == 1);
        chosen.map(|(_, group)| group)
    }

    /// Set of the fields in which a word of the set may count.
    fn fields(&self, words: u64) -> u64 {
        self.of(words)
            .fold(0, |fields, group| fields | group.fields)
    }

    /// Upper bound of the longest run of the words in one of `fields`, and the number of words that
    /// may count there.
    pub(super) fn longest(&self, words: u64, fields: u64) -> (i64, i64) {
        let here = self.of(words).filter(|group| group.fields & fields != 0);
        let count = here.clone().map(|group| group.words).sum();
        let longest = match self.is_short {
            true => i64::from(here.fold(0, |at, group| at | group.at).count_ones()),
            false => here.map(|group| group.places).sum(),
        };
        (longest, count)
    }
}

impl Weigher {
    /// Greatest weight of a row that holds no words but `words` and whose sum of [`Weigher::value`]
    /// is at most `sum`. Exact for a weigher that needs codes at most, if the row holds exactly
    /// these words.
    pub(crate) fn bound(&self, words: u64, sum: i64) -> i64 {
        self.with_points(self.fields_bound(words), sum)
    }

    /// Least sum with which a row of these words reaches a weight: `bound(words, s) >= weight` if
    /// and only if `s` is at least this. `i64::MIN` if any sum is enough, `i64::MAX` if none is.
    pub(crate) fn least_sum(&self, words: u64, weight: i64) -> i64 {
        let fields = self.fields_bound(words);
        match self.ranker {
            Ranker::Bm25a => self.points.least_whole(weight),
            Ranker::Bm25 | Ranker::ProximityBm25 | Ranker::Sph04 => {
                let points = fields.saturating_mul(FIELD_POINTS);
                self.points.least_bm25(weight.saturating_sub(points))
            }
            Ranker::None
            | Ranker::Wordcount
            | Ranker::Proximity
            | Ranker::Matchany
            | Ranker::Fieldmask => match self.with_points(fields, 0) >= weight {
                true => i64::MIN,
                false => i64::MAX,
            },
        }
    }

    /// The points by fields; `None` where words or fields are many, or the fields alone tell too little.
    pub(crate) fn field_points(&self) -> Option<&FieldPoints> {
        self.field_points.as_ref()
    }

    /// Set of the fields in which a word may count.
    pub(crate) fn fields_of(&self, word: u32) -> u64 {
        self.query_words.words[word as usize].fields
    }

    /// Whether bounds depend on which words follow each other.
    pub(crate) fn asks_pairs(&self) -> bool {
        let points = self.field_points.as_ref();
        points.is_some_and(|points| !points.neighbours.pairs.is_empty())
    }

    /// As [`Weigher::bound`] for a row whose words stand in these fields, without a run of more than `run` words. Exact for a weigher
    /// that needs fields at most.
    #[inline(always)]
    pub(crate) fn bound_by_field(
        &self,
        points: &FieldPoints,
        words: ByField,
        run: usize,
        sum: i64,
    ) -> i64 {
        self.with_points(points.of(words, run), sum)
    }

    /// As [`Weigher::bound`] for a row whose words and fields are known, but not their places.
    pub(crate) fn bound_row(&self, row: &super::Occurrences, sum: i64) -> i64 {
        let words = row.present();
        let fields = match self.ranker {
            Ranker::None | Ranker::Bm25a | Ranker::Fieldmask | Ranker::Wordcount => {
                return self.bound(words, sum);
            }
            Ranker::Bm25 => self.each(row.fields(), |_| 1),
            Ranker::ProximityBm25 | Ranker::Proximity | Ranker::Matchany | Ranker::Sph04 => self
                .each(row.fields(), |field| {
                    let here = row
                        .words()
                        .filter(|(_, word)| word.fields >> field & 1 == 1);
                    let bits = here.map(|(number, _)| 1 << number.min(BITS - 1));
                    let present = bits.fold(0, |words: u64, bit: u64| words | bit);
                    let (longest, count) = self.groups.longest(present, u64::MAX);
                    self.most(longest, count)
                }),
        };
        self.with_points(fields, sum)
    }

    /// Whether [`Weigher::bound_places`] looks at more than `sum`.
    pub(crate) fn asks_standing(&self) -> bool {
        self.asks_runs() || matches!(self.ranker, Ranker::Fieldmask | Ranker::Bm25)
    }

    /// Whether [`Weigher::bound_places`] looks at `counted` or `run`.
    pub(crate) fn asks_runs(&self) -> bool {
        match self.ranker {
            Ranker::None | Ranker::Bm25a | Ranker::Fieldmask | Ranker::Bm25 => false,
            Ranker::Wordcount
            | Ranker::ProximityBm25
            | Ranker::Proximity
            | Ranker::Matchany
            | Ranker::Sph04 => true,
        }
    }

    /// Whether [`Weigher::bound_places`] looks at `counted` where a run is bounded in each field.
    pub(crate) fn asks_counted(&self) -> bool {
        self.ranker == Ranker::Matchany
    }

    /// Upper bound of the weight of a row of a tree that is weighed by places, whose sum of
    /// [`Weigher::value`] is at most `sum`. `counted`: no less than the words of all that counts
    /// in the row, added up. `fields`: a set of the fields in which its words stand. `run`: no less
    /// than the words of a run in a field.
    pub(crate) fn bound_places(
        &self,
        sum: i64,
        counted: i64,
        fields: u64,
        run: impl Fn(usize) -> i64,
    ) -> i64 {
        // What counts, counts in one field.
        let heaviest = self.fields.iter().copied().max().unwrap_or(0);
        let most = |words: i64| words.saturating_mul(heaviest);
        let fields = match self.ranker {
            Ranker::None | Ranker::Bm25a => 0,
            Ranker::Fieldmask => i64::from(fields as u32),
            Ranker::Bm25 => self.each(fields, |_| 1),
            // Some words count by several places of the query.
            Ranker::Wordcount => i64::MAX,
            Ranker::ProximityBm25 | Ranker::Proximity => most(counted).min(self.each(fields, run)),
            Ranker::Matchany => most(counted.saturating_mul(self.max_lcs.saturating_add(1))),
            Ranker::Sph04 => self.each(fields, |field| {
                run(field).saturating_mul(4).saturating_add(3)
            }),
        };
        self.with_points(fields, sum)
    }

    /// Prepares [`Weigher::field_points`]. `may_count`: whether any of these words may count in this field. `is_tree`: the rows are
    /// those of a tree that places decide.
    pub(crate) fn bound_by_fields(
        &mut self,
        may_count: &dyn Fn(usize, u64) -> bool,
        is_tree: bool,
    ) {
        let is_told = match self.ranker {
            Ranker::ProximityBm25 | Ranker::Proximity | Ranker::Sph04 => true,
            // In a tree, fields count in which no word of a match stands, or occurrences do.
            Ranker::Bm25 | Ranker::Matchany | Ranker::Fieldmask => !is_tree,
            Ranker::None | Ranker::Bm25a | Ranker::Wordcount => false,
        };
        if is_told {
            self.field_points = FieldPoints::new(self, &self.groups, may_count, is_tree);
        }
    }

    /// Computes the points of every set of words, if the words are few.
    pub(super) fn prepare(&mut self) {
        let words = self.groups.groups.len();
        if words <= READY_WORDS {
            let sets = 0..1 << words;
            self.groups.sets = sets.map(|words| self.fields_bound_of(words)).collect();
        }
    }

    /// Upper bound of the fields' points in a row of these words.
    #[inline]
    fn fields_bound(&self, words: u64) -> i64 {
        let all = self.groups.sets.len() as u64;
        match all {
            0 => self.fields_bound_of(words),
            // The number of sets is a power of two.
            all => self.groups.sets[(words & (all - 1)) as usize],
        }
    }

    /// As [`Weigher::fields_bound`], computed anew.
    fn fields_bound_of(&self, words: u64) -> i64 {
        match self.ranker {
            Ranker::None | Ranker::Bm25a => 0,
            Ranker::Fieldmask => i64::from(self.groups.fields(words) as u32),
            Ranker::Bm25 => self.each(self.groups.fields(words), |_| 1),
            // A word may stand in a field any number of times.
            Ranker::Wordcount if words != 0 => i64::MAX,
            Ranker::Wordcount
            | Ranker::ProximityBm25
            | Ranker::Proximity
            | Ranker::Matchany
            | Ranker::Sph04 => {
                if self.groups.every {
                    let (longest, count) = self.groups.longest(words, u64::MAX);
                    let most = self.most(longest, count);
                    self.each(self.groups.fields(words), |_| most)
                } else {
                    self.each(self.groups.fields(words), |field| {
                        let (longest, count) = self.groups.longest(words, 1 << field);
                        self.most(longest, count)
                    })
                }
            }
        }
    }

    /// Points of a field in which `words` words count and the longest run has `longest` words.
    pub(super) fn most(&self, longest: i64, words: i64) -> i64 {
        match self.ranker {
            Ranker::Matchany => {
                let more = (longest - 1).max(0).saturating_mul(self.max_lcs);
                words.saturating_add(more)
            }
            // The run may stand at the field's beginning and be the whole of it.
            Ranker::Sph04 if self.needs == Needs::Positions => 4 * longest + 3,
            Ranker::Sph04
            | Ranker::ProximityBm25
            | Ranker::Proximity
            | Ranker::Bm25
            | Ranker::None
            | Ranker::Wordcount
            | Ranker::Fieldmask
            | Ranker::Bm25a => longest,
        }
    }
}
