//! Groups beside a slow evaluator: lists of rows, compared pair by pair.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use language::meter::{Meter, Unmetered};
use proptest::prelude::*;

use super::exact::ExactSum;
use crate::bind::{BoundJoin, JoinColumn, JoinScope};
use crate::expression::{Expression, parse_of_join};
use crate::json::Json;
use crate::lexer::Lexer;
use crate::request::{Grouping, Item, JoinedSelect, JoinedTable, OrderBy, Output};
use crate::rows::{Answered, Join, JoinBounds, JoinRows};
use crate::schema::ColumnType;
use crate::value::Value;

type Row = Vec<Value>;

struct Rows(Vec<Row>);

impl JoinRows for Rows {
    type Error = &'static str;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, row: u32, column: usize) -> Result<Value, &'static str> {
        Ok(self.0[row as usize][column].clone())
    }
}

/// A bound on the bytes taken at once, and the sum of all.
struct Bounds(u64, AtomicU64);

impl JoinBounds for Bounds {
    type Error = &'static str;

    fn take(&self, bytes: u64) -> Result<(), &'static str> {
        self.1.fetch_add(bytes, Ordering::Relaxed);
        match bytes > self.0 {
            true => Err("no more memory"),
            false => Ok(()),
        }
    }

    fn take_row(&self, _: u64) -> Result<(), &'static str> {
        Ok(())
    }

    fn check(&self) -> Result<(), &'static str> {
        Ok(())
    }

    fn meter(&self) -> &dyn Meter {
        &Unmetered
    }
}

const COLUMNS: [(&str, ColumnType); 6] = [
    ("id", ColumnType::Bigint),
    ("n", ColumnType::Int),
    ("s", ColumnType::String),
    ("r", ColumnType::Double),
    ("tags", ColumnType::Multi { wide: true }),
    ("j", ColumnType::Json),
];

