//! Weights: a ranker turns the occurrences of a query's words in a row into one integer.
//!
//! A [`Weigher`] is made once for a query, from the live statistics of the whole table. It answers
//! four questions:
//! - [`Weigher::needs`]: what must be read of a row, from nothing up to all positions.
//! - [`Weigher::table`]: the value of each code of a word. A row's *sum* adds up the values.
//! - [`Weigher::bound`]: the greatest weight of a row, from the set of its words and its sum alone.
//! - [`Weigher::weigh`]: the weight, once everything needed is known.
//!
//! Example: `proximity_bm25`, one text column of weight 1, query `black cat`, row "a black cat".
//! The longest run of query words is 2, so the fields give 2 points × [`FIELD_POINTS`] = 2,000. The
//! `bm25` of the sum, say 634, is added: weight 2,634. The bound of a row with both words and the
//! same sum is 2,634 too. With the words apart, the weight is 1,634 and the bound stays.
//!
//! Invariants: for every row, `weigh` is at most `bound` of its words and sum, and `least_sum` is
//! the exact inverse of `bound`. The executor drops rows by them. ADR 028 has the formulas and the
//! rules of what counts; `points.rs` has the unit of sums.
//!
//! # To add a ranker
//! Example: `distinct` weighs a row by the number of different query words in it. These are all of its lines:
//!
//! | file | match or list | question | answer of `distinct` |
//! |---|---|---|---|
//! | `relation/src/options.rs` | `Ranker`, `NAMED` | its name in `OPTION ranker=` | `("distinct", Ranker::Distinct)` |
//! | here | `Weigher::with_points` | the weight, from the fields' points and the sum of values | the points, as `Proximity` |
//! | here | `needs` | what is read of a row | `Codes` below 64 words, else `Fields` |
//! | here | `Weigher::weigh` | the fields' points of a row, if more than codes is needed | `row.words().count()` |
//! | here | `by_fields`, `of_field` | the points of one field, without and with positions | the last arm; `weigh` does not ask |
//! | here | `takes_found_fields` | for a tree that places decide: do all fields of the match count | `false` |
//! | `bound.rs` | `fields_bound_of` | the most points of a row that holds these words | the words of the groups, added up |
//! | `bound.rs` | `bound_row` | the same where the row's fields are known | `bound(words, sum)`, as `Wordcount` |
//! | `bound.rs` | `least_sum` | the least sum for a weight | as `Proximity`, since the sum is no part of the weight |
//! | `bound.rs` | `most` | the most points of one field | the last arm; the two above do not ask |
//! | `bound.rs` | `bound_by_fields` | do the words in each field tell or bound the points, as `points_of_set` has them | no, as `Wordcount` |
//! | `search/plan.rs` | `is_told_by_fields` | does the weight of a row of one pattern follow from codes and fields | no, as `Wordcount` |
//! | `points.rs` | `Formula::of` | the values of its words | `Formula::None`: rarity does not count |
//! | `index/tests/it/oracle.rs` | `Oracle::weight` | the weight, slowly, by the parser and the row's text alone | `tally.rare.len()`: the distinct words found |
//!
//! The compiler names every match. It does not name `NAMED` (the laws and the random tests draw from it), the three arrays of
//! `what_must_be_read_follows_from_ranker_words_and_fields` in `rank/tests.rs` (one more entry each), and the texts:
//! `tests/scripts/rankers.sql` (a block, and two messages that list all names), `docs/language.md`, `docs/compat.md`, ADR 028,
//! CHANGELOG. Lists of a few rankers in other tests choose rankers for a reason and stay as they are.
//!
//! - A formula by fields joins the arm of `Proximity` in `weigh`, `bound_row` and `fields_bound_of`, and has arms of its own in
//!   `by_fields`, `of_field` and `most`. `takes_first_field` names `Bm25` alone: look whether a phrase counts in one field only.
//! - `Needs::Codes` promises that the words and the sum alone give the exact weight. Bit 63 of a set stands for all words from
//!   number 63 on, so a weight that depends on single words, as that of `distinct`, is exact below 64 words only.
//! - A bound below a weight loses rows without an error. `bounds_hold_for_random_rows_of_any_ranker` compares the two.
//! - A new formula of values also changes `Points::new` (unit and `idf`), `Points::tables` and `Points::value` in `points.rs`:
//!   the last two hold the share `n / (n + 1.2)` and its form with lengths. The sum of a row must fit 30 bits. A code tells the
//!   length class of the whole row, over all columns; nothing in the index tells the length of one column.

