//! Single facts of searching, each on a tail, on a segment, and on rows spread over both.

use std::sync::Arc;

use disk::MemoryDisk;
use index::Table;
use language::tree::Node;
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use relation::bind::BindError;
use relation::options::Options;
use relation::request::{Item, Output, Select};
use relation::value::Value;

use crate::subject::{
    Subject, answer, expression, filtered, order, row, select_all, select_count, times, tree,
};

/// Checks a SELECT on every layout of the same rows: all in the tail, half of them sealed, all sealed, reopened.
#[track_caller]
fn check(rows: &[(u64, Vec<Value>)], select: &Select, root: Option<&Node>) {
    for sealed in [0, rows.len() / 2, rows.len()] {
        let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
        for (at, (id, row)) in rows.iter().enumerate() {
            if at == sealed {
                subject.seal();
            }
            subject.insert(*id, row.clone());
        }
        subject.check(select, root);
        subject.seal();
        subject.reopen();
        subject.check(select, root);
    }
}

fn posts() -> Vec<(u64, Vec<Value>)> {
    vec![
        (9, row("Black cat, white dog", 3, "pets", 0.5, "a")),
        (2, row("cat cat cat", -1, "cat", 1.5, "b")),
        (7, row("white cat black dog", 3, "", -0.5, "")),
        (4, row("", 0, "black cat", 0.0, "b")),
        (5, row("dogs and #cat pictures", 9, "dog", 2.5, "zz")),
        (1, row("nothing here", 3, "", 0.5, "a")),
    ]
}

#[test]
fn words_phrases_fields_and_negations_find_their_rows() {
    let queries = [
        "cat",
        "black cat",
        "\"black cat\"",
        "cat | dog",
        "cat -dog",
        "@title cat",
        "@(body,title) dog",
        "@body \"cat black\"",
        "#cat",
        "cat !(white | nothing)",
        "\"cat cat\"",
        "missing",
        "missing | dog",
        "cat missing",
        "",
    ];
    for query in queries {
        check(&posts(), &select_all(), Some(&tree(query)));
        check(&posts(), &select_count(), Some(&tree(query)));
    }
}

#[test]
fn filters_order_limit_and_offset_do_as_they_say() {
    let filters = [
        "n = 3",
        "n IN (3, 9)",
        "f BETWEEN 0 AND 1",
        "s = 'b' OR n > 5",
        "id IN (1, 9, 33)",
        "body = ''",
    ];
    for filter in filters {
        check(&posts(), &filtered(filter), None);
        check(&posts(), &filtered(filter), Some(&tree("cat | dog")));
        check(
            &posts(),
            &Select {
                items: select_count().items,
                ..filtered(filter)
            },
            None,
        );
    }
    let keys = [
        vec![order("n", true), order("s", false)],
        vec![order("weight()", true), order("id", true)],
        vec![order("n * 2 - f", false)],
    ];
    for order in keys {
        for (limit, offset) in [
            (None, 0),
            (Some(2), 0),
            (Some(2), 3),
            (Some(0), 0),
            (Some(9), 5),
            (None, 7),
        ] {
            let select = Select {
                order: order.clone(),
                limit,
                offset,
                ..select_all()
            };
            check(&posts(), &select, Some(&tree("cat | dog | nothing")));
        }
    }
}

#[test]
fn a_name_in_the_list_stands_in_order_by() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    posts()
        .into_iter()
        .for_each(|(id, row)| subject.insert(id, row));
    let double = Output::Expression(expression("n * -2"));
    let item = Item::Value {
        what: double.clone(),
        name: "d".to_owned(),
    };
    let by = |key: &str| Select {
        items: vec![item.clone()],
        order: vec![order(key, false)],
        ..select_all()
    };
    let snapshot = subject.table.snapshot();
    let rows = |select: &Select| answer(&snapshot, select, None).expect("an answer").rows;
    assert_eq!(rows(&by("d")), rows(&by("n * -2")));
    assert_eq!(rows(&by("d"))[0], [Value::Int(-18)]);
}

