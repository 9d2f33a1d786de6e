//! Compares weights with the published formulas, and bounds with weights.

use std::collections::BTreeSet;

use std::sync::{Arc, OnceLock};

use relation::options::{Idf, Ranker};

use smallvec::smallvec;

use super::{ByField, Hit, Needs, Occurrences, QueryWord, QueryWords, Table, Weigher, WordPlace};
use crate::error::{Error, Reason};
use crate::interrupt::Interrupt;
use crate::limits::ROW_OCCURRENCES_MAX;
use crate::postings::{code, length_class, length_of_class};

/// Words side by side, each in that many rows, in any of `fields` fields.
fn asked(documents: &[u64], fields: usize) -> QueryWords {
    let word = |(documents, place): (&u64, u32)| QueryWord {
        documents: *documents,
        places: smallvec![place],
        alone: smallvec![place],
        fields: (1 << fields) - 1,
    };
    QueryWords {
        words: documents.iter().zip(0..).map(word).collect(),
        distinct: documents.len(),
        phrases: Vec::new(),
        counts_by_place: false,
        is_free: false,
        end: documents.len() as u32,
        next: documents.len() as u32,
    }
}

fn weigher(ranker: Ranker, documents: &[u64], fields: &[u32], rows: u64) -> Weigher {
    let hits = rows * 20;
    let table = Table {
        rows,
        hits,
        fields,
        shares: &OnceLock::new(),
    };
    let mut weigher = Weigher::new(
        ranker,
        Idf::default(),
        asked(documents, fields.len()),
        &table,
    );
    weigher.bound_by_fields(&|_, _| true, false);
    weigher
}

/// The bound of a row by the fields of its words, and by the longest run that neighbours of the query allow. It holds for `whole`.
fn check_field_points(weigher: &Weigher, places: &[&[(u32, u32)]], sum: i64, whole: i64) {
    let Some(points) = weigher.field_points() else {
        return;
    };
    let mut words = ByField::default();
    for (places, word) in places.iter().zip(0..) {
        let fields = places
            .iter()
            .fold(0, |fields, (field, _)| fields | 1 << field);
        words = points.add(words, word, fields);
    }
    let follows = |pair: &[u32; 2]| {
        let [left, right] = pair.map(|word| places[word as usize]);
        let mut next = left.iter().map(|(field, at)| (*field, at + 1));
        next.any(|next| right.contains(&next))
    };
    let pairs = points.neighbours.pairs.iter().map(follows);
    let held = pairs.zip(0..).fold(0, |held, (follows, pair)| {
        held | usize::from(follows) << pair
    });
    let run = points.neighbours.longest(held);
    for run in [run, places.len().max(1)] {
        let bound = weigher.bound_by_field(points, words, run, sum);
        match weigher.needs() {
            Needs::Fields => assert_eq!(bound, whole),
            _ => assert!(bound >= whole, "{bound} {whole} by runs of {run}"),
        }
    }
}

/// The weight of a row of twenty words that holds each word at these places.
fn weight(weigher: &Weigher, places: &[&[(u32, u32)]]) -> i64 {
    let mut row = Occurrences::new(places.len(), Arc::default());
    let mut sum = 0;
    for (word, places) in places
        .iter()
        .enumerate()
        .filter(|(_, places)| !places.is_empty())
    {
        let hits = places.len() as u32;
        let fields = places
            .iter()
            .fold(0, |fields, (field, _)| fields | 1 << field);
        row.add(word, hits, fields);
        row.add_places(word, places.iter().map(|(field, at)| field << 24 | at));
        sum += weigher.value(word, code(hits, length_class(20)), hits);
    }
    let mut last = |_| places.len() as u32;
    let whole = weigher.weigh(&mut row, sum, &mut last);
    if weigher.weighs_places() {
        let of_word = |(places, word): (&&[(u32, u32)], u32)| {
            let place = move |(field, at): &(u32, u32)| WordPlace::new(field << 24 | at, word);
            places.iter().map(place).collect::<Vec<_>>()
        };
        let mut told: Vec<WordPlace> = places.iter().zip(0..).flat_map(of_word).collect();
        let distinct: BTreeSet<_> = places.iter().flat_map(|places| places.iter()).collect();
        let is_told = distinct.len() == told.len();
        let by_places = weigher.weigh_places(&mut told, sum, &mut last);
        assert_eq!(by_places, is_told.then_some(whole));
    }
    check_field_points(weigher, places, sum, whole);
    let bounds = [
        weigher.bound(row.present(), sum),
        weigher.bound_row(&row, sum),
    ];
    assert!(
        bounds[0] >= bounds[1] && bounds[1] >= whole,
        "{bounds:?} {whole}"
    );
    let least = weigher.least_sum(row.present(), whole);
    assert!(
        least <= sum,
        "a sum of {sum} gives {whole}, but {least} was to be the least"
    );
    whole
}