mod bound;
mod factors;
mod field_points;
mod occurrences;
mod points;
mod query_words;
#[cfg(test)]
mod tests;

use relation::options::{Idf, Ranker};

use crate::postings::{SharesCache, class_of, hits_of};

pub(crate) use factors::Hit;
pub(crate) use field_points::{ByField, FieldPoints, Neighbours};
pub(crate) use occurrences::{Occurrences, WordPlace};
pub(crate) use query_words::{QueryWord, QueryWords};

use bound::Groups;
use factors::Standing;
use points::{Points, Statistics, Tables};

/// Points of weight for each field that matched, or for each word of its longest run.
const FIELD_POINTS: i64 = 1000;

/// What a ranker must know of a row to weigh it. Each level includes the levels before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Needs {
    /// Nothing: every row weighs the same.
    Constant,
    /// The codes of its postings. The weight is [`Weigher::bound`] of the row's words and exact
    /// sum.
    Codes,
    /// The fields in which each word counts, and its occurrences in the row.
    Fields,
    /// The places at which each word counts.
    Positions,
}

/// One ranker, ready to weigh rows for one query. The words are numbered as in the plan.
pub(crate) struct Weigher {
    ranker: Ranker,
    needs: Needs,
    query_words: QueryWords,
    /// By word: its place in the query, if each of at most 64 words has one. See
    /// [`Weigher::weigh_places`].
    in_query: Option<Vec<u32>>,
    /// Weight of each text column, in the table's order.
    fields: Vec<i64>,
    /// Number of distinct query words times the sum of all fields' weights: the step of `matchany`.
    max_lcs: i64,
    points: Points,
    tables: Tables,
    groups: Groups,
    field_points: Option<FieldPoints>,
}

/// Facts of the table and the query that a weigher is made of, beside the words.
pub(crate) struct Table<'a> {
    /// Live rows of the table.
    pub(crate) rows: u64,
    /// Words of all live rows, every occurrence counted.
    pub(crate) hits: u64,
    /// The weight of each text column, in the table's order.
    pub(crate) fields: &'a [u32],
    /// Cache for the factors of rankers that look at lengths.
    pub(crate) shares: &'a SharesCache,
}

impl Weigher {
    /// Makes the weigher of a query. Cost: 256 multiplications a word, several at a time.
    pub(crate) fn new(
        ranker: Ranker,
        idf: Idf,
        query_words: QueryWords,
        table: &Table<'_>,
    ) -> Weigher {
        let statistics = Statistics {
            rows: table.rows,
            hits: table.hits,
            words: query_words.wanted(),
            distinct: query_words.distinct,
        };
        let points = Points::new(ranker, idf, &query_words.words, &statistics);
        let fields: Vec<i64> = table.fields.iter().map(|weight| (*weight).into()).collect();
        let most = fields.iter().sum::<i64>() * query_words.distinct as i64;
        let mut weigher = Weigher {
            ranker,
            needs: needs(ranker, &query_words, fields.len()),
            max_lcs: most,
            tables: points.tables(ranker, table.shares),
            groups: Groups::new(&query_words, fields.len()),
            field_points: None,
            points,
            in_query: query_words.places_once(),
            query_words,
            fields,
        };
        weigher.prepare();
        weigher
    }

    /// What [`Weigher::weigh`] must know of a row.
    pub(crate) fn needs(&self) -> Needs {
        self.needs
    }

