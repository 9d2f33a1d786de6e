//! Joins beside nested loops over all rows, in the order written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use language::meter::{Meter, Unmetered};
use proptest::prelude::*;

use super::{Answered, Join, JoinBounds, JoinRows};
use crate::bind::{BindError, BoundJoin, JoinColumn, JoinScope, JoinStep};
use crate::expression::{Expression, evaluate, parse_of_join};
use crate::lexer::Lexer;
use crate::request::{Item, JoinedSelect, JoinedTable, OrderBy, Output};
use crate::schema::ColumnType;
use crate::value::Value;

/// The columns of every table: an id, a number, a text and a real.
const COLUMNS: [(&str, ColumnType); 4] = [
    ("id", ColumnType::Bigint),
    ("n", ColumnType::Int),
    ("s", ColumnType::String),
    ("r", ColumnType::Double),
];

#[derive(Clone, Debug)]
struct Table {
    name: &'static str,
    rows: Vec<Vec<Value>>,
    /// Whether a MATCH is asked of it, which finds the rows of [`MATCHED`].
    is_searched: bool,
}

/// The condition that stands for MATCH.
const MATCHED: &str = "n > 1";

struct Rows(Vec<Vec<Value>>);

impl JoinRows for Rows {
    type Error = &'static str;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, row: u32, column: usize) -> Result<Value, &'static str> {
        Ok(self.0[row as usize][column].clone())
    }
}

/// Memory up to a bound, and a stop switch that turns after some looks.
struct Bounds {
    left: AtomicU64,
    looks: AtomicU64,
}

impl Bounds {
    fn new(bytes: u64, looks: u64) -> Arc<Bounds> {
        Arc::new(Bounds {
            left: AtomicU64::new(bytes),
            looks: AtomicU64::new(looks),
        })
    }

    fn wide() -> Arc<Bounds> {
        Bounds::new(u64::MAX, u64::MAX)
    }
}

fn less(number: &AtomicU64, by: u64) -> bool {
    let minus = |left: u64| left.checked_sub(by);
    number
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, minus)
        .is_ok()
}

impl JoinBounds for Bounds {
    type Error = &'static str;

    fn take(&self, bytes: u64) -> Result<(), &'static str> {
        match less(&self.left, bytes) {
            true => Ok(()),
            false => Err("no more memory"),
        }
    }

    fn take_row(&self, _: u64) -> Result<(), &'static str> {
        Ok(())
    }

    fn check(&self) -> Result<(), &'static str> {
        match less(&self.looks, 1) {
            true => Ok(()),
            false => Err("stopped"),
        }
    }

    fn meter(&self) -> &dyn Meter {
        &Unmetered
    }
}

fn parsed(text: &str, tables: &[Table]) -> Expression {
    let names: Vec<String> = tables.iter().map(|table| table.name.to_owned()).collect();
    parse_of_join(&mut Lexer::new(text.as_bytes()), &names, &mut |_, _| {
        Ok(None)
    })
    .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A join of all tables; `on` tells for each but the first whether it is LEFT, USING and ON.
fn select(tables: &[Table], on: &[(bool, &str, &str)], filter: &str) -> JoinedSelect {
    let first = (false, "", "");
    let joined = tables.iter().zip(std::iter::once(&first).chain(on));
    let joined = joined.map(|(table, (is_left, using, on))| JoinedTable {
        table: table.name.to_owned(),
        name: table.name.to_owned(),
        is_left: *is_left,
        using: using.split_whitespace().map(str::to_owned).collect(),
        on: (!on.is_empty()).then(|| parsed(on, tables)),
        matching: None,
    });
    JoinedSelect {
        tables: joined.collect(),
        items: vec![Item::Star],
        filter: (!filter.is_empty()).then(|| parsed(filter, tables)),
        grouping: None,
        order: Vec::new(),
        limit: None,
        offset: 0,
        options: Vec::new(),
    }
}

fn scopes(tables: &[Table]) -> Vec<JoinScope<'static>> {
    let column = |(name, kind): (&str, ColumnType)| JoinColumn {
        name: name.to_owned(),
        kind,
    };
    let scope = |table: &Table| JoinScope {
        name: table.name,
        columns: COLUMNS.map(column).to_vec(),
        starred: COLUMNS.len(),
        has_id: true,
        rows: table.rows.len() as u64,
        is_searched: table.is_searched,
        is_standing: false,
    };
    tables.iter().map(scope).collect()
}

/// The value of a column by its bare name.
fn bare<'r>(row: &'r [Value], name: &str) -> Option<&'r Value> {
    let at = COLUMNS.iter().position(|(column, _)| *column == name)?;
    row.get(at)
}

