//! Which rows a key leaves to the condition; that answers are right is tested in `tests/it/keys.rs`.

use std::sync::Arc;

use disk::MemoryDisk;
use language::analysis::{Analyzer, Words};
use relation::expression;
use relation::lexer::Lexer;
use relation::options::Options;
use relation::request::{Item, Select};
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use super::Candidates;
use crate::control::Control;
use crate::shape::TableShape;
use crate::snapshot::Snapshot;
use crate::table::Table;

/// 8,000 rows in a segment and 100 in the tail: `n` is the id, `half` its parity, `text` has a KEY and is unique.
fn snapshot() -> Arc<Snapshot> {
    let column = |(name, kind): (&str, ColumnType)| Column {
        name: name.to_owned(),
        kind,
        nullable: true,
        default: None,
        keyed: true,
    };
    let columns = [
        ("n", ColumnType::Int),
        ("half", ColumnType::Int),
        ("text", ColumnType::String),
    ];
    let shape = TableShape {
        columns: columns.map(column).to_vec(),
        analyzer: Analyzer::default(),
        shards: 1,
    };
    let mut table = Table::create(Arc::new(MemoryDisk::new()), "t", shape).unwrap();
    for id in 0..8_100u64 {
        let row = [
            Value::Int(id.into()),
            Value::Int((id % 2).into()),
            Value::Str(format!("Text{id}")),
        ];
        let row = relation::row::encode(&row);
        table.insert(id, row, &Words::new()).unwrap();
        if id == 7_999 {
            let sealed = table.freeze(1).unwrap().run().unwrap();
            table.install(sealed).unwrap();
        }
    }
    table.snapshot()
}

/// Candidates in the segment and in the tail; `None`: every row.
#[track_caller]
fn check(snapshot: &Snapshot, condition: &str, expected: [Option<&[u32]>; 2]) {
    let select = Select {
        filter: Some(expression::parse(&mut Lexer::new(condition.as_bytes())).unwrap()),
        ..Select::new("t", vec![Item::Star])
    };
    let bound = snapshot.bind(&select, &Options::default()).unwrap();
    let bound = bound.condition.as_ref().unwrap();
    let found = Candidates::of(bound, snapshot, &Control::default(), &mut Vec::new()).unwrap();
    let found = snapshot
        .numbered()
        .map(|(at, _)| found.as_ref()?.of_part(at));
    assert_eq!(found.collect::<Vec<_>>(), expected, "{condition}");
}

#[test]
fn a_key_leaves_the_rows_of_its_values() {
    let snapshot = snapshot();
    check(&snapshot, "n = 17", [Some(&[17]), Some(&[])]);
    check(
        &snapshot,
        "n IN (8050, 9, 4, 9999)",
        [Some(&[4, 9]), Some(&[50])],
    );
    check(&snapshot, "text = 'TEXT5'", [Some(&[5]), Some(&[])]);
    check(&snapshot, "n = 5.5", [Some(&[]), Some(&[])]);
    check(&snapshot, "text = NULL", [Some(&[]), Some(&[])]);
    check(&snapshot, "id IN (3, 8001)", [Some(&[3]), Some(&[1])]);
}

#[test]
fn the_key_with_the_fewest_rows_is_taken_and_none_where_many_rows_are_left() {
    let snapshot = snapshot();
    let odd: Vec<u32> = (1..100).step_by(2).collect();
    check(&snapshot, "half = 1", [None, Some(&odd)]);
    check(&snapshot, "half = 1 AND n = 6", [Some(&[6]), Some(&[])]);
    check(&snapshot, "n = 8001 AND half = 1", [Some(&[]), Some(&[1])]);
    check(&snapshot, "n > 5", [None, None]);
    check(&snapshot, "n = 5 OR half = 1", [None, None]);
    check(&snapshot, "text = 5", [None, None]);
}