    /// By word: how often the query has it, or 1.
    pub(crate) fn times(&self) -> impl Iterator<Item = u64> + '_ {
        let words = self.query_words.words.iter();
        words.map(|word| word.places.len().max(1) as u64)
    }

    /// Whether values depend on a code's class of length.
    #[cfg(test)]
    pub(crate) fn has_lengths(&self) -> bool {
        self.points.has_lengths()
    }

    /// Value of each code of a word: what it adds to the sum of a row. An upper bound for codes of
    /// eight or more occurrences, exact for all others.
    pub(crate) fn table(&self, word: usize) -> &[i32; 256] {
        self.tables.of_word(word)
    }

    /// Exact value of a word in a row. `hits`: its occurrences, used where the code does not tell
    /// them.
    pub(crate) fn value(&self, word: usize, code: u8, hits: u32) -> i64 {
        match hits_of(code) {
            None => self.points.value(word, class_of(code), hits),
            Some(_) => self.tables.of_word(word)[usize::from(code)].into(),
        }
    }

    /// The weight of a row. `sum`: [`Weigher::value`] added up over the words that count in it.
    /// `last` gives the last position of a field; called rarely, and only by a weigher that needs
    /// positions.
    pub(crate) fn weigh(
        &self,
        row: &mut Occurrences,
        sum: i64,
        last: &mut dyn FnMut(u8) -> u32,
    ) -> i64 {
        if self.needs <= Needs::Codes {
            return self.bound(row.present(), sum);
        }
        let fields = match self.ranker {
            Ranker::None | Ranker::Bm25a => 0,
            Ranker::Bm25 => self.each(row.fields(), |_| 1),
            Ranker::Fieldmask => i64::from(row.fields() as u32),
            Ranker::ProximityBm25
            | Ranker::Proximity
            | Ranker::Matchany
            | Ranker::Wordcount
            | Ranker::Sph04 => match self.needs {
                Needs::Fields => self.by_fields(row),
                _ => self.by_positions(row, last),
            },
        };
        self.with_points(fields, sum)
    }

    /// Whether [`Weigher::weigh_places`] may be called: positions decide, and each of at most 64
    /// words has one place in the query.
    pub(crate) fn weighs_places(&self) -> bool {
        self.needs == Needs::Positions && self.in_query.is_some()
    }

    /// As [`Weigher::weigh`] for a row in which every word counts at all its places, given in any
    /// order. `None` where two words stand at one place: then the caller must record
    /// [`Occurrences`].
    #[inline]
    pub(crate) fn weigh_places(
        &self,
        places: &mut [WordPlace],
        sum: i64,
        last: &mut dyn FnMut(u8) -> u32,
    ) -> Option<i64> {
        let (in_query, end) = (self.in_query.as_deref()?, self.query_words.end());
        let mut fields: i64 = 0;
        let is_told = factors::each_once(places, in_query, end, |standing| {
            fields = fields.saturating_add(self.of_field(&standing, last));
        });
        is_told.then(|| self.with_points(fields, sum))
    }

    /// The weigher, if runs alone make the points of fields.
    pub(crate) fn by_runs(&self) -> Option<RunWeights<'_>> {
        let is_by_runs = matches!(self.ranker, Ranker::ProximityBm25 | Ranker::Proximity);
        is_by_runs.then_some(RunWeights(self))
    }

    /// Whether a phrase counts only in the first field that it stands in, as in Sphinx's `bm25`.
    pub(crate) fn takes_first_field(&self) -> bool {
        self.ranker == Ranker::Bm25
    }

    /// For a tree that the text decides: the fields that count. `true`: all fields of the match.
    /// `false`: those in which a word or unit was placed ([`Occurrences::placed`]).
    pub(crate) fn takes_found_fields(&self) -> bool {
        match self.ranker {
            Ranker::Bm25 => true,
            Ranker::ProximityBm25 | Ranker::Proximity => self.query_words.is_one_term(),
            Ranker::None
            | Ranker::Wordcount
            | Ranker::Matchany
            | Ranker::Fieldmask
            | Ranker::Sph04
            | Ranker::Bm25a => false,
        }
    }

    /// Points of the fields where no position matters: each field's longest run is one word.
    fn by_fields(&self, row: &Occurrences) -> i64 {
        match self.ranker {
            Ranker::Wordcount => {
                let hits = row.words().map(|(_, word)| i64::from(word.hits)).sum();
                self.each(row.fields(), |_| hits)
            }
            Ranker::Matchany => self.each(row.fields(), |field| row.words_in(field as u8)),
            Ranker::ProximityBm25
            | Ranker::Proximity
            | Ranker::Sph04
            | Ranker::Bm25
            | Ranker::None
            | Ranker::Fieldmask
            | Ranker::Bm25a => self.each(row.fields(), |_| 1),
        }
    }

    /// Points of the fields from the places of the row's words.
    fn by_positions(&self, row: &mut Occurrences, last: &mut dyn FnMut(u8) -> u32) -> i64 {
        let mut sum: i64 = 0;
        factors::each(row, &self.query_words, |standing| {
            sum = sum.saturating_add(self.of_field(&standing, last));
        });
        sum
    }

    /// Points of one field.
    #[inline]
    fn of_field(&self, standing: &Standing, last: &mut dyn FnMut(u8) -> u32) -> i64 {
        let factor = match self.ranker {
            Ranker::Wordcount => standing.hits,
            Ranker::Matchany => {
                let more = (standing.lcs - 1).saturating_mul(self.max_lcs);
                standing.words.saturating_add(more)
            }
            Ranker::Sph04 => {
                let is_exact = standing.is_whole && last(standing.field) == self.query_words.end();
                4 * standing.lcs + 2 * i64::from(standing.first == 1) + i64::from(is_exact)
            }
            Ranker::ProximityBm25
            | Ranker::Proximity
            | Ranker::Bm25
            | Ranker::None
            | Ranker::Fieldmask
            | Ranker::Bm25a => standing.lcs,
        };
        factor.saturating_mul(self.fields[usize::from(standing.field)])
    }

    /// Sum of `factor` times weight over the fields in the set `fields`.
    fn each(&self, fields: u64, mut factor: impl FnMut(usize) -> i64) -> i64 {
        let mut sum: i64 = 0;
        for (field, weight) in self.fields.iter().enumerate() {
            if fields >> field & 1 == 1 {
                sum = sum.saturating_add(factor(field).saturating_mul(*weight));
            }
        }
        sum
    }

    /// The weight, from the points of the fields and the sum of values.
    fn with_points(&self, fields: i64, sum: i64) -> i64 {
        match self.ranker {
            Ranker::None => 1,
            Ranker::Bm25a => self.points.whole(sum),
            Ranker::Bm25 | Ranker::ProximityBm25 | Ranker::Sph04 => fields
                .saturating_mul(FIELD_POINTS)
                .saturating_add(self.points.bm25(sum)),
            Ranker::Proximity | Ranker::Wordcount | Ranker::Matchany | Ranker::Fieldmask => fields,
        }
    }
}

