//! Searches beside a condition on attributes, on one thread: the first with a condition, and the same again.
//!
//! `zstd -dc abstracts.tsv.zst > abstracts.tsv`, then
//! `cargo run --release -p seine-index --example filter_speed -- abstracts.tsv queries.txt [segments]`: lines of
//! `id<TAB>text`, in `segments` segments, each row with attributes that follow from its id; one query a line. Each condition is asked alone,
//! beside ORs and beside ANDs of the queries' words, for the first 20 rows and the exact total, by `bm25a`. Totals are compared with a count
//! over the texts.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

mod shared;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use disk::MemoryDisk;
use index::{Control, Filters, Snapshot, Table, TableShape};
use language::analysis::Analyzer;
use language::tree::Node;
use relation::expression::{self, Expression};
use relation::lexer::Lexer;
use relation::schema::ColumnType;
use relation::value::Value;
use shared::{all, analysed, any, column, query, search, select, tokens};

/// Rows shown of each answer.
const SHOWN: u64 = 20;
/// Queries asked beside each condition.
const QUERIES: usize = 200;
/// Every so many-th of them is checked.
const SAMPLE: usize = 50;
/// Memory for what conditions say.
const KEPT_BYTES: u64 = 16 << 20;
/// Rounds of the same queries with the same condition.
const ROUNDS: usize = 5;

const COLOURS: [&str; 5] = ["red", "green", "blue", "black", "white"];

/// The conditions, each with what it means of a row's number and colour.
type Meaning = fn(i64, &str) -> bool;
const CONDITIONS: [(&str, Meaning); 5] = [
    ("n < 100", |n, _| n < 100),
    ("n < 900", |n, _| n < 900),
    ("n < 50 OR n > 950", |n, _| !(50..=950).contains(&n)),
    ("f < 0.25", |n, _| n < 250),
    ("s IN ('red', 'blue')", |_, s| s == "red" || s == "blue"),
];

/// A line of the file.
struct Line {
    id: u64,
    words: Vec<String>,
    n: i64,
    colour: &'static str,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let segments = arguments
        .get(3)
        .map_or(1, |text| text.parse::<u64>().unwrap());
    let lines = lines(&std::fs::read_to_string(&arguments[1]).unwrap());
    let queries = std::fs::read_to_string(&arguments[2]).unwrap();
    let queries: Vec<Vec<String>> = queries.lines().map(tokens).collect();
    let queries: Vec<Vec<String>> = queries
        .into_iter()
        .filter(|words| !words.is_empty())
        .take(QUERIES)
        .collect();
    let snapshot = build(&lines, segments);
    println!(
        "{} rows, {segments} segments; milliseconds a search, rounds of {} searches in order",
        snapshot.count(),
        queries.len()
    );
    for (condition, meaning) in CONDITIONS {
        let filter = expression::parse(&mut Lexer::new(condition.as_bytes())).unwrap();
        for (name, make) in [("OR", any as fn(&[String]) -> Node), ("AND", all)] {
            let asked: Vec<Option<Node>> = queries.iter().map(|words| Some(make(words))).collect();
            let control = control();
            let rounds = rounds(&snapshot, &asked, &filter, &control);
            println!("{condition:22} {name:5} {rounds}");
            for words in queries.iter().step_by(SAMPLE) {
                let found = ask(&snapshot, Some(make(words)), &filter, &control);
                let wanted = counted(&lines, Some((words, name == "AND")), meaning);
                assert_eq!(found, wanted, "{condition} {name} {words:?}");
            }
        }
        let control = control();
        println!(
            "{condition:22} alone {}",
            rounds(&snapshot, &[None], &filter, &control)
        );
        let found = ask(&snapshot, None, &filter, &control);
        assert_eq!(found, counted(&lines, None, meaning), "{condition}");
    }
}

/// Nothing is kept yet.
fn control() -> Control {
    Control {
        filters: Some(Arc::new(Filters::new(KEPT_BYTES))),
        ..Control::default()
    }
}

fn lines(file: &str) -> Vec<Line> {
    let line = |line: &str| {
        let (id, text) = line.split_once('\t').unwrap();
        let id: u64 = id.parse().unwrap();
        let chance = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        Line {
            id,
            words: tokens(text),
            n: (chance % 1_000) as i64,
            colour: COLOURS[(chance / 1_000) as usize % COLOURS.len()],
        }
    };
    file.lines().map(line).collect()
}

fn shape() -> TableShape {
    TableShape {
        columns: vec![
            column("body", ColumnType::Text),
            column("n", ColumnType::Int),
            column("f", ColumnType::Float),
            column("s", ColumnType::String),
        ],
        analyzer: Analyzer::default(),
        shards: 1,
    }
}

/// One seal for each segment.
fn build(lines: &[Line], segments: u64) -> Arc<Snapshot> {
    let mut table = Table::create(Arc::new(MemoryDisk::new()), "posts", shape()).unwrap();
    let sealed_at = (lines.len() as u64).div_ceil(segments);
    for (line, number) in lines.iter().zip(1..) {
        let text = line.words.join(" ");
        let analysed = analysed(&text);
        let row = [
            Value::Str(text),
            Value::Int(line.n.into()),
            Value::Float(line.n as f64 / 1_000.0),
            Value::Str(line.colour.to_owned()),
        ];
        table
            .insert(line.id, relation::row::encode(&row), &analysed)
            .unwrap();
        if number % 4_096 == 0 {
            drop(table.snapshot());
        }
        if number % sealed_at == 0 || number == lines.len() as u64 {
            drop(table.snapshot());
            let job = table.freeze(number).unwrap();
            table.install(job.run().unwrap()).unwrap();
            drop(table.take_discarded());
        }
    }
    table.snapshot()
}

/// The time of each round, in milliseconds a search.
fn rounds(
    snapshot: &Arc<Snapshot>,
    asked: &[Option<Node>],
    filter: &Expression,
    control: &Control,
) -> String {
    let mut text = String::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        for node in asked {
            ask(snapshot, node.clone(), filter, control);
        }
        let took = begun.elapsed().as_secs_f64() * 1_000.0;
        text.push_str(&format!("{:9.3}", took / asked.len() as f64));
    }
    text
}

/// How many rows match.
fn ask(
    snapshot: &Arc<Snapshot>,
    node: Option<Node>,
    filter: &Expression,
    control: &Control,
) -> u64 {
    let select = select(node.is_some(), Some(filter.clone()), SHOWN, "bm25a");
    let query = node.map(query);
    let answer = search(snapshot, &select, query.as_ref(), control).unwrap();
    let shown = answer.rows.map(Result::unwrap).count() as u64;
    assert_eq!(shown, answer.total_found.min(SHOWN));
    answer.total_found
}

/// The same count over the lines.
fn counted(lines: &[Line], words: Option<(&[String], bool)>, meaning: Meaning) -> u64 {
    let matches = |line: &&Line| {
        let Some((words, every)) = words else {
            return true;
        };
        let has: HashSet<&String> = line.words.iter().collect();
        match every {
            true => words.iter().all(|word| has.contains(word)),
            false => words.iter().any(|word| has.contains(word)),
        }
    };
    let wanted = lines.iter().filter(|line| meaning(line.n, line.colour));
    wanted.filter(matches).count() as u64
}
