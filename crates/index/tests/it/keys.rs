//! Look-ups by KEY: with any columns keyed, and whenever keys came or went, answers are those of the plain scan.

use std::sync::Arc;

use disk::{Disk, MemoryDisk};
use index::{Control, Error, TableShape, Warning};
use proptest::collection::vec;
use proptest::prelude::*;
use relation::request::Select;
use relation::value::Value;

use crate::laws::{Step, apply, node, step};
use crate::model::shape;
use crate::subject::{
    DIR, Subject, answer, cases, expression, filtered, row, search, select_all, select_count,
};

/// Index of `n` and of `s` in the columns.
const KEYED: [usize; 2] = [1, 4];

/// The table of [`shape`] with a KEY on `n` and on `s`, where asked for.
fn keyed(keys: [bool; 2], shards: u16) -> TableShape {
    let mut shape = TableShape { shards, ..shape() };
    for (column, keyed) in KEYED.into_iter().zip(keys) {
        shape.columns[column].keyed = keyed;
    }
    shape
}

fn columns() -> BoxedStrategy<Vec<Value>> {
    let wide = [
        i128::from(i64::MAX),
        1 << 63,
        u64::MAX.into(),
        i64::MIN.into(),
    ];
    let n = prop_oneof![
        6 => (-3..4i128).prop_map(Value::Int),
        1 => prop::sample::select(wide.to_vec()).prop_map(Value::Int),
        1 => Just(Value::Null),
    ];
    let texts = ["", "ant", "ANT", "Ant bee", "5", "5 bees", "0", "É", "é"];
    let s = prop_oneof![
        6 => prop::sample::select(texts.to_vec()).prop_map(|text| Value::Str(text.to_owned())),
        1 => Just(Value::Bytes(b"ant".to_vec())),
        1 => Just(Value::Null),
    ];
    let body = prop::sample::select(vec!["ant", "bee cat", "cat cat", ""]);
    let rows = (body, n, -2..3i8, s).prop_map(|(body, n, f, s)| {
        let mut columns = row(body, 0, "cat", f32::from(f), "");
        (columns[1], columns[4]) = (n, s);
        columns
    });
    rows.boxed()
}

fn select() -> impl Strategy<Value = Select> {
    let filters = [
        "n = 2",
        "-1 = n",
        "n IN (-3, 3, 1, 1)",
        "n = 1 OR n = -2 OR n IN (0)",
        "n = '2'",
        "n = ' 2 '",
        "n = 2.0",
        "n = 2.5",
        "n = '-2.0'",
        "n = NULL",
        "n IN (1, NULL)",
        "n = 9223372036854775807",
        "n = 9223372036854775808",
        "n IN (18446744073709551615, -9223372036854775808)",
        "n NOT IN (1)",
        "n = 1 AND f > 0",
        "n = 1 AND id IN (3, 5, 9)",
        "n = 1 AND s = 'ant'",
        "n = 1 OR (n = 2 AND s = 'ant')",
        "(n = 1 OR n = 2) AND (s = 'ant' OR s = '')",
        "n = 1 OR s = 'ant'",
        "n = 1 AND n = 2",
        "s = 'ant'",
        "s = 'ANT BEE'",
        "s = ''",
        "s = 'É'",
        "s IN ('aNT', '5', 'no such text')",
        "s = 5",
        "s = 0",
        "s IN ('ant', 5)",
        "s = x'616e74'",
        "s = 'ant' AND f * 2 = n",
        "s IS NULL",
        "(n, s) IN ((1, 'ant'), (2, ''), (-3, 'É'))",
        "(s, n) IN (('ANT', 1), ('ant', '2'), (NULL, 3), ('bee', 2.0))",
        "(f, n) IN ((0, 1), (1, 2), (2, NULL))",
        "(n, s) NOT IN ((1, 'ant'), (2, NULL))",
        "(n = 1 AND s = 'ant') OR (n = 2 AND s = '') OR (n = 3 AND s = 'ANT BEE')",
        "(id, n) IN ((3, 1), (5, 2), (9, 9), (3, 0)) OR n = 7",
        "(id = 3 AND n = 1) OR (id = 5 AND n = 2)",
    ];
    let filter = prop::sample::select(filters.to_vec());
    (filter, any::<bool>(), prop::option::of(0..5u64)).prop_map(|(filter, counts, limit)| {
        let base = if counts { select_count() } else { select_all() };
        Select {
            filter: Some(expression(filter)),
            limit,
            ..base
        }
    })
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_look_up_by_key_is_the_scan_whatever_the_history_and_the_keys(
        steps in vec((step(columns), any::<[bool; 2]>()), 1..70),
        keys in any::<[bool; 2]>(),
        shards in prop_oneof![3 => Just(1u16), 1 => Just(4)],
        asked in vec((select(), prop::option::weighted(0.3, node())), 8),
    ) {
        let mut subject = Subject::with_shape(Arc::new(MemoryDisk::new()), keyed(keys, shards));
        for (step, keys) in &steps {
            if matches!(step, Step::Reopen) {
                subject.model.shape = keyed(*keys, shards); // segments keep the keys that they have
            }
            apply(&mut subject, step, &asked);
        }
        apply(&mut subject, &Step::Check, &asked);
        subject.seal();
        apply(&mut subject, &Step::Check, &asked);
        subject.seal();
        subject.optimize();
        apply(&mut subject, &Step::Check, &asked);
        subject.reopen();
        apply(&mut subject, &Step::Check, &asked);
    }
}

