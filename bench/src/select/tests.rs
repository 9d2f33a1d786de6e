use std::collections::BTreeSet;

use super::{
    definition::{Answer, Dialect, expand, named},
    report::{Cell, Report},
    rows::{Drawn, Place, Rows, Sum},
};
use crate::workload::Post;

fn texts(templates: &[&str], ids: &[u64]) -> Vec<String> {
    let templates: Vec<String> = templates.iter().map(|text| (*text).to_owned()).collect();
    expand(&templates, ids)
}

#[test]
fn a_list_stands_in_one_statement_and_a_lone_id_in_one_for_each() {
    assert_eq!(texts(&["a IN (<{id}|,>)"], &[7, 8]), ["a IN (7,8)"]);
    assert_eq!(
        texts(&["BEGIN", "({id})", "END"], &[7, 8]),
        ["BEGIN", "(7)", "(8)", "END"]
    );
    assert_eq!(
        texts(&["<(k1={k1} AND k2={k2})| OR >"], &[17, 20]),
        ["(k1=1 AND k2=7) OR (k1=2 AND k2=0)"]
    );
}

#[test]
fn every_template_names_places_that_rows_have() {
    let known = ["id", "k", "k1", "k2", "n"];
    assert!(known.iter().all(|name| Place::named(name).is_some()));
    for form in named(&[]).unwrap() {
        for dialect in [Dialect::Mysql, Dialect::Sqlite] {
            for text in form.texts(dialect, &[1, 2]) {
                assert!(!text.contains(['{', '<', '|']), "{}: {text}", form.name);
            }
        }
    }
}

#[test]
fn numbers_of_rows_are_unique_and_fit_an_int() {
    for place in [Place::Id, Place::Keyed, Place::Unkeyed] {
        let numbers: BTreeSet<u64> = (1..10_000).map(|id| place.of(id)).collect();
        assert_eq!(numbers.len(), 9_999);
        assert!(numbers.iter().all(|number| *number <= i32::MAX as u64));
    }
    let pairs = (1..10_000).map(|id| (Place::PairFirst.of(id), Place::PairSecond.of(id)));
    assert_eq!(pairs.collect::<BTreeSet<_>>().len(), 9_999);
}

#[test]
fn of_fifty_ids_one_has_no_row_and_one_is_there_twice() {
    let drawn = Drawn::new(1_000, 6);
    for size in [1, 10, 50, 1_000] {
        let list = drawn.list(3, size);
        let present = list.ids.iter().filter(|id| **id <= 1_000).count();
        let distinct: BTreeSet<_> = list.ids.iter().collect();
        assert_eq!(
            (list.ids.len() - present, list.ids.len() - distinct.len()),
            (size / 50, size / 50)
        );
        let rows = Rows::new(vec![Post::default()], 1_000);
        assert_eq!(rows.answer(&list, Answer::Each).rows, present as u64);
        assert_eq!(
            rows.answer(&list, Answer::Once).rows,
            (present - size / 50) as u64
        );
    }
}

fn sum(rows: &[&[Option<&str>]]) -> Sum {
    let mut sum = Sum::default();
    for row in rows {
        sum.add(row.iter().map(|cell| cell.map(str::as_bytes)));
    }
    sum
}

#[test]
fn the_order_of_rows_does_not_count_and_every_byte_does() {
    let (a, b) = (
        [Some("1"), Some("long enough for words")],
        [Some("2"), None],
    );
    assert_eq!(sum(&[&a, &b]), sum(&[&b, &a]));
    for other in [
        [Some("1"), Some("long enough for Words")],
        [Some("1"), Some("long enough for word")],
        [Some("long enough for words"), Some("1")],
        [Some("1"), None],
    ] {
        assert_ne!(sum(&[&a]), sum(&[&other]));
    }
    assert_ne!(
        sum(&[&[Some("12"), Some("3")]]),
        sum(&[&[Some("1"), Some("23")]])
    );
    assert_ne!(sum(&[&[Some("")]]), sum(&[&[None]]));
}

fn cell(form: &str, ids: u32, system: &str, seconds: &[f64]) -> Cell {
    let form = named(&[form.to_owned()]).unwrap().remove(0);
    let mut cell = Cell::new(&form, ids, system);
    cell.rows = u64::from(ids);
    cell.seconds = seconds.to_vec();
    if seconds.is_empty() {
        cell.told = Some("longer than 60 s; killed".to_owned());
    }
    cell
}

#[test]
fn a_form_without_a_time_is_told_and_the_best_form_of_a_peer_is_compared() {
    let mut report = Report::of(&["seine", "peer"]);
    report.add(
        10_000,
        vec![
            cell("in", 10_000, "seine", &[1.0, 2.0, 1.0]),
            cell("in", 10_000, "peer", &[3.0, 3.0, 3.0]),
            cell("or", 10_000, "seine", &[1.0, 2.0, 2.0]),
            cell("or", 10_000, "peer", &[]),
            cell("join", 10_000, "seine", &[0.1, 0.1, 0.1]),
            cell("join", 10_000, "peer", &[0.1, 0.1, 0.1]),
        ],
    );
    report.add(1_000_000, vec![cell("in", 1_000_000, "seine", &[110.0])]);
    report.close();
    assert_eq!(
        report.notes,
        [
            "10000 ids: peer's best form is in with 3.000000 s; it takes this many times as long as ours: in 3.000, or 1.500",
            "10000 ids: OR takes 1.000 x the time of IN",
            "seine: time per row with 1000000 ids over that with 10000: in 1.100",
        ]
    );
    let csv = report.csv();
    assert!(
        csv.contains("\nin;10000;peer;10000;3.000000;300.000;3.000000;3.000000;3.000;\n"),
        "{csv}"
    );
    assert!(
        csv.contains("\nor;10000;peer;-;-;-;-;-;-;longer than 60 s, killed\n"),
        "{csv}"
    );
    let [(_, ours), (_, theirs)] = &report.svgs()[..] else {
        panic!("a picture for each system")
    };
    assert!(ours.contains("ids 1\u{202f}000\u{202f}000: 110\u{a0}s<") && !theirs.contains(">or<"));
}