#[test]
fn bm25_is_the_published_formula_but_for_the_last_point() {
    for rows in [1u64, 2, 10, 1_000, 12_345_678] {
        for documents in [1, 2, 7, 500, 9_999_999] {
            let documents = u64::min(documents, rows);
            for hits in [1u32, 2, 7, 8, 15, 70, 1_000_000] {
                for words in [1, 2, 5] {
                    let (n, all, h) = (documents as f64, rows as f64, f64::from(hits));
                    let idf = ((all - n + 1.0) / n).ln() / (2.0 * (1.0 + all).ln()) / words as f64;
                    let published = 2_000 + (((h / (h + 1.2)) * idf + 0.5) * 1000.0) as i64;
                    let weigher = weigher(Ranker::Bm25, &vec![documents; words], &[1, 1], rows);
                    let mut row = Occurrences::new(words, Arc::default());
                    row.add(0, hits, 0b01);
                    row.add(0, hits, 0b10);
                    let sum = weigher.value(0, code(hits, 9), hits);
                    let ours = weigher.weigh(&mut row, sum, &mut |_| 0);
                    assert!(
                        (ours - published).abs() <= 1,
                        "{rows} {documents} {hits} {words}"
                    );
                }
            }
        }
    }
}

#[test]
fn bm25a_is_the_published_formula_of_the_class_of_length() {
    let (rows, documents) = (1_000_000u64, 1_234u64);
    for hits in [1u32, 3, 7, 8, 40] {
        for words in [1u32, 5, 20, 33, 4_000, 100_000] {
            let weigher = weigher(Ranker::Bm25a, &[documents], &[1, 7], rows);
            let code = code(hits, length_class(words));
            let length = f64::from(length_of_class(length_class(words)));
            let (n, all, h) = (documents as f64, rows as f64, f64::from(hits));
            let idf = (1.0 + (all - n + 0.5) / (n + 0.5)).ln();
            let tf = h / (h + 1.2 * (0.25 + 0.75 * length / 20.0));
            let published = (1000.0 * idf * tf) as i64;
            let mut row = Occurrences::new(1, Arc::default());
            row.add(0, hits, 1);
            let ours = weigher.weigh(&mut row, weigher.value(0, code, hits), &mut |_| 0);
            assert!((ours - published).abs() <= 1, "{ours} {published}");
        }
    }
}

#[test]
fn a_word_that_no_row_holds_weighs_nothing() {
    let weigher = weigher(Ranker::Bm25, &[0], &[1], 10);
    assert_eq!(weight(&weigher, &[&[(0, 4)]]), 1_500);
}