/// The rows that a table gives for a step: those of its own condition, of MATCH, and of the values wanted.
fn given(table: &Table, step: &JoinStep, join: &Join<&'static str>) -> Rows {
    let wanted = join.wanted(step, 1_000).unwrap();
    let listed = wanted.map(|(column, list)| Expression::In {
        needle: Box::new(Expression::Column(column)),
        negated: false,
        list,
    });
    let matched = table.is_searched.then(|| parsed(MATCHED, &[]));
    let own = step.own.iter().cloned();
    let conditions: Vec<Expression> = own.chain(matched).chain(listed).collect();
    let fits = |row: &&Vec<Value>| {
        conditions.iter().all(|condition| {
            evaluate(condition, &|name| bare(row, name).cloned()).as_bool() == Some(true)
        })
    };
    Rows(table.rows.iter().filter(fits).cloned().collect())
}

fn run(
    select: &JoinedSelect,
    tables: &[Table],
    bounds: Arc<Bounds>,
) -> Result<(u64, Vec<Vec<Value>>), &'static str> {
    let bound = BoundJoin::new(select, &scopes(tables)).map_err(|_| "does not bind")?;
    let mut join = Join::new(&bound, bounds);
    for step in &bound.steps {
        let rows = given(&tables[step.table], step, &join);
        join.step(step, Arc::new(rows))?;
    }
    let answer = join.answer(&bound)?;
    let rows = match answer.rows {
        Answered::Ready(rows) => rows,
        Answered::Reading(rows) => rows.collect::<Result<_, _>>()?,
    };
    Ok((answer.total, rows))
}

/// The value of a column by its name in a tuple of rows.
fn named(tables: &[Table], tuple: &[Option<&Vec<Value>>], name: &str) -> Option<Value> {
    let of = |table: usize, column: &str| {
        let row = tuple.get(table).copied().flatten();
        Some(row.map_or(Value::Null, |row| bare(row, column).unwrap().clone()))
    };
    let dotted = tables.iter().position(|table| {
        name.strip_prefix(table.name)
            .is_some_and(|rest| rest.starts_with('.'))
    });
    match dotted {
        Some(table) => of(table, &name[tables[table].name.len() + 1..]),
        // A bare name is one of USING, or that of the only table.
        None => of(0, name),
    }
}

