//! ALTER TABLE: whatever happens while jobs write rows in other columns, the answers are those of the altered rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use disk::MemoryDisk;
use index::{Error, Reshape, TableShape};
use proptest::collection::vec;
use proptest::prelude::*;
use relation::request::Select;
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use crate::laws::{Step, apply, node, rows_or_count, step};
use crate::model::shape;
use crate::subject::{Subject, cases, filtered, order, row};

fn columns() -> BoxedStrategy<Vec<Value>> {
    let texts = || prop::sample::select(vec!["ant", "bee cat", "cat cat dog", ""]);
    let rows = (texts(), -3..4i64, texts(), -2..3i8, texts())
        .prop_map(|(body, n, title, f, s)| row(body, n, title, f32::from(f), s));
    rows.boxed()
}

/// The columns `body`, `n`, `f`, `s` and `extra`: a text less, and a column more, which has the number of the id's last digit.
fn reshape(shards: u16) -> Arc<Reshape> {
    let mut shape = TableShape { shards, ..shape() };
    shape.columns.remove(2);
    shape.columns[1].keyed = true;
    shape.columns.push(Column {
        name: "extra".to_owned(),
        kind: ColumnType::Int,
        nullable: false,
        default: None,
        keyed: false,
    });
    let row = |id, mut values: Vec<Value>| {
        values.remove(2);
        values.push(Value::Int(i128::from(id % 10)));
        Ok(values)
    };
    Arc::new(Reshape {
        shape,
        row: Box::new(row),
    })
}

fn select() -> impl Strategy<Value = Select> {
    let filters = [
        "n = 2",
        "extra < 5",
        "extra = n",
        "s = 'ant' AND extra > 1",
        "f > 0",
        "id IN (3, 13, 23)",
    ];
    let orders = [
        vec![],
        vec![order("weight()", false), order("id", true)],
        vec![order("extra", true)],
    ];
    let filter = prop::option::of(prop::sample::select(filters.to_vec()));
    rows_or_count(filter, orders.to_vec())
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn an_altered_table_answers_as_its_altered_rows_whatever_came_between(
        before in vec(step(columns), 1..50),
        beside in vec(vec(step(columns), 0..8), 0..5),
        shards in prop_oneof![3 => Just(1u16), 1 => Just(4)],
        is_named in any::<bool>(),
        asked in vec((select(), prop::option::weighted(0.5, node())), 8),
    ) {
        let mut subject = Subject::with_shards(Arc::new(MemoryDisk::new()), shards);
        let is_quiet = |step: &&Step| !matches!(step, Step::Check | Step::Reopen);
        before.iter().filter(|step| !matches!(step, Step::Check)).for_each(|step| apply(&mut subject, step, &[]));
        let reshape = reshape(shards);
        let mut made = BTreeMap::new();
        for steps in &beside {
            let position = subject.journal.len() as u64;
            let job = subject.table.reshape_job(&reshape, &made, position);
            steps.iter().filter(is_quiet).for_each(|step| apply(&mut subject, step, &[]));
            if let Some(job) = job {
                let reshaped = job.run().expect("a healthy disk");
                made.insert(reshaped.source().to_owned(), reshaped);
            }
        }
        subject.alter(&reshape, made, is_named);
        apply(&mut subject, &Step::Check, &asked);
        subject.reopen();
        apply(&mut subject, &Step::Check, &asked);
        for id in 50..60 {
            let mut values = row("cat bee", 2, "", 0.5, "ant");
            values = (reshape.row)(id, values).expect("a row that fits");
            subject.insert(id, values);
        }
        subject.seal();
        subject.optimize();
        apply(&mut subject, &Step::Check, &asked);
        subject.reopen();
        apply(&mut subject, &Step::Check, &asked);
    }
}

#[test]
fn a_row_that_does_not_fit_leaves_the_table_as_it_was() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    for id in 1..20 {
        subject.insert(id, row("cat", id as i64, "dog", 0.5, "s"));
        if id == 9 {
            subject.seal();
        }
    }
    let shape = reshape(1).shape.clone();
    let refuses = Arc::new(Reshape {
        shape,
        row: Box::new(|id, values| match id {
            12 => Err("12 does not fit".to_owned()),
            _ => Ok(values),
        }),
    });
    let refused = subject.table.altered(&refuses, BTreeMap::new(), 30);
    assert!(matches!(refused.err(), Some(Error::Unfit { why }) if why.contains("12")));
    subject.check(&filtered("n > 3"), None);
    subject.seal();
    subject.reopen();
    subject.check(&filtered("n > 3"), None);
}