/// A ranker by the longest run of each field.
#[derive(Clone, Copy)]
pub(crate) struct RunWeights<'w>(&'w Weigher);

impl RunWeights<'_> {
    /// As [`Weigher::value`].
    #[inline(always)]
    pub(crate) fn value(self, word: usize, code: u8, hits: u32) -> i64 {
        self.0.value(word, code, hits)
    }

    /// Points of a field whose longest run has `run` words.
    #[inline(always)]
    pub(crate) fn points(self, field: usize, run: i64) -> i64 {
        let weight = self.0.fields.get(field).copied().unwrap_or(0);
        run.saturating_mul(weight)
    }

    /// The weight of a row, by the points of all its fields.
    #[inline(always)]
    pub(crate) fn weight(self, points: i64, sum: i64) -> i64 {
        self.0.with_points(points, sum)
    }

    /// Upper bound of the weight of a row whose runs have at most `words` words together.
    #[inline(always)]
    pub(crate) fn most(self, words: i64, sum: i64) -> i64 {
        let heaviest = self.0.fields.iter().copied().max().unwrap_or(0);
        self.weight(words.saturating_mul(heaviest), sum)
    }
}

/// What a ranker must know of a row for this query; less where the query has one word or place.
fn needs(ranker: Ranker, query_words: &QueryWords, fields: usize) -> Needs {
    let by_fields = match fields {
        0 | 1 => Needs::Codes,
        _ => Needs::Fields,
    };
    let is_single = query_words.is_single();
    match ranker {
        Ranker::None => Needs::Constant,
        Ranker::Bm25a => Needs::Codes,
        Ranker::Bm25 | Ranker::Fieldmask => by_fields,
        Ranker::ProximityBm25 | Ranker::Proximity if is_single => by_fields,
        Ranker::Matchany if is_single && query_words.words.len() <= 1 => by_fields,
        Ranker::Matchany if is_single => Needs::Fields,
        Ranker::Wordcount if fields <= 1 && !query_words.counts_by_place => Needs::Fields,
        Ranker::ProximityBm25
        | Ranker::Proximity
        | Ranker::Matchany
        | Ranker::Wordcount
        | Ranker::Sph04 => Needs::Positions,
    }
}
