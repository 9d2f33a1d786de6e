//! A scan beside the obvious way, and the memory that it takes.

use std::cell::Cell;

use language::meter::{Meter, Unmetered};
use proptest::prelude::*;

use super::{Scan, scan};
use crate::bind::{BoundSelect, Scope};
use crate::expression::{self, Expression, Metered};
use crate::lexer::Lexer;
use crate::options::Options;
use crate::request::{Item, OrderBy, Output, Select};
use crate::schema::{Column, ColumnType};
use crate::scroll::Position;
use crate::value::Value;

/// Rows of two numbers.
struct Pairs {
    taken: Cell<u64>,
    most: u64,
}

impl Scan<(i64, i64)> for Pairs {
    type Error = &'static str;

    fn value(&self, row: &(i64, i64), slot: usize) -> Value {
        Value::Int([row.0, row.1][slot].into())
    }

    fn bytes(&self, _: &(i64, i64)) -> u64 {
        16
    }

    fn take(&self, bytes: u64) -> Result<(), &'static str> {
        self.taken.set(self.taken.get() + bytes);
        match self.taken.get() <= self.most {
            true => Ok(()),
            false => Err("no more"),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        Ok(())
    }

    fn meter(&self) -> &dyn Meter {
        &Unmetered
    }
}

fn select(order: &[(&str, bool)], filter: Option<&str>) -> Select {
    let parsed = |text: &str| expression::parse(&mut Lexer::new(text.as_bytes())).unwrap();
    let key = |(name, descending): &(&str, bool)| OrderBy {
        key: Output::Expression(Expression::Column((*name).to_owned())),
        descending: *descending,
    };
    Select {
        filter: filter.map(parsed),
        order: order.iter().map(key).collect(),
        ..Select::new("t", vec![Item::Star])
    }
}

fn columns() -> [Column; 2] {
    ["a", "b"].map(|name| Column {
        name: name.to_owned(),
        kind: ColumnType::Bigint,
        nullable: true,
        default: None,
        keyed: false,
    })
}

fn scope(columns: &[Column]) -> Scope<'_> {
    Scope {
        columns,
        has_id: false,
        starred: 2,
        is_searched: false,
        is_standing: false,
    }
}

fn scanned(
    select: &Select,
    rows: &[(i64, i64)],
    most: u64,
) -> Result<super::Scanned, &'static str> {
    let columns = columns();
    let scope = scope(&columns);
    let bound = BoundSelect::new(select, &Options::default(), &scope).unwrap();
    let source = Pairs {
        taken: Cell::new(0),
        most,
    };
    let all = rows.iter().copied().map(Ok);
    scan(&bound, &source, rows.len() as u64, all)
}

proptest! {
    #[test]
    fn a_scan_finds_what_sorting_all_rows_finds(
        rows in prop::collection::vec((0_i64..6, 0_i64..6), 0..60),
        keys in prop::collection::vec((0_usize..2, any::<bool>()), 0..3),
        filtered in any::<bool>(),
        limit in prop::option::of(0_u64..20),
        offset in 0_u64..20,
    ) {
        let named: Vec<(&str, bool)> = keys.iter().map(|(at, falls)| (["a", "b"][*at], *falls)).collect();
        let mut select = select(&named, filtered.then_some("a > 1"));
        (select.limit, select.offset) = (limit, offset);
        let mut wanted: Vec<(i64, i64)> = rows.iter().copied().filter(|row| !filtered || row.0 > 1).collect();
        let total = wanted.len() as u64;
        wanted.sort_by(|one, other| {
            let orders = keys.iter().map(|(at, falls)| {
                let order = [one.0, one.1][*at].cmp(&[other.0, other.1][*at]);
                if *falls { order.reverse() } else { order }
            });
            orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
        let shown = wanted.into_iter().skip(offset as usize).take(limit.unwrap_or(u64::MAX) as usize);
        let shown: Vec<Vec<Value>> = shown.map(|(a, b)| vec![Value::Int(a.into()), Value::Int(b.into())]).collect();
        let found = scanned(&select, &rows, u64::MAX).unwrap();
        prop_assert_eq!(found.rows, shown);
        prop_assert_eq!(found.total, total);
    }
}

#[test]
fn rows_that_are_held_and_shown_are_paid_for() {
    let rows: Vec<(i64, i64)> = (0..10_000).map(|a| (a, -a)).collect();
    for order in [&[][..], &[("b", false)][..]] {
        let select = select(order, None);
        assert!(scanned(&select, &rows, 10_000 * 64).is_err(), "{order:?}");
        assert!(scanned(&select, &rows, 10_000 * 512).is_ok(), "{order:?}");
        let few = Select {
            limit: Some(10),
            ..select
        };
        assert!(scanned(&few, &rows, 40_000).is_ok(), "{order:?}, few");
    }
}

#[test]
fn a_key_of_a_row_is_evaluated_once_and_no_other_key_of_a_row_that_is_behind() {
    let columns = columns();
    let scope = scope(&columns);
    for (falls, behind) in [(true, 4), (false, 6)] {
        let select = select(&[("a", falls), ("b", true)], None);
        let order = BoundSelect::new(&select, &Options::default(), &scope).unwrap();
        let order = order.order;
        let last = Position {
            weight: 1,
            id: 1,
            keys: vec![Value::Int(5), Value::Int(5)],
            rows: 1,
        };
        let asked = Cell::new(0);
        let keys_of = |a: i128, last: Option<&Position>| {
            asked.set(0);
            let row = |slot: usize| {
                asked.set(asked.get() + 1);
                Value::Int([a, 9][slot])
            };
            {
                let row = Metered::new(&Unmetered, row);
                (order.values_before(&row, last), asked.get())
            }
        };
        for a in 4..=6 {
            let keys = Some(vec![Value::Int(a), Value::Int(9)]);
            assert_eq!(keys_of(a, None), (keys.clone(), 2));
            let of_row = if a == behind { (None, 1) } else { (keys, 2) };
            assert_eq!(keys_of(a, Some(&last)), of_row, "falls: {falls}, {a}");
        }
    }
}
