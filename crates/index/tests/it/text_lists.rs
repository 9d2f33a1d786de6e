//! Columns that segments keep as lists of texts: conditions, ORDER BY and rows are those of the rows themselves, whatever the history,
//! and damage of a list takes nothing from an answer.

use std::sync::Arc;

use disk::{Disk, MemoryDisk};
use index::Error;
use proptest::collection::vec;
use proptest::prelude::*;
use relation::request::Select;
use relation::value::Value;

use crate::laws::{Step, apply, node, rows_or_count, step};
use crate::model::shape;
use crate::subject::{DIR, Subject, cases, filtered, order, row, tree};

fn text() -> impl Strategy<Value = Value> {
    let texts = vec!["a", "A", "b", "", "ab", "B\u{fc}cher"];
    prop_oneof![
        6 => prop::sample::select(texts).prop_map(|text| Value::Str(text.to_owned())),
        1 => Just(Value::Null),
    ]
}

fn columns() -> BoxedStrategy<Vec<Value>> {
    let body = prop::sample::select(vec!["ant", "bee cat", "cat cat", ""]);
    let rows = (body, -3..4i64, text()).prop_map(|(body, n, text)| {
        let mut columns = row(body, n, "cat", 0.5, "");
        columns[4] = text;
        columns
    });
    rows.boxed()
}

fn select() -> impl Strategy<Value = Select> {
    let filters = [
        "s = 'a'",
        "s <> 'a'",
        "s IN ('B', 'ab')",
        "s LIKE 'a%'",
        "s REGEXP 'b'",
        "s IS NULL",
        "s IS NOT NULL",
        "s > 'a'",
        "length(s) = 1 OR s = 'ab'",
        "upper(s) = 'A' AND s <> ''",
        "s = 'a' AND n > 0",
        "if(s = 'b', 1, 0)",
    ];
    let orders = [vec![], vec![order("s", true), order("id", false)]];
    let filter = prop::sample::select(filters.map(Some).to_vec());
    rows_or_count(filter, orders.to_vec())
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn conditions_on_listed_texts_are_those_on_the_rows_whatever_the_history(
        steps in vec(step(columns), 1..70),
        asked in vec((select(), prop::option::weighted(0.3, node())), 8),
    ) {
        let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
        for step in &steps {
            apply(&mut subject, step, &asked);
        }
        apply(&mut subject, &Step::Check, &asked);
        subject.seal();
        apply(&mut subject, &Step::Check, &asked);
        subject.optimize();
        apply(&mut subject, &Step::Check, &asked);
        subject.reopen();
        apply(&mut subject, &Step::Check, &asked);
    }
}

/// Rows of [`sealed`].
const ROWS: u64 = 70_000;

/// One segment of two pages. The last sections are the places of `s`, a byte each, and its texts, `S0` to `S99` and NULL.
fn sealed() -> (MemoryDisk, Subject) {
    let disk = MemoryDisk::new();
    let mut subject = Subject::with_shape(Arc::new(disk.clone()), shape());
    for id in 1..=ROWS {
        let mut columns = row("cat", 0, "", 0.5, &format!("S{}", id % 100));
        if id % 1_000 == 0 {
            columns[4] = Value::Null;
        }
        subject.insert(id, columns);
    }
    subject.seal();
    (disk, subject)
}

#[test]
fn a_damaged_list_is_named_by_a_check_and_takes_no_row_from_an_answer() {
    let (disk, mut subject) = sealed();
    let segment = subject.manifest.segments[0].clone();
    let path = format!("{DIR}/{}/rows", segment.directory);
    let file = disk.open(&path).expect("a file");
    let last = file.len().expect("a length") - 1;
    for offset in [last, last - ROWS / 2, last - ROWS] {
        let mut byte = [0];
        file.read_at(offset, &mut byte).expect("a byte");
        file.write_at(offset, &[!byte[0]]).expect("a byte");
        subject.reopen();
        for condition in ["s = 's7'", "s IS NULL", "s LIKE 's1%' AND id > 65000"] {
            subject.check(&filtered(condition), None);
            subject.check(&filtered(condition), Some(&tree("cat")));
        }
        let checked: Arc<dyn Disk> = Arc::new(disk.clone());
        let damages = index::verify(&checked, DIR, &segment);
        let [Error::Corrupt { what, .. }] = &damages[..] else {
            panic!("byte {offset}: {damages:?}");
        };
        assert!(what.contains("lists of texts"), "{what}");
        file.write_at(offset, &byte).expect("a byte");
    }
}