/// Rows of [`sealed`].
const ROWS: u64 = 3_000;

/// Rows whose `n` is the id modulo 100, and whose `s` is `S0` to `S999`: too many texts for a list.
fn sealed(keys: [bool; 2]) -> (MemoryDisk, Subject) {
    let disk = MemoryDisk::new();
    let mut subject = Subject::with_shape(Arc::new(disk.clone()), keyed(keys, 1));
    for id in 1..=ROWS {
        let n = (id % 100) as i64;
        subject.insert(id, row("cat", n, "dog", 0.5, &format!("S{}", id % 1_000)));
    }
    subject.seal();
    (disk, subject)
}

/// Length of a file of the segment.
fn length(disk: &MemoryDisk, subject: &Subject, name: &str) -> u64 {
    let segment = &subject.manifest.segments[0].directory;
    let file = disk.open(&format!("{DIR}/{segment}/{name}"));
    file.expect("a file").len().expect("a length")
}

/// Bytes of a block under one checksum, with which the first key and the first list begin.
const BLOCK: u64 = 16 << 10;

/// Where the keys of [`sealed`] end in `rows`. Behind them stand the lists of `body` and `title`, of one text each.
fn end_of_keys(disk: &MemoryDisk, subject: &Subject) -> u64 {
    let list = 16 + 4 + 4 + 3; // the head of a page, the number of texts, where the text ends, the text
    let behind_keys = length(disk, subject, "rows") - 2 * list;
    behind_keys - (24 * ROWS).next_multiple_of(BLOCK) + 24 * ROWS
}

#[test]
fn a_damaged_key_is_named_by_a_check_and_takes_no_row_from_an_answer() {
    let (disk, mut subject) = sealed([true, true]);
    let path = format!("{DIR}/{}/rows", subject.manifest.segments[0].directory);
    let last = end_of_keys(&disk, &subject) - 1;
    for offset in [last, last - 4 * ROWS, last - 24 * ROWS + 1] {
        let file = disk.open(&path).expect("a file");
        let mut byte = [0];
        file.read_at(offset, &mut byte).expect("a byte");
        file.write_at(offset, &[!byte[0]]).expect("a byte");
        subject.reopen();
        let snapshot = subject.table.snapshot();
        let select = filtered("n = 99 OR n IN (98)");
        let mut damaged = Vec::new();
        for filter in [select, filtered("s = 's99'"), filtered("s = 's0'")] {
            let answer = search(&snapshot, &filter, None, &Control::default());
            let answer = answer.expect("an answer");
            assert_eq!(answer.partial, None);
            damaged.extend(answer.damaged_keys);
        }
        assert!(
            damaged
                .iter()
                .any(|Warning::Damaged { file, .. }| *file == path)
        );
        for n in 0..100 {
            subject.check(&filtered(&format!("n = {n}")), None);
            subject.check(&filtered(&format!("s = 's{n}' AND n < 5")), None);
        }
        let checked: Arc<dyn Disk> = Arc::new(disk.clone());
        let damages = index::verify(&checked, DIR, &subject.manifest.segments[0]);
        let [
            Error::Corrupt {
                file: named, what, ..
            },
        ] = &damages[..]
        else {
            panic!("byte {offset}: {damages:?}");
        };
        assert!(*named == path && what.contains("index of a KEY"), "{what}");
        file.write_at(offset, &byte).expect("a byte");
    }
}

#[test]
fn a_merge_writes_a_damaged_key_again() {
    let (disk, mut subject) = sealed([true, true]);
    let path = format!("{DIR}/{}/rows", subject.manifest.segments[0].directory);
    let last = end_of_keys(&disk, &subject) - 1;
    let file = disk.open(&path).expect("a file");
    file.write_at(last, &[0xff]).expect("a byte");
    subject.reopen();
    subject.insert(ROWS + 1, row("cat", 7, "", 0.0, "S7"));
    subject.seal();
    subject.optimize();
    let disk: Arc<dyn Disk> = Arc::new(disk);
    let damages = index::verify(&disk, DIR, &subject.manifest.segments[0]);
    assert!(damages.is_empty(), "{damages:?}");
    subject.check(&filtered("s = 's7'"), None);
}

#[test]
fn a_key_takes_twelve_bytes_a_row_and_a_table_without_one_none() {
    let (with, subject) = sealed([true, true]);
    let (without, plain) = sealed([false, false]);
    let keys = length(&with, &subject, "rows") - length(&without, &plain, "rows");
    assert_eq!(keys, (2 * 12 * ROWS).next_multiple_of(BLOCK));
    for name in ["dictionary", "words", "postings", "positions"] {
        let with = length(&with, &subject, name);
        assert_eq!(with, length(&without, &plain, name));
    }
}

#[test]
fn a_million_values_of_a_key_are_looked_up_at_once() {
    let (_, mut subject) = sealed([true, true]);
    let values: Vec<String> = (50..1_000_050).map(|n: u32| n.to_string()).collect();
    let select = filtered(&format!("n IN ({})", values.join(",")));
    let snapshot = subject.table.snapshot();
    let found = crate::subject::answer_by(&snapshot, &select, None, &Control::default());
    assert_eq!(found.expect("an answer").total_found, ROWS / 2);
    let all = answer(&snapshot, &filtered("n >= 50"), None).expect("an answer");
    assert_eq!(all.total_found, ROWS / 2);
}
