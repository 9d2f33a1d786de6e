//! Weights: what each ranker makes of the places where a query's words stand in a row.
//!
//! A [`Weigher`] is made once for a query, from the live statistics of the whole table. It says what must be read of a row
//! ([`Needs`]), what a posting's code adds to a sum of integers ([`Weigher::table`]), which weight a row can have at most while it
//! is not yet known which words it holds ([`Weigher::bound`]), and which weight it has ([`Weigher::weigh`]).
//! Formulas and what counts: ADR 028. The unit of sums: `points.rs`.

mod bound;
mod factors;
mod occurrences;
mod points;
mod query_words;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use query::options::{Idf, Ranker};

use crate::postings::{Shares, class_of, hits_of};

pub(crate) use factors::Hit;
pub(crate) use occurrences::{Occurrences, WordPlace};
pub(crate) use query_words::{QueryWord, QueryWords};

use bound::Groups;
use factors::Standing;
use points::{Points, Statistics};

/// Points of weight for each field that matched, and for each word of the longest run in it.
const FIELD_POINTS: i64 = 1000;

/// What a weigher must know of a row. Each includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Needs {
    /// Nothing: every row weighs the same.
    Constant,
    /// The codes of its postings: the weight is [`Weigher::bound`] of the words it holds and their exact sum.
    Codes,
    /// In which fields each word counts, and how often it stands in the row.
    Fields,
    /// Where each word counts.
    Positions,
}

/// A ranker, with the words of one query.
pub(crate) struct Weigher {
    ranker: Ranker,
    needs: Needs,
    query_words: QueryWords,
    /// By word, its place in the query, if each has one and they are few: see [`Weigher::weigh_places`].
    in_query: Option<Vec<u32>>,
    /// Weight of each field.
    fields: Vec<i64>,
    /// The query's distinct words times the weights of all fields.
    max_lcs: i64,
    points: Points,
    tables: Vec<[i32; 256]>,
    groups: Groups,
}

/// What a weigher is made of, beside the words.
pub(crate) struct Table<'a> {
    /// Live rows.
    pub(crate) rows: u64,
    /// Their words over all fields, every occurrence counted.
    pub(crate) hits: u64,
    /// The weight of each text column, in the table's order.
    pub(crate) fields: &'a [u32],
    /// Made by the first query that asks.
    pub(crate) shares: &'a OnceLock<Shares>,
}

impl Weigher {
    /// Cost: 256 multiplications a word, several at a time.
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
            tables: points.tables(table.shares),
            groups: Groups::new(&query_words, fields.len()),
            points,
            in_query: query_words.places_once(),
            query_words,
            fields,
        };
        weigher.prepare();
        weigher
    }

    /// What [`Weigher::weigh`] must be told of a row.
    pub(crate) fn needs(&self) -> Needs {
        self.needs
    }

    /// Whether [`Weigher::value`] looks at a code's class of length.
    #[cfg(test)]
    pub(crate) fn has_lengths(&self) -> bool {
        self.ranker == Ranker::Bm25a
    }

    /// What each code of a word's postings adds to the sum of a row, at most: exact but for codes that stand for eight hits
    /// or more, of which [`Weigher::value`] is.
    pub(crate) fn table(&self, word: usize) -> &[i32; 256] {
        &self.tables[word]
    }

    /// What a word adds to the sum of a row.
    pub(crate) fn value(&self, word: usize, code: u8, hits: u32) -> i64 {
        match hits_of(code) {
            None => self.points.value(word, class_of(code), hits),
            Some(_) => self.tables[word][usize::from(code)].into(),
        }
    }

    /// The weight of the row. `sum` is that of [`Weigher::value`] over the words that count in it. `last` is query_words, rarely, for the
    /// last position of a field, and only by a weigher that needs positions.
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
            _ if self.needs == Needs::Fields => self.by_fields(row),
            _ => self.by_positions(row, last),
        };
        self.with_points(fields, sum)
    }

    /// Whether [`Weigher::weigh_places`] may be query_words: positions decide, and each of at most 64 words has one place in the query.
    pub(crate) fn weighs_places(&self) -> bool {
        self.needs == Needs::Positions && self.in_query.is_some()
    }

    /// [`Weigher::weigh`] of a row all of whose words count at all of their places, told by these alone, in any order.
    /// `None` where two words stand at one place: that must be told by [`Occurrences`].
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

    /// Whether of several words that count as one only the first field counts, as in Sphinx.
    pub(crate) fn takes_first_field(&self) -> bool {
        self.ranker == Ranker::Bm25
    }

    /// Whether fields count wherever the query's words are in them, not where they count: `found` of a row, else `placed`.
    pub(crate) fn takes_found_fields(&self) -> bool {
        match self.ranker {
            Ranker::Bm25 => true,
            Ranker::ProximityBm25 | Ranker::Proximity => self.query_words.is_one_term(),
            _ => false,
        }
    }

    /// Where no position matters: a field's run is one word.
    fn by_fields(&self, row: &Occurrences) -> i64 {
        match self.ranker {
            Ranker::Wordcount => {
                let hits = row.words().map(|(_, word)| i64::from(word.hits)).sum();
                self.each(row.fields(), |_| hits)
            }
            Ranker::Matchany => self.each(row.fields(), |field| row.words_in(field as u8)),
            _ => self.each(row.fields(), |_| 1),
        }
    }

    fn by_positions(&self, row: &mut Occurrences, last: &mut dyn FnMut(u8) -> u32) -> i64 {
        let mut sum: i64 = 0;
        factors::each(row, &self.query_words, |standing| {
            sum = sum.saturating_add(self.of_field(&standing, last));
        });
        sum
    }

    /// What a field gives.
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
            _ => standing.lcs,
        };
        factor.saturating_mul(self.fields[usize::from(standing.field)])
    }

    /// The sum over some fields of a factor and the field's weight.
    fn each(&self, fields: u64, mut factor: impl FnMut(usize) -> i64) -> i64 {
        let mut sum: i64 = 0;
        for (field, weight) in self.fields.iter().enumerate() {
            if fields >> field & 1 == 1 {
                sum = sum.saturating_add(factor(field).saturating_mul(*weight));
            }
        }
        sum
    }

    /// The weight, from what the fields give and the sum of the words' values.
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
        _ => Needs::Positions,
    }
}