#[test]
fn unknown_columns_and_mixed_counts_are_refused() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    let snapshot = subject.table.snapshot();
    let error = |select: &Select| {
        let bound = snapshot.bind(select, &Options::default());
        bound.expect_err("an error")
    };
    let unknown = |select: &Select| match error(select) {
        BindError::UnknownColumn(name) => assert_eq!(name, "missing"),
        other => panic!("{other}"),
    };
    let shown = Item::Value {
        what: Output::Expression(expression("missing")),
        name: String::new(),
    };
    unknown(&filtered("missing = 1"));
    unknown(&Select {
        order: vec![order("missing + 1", true)],
        ..select_all()
    });
    unknown(&Select {
        items: vec![shown],
        ..select_all()
    });
    let mixed = [select_count().items, select_all().items].concat();
    assert!(matches!(
        error(&Select {
            items: mixed,
            ..select_all()
        }),
        BindError::NotYet(_)
    ));
}

#[test]
fn a_look_up_by_very_many_ids_is_answered() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    for id in 0..300 {
        subject.insert(id * 7, row("cat", id as i64, "", 0.0, ""));
        if id == 150 {
            subject.seal();
        }
    }
    let list: Vec<String> = (0..50_000 * u64::from(times()))
        .map(|at| (at * 11).to_string())
        .collect();
    subject.check(&filtered(&format!("id IN ({})", list.join(","))), None);
    let list: Vec<String> = (0..5_000 * u64::from(times()))
        .map(|at| format!("id = {}", at * 3))
        .collect();
    subject.check(&filtered(&list.join(" OR ")), None);
}

#[test]
fn batches_of_every_size_make_one_table() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut next = |below: u64| rng.next_u64() % below;
    let words = ["ant", "bee", "cat", "dog", "eel"];
    let mut id = 0;
    while id < 6_000 {
        let batch = [1, 1, 1, 2, 9, 70, 600][next(7) as usize];
        for _ in 0..batch {
            id += 1;
            let text: Vec<&str> = (0..next(6))
                .map(|_| words[(next(5) * next(5) / 4) as usize])
                .collect();
            subject.insert(
                id * 13 % 10_007,
                row(&text.join(" "), next(100) as i64, "", 0.0, ""),
            );
            if next(10) == 0 {
                subject.delete(next(10_007));
            }
        }
        drop(subject.table.snapshot());
    }
    subject.check_counts();
    let top = Select {
        limit: Some(50),
        ..select_all()
    };
    for query in ["ant", "ant eel", "bee | dog", "\"ant bee\"", "ant -bee"] {
        subject.check(&top, Some(&tree(query)));
    }
    subject.seal();
    subject.check_counts();
    subject.check(&top, Some(&tree("bee | dog")));
}

#[test]
fn a_table_without_text_columns_is_searched_by_its_columns() {
    let shape = index::TableShape {
        columns: crate::model::shape().columns.split_off(3),
        analyzer: language::analysis::Analyzer::default(),
        shards: 1,
    };
    let disk = Arc::new(MemoryDisk::new());
    let mut table = Table::create(disk, "t", shape).expect("a table");
    let row = |f: f64, s: &str| vec![Value::Float(f), Value::Str(s.to_owned())];
    table
        .insert(
            1,
            relation::row::encode(&row(0.5, "x")),
            &language::analysis::Words::new(),
        )
        .expect("insert");
    let job = table.freeze(1).expect("a job");
    table.install(job.run().expect("run")).expect("install");
    table
        .insert(
            2,
            relation::row::encode(&row(1.5, "y")),
            &language::analysis::Words::new(),
        )
        .expect("insert");
    let given =
        answer(&table.snapshot(), &filtered("f > 0 AND s <> 'z'"), None).expect("an answer");
    assert_eq!(given.total_found, 2);
    assert_eq!(given.rows[0][..2], [Value::Int(1), Value::Float(0.5)]);
}
