//! A law of all aggregates: an aggregate that is added to the table is tested by being there.

use language::meter::{Unmetered, Work};
use proptest::prelude::*;

use super::{Accumulator, Block, States};
use crate::expression::{AGGREGATES, AggregateKind};
use crate::value::Value;

const GROUPS: usize = 3;

/// Rows: a group, and a value.
type Rows = Vec<(u32, Value)>;

fn paid(_: u64) -> Result<(), ()> {
    Ok(())
}

fn empty(kind: &AggregateKind) -> Accumulator {
    let mut states = Accumulator::new(kind);
    (0..GROUPS).for_each(|_| states.grow());
    states
}

fn values(kind: &AggregateKind, mut states: Accumulator) -> Vec<Value> {
    states.end(GROUPS);
    (0..GROUPS).map(|group| states.take(kind, group)).collect()
}

/// The slow version: row by row.
fn one_by_one(kind: &AggregateKind, rows: &Rows) -> Vec<Value> {
    let mut states = empty(kind);
    for (group, value) in rows.iter().filter(|(_, value)| *value != Value::Null) {
        let value = std::slice::from_ref(value);
        states.add(*group, value, &Unmetered, &mut paid).unwrap();
    }
    values(kind, states)
}

/// The block of values in which they are densest.
fn block(rows: &[(u32, Value)]) -> Block {
    let whole = rows.iter().map(|(_, value)| match value {
        Value::Int(number) => i64::try_from(*number).ok(),
        _ => None,
    });
    if let Some(whole) = whole.collect::<Option<Vec<i64>>>() {
        return Block::Whole(whole);
    }
    let real = rows.iter().map(|(_, value)| match value {
        Value::Float(number) => Some(*number),
        _ => None,
    });
    match real.collect::<Option<Vec<f64>>>() {
        Some(real) => Block::Real(real),
        None => Block::Any(rows.iter().map(|(_, value)| value.clone()).collect()),
    }
}

/// Parts of the rows in blocks, each on a thread of its own, and the states of all merged.
fn in_parts(kind: &AggregateKind, rows: &Rows, ends: &[usize]) -> Vec<Value> {
    let mut ends: Vec<usize> = ends.iter().map(|end| end % (rows.len() + 1)).collect();
    ends.push(rows.len());
    ends.sort_unstable();
    let (mut all, mut from, work) = (None, 0, Work::new(&Unmetered));
    let places: Vec<u32> = (0..GROUPS as u32).collect();
    for end in ends {
        let part = &rows[from..end];
        from = end;
        let groups: Vec<u32> = part.iter().map(|(group, _)| *group).collect();
        let mut states = empty(kind);
        states
            .add_rows(&groups, &[&block(part)], &Unmetered, &mut paid)
            .unwrap();
        match &mut all {
            None => all = Some(states),
            Some(all) => _ = all.merge(states, &places, &work).unwrap(),
        }
    }
    values(kind, all.unwrap())
}

fn rows() -> impl Strategy<Value = Rows> {
    let whole = (-3_i128..4).prop_map(Value::Int);
    let real = (-3_i8..4).prop_map(|quarters| Value::Float(f64::from(quarters) / 4.0));
    let text = "[abAB]{0,2}".prop_map(Value::Str);
    let of = |value: BoxedStrategy<Value>| prop::collection::vec((0..GROUPS as u32, value), 0..12);
    let any = prop_oneof![whole.clone(), text.clone(), Just(Value::Null)];
    prop_oneof![
        of(whole.boxed()),
        of(real.boxed()),
        of(text.boxed()),
        of(any.boxed())
    ]
}

proptest! {
    #[test]
    fn aggregates_are_the_same_however_rows_are_split(
        rows in rows(),
        ends in prop::collection::vec(0_usize..12, 0..4),
    ) {
        let are_texts = rows.iter().any(|(_, value)| matches!(value, Value::Str(_)));
        let are_numbers = rows.iter().any(|(_, value)| matches!(value, Value::Int(_)));
        for kind in AGGREGATES {
            // Such rows are added one by one: whether 0 or 'a' is the least depends on their order.
            if empty(kind).compares() && are_texts && are_numbers {
                continue;
            }
            let (slow, fast) = (one_by_one(kind, &rows), in_parts(kind, &rows, &ends));
            prop_assert_eq!(slow, fast, "{:?}", kind);
        }
    }
}
