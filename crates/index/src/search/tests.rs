//! Ids read off filters, and weights beside the published formula.

use query::expression;
use query::lexer::Lexer;

use super::ids;
use super::rank::{Hit, WordWeight};

#[track_caller]
fn check_ids(filter: &str, expected: Option<&[u64]>) {
    let filter = expression::parse(&mut Lexer::new(filter.as_bytes())).ok();
    assert_eq!(filter.as_ref().and_then(ids::of).as_deref(), expected);
}

#[test]
fn ids_are_read_off_the_filters_that_name_them() {
    check_ids("id = 5", Some(&[5]));
    check_ids("7 = id", Some(&[7]));
    check_ids("id IN (9, 3, 3, '4', NULL, -1)", Some(&[3, 4, 9]));
    check_ids("id = 1 OR id = 2 OR id IN (3, 4)", Some(&[1, 2, 3, 4]));
    check_ids("id IN (1, 2, 3) AND n > 4 AND id IN (2, 9)", Some(&[2, 9]));
    check_ids("(id = 1 OR id = 2) AND NOT n = 3", Some(&[1, 2]));
}

#[test]
fn other_filters_name_no_ids() {
    for filter in [
        "id > 5",
        "id <> 5",
        "NOT id = 5",
        "id NOT IN (5)",
        "id = 5 OR n = 1",
        "n = 5",
        "id = '5x'",
        "id = 5.5",
        "id = ''",
    ] {
        check_ids(filter, None);
    }
}

#[test]
fn weights_are_the_published_formulas_but_for_the_last_point() {
    for rows in [1u64, 2, 10, 1_000, 12_345_678] {
        for documents in [1, 2, 7, 500, 9_999_999] {
            let documents = u64::min(documents, rows);
            for hits in [1, 2, 3, 15, 16, 70, 1_000_000] {
                for words in [1, 2, 5] {
                    let (n, all, h) = (documents as f64, rows as f64, f64::from(hits));
                    let idf = ((all - n + 1.0) / n).ln() / (2.0 * (1.0 + all).ln()) / words as f64;
                    let published = 2_000 + (((h / (h + 1.2)) * idf + 0.5) * 1000.0) as i64;
                    let mut hit = Hit::new(1);
                    hit.add(0, hits, 0b101);
                    hit.add(0, hits, 0b001);
                    let ours = hit.weight(&[WordWeight::new(rows, documents, words)]);
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
fn a_word_that_no_row_holds_weighs_nothing() {
    let mut hit = Hit::new(1);
    hit.add(0, 3, 1);
    assert_eq!(hit.weight(&[WordWeight::new(10, 0, 1)]), 1_500);
}