#[test]
fn runs_are_of_words_as_far_apart_as_in_the_query() {
    let lcs = |places: &[&[(u32, u32)]]| {
        let documents = vec![1; places.len()];
        weight(&weigher(Ranker::Proximity, &documents, &[1, 10], 9), places)
    };
    assert_eq!(lcs(&[&[(0, 5)], &[(0, 6)], &[(0, 7)]]), 3);
    assert_eq!(
        lcs(&[&[(0, 5)], &[], &[(0, 7)]]),
        2,
        "a gap as in the query"
    );
    assert_eq!(lcs(&[&[(0, 5)], &[(0, 7)], &[(0, 6)]]), 1);
    assert_eq!(
        lcs(&[&[(0, 5)], &[(1, 6)], &[]]),
        11,
        "a run ends with its field"
    );
    assert_eq!(lcs(&[&[(0, 1), (1, 1)], &[(1, 2)], &[]]), 21);
    let between: &[&[(u32, u32)]] = &[&[(0, 1)], &[], &[(0, 2), (0, 3)]];
    assert_eq!(
        lcs(between),
        1,
        "a word of the query between them ends a run"
    );
}

#[test]
fn a_word_asked_for_twice_takes_part_in_runs_of_either_place() {
    let mut query_words = asked(&[1, 1], 1);
    query_words.words[0].places = smallvec![0, 2];
    query_words.words[0].alone = smallvec![0, 2];
    query_words.end = 3;
    query_words.next = 3;
    let table = Table {
        rows: 9,
        hits: 90,
        fields: &[1],
        shares: &OnceLock::new(),
    };
    let weigher = Weigher::new(Ranker::Proximity, Idf::default(), query_words, &table);
    assert_eq!(weight(&weigher, &[&[(0, 1), (0, 3)], &[(0, 2)]]), 3);
    assert_eq!(weight(&weigher, &[&[(0, 2)], &[(0, 1)]]), 2);
}

#[test]
fn each_ranker_weighs_as_its_formula_says() {
    // Both words at the beginning of field 0 and as a run, the second one twice more in field 1.
    let places: &[&[(u32, u32)]] = &[&[(0, 1)], &[(0, 2), (1, 4), (1, 6)]];
    let of = |ranker| weight(&weigher(ranker, &[10, 10], &[3, 5], 10), places);
    // Words that every row holds: idf is ln(1 / 10) / (2 ln 11) / 2 each, tf 1 / 2.2 and 3 / 4.2.
    let bm25 = 219;
    assert_eq!(of(Ranker::ProximityBm25), (2 * 3 + 5) * 1000 + bm25);
    assert_eq!(of(Ranker::Bm25), 8_000 + bm25);
    assert_eq!(of(Ranker::None), 1);
    assert_eq!(of(Ranker::Wordcount), 2 * 3 + 2 * 5);
    assert_eq!(of(Ranker::Proximity), 2 * 3 + 5);
    // 2 words * (3 + 5) for each further word of a run.
    assert_eq!(of(Ranker::Matchany), (2 + 16) * 3 + 5);
    assert_eq!(of(Ranker::Fieldmask), 0b11);
    assert_eq!(
        of(Ranker::Sph04),
        ((4 * 2 + 2 + 1) * 3 + 4 * 5) * 1000 + bm25
    );
}

#[test]
fn what_must_be_read_follows_from_ranker_words_and_fields() {
    let needs = |words: usize, fields: &[u32]| {
        let documents = vec![1; words];
        Ranker::NAMED.map(|(_, ranker)| weigher(ranker, &documents, fields, 9).needs())
    };
    use Needs::{Codes, Constant, Fields, Positions};
    // proximity_bm25, bm25, none, wordcount, proximity, matchany, fieldmask, sph04, bm25a
    let one_and_one = [
        Codes, Codes, Constant, Fields, Codes, Codes, Codes, Positions, Codes,
    ];
    assert_eq!(needs(1, &[1]), one_and_one);
    let one_of_two = [
        Fields, Fields, Constant, Positions, Fields, Fields, Fields, Positions, Codes,
    ];
    assert_eq!(needs(1, &[1, 1]), one_of_two);
    let two_in_one = [
        Positions, Codes, Constant, Fields, Positions, Positions, Codes, Positions, Codes,
    ];
    assert_eq!(needs(2, &[1]), two_in_one);
}