fn parsed(text: &str) -> Expression {
    let names = ["t".to_owned()];
    parse_of_join(&mut Lexer::new(text.as_bytes()), &names, &mut |_, _| {
        Ok(None)
    })
    .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A SELECT of table `t`. `order` and `within`: keys, each with DESC behind it or not.
fn select(items: &[&str], keys: &[&str], order: &[&str], having: &str) -> JoinedSelect {
    let items = items.iter().map(|item| Item::Value {
        what: Output::Expression(parsed(item)),
        name: (*item).to_owned(),
    });
    JoinedSelect {
        tables: vec![JoinedTable {
            table: "t".to_owned(),
            name: "t".to_owned(),
            is_left: false,
            using: Vec::new(),
            on: None,
            matching: None,
        }],
        items: items.collect(),
        filter: None,
        grouping: Some(Grouping {
            keys: keys.iter().map(|key| parsed(key)).collect(),
            having: (!having.is_empty()).then(|| parsed(having)),
            ..Grouping::default()
        }),
        order: ordered(order),
        limit: Some(1_000),
        offset: 0,
        options: Vec::new(),
    }
}

fn ordered(keys: &[&str]) -> Vec<OrderBy> {
    let key = |key: &&str| OrderBy {
        key: Output::Expression(parsed(key.trim_end_matches(" DESC"))),
        descending: key.ends_with(" DESC"),
    };
    keys.iter().map(key).collect()
}

fn run(select: &JoinedSelect, rows: &[Row], most: u64) -> Result<(u64, Vec<Row>), String> {
    run_within(select, rows, &Arc::new(Bounds(most, AtomicU64::new(0))))
}

fn run_within(
    select: &JoinedSelect,
    rows: &[Row],
    bounds: &Arc<Bounds>,
) -> Result<(u64, Vec<Row>), String> {
    let column = |(name, kind): &(&str, ColumnType)| JoinColumn {
        name: (*name).to_owned(),
        kind: *kind,
    };
    let scope = JoinScope {
        name: "t",
        columns: COLUMNS.iter().map(column).collect(),
        starred: COLUMNS.len(),
        has_id: true,
        rows: rows.len() as u64,
        is_searched: false,
        is_standing: false,
    };
    let bound = BoundJoin::new(select, &[scope]).map_err(|error| error.to_string())?;
    let mut join = Join::new(&bound, Arc::clone(bounds) as _);
    join.step(&bound.steps[0], Arc::new(Rows(rows.to_vec())))?;
    let answer = join.answer(&bound)?;
    match answer.rows {
        Answered::Ready(rows) => Ok((answer.total, rows)),
        Answered::Reading(_) => Err("no groups".to_owned()),
    }
}

fn row(id: i128, n: Option<i128>, s: &str, quarters: i32, tags: &[i64], j: &str) -> Row {
    vec![
        Value::Int(id),
        n.map_or(Value::Null, Value::Int),
        Value::Str(s.to_owned()),
        Value::Float(f64::from(quarters) / 4.0),
        Value::Set(tags.to_vec().into()),
        Value::Json(Json::parse(j.as_bytes()).unwrap()),
    ]
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let texts = prop::sample::select(vec!["a", "A", "b", "", "ab"]);
    let tags = prop::collection::btree_set(-2_i64..3, 0..3);
    let documents =
        prop::sample::select(vec![r#"{"k":1}"#, r#"{"k":"x"}"#, r#"{"k":[1,2,1]}"#, "{}"]);
    let one = (prop::option::of(-3_i128..4), texts, -9..9, tags, documents);
    prop::collection::vec(one, 0..40).prop_map(|rows| {
        let numbered = rows.into_iter().enumerate();
        let made = numbered.map(|(id, (n, s, quarters, tags, j))| {
            let tags: Vec<i64> = tags.into_iter().collect();
            row(id as i128, n, s, quarters, &tags, j)
        });
        made.collect()
    })
}

/// Whether two values are one key.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => a.eq_ignore_ascii_case(b),
        (a, b) => a == b,
    }
}

/// The keys of a row: of `tags` and `j.k` each item once, else the value.
fn keys_of(row: &Row, key: &str) -> Vec<Value> {
    let number = |number: i128| Value::Int(number);
    match (key, &row[4], &row[5]) {
        ("tags", Value::Set(tags), _) => tags.iter().map(|tag| number((*tag).into())).collect(),
        ("j.k", _, of) => match of.to_string().as_str() {
            r#"{"k":1}"# => vec![number(1)],
            r#"{"k":"x"}"# => vec![Value::Str("x".to_owned())],
            "{}" => vec![Value::Null],
            _ => vec![number(1), number(2)],
        },
        ("n + 1", ..) => vec![match &row[1] {
            Value::Int(n) => number(n + 1),
            _ => Value::Null,
        }],
        (name, ..) => {
            let column = COLUMNS.iter().position(|(column, _)| *column == name);
            vec![row[column.unwrap()].clone()]
        }
    }
}

/// The groups: the key and the rows of each, in the order of their first rows.
fn groups_of(rows: &[Row], keys: &[&str]) -> Vec<(Row, Vec<Row>)> {
    let mut groups: Vec<(Row, Vec<Row>)> = Vec::new();
    for row in rows {
        let mut combined = vec![Vec::new()];
        // The first key goes on first, so the last key is the outer loop.
        for key in keys.iter().rev() {
            let longer = combined.iter().flat_map(|tail: &Row| {
                let items = keys_of(row, key).into_iter();
                items.map(|item| std::iter::once(item).chain(tail.iter().cloned()).collect())
            });
            combined = longer.collect();
        }
        for key in combined {
            let is_it =
                |group: &&mut (Row, Vec<Row>)| group.0.iter().zip(&key).all(|(a, b)| same(a, b));
            match groups.iter_mut().find(is_it) {
                Some(group) => group.1.push(row.clone()),
                None => groups.push((key, vec![row.clone()])),
            }
        }
    }
    groups
}

const AGGREGATES: [&str; 11] = [
    "count(*)",
    "count(n)",
    "count(DISTINCT n)",
    "count(DISTINCT n, s)",
    "sum(n)",
    "sum(r)",
    "avg(n)",
    "min(s)",
    "max(n)",
    "group_concat(n SEPARATOR '-')",
    "count(DISTINCT tags)",
];

/// The values of [`AGGREGATES`]. Quarters are exact in doubles, so plain sums are too.
fn aggregated(rows: &[Row]) -> Row {
    let int = |number: usize| Value::Int(number as i128);
    let numbers: Vec<i128> = rows
        .iter()
        .filter_map(|row| match row[1] {
            Value::Int(n) => Some(n),
            _ => None,
        })
        .collect();
    let distinct = |values: Vec<Row>| {
        let mut seen: Vec<Row> = Vec::new();
        for value in values {
            let is_it = |known: &Row| known.iter().zip(&value).all(|(a, b)| same(a, b));
            if !value.contains(&Value::Null) && !seen.iter().any(is_it) {
                seen.push(value);
            }
        }
        int(seen.len())
    };
    let columns = |columns: &[usize]| -> Vec<Row> {
        let of = |row: &Row| columns.iter().map(|at| row[*at].clone()).collect();
        rows.iter().map(of).collect()
    };
    let tags = rows.iter().flat_map(|row| keys_of(row, "tags"));
    let reals = rows.iter().map(|row| match row[3] {
        Value::Float(real) => real,
        _ => 0.0,
    });
    let mut least: Option<&str> = None;
    for row in rows {
        let Value::Str(text) = &row[2] else { continue };
        // Of equal texts the one with the lowest bytes.
        let folded = |text: &str| (text.to_ascii_lowercase(), text.to_owned());
        if least.is_none_or(|least| folded(text) < folded(least)) {
            least = Some(text);
        }
    }
    let texts: Vec<String> = numbers.iter().map(i128::to_string).collect();
    let has_numbers = !numbers.is_empty();
    let or_null = |value: Value| if has_numbers { value } else { Value::Null };
    let sum: i128 = numbers.iter().sum();
    vec![
        int(rows.len()),
        int(numbers.len()),
        distinct(columns(&[1])),
        distinct(columns(&[1, 2])),
        or_null(Value::Int(sum)),
        match rows.is_empty() {
            true => Value::Null,
            false => Value::Float(reals.sum()),
        },
        or_null(Value::Float(sum as f64 / numbers.len() as f64)),
        least.map_or(Value::Null, |least| Value::Str(least.to_owned())),
        numbers
            .iter()
            .max()
            .map_or(Value::Null, |max| Value::Int(*max)),
        or_null(Value::Str(texts.join("-"))),
        distinct(tags.map(|tag| vec![tag]).collect()),
    ]
}

proptest! {
    #[test]
    fn groups_are_those_of_the_slow_evaluator(
        rows in rows(),
        keys in prop::sample::subsequence(vec!["n", "s", "tags", "j.k", "n + 1"], 0..4),
        least in 0_i128..4,
        (is_ordered, offset, limit) in (any::<bool>(), 0_u64..3, 0_u64..9),
    ) {
        let mut items = AGGREGATES.to_vec();
        items.extend(keys.iter().filter(|key| !matches!(**key, "tags" | "j.k")));
        if keys.len() == 1 {
            items.push("groupby()");
        }
        let order: &[&str] = if is_ordered { &["sum(n) DESC", "count(*)"] } else { &[] };
        let mut select = select(&items, &keys, order, &format!("count(*) >= {least}"));
        (select.offset, select.limit) = (offset, Some(limit));

        let mut groups = groups_of(&rows, &keys);
        if keys.is_empty() && groups.is_empty() {
            groups.push((Vec::new(), Vec::new()));
        }
        let mut wanted: Vec<Row> = Vec::new();
        for (key, rows) in groups {
            let mut line = aggregated(&rows);
            let shown = keys.iter().zip(&key).filter(|(key, _)| !matches!(**key, "tags" | "j.k"));
            line.extend(shown.map(|(_, value)| value.clone()));
            line.extend(key.first().filter(|_| keys.len() == 1).cloned());
            wanted.push(line);
        }
        wanted.retain(|line| matches!(line[0], Value::Int(count) if count >= least));
        let total = wanted.len() as u64;
        if is_ordered {
            wanted.sort_by(|a, b| b[4].cmp_order(&a[4]).then_with(|| a[0].cmp_order(&b[0])));
        }
        let page = wanted.into_iter().skip(offset as usize).take(limit as usize);
        prop_assert_eq!(run(&select, &rows, u64::MAX), Ok((total, page.collect())));
    }

    #[test]
    fn a_sum_is_exact_in_any_order(numbers in prop::collection::vec(any::<i64>(), 0..30), moved in 0_usize..30, shift in -40_i32..40) {
        // Whole numbers of 64 bits, rounded to doubles and scaled by one power of two, have an exact sum in 128 bits.
        let unit = 2_f64.powi(shift);
        let doubles: Vec<f64> = numbers.iter().map(|number| *number as f64 * unit).collect();
        let exact: i128 = numbers.iter().map(|number| *number as f64 as i128).sum();
        let sum_of = |doubles: &[f64]| {
            let mut sum = ExactSum::default();
            doubles.iter().for_each(|double| sum.add(*double));
            sum.value()
        };
        let mut other = doubles.clone();
        other.rotate_left(moved % doubles.len().max(1));
        other.reverse();
        prop_assert_eq!(sum_of(&doubles), exact as f64 * unit);
        prop_assert_eq!(sum_of(&other), exact as f64 * unit);
    }
}

#[test]
fn a_sum_is_rounded_once() {
    let sum_of = |numbers: &[f64]| {
        let mut sum = ExactSum::default();
        numbers.iter().for_each(|number| sum.add(*number));
        sum.value()
    };
    assert_eq!(sum_of(&[1e100, 1.0, -1e100]), 1.0);
    assert_eq!(sum_of(&[0.1; 10]), 1.0);
    // No partial sum overflows.
    assert_eq!(sum_of(&[1e308, 1e308, -1e308]), 1e308);
    assert_eq!(sum_of(&[1e308, 1e308]), f64::INFINITY);
    assert_eq!(sum_of(&[1e308, 1e-300, -1e308]), 1e-300);
    // A tie to even, unless something lies behind it.
    let tie = 2_f64.powi(53);
    assert_eq!(sum_of(&[tie, 1.0]), tie);
    assert_eq!(sum_of(&[tie, 1.0, 1e-300]), tie + 2.0);
}

fn few() -> Vec<Row> {
    vec![
        row(1, Some(1), "a", 1, &[1, 2], "{}"),
        row(2, Some(5), "A", 2, &[], "{}"),
        row(3, None, "b", 3, &[2], "{}"),
        row(4, Some(3), "a", 4, &[1], "{}"),
    ]
}

fn ids(answer: Result<(u64, Vec<Row>), String>) -> Vec<i128> {
    let (_, rows) = answer.unwrap();
    let id = |row: &Row| match row[0] {
        Value::Int(id) => id,
        _ => -1,
    };
    rows.iter().map(id).collect()
}

#[test]
fn a_group_shows_its_first_rows_by_the_order_within() {
    let mut of = select(&["id"], &["s"], &[], "");
    assert_eq!(ids(run(&of, &few(), u64::MAX)), [1, 3]);
    if let Some(grouping) = &mut of.grouping {
        grouping.within = ordered(&["n DESC"]);
    }
    assert_eq!(ids(run(&of, &few(), u64::MAX)), [2, 3]);
    if let Some(grouping) = &mut of.grouping {
        grouping.rows_each = Some(2);
    }
    assert_eq!(ids(run(&of, &few(), u64::MAX)), [2, 4, 3]);
}

#[test]
fn the_rows_of_a_group_stay_together_in_any_order_of_groups() {
    let of = |order: &[&str], within: &[&str], limit| {
        let mut of = select(&["id"], &["s"], order, "");
        if let Some(grouping) = &mut of.grouping {
            grouping.within = ordered(within);
            grouping.rows_each = Some(2);
        }
        of.limit = Some(limit);
        ids(run(&of, &few(), u64::MAX))
    };
    assert_eq!(of(&["id DESC"], &[], 9), [3, 1, 2], "by their first rows");
    assert_eq!(of(&["id DESC"], &["id DESC"], 9), [4, 2, 3]);
    assert_eq!(of(&["n"], &["n DESC"], 9), [3, 2, 4]);
    assert_eq!(
        of(&["count(*)"], &["n DESC"], 2),
        [3, 2],
        "LIMIT counts rows"
    );
}

#[test]
fn deviations_are_those_of_the_whole_population() {
    let of = select(
        &["variance(n)", "stddev(n)", "variance(n * 0 + 0.1)"],
        &[],
        &[],
        "",
    );
    let (_, rows) = run(&of, &few(), u64::MAX).unwrap();
    let [Value::Float(variance), Value::Float(deviation), equal] = &rows[0][..] else {
        panic!("{rows:?}");
    };
    assert!((variance - 8.0 / 3.0).abs() < 1e-12);
    assert!((deviation - (8.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    assert_eq!(*equal, Value::Float(0.0));
}

#[test]
fn groups_end_where_their_memory_does() {
    let rows: Vec<Row> = (0..2_000)
        .map(|id| row(id, Some(id), "x", 0, &[], "{}"))
        .collect();
    let of = select(&["count(*)"], &["id"], &[], "");
    assert!(run(&of, &rows, u64::MAX).is_ok());
    let refused = run(&of, &rows, 8_000);
    assert_eq!(refused, Err("no more memory".to_owned()));
}

#[test]
fn wide_texts_are_paid_for_once_where_a_group_keeps_them() {
    const WIDE: usize = 3 << 20;
    let text = |first: &str, last: &str| first.repeat(WIDE - 1) + last;
    let texts = [
        text("a", "a"),
        text("A", "A"),
        text("a", "b"),
        text("a", "a"),
    ];
    let rows: Vec<Row> = (0..)
        .zip(&texts)
        .map(|(id, text)| row(id, None, text, 0, &[], "{}"))
        .collect();
    // Items and keys, the texts that are kept and in the answer, and how many groups there are.
    for (items, keys, kept, count) in [
        (["count(*)"], &["s"][..], 2, 2),
        (["count(DISTINCT s)"], &[], 0, 1),
        (["min(s)"], &[], 2, 1),
        (["length(group_concat(s))"], &[], 4, 1),
        (["length(min(s))"], &["s"], 4, 2),
    ] {
        let of = select(&items, keys, &[], "");
        let bounds = Arc::new(Bounds(u64::MAX, AtomicU64::new(0)));
        let (total, _) = run_within(&of, &rows, &bounds).unwrap();
        assert_eq!(total, count, "{items:?}");
        let taken = bounds.1.load(Ordering::Relaxed) as usize;
        let least = kept * WIDE;
        let is_paid = (least..=least + WIDE).contains(&taken);
        assert!(is_paid, "{items:?} by {keys:?} took {taken} bytes");
    }
}

#[test]
fn what_is_no_group_is_refused_by_name() {
    let refused = |of: &JoinedSelect| run(of, &few(), u64::MAX).unwrap_err();
    assert_eq!(
        refused(&select(&["id"], &["sum(n)"], &[], "")),
        "GROUP BY cannot have an aggregate: it is made of groups"
    );
    assert_eq!(
        refused(&select(&["groupby()"], &[], &[], "")),
        "groupby() needs GROUP BY"
    );
    assert_eq!(
        refused(&select(&["id"], &["nix"], &[], "")),
        "unknown column 'nix'"
    );
    assert_eq!(
        refused(&select(&["sum(nix)"], &["n"], &[], "")),
        "unknown column 'nix'"
    );
}
