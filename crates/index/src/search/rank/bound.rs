//! What a row can weigh at most.

use query::options::Ranker;

use super::{FIELD_POINTS, Needs, QueryWords, Weigher};

/// Bits of a set of words: the last one stands for every word from there on.
const BITS: usize = 64;

/// What the words behind one bit can give.
#[derive(Clone, Copy, Default)]
struct Group {
    /// How many they are.
    words: i64,
    /// Places of the query that they are asked for at, summed over them.
    places: i64,
    /// The same as bits, where the query has no more places than bits.
    at: u64,
    /// The fields in which one of them may count.
    fields: u64,
}

pub(super) struct Groups {
    groups: Vec<Group>,
    /// Whether `at` says which places.
    is_short: bool,
    /// Whether each word may count in every field.
    every: bool,
    /// What [`Weigher::fields_bound`] gives for each set of the words, where these are few.
    sets: Vec<i64>,
}

/// Most words of which every set's bound is made ready.
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

    fn of(&self, words: u64) -> impl Iterator<Item = &Group> + Clone {
        let groups = self.groups.iter().enumerate();
        let chosen = groups.filter(move |(bit, _)| words >> bit & 1 == 1);
        chosen.map(|(_, group)| group)
    }

    /// The fields in which one of the words may count.
    fn fields(&self, words: u64) -> u64 {
        self.of(words)
            .fold(0, |fields, group| fields | group.fields)
    }

    /// The longest run of the words, and how many they are, in a field of `fields`.
    fn longest(&self, words: u64, fields: u64) -> (i64, i64) {
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
    /// The greatest weight of a row that holds no words but these and whose sum of [`Weigher::value`] is this one or
    /// less. A word's number is its bit, the last bit standing for all words from there on. Exact for a weigher that needs
    /// codes at most, of a row that holds precisely these words.
    pub(crate) fn bound(&self, words: u64, sum: i64) -> i64 {
        self.with_points(self.fields_bound(words), sum)
    }

    /// The least sum with which a row of these words can weigh so much: `bound(words, s) >= weight` just where `s` is
    /// at least this. `i64::MIN` and `i64::MAX` where the sum does not matter.
    pub(crate) fn least_sum(&self, words: u64, weight: i64) -> i64 {
        let fields = self.fields_bound(words);
        match self.ranker {
            Ranker::Bm25a => self.points.least_whole(weight),
            Ranker::Bm25 | Ranker::ProximityBm25 | Ranker::Sph04 => {
                let points = fields.saturating_mul(FIELD_POINTS);
                self.points.least_bm25(weight.saturating_sub(points))
            }
            _ if self.with_points(fields, 0) >= weight => i64::MIN,
            _ => i64::MAX,
        }
    }

    /// As [`Weigher::bound`] for a row whose words and fields are known, but not the places.
    pub(crate) fn bound_row(&self, row: &super::Occurrences, sum: i64) -> i64 {
        let words = row.present();
        let fields = match self.ranker {
            Ranker::None | Ranker::Bm25a | Ranker::Fieldmask | Ranker::Wordcount => {
                return self.bound(words, sum);
            }
            Ranker::Bm25 => self.each(row.fields(), |_| 1),
            _ => self.each(row.fields(), |field| {
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

    /// Makes bounds ready that are asked for row by row.
    pub(super) fn prepare(&mut self) {
        let words = self.groups.groups.len();
        if words <= READY_WORDS {
            let sets = 0..1 << words;
            self.groups.sets = sets.map(|words| self.fields_bound_of(words)).collect();
        }
    }

    /// What the fields of a row of these words give at most.
    #[inline]
    fn fields_bound(&self, words: u64) -> i64 {
        let all = self.groups.sets.len() as u64;
        match all {
            0 => self.fields_bound_of(words),
            // As many as there are sets, a power of two.
            all => self.groups.sets[(words & (all - 1)) as usize],
        }
    }

    fn fields_bound_of(&self, words: u64) -> i64 {
        match self.ranker {
            Ranker::None | Ranker::Bm25a => 0,
            Ranker::Fieldmask => i64::from(self.groups.fields(words) as u32),
            Ranker::Bm25 => self.each(self.groups.fields(words), |_| 1),
            // A word may stand anywhere in a field, and as often as it likes.
            Ranker::Wordcount if words != 0 => i64::MAX,
            _ if self.groups.every => {
                let (longest, count) = self.groups.longest(words, u64::MAX);
                let most = self.most(longest, count);
                self.each(self.groups.fields(words), |_| most)
            }
            _ => self.each(self.groups.fields(words), |field| {
                let (longest, count) = self.groups.longest(words, 1 << field);
                self.most(longest, count)
            }),
        }
    }

    /// What a field gives in which so many words count and the longest run is of so many.
    fn most(&self, longest: i64, words: i64) -> i64 {
        match self.ranker {
            Ranker::Matchany => {
                let more = (longest - 1).max(0).saturating_mul(self.max_lcs);
                words.saturating_add(more)
            }
            // The run at the beginning of the field, and nothing but it.
            Ranker::Sph04 if self.needs == Needs::Positions => 4 * longest + 3,
            _ => longest,
        }
    }
}