#[test]
fn bounds_hold_for_random_rows_of_any_ranker() {
    let mut seed = 88_172_645_463_325_252u64;
    let mut random = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    for round in 0..2_000 {
        let words = 1 + random(if round % 8 == 0 { 12 } else { 4 }) as usize;
        let documents: Vec<u64> = (0..words).map(|_| 1 + random(100)).collect();
        let fields: Vec<u32> = (0..1 + random(3)).map(|_| random(12) as u32).collect();
        let places: Vec<Vec<(u32, u32)>> = (0..words)
            .map(|_| {
                let mut places: Vec<(u32, u32)> = (0..random(4))
                    .map(|_| (random(fields.len() as u64) as u32, 1 + random(6) as u32))
                    .collect();
                places.sort_unstable();
                places.dedup();
                places
            })
            .collect();
        let places: Vec<&[(u32, u32)]> = places.iter().map(Vec::as_slice).collect();
        for (_, ranker) in Ranker::NAMED {
            // `weight` compares the bounds, too.
            weight(&weigher(ranker, &documents, &fields, 100), &places);
        }
    }
}

#[test]
fn a_table_is_exact_but_for_eight_hits_or_more_and_bounds_those() {
    for (_, ranker) in Ranker::NAMED {
        for documents in [1, 50, 99] {
            let weigher = weigher(ranker, &[documents], &[1], 100);
            for class in 0..32 {
                for hits in 1..300 {
                    let code = code(hits, class);
                    let bound = i64::from(weigher.table(0)[usize::from(code)]);
                    let value = weigher.value(0, code, hits);
                    assert!(value == bound || hits >= 8 && value < bound);
                }
            }
        }
    }
}

#[test]
fn the_least_sum_is_where_the_bound_reaches_a_weight() {
    for ranker in [
        Ranker::Bm25,
        Ranker::ProximityBm25,
        Ranker::Sph04,
        Ranker::Bm25a,
    ] {
        let weigher = weigher(ranker, &[3, 40], &[2], 100);
        for weight in [0, 1, 499, 500, 2_000, 2_600, 8_123, 14_650] {
            let least = weigher.least_sum(0b11, weight);
            assert!(weigher.bound(0b11, least) >= weight);
            assert!(weigher.bound(0b11, least - 1) < weight);
        }
    }
}

#[test]
fn a_row_of_too_many_places_is_refused_and_the_next_one_is_not() {
    let mut row = Occurrences::new(1, Arc::default());
    let unit = Hit {
        at: 1,
        word: 1,
        place: 0,
        span: 1,
        weight: 1,
    };
    row.add_unit(unit);
    row.add_places(0, 1..ROW_OCCURRENCES_MAX as u32);
    assert!(row.check().is_ok());
    row.add_places(0, [1].into_iter());
    assert!(row.is_ended());
    assert!(matches!(row.check(), Err(Error::TooManyOccurrences)));
    row.clear();
    assert!(row.check().is_ok());
}

#[test]
fn the_work_on_a_row_of_many_places_ends_with_its_search() {
    // A word at a thousand places of the query, in a row that has it a thousand times.
    let interrupt = Arc::new(Interrupt::default());
    let mut row = Occurrences::new(1, Arc::clone(&interrupt));
    let places: Vec<u32> = (0..1_000).collect();
    let word = QueryWord {
        documents: 1,
        places: places.clone().into(),
        alone: places.into(),
        fields: 1,
    };
    let query_words = QueryWords {
        words: vec![word],
        end: 1_000,
        next: 1_000,
        ..QueryWords::default()
    };
    row.add(0, 1_000, 1);
    row.add_places(0, 1..1_001);
    let mut longest = || {
        let mut longest = 0;
        super::factors::each(&mut row, &query_words, |standing| longest = standing.lcs);
        longest
    };
    assert_eq!(longest(), 1_000);
    interrupt.stop(Reason::Killed);
    assert!(longest() < 100);
    assert!(matches!(
        row.check(),
        Err(Error::Interrupted {
            reason: Reason::Killed
        })
    ));
}
