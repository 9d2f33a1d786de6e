//! Groups of the rows of a search table, in process, by one thread and by two.
//!
//! `cargo run --release -p seine-index --example group_speed -- [rows] [segments] [NAME]`: a table of 1,900,000 rows of made-up words,
//! of which 30 % have `thirty`, with an integer of 1,000 values, one of as many values as rows, and a double. Each grouping (or those
//! whose name holds NAME) runs five times; printed is the median in milliseconds. The number of groups is checked.
//! `benchmarks/groups.py` asks a server.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

mod shared;

use std::sync::Arc;
use std::time::Instant;

use disk::MemoryDisk;
use index::{Control, Pool, Snapshot, Table, TableShape};
use query::analysis::Analyzer;
use query::bind::{BoundJoin, JoinColumn, JoinScope};
use query::expression::parse_of_join;
use query::lexer::Lexer;
use query::options::Options;
use query::request::{Grouping, Item, JoinedSelect, Output, Select};
use query::rows::Groups;
use query::schema::ColumnType;
use query::tree::{FieldSet, Node, Term, Word};
use query::value::Value;
use shared::{analysed, column, query, select};

const RUNS: usize = 5;

/// Name, key, aggregates, and whether a MATCH is asked.
type Case = (&'static str, &'static str, &'static [&'static str], bool);
const CASES: [Case; 10] = [
    ("count", "g", &["count(*)"], true),
    (
        "sums",
        "g",
        &["count(*)", "sum(n)", "avg(n)", "min(n)", "max(n)"],
        true,
    ),
    ("no key", "", &["sum(n)"], true),
    ("expression", "g DIV 2", &["count(*)"], true),
    ("string", "s", &["count(*)"], true),
    ("double", "g", &["sum(r)"], true),
    ("count, all rows", "g", &["count(*)"], false),
    ("distinct, all rows", "", &["count(DISTINCT n)"], false),
    ("distinct", "g", &["count(DISTINCT n)"], true),
    ("a group a row", "n", &["count(*)"], true),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize, default: u64| {
        let given: Option<&String> = arguments.get(at);
        given.map_or(default, |text| text.parse().unwrap())
    };
    let (rows, segments) = (number(1, 1_900_000), number(2, 1));
    let snapshot = build(rows, segments);
    let pool = Arc::new(Pool::new(2).unwrap());
    println!("{rows} rows, {segments} segments; milliseconds by one thread and by two");
    for case in CASES {
        if arguments.get(3).is_some_and(|name| !case.0.contains(name)) {
            continue;
        }
        let mut medians = Vec::new();
        for threads in [1, 2] {
            let control = || Control {
                pool: Some(Arc::clone(&pool)),
                threads: Some(threads),
                ..Control::default()
            };
            let mut times: Vec<f64> = (0..RUNS)
                .map(|_| ask(&snapshot, case, &control()))
                .collect();
            times.sort_by(f64::total_cmp);
            medians.push(times[RUNS / 2]);
        }
        println!("{:20} {:8.2} {:8.2}", case.0, medians[0], medians[1]);
    }
}

/// A number that looks like chance: a step of splitmix64.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32
}

fn shape() -> TableShape {
    TableShape {
        columns: vec![
            column("body", ColumnType::Text),
            column("g", ColumnType::Int),
            column("n", ColumnType::Bigint),
            column("r", ColumnType::Double),
            column("s", ColumnType::String),
        ],
        analyzer: Analyzer::default(),
        shards: 1,
    }
}

/// One seal for each segment.
fn build(rows: u64, segments: u64) -> Arc<Snapshot> {
    let mut table = Table::create(Arc::new(MemoryDisk::new()), "posts", shape()).unwrap();
    let sealed_at = rows.div_ceil(segments);
    for id in 1..=rows {
        let word = if mixed(id) % 10 < 3 {
            "thirty"
        } else {
            "seventy"
        };
        let text = format!("post number {} of {word}", id % 5_000);
        let (g, n) = (mixed(id + rows) % 1_000, id * 7_919 % rows);
        let words = analysed(&text);
        let row = [
            Value::Str(text),
            Value::Int(g.into()),
            Value::Int(n.into()),
            Value::Float(n as f64 / 4.0),
            Value::Str(format!("s{g}")),
        ];
        table.insert(id, query::row::encode(&row), &words).unwrap();
        if id % 4_096 == 0 {
            drop(table.snapshot());
        }
        if id % sealed_at == 0 || id == rows {
            drop(table.snapshot());
            let job = table.freeze(id).unwrap();
            table.install(job.run().unwrap()).unwrap();
            drop(table.take_discarded());
        }
    }
    table.snapshot()
}

/// The grouping of a statement, bound.
fn groups((_, key, items, _): Case) -> Arc<Groups> {
    let names = ["posts".to_owned()];
    let parsed = |text: &&str| {
        parse_of_join(&mut Lexer::new(text.as_bytes()), &names, &mut |_, _| {
            Ok(None)
        })
        .unwrap()
    };
    let items = items.iter().map(|item| Item::Value {
        what: Output::Expression(parsed(item)),
        name: (*item).to_owned(),
    });
    let mut asked = JoinedSelect::of(Select {
        items: items.collect(),
        ..select(false, None, 20, "bm25a")
    });
    asked.grouping = Some(Grouping {
        keys: [key]
            .iter()
            .filter(|key| !key.is_empty())
            .map(parsed)
            .collect(),
        ..Grouping::default()
    });
    let columns = shape().columns.into_iter().map(|of| (of.name, of.kind));
    let columns = std::iter::once(("id".to_owned(), ColumnType::Bigint)).chain(columns);
    let scope = JoinScope {
        name: "posts",
        columns: columns
            .map(|(name, kind)| JoinColumn { name, kind })
            .collect(),
        starred: usize::MAX,
        has_id: true,
        rows: 1,
        is_searched: false,
    };
    BoundJoin::new(&asked, &[scope]).unwrap().groups.unwrap()
}

/// Milliseconds of a grouping.
fn ask(snapshot: &Arc<Snapshot>, case: Case, control: &Control) -> f64 {
    let root = Node::Word(Word {
        term: Term::whole("thirty"),
        fields: FieldSet::ALL,
    });
    let asked = case.3.then(|| query(root));
    let rows = Select {
        items: Vec::new(),
        matching: asked.as_ref().map(|_| String::new()),
        options: Vec::new(),
        ..select(false, None, 20, "")
    };
    let bound = snapshot.bind(&rows, &Options::default()).unwrap();
    let groupings = [groups(case)];
    let begun = Instant::now();
    let made = snapshot
        .group(&bound, asked.as_ref(), &groupings, control)
        .unwrap();
    let took = begun.elapsed().as_secs_f64() * 1_000.0;
    let count = made[0].as_ref().unwrap().made.rows.len();
    assert!(count == 1 || count == 500 || count == 1_000 || case.1 == "n");
    took
}