/// The joined rows by nested loops.
fn oracle(select: &JoinedSelect, tables: &[Table]) -> Vec<Vec<Value>> {
    let mut tuples: Vec<Vec<Option<&Vec<Value>>>> = vec![Vec::new()];
    for (at, joined) in select.tables.iter().enumerate() {
        let mut next = Vec::new();
        for tuple in &tuples {
            let mut has_partner = false;
            for row in &tables[at].rows {
                let mut tried = tuple.clone();
                tried.push(Some(row));
                let value = |name: &str| named(tables, &tried, name);
                let is_true =
                    |condition: &Expression| evaluate(condition, &value).as_bool() == Some(true);
                let using = joined.using.iter().all(|column| {
                    let text =
                        format!("{}.{column} = {}.{column}", tables[at].name, tables[0].name);
                    is_true(&parsed(&text, tables))
                });
                if using && joined.on.as_ref().is_none_or(is_true) {
                    has_partner = true;
                    next.push(tried);
                }
            }
            if joined.is_left && !has_partner {
                let mut alone = tuple.clone();
                alone.push(None);
                next.push(alone);
            }
        }
        tuples = next;
    }
    let is_wanted = |tuple: &Vec<Option<&Vec<Value>>>| {
        let value = |name: &str| named(tables, tuple, name);
        let searched = tables.iter().filter(|table| table.is_searched);
        let matched = searched.map(|table| parsed(&format!("{}.{MATCHED}", table.name), tables));
        let mut all = select.filter.iter().cloned().chain(matched);
        all.all(|condition| evaluate(&condition, &value).as_bool() == Some(true))
    };
    tuples.retain(is_wanted);
    tuples.sort_by(|a, b| {
        let keys = select.order.iter().map(|OrderBy { key, descending }| {
            let Output::Expression(key) = key else {
                panic!("{key:?}")
            };
            let of = |tuple: &[_]| evaluate(key, &|name| named(tables, tuple, name));
            let order = of(a).cmp_order(&of(b));
            if *descending { order.reverse() } else { order }
        });
        keys.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    let shown = |tuple: &Vec<Option<&Vec<Value>>>| {
        let mut values = Vec::new();
        for (column, _) in COLUMNS {
            if select
                .tables
                .iter()
                .any(|table| table.using.iter().any(|it| it == column))
            {
                values.push(named(tables, tuple, &format!("{}.{column}", tables[0].name)).unwrap());
            }
        }
        for (at, table) in tables.iter().enumerate() {
            for (column, _) in COLUMNS {
                let used = |it: &JoinedTable| it.using.iter().any(|used| used == column);
                let is_hidden =
                    used(&select.tables[at]) || at == 0 && select.tables.iter().any(used);
                if !is_hidden {
                    values.push(named(tables, tuple, &format!("{}.{column}", table.name)).unwrap());
                }
            }
        }
        values
    };
    let page = tuples.iter().skip(select.offset as usize);
    let page = page.take(select.limit.unwrap_or(u64::MAX) as usize);
    page.map(shown).collect()
}

fn value(kind: ColumnType) -> BoxedStrategy<Value> {
    match kind {
        ColumnType::String => prop_oneof!["[abAB]{0,1}", "[0-3]", "[0-3]x"]
            .prop_map(Value::Str)
            .boxed(),
        ColumnType::Double => (-2_i32..8)
            .prop_map(|half| Value::Float(f64::from(half) / 2.0))
            .boxed(),
        _ => (0_i128..5).prop_map(Value::Int).boxed(),
    }
}

fn table(name: &'static str) -> impl Strategy<Value = Table> {
    let nullable = |kind| prop_oneof![5 => value(kind), 1 => Just(Value::Null)];
    let row = (
        nullable(ColumnType::Int),
        nullable(ColumnType::String),
        nullable(ColumnType::Double),
    );
    prop::collection::vec(row, 0..8).prop_map(move |rows| {
        let rows = rows.into_iter().enumerate();
        let rows = rows.map(|(id, (n, s, r))| vec![Value::Int(id as i128 * 2 % 7), n, s, r]);
        Table {
            name,
            rows: rows.collect(),
            is_searched: false,
        }
    })
}

/// Conditions of ON for the second and the third table; USING stands before the bar.
const ON: [&str; 12] = [
    "id|",
    "n s|",
    "|T.id = a.id",
    "|T.id = a.n AND T.n > 1",
    "|a.n = T.n AND a.s = T.s",
    "|T.s = a.n",
    "|T.r = a.n AND a.r < T.n",
    "|T.n + 1 = a.id AND a.n > 2",
    "|T.n < a.n",
    "|T.s = a.s OR T.n = a.n",
    "|T.n IN (1, 2)",
    "|1 = 1",
];

const WHERE: [&str; 8] = [
    "",
    "a.n > 1",
    "b.n IS NULL",
    "a.id = b.n AND c.s <> a.s",
    "b.n = c.n",
    "b.n = c.n OR a.n = 2",
    "a.id IN (2, 4) AND b.id IN (0, 2)",
    "a.r + b.r > c.r AND NOT a.n = 3",
];

proptest! {
    #[test]
    fn a_join_finds_what_nested_loops_find(
        tables in (table("a"), table("b"), table("c")),
        second in (any::<bool>(), 0..ON.len()),
        third in (any::<bool>(), 0..ON.len()),
        filter in 0..WHERE.len(),
        keys in prop::collection::vec((0_usize..5, any::<bool>()), 0..3),
        limit in prop::option::of(0_u64..12),
        offset in 0_u64..4,
        searched in [prop::bool::weighted(0.3), prop::bool::weighted(0.3), prop::bool::weighted(0.3)],
    ) {
        let mut tables = [tables.0, tables.1, tables.2];
        for (table, is_searched) in tables.iter_mut().zip(searched) {
            table.is_searched = is_searched;
        }
        // USING of a column that two earlier tables have is refused.
        let is_ambiguous = third.1 < 2 && second.1 != third.1;
        let third = (third.0, if is_ambiguous { 2 } else { third.1 });
        let texts: Vec<(String, String)> = [(second, "b"), (third, "c")].iter().map(|((_, on), name)| {
            let (using, on) = ON[*on].split_once('|').unwrap();
            (using.to_owned(), on.replace("T.", &format!("{name}.")))
        }).collect();
        let on = [(second.0, &*texts[0].0, &*texts[0].1), (third.0, &*texts[1].0, &*texts[1].1)];
        let mut select = select(&tables, &on, WHERE[filter]);
        select.order = keys.iter().map(|(key, descending)| OrderBy {
            key: Output::Expression(parsed(["a.n", "b.s", "c.r", "a.n + c.n", "b.id"][*key], &tables)),
            descending: *descending,
        }).collect();
        let all = oracle(&JoinedSelect { limit: None, offset: 0, ..select.clone() }, &tables).len();
        (select.limit, select.offset) = (limit, offset);
        let (total, found) = run(&select, &tables, Bounds::wide()).unwrap();
        prop_assert_eq!(total, all as u64);
        prop_assert_eq!(found, oracle(&select, &tables));
    }
}

fn numbers(name: &'static str, ids: std::ops::Range<i128>) -> Table {
    let row = |id| {
        vec![
            Value::Int(id),
            Value::Int(id % 3),
            Value::Str(id.to_string()),
            Value::Null,
        ]
    };
    Table {
        name,
        rows: ids.map(row).collect(),
        is_searched: false,
    }
}

#[test]
fn count_is_the_number_of_tuples() {
    let tables = [numbers("a", 0..6), numbers("b", 0..6)];
    let mut select = select(&tables, &[(false, "", "a.n = b.n")], "");
    let count = Item::Value {
        what: Output::Count,
        name: "count(*)".to_owned(),
    };
    select.items = vec![count];
    let answer = run(&select, &tables, Bounds::wide());
    assert_eq!(answer, Ok((1, vec![vec![Value::Int(12)]])));
}

#[test]
fn the_smaller_table_is_read_first_and_names_its_values_to_the_other() {
    let tables = [numbers("a", 0..900), numbers("b", 3..6)];
    let select = select(&tables, &[(false, "id", "")], "");
    let bound = BoundJoin::new(&select, &scopes(&tables)).unwrap();
    let order: Vec<usize> = bound.steps.iter().map(|step| step.table).collect();
    assert_eq!(order, [1, 0]);
    let mut join = Join::new(&bound, Bounds::wide());
    join.step(&bound.steps[0], Arc::new(Rows(tables[1].rows.clone())))
        .unwrap();
    let rows = given(&tables[0], &bound.steps[1], &join);
    assert_eq!(rows.len(), 3);
    assert_eq!(
        join.wanted(&bound.steps[1], 2).unwrap(),
        None,
        "more than two"
    );
}

#[test]
fn a_join_that_multiplies_ends_at_its_memory_and_at_the_stop_switch() {
    let tables = [numbers("a", 0..300), numbers("b", 0..300)];
    let product = select(&tables, &[(false, "", "a.n + b.n < 100")], "");
    let all = run(&product, &tables, Bounds::wide()).unwrap();
    assert_eq!(all.0, 90_000);
    let refused = run(&product, &tables, Bounds::new(200_000, u64::MAX));
    assert_eq!(refused, Err("no more memory"));
    assert_eq!(
        run(&product, &tables, Bounds::new(u64::MAX, 5)),
        Err("stopped")
    );
    let silent = select(&tables, &[(false, "", "a.n + b.n > 100")], "");
    assert_eq!(
        run(&silent, &tables, Bounds::new(u64::MAX, 5)),
        Err("stopped")
    );
}

#[test]
fn an_id_alone_is_that_of_the_first_table() {
    let tables = [numbers("a", 0..9), numbers("b", 0..6)];
    let id = |filter: &str, items: &str| {
        let mut of = select(&tables, &[(false, "", "a.n = b.id")], filter);
        of.items = vec![Item::Value {
            what: Output::Expression(parsed(items, &tables)),
            name: items.to_owned(),
        }];
        run(&of, &tables, Bounds::wide()).unwrap().1
    };
    let of =
        |ids: &[i128]| -> Vec<Vec<Value>> { ids.iter().map(|id| vec![Value::Int(*id)]).collect() };
    assert_eq!(id("id > 4", "id"), of(&[5, 6, 7, 8]));
    assert_eq!(id("id IN (7, 8)", "b.id"), of(&[1, 2]));
    assert_eq!(id("id = 4 AND b.id = 1", "a.id"), of(&[4]));
}

#[test]
fn names_that_mislead_are_refused() {
    let tables = [numbers("a", 0..2), numbers("b", 0..2)];
    let refused = |on: &str, filter: &str| {
        let select = select(&tables, &[(false, "", on)], filter);
        BoundJoin::new(&select, &scopes(&tables))
            .map(|_| ())
            .unwrap_err()
    };
    let ambiguous = "column 'n' is ambiguous: write the name of its table before it";
    assert_eq!(
        refused("n = 1", ""),
        BindError::Invalid(ambiguous.to_owned())
    );
    assert_eq!(
        refused("a.x = 1", ""),
        BindError::UnknownColumn("a.x".to_owned())
    );
    assert_eq!(
        refused("", "y = 1"),
        BindError::UnknownColumn("y".to_owned())
    );
}
