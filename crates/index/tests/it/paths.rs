//! Conditions on paths of JSON documents: whatever numbers a segment keeps of them, answers are those of the documents.

use std::sync::Arc;

use disk::{Disk, MemoryDisk};
use index::{Error, TableShape};
use proptest::collection::vec;
use proptest::prelude::*;
use relation::json::Json;
use relation::request::Select;
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use crate::laws::{Step, apply, node, rows_or_count, step};
use crate::model::shape;
use crate::subject::{DIR, Subject, cases, filtered, order, row};

/// Index of `j` in the columns.
const DOCUMENT: u16 = 5;

/// The table of [`shape`] with a column `j` of documents.
fn with_documents(shards: u16) -> TableShape {
    let mut shape = TableShape { shards, ..shape() };
    shape.columns.push(Column {
        name: "j".to_owned(),
        kind: ColumnType::Json,
        nullable: true,
        default: None,
        keyed: false,
    });
    shape
}

fn document(text: &str) -> Value {
    Value::Json(Json::parse(text.as_bytes()).expect("JSON"))
}

/// Mostly whole numbers at `a` and at `b.c`. A segment with any other value there keeps no numbers of that path.
fn documents() -> impl Strategy<Value = Value> {
    let both = (-3..4i64, -3..4i64)
        .prop_map(|(a, c)| document(&format!(r#"{{"a": {a}, "b": {{"c": {c}}}, "d": "x"}}"#)));
    let others = [
        "{}",
        r#"{"a": null, "b": {"c": 1}}"#,
        r#"{"a": true, "b": {}}"#,
        r#"{"b": {"c": 9223372036854775807}}"#,
        r#"{"a": 1, "b": 7}"#,
        r#"{"a": 1.5}"#,
        r#"{"a": "2", "b": [1]}"#,
        r#"{"a": {"c": 1}, "b": {"c": 18446744073709551615}}"#,
        "[1, 2]",
        "3",
    ];
    prop_oneof![
        60 => both,
        8 => prop::sample::select(others[..4].to_vec()).prop_map(document),
        1 => prop::sample::select(others.to_vec()).prop_map(document),
        4 => Just(Value::Null),
    ]
}

fn columns() -> BoxedStrategy<Vec<Value>> {
    let body = prop::sample::select(vec!["ant", "bee cat", "cat cat", ""]);
    let rows = (body, -3..4i64, documents()).prop_map(|(body, n, document)| {
        let mut columns = row(body, n, "cat", 0.5, "");
        columns.push(document);
        columns
    });
    rows.boxed()
}

/// A step; an UPDATE may set the document, too.
fn steps() -> impl Strategy<Value = Step> {
    (step(columns), prop::option::of(documents())).prop_map(|(mut step, document)| {
        if let (Step::Change(_, values), Some(document)) = (&mut step, document) {
            values.push((DOCUMENT, document));
        }
        step
    })
}

fn select() -> impl Strategy<Value = Select> {
    let filters = [
        "j.a = 1",
        "j.a <> 1",
        "2 > j.a",
        "j.a BETWEEN -1 AND 2",
        "j.a NOT BETWEEN -1 AND 2",
        "j.a >= 0 AND n < 2",
        "j.a > -2 AND j.b.c < 2 AND id > 3",
        "j['b']['c'] = 9223372036854775807",
        "j.b.c <= 0 OR j.a = 3",
        "j.a IS NULL",
        "j.a IN (1, 2)",
        "j.a = '2'",
        "j.a > 0.5",
        "j.a + j.b.c = n",
        "j.d = 'x'",
        "j.b[0] = 1",
    ];
    let orders = [vec![], vec![order("j.a", true), order("id", false)]];
    let filter = prop::sample::select(filters.map(Some).to_vec());
    rows_or_count(filter, orders.to_vec())
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn conditions_on_paths_are_those_on_the_documents_whatever_the_history(
        steps in vec(steps(), 1..70),
        shards in prop_oneof![3 => Just(1u16), 1 => Just(4)],
        asked in vec((select(), prop::option::weighted(0.3, node())), 8),
    ) {
        let mut subject = Subject::with_shape(Arc::new(MemoryDisk::new()), with_documents(shards));
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

/// One segment of two pages, whose documents have a number at `a` in two rows of three.
fn sealed() -> (MemoryDisk, Subject) {
    let disk = MemoryDisk::new();
    let mut subject = Subject::with_shape(Arc::new(disk.clone()), with_documents(1));
    for id in 0..ROWS.cast_signed() {
        let mut columns = row("cat", 0, "", 0.5, "");
        columns.push(match id % 3 {
            0 => document("{}"),
            _ => document(&format!(r#"{{"a": {}}}"#, id % 1_000)),
        });
        subject.insert(id.cast_unsigned() + 1, columns);
    }
    subject.seal();
    (disk, subject)
}

#[test]
fn damaged_numbers_are_named_by_a_check_and_take_no_row_from_an_answer() {
    let (disk, mut subject) = sealed();
    let segment = subject.manifest.segments[0].clone();
    let path = format!("{DIR}/{}/rows", segment.directory);
    let file = disk.open(&path).expect("a file");
    let last = file.len().expect("a length") - 1;
    let (present, numbers) = (ROWS.div_ceil(64) * 8, ROWS * 2);
    for offset in [last, last - present / 2, last - present - numbers / 2] {
        let mut byte = [0];
        file.read_at(offset, &mut byte).expect("a byte");
        file.write_at(offset, &[!byte[0]]).expect("a byte");
        subject.reopen();
        for condition in ["j.a = 7", "j.a > 500", "j.a <> 3 AND id < 100"] {
            subject.check(&filtered(condition), None);
        }
        let checked: Arc<dyn Disk> = Arc::new(disk.clone());
        let damages = index::verify(&checked, DIR, &segment);
        let [Error::Corrupt { what, .. }] = &damages[..] else {
            panic!("byte {offset}: {damages:?}");
        };
        assert!(what.contains("JSON paths"), "{what}");
        file.write_at(offset, &byte).expect("a byte");
    }
}
