//! How long each operator of the query language takes on one thread.
//!
//! `cargo run --release -p seine-index --example operator_speed -- TEXTS QUERIES [ROWS] [OPERATOR] [RANKER]`
//!
//! - TEXTS: lines of `id<TAB>text`. The first eight words are the title, the rest is the body.
//! - QUERIES: lines of `operator<TAB>query`, such as `benchmarks/definitions/operator-queries.txt`.
//!
//! Asks for the first 20 rows by `proximity_bm25` (or RANKER), and the exact total. Prints, for each operator, the median and the
//! longest time of its queries. The time of a query is the best of five.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

mod shared;

use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::MemoryDisk;
use index::{Control, Snapshot, Table, TableShape};
use language::analysis::{Analyzer, Words};
use relation::schema::ColumnType;
use relation::value::Value;
use shared::{column, search, select};

/// Times that a query is asked; the best counts.
const TIMES: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let rows = arguments
        .get(3)
        .map_or(100_000, |rows| rows.parse().unwrap());
    let only = arguments.get(4).filter(|only| *only != "all");
    let ranker = arguments.get(5).map_or("proximity_bm25", String::as_str);
    let mut settings = language::analysis::Settings::default();
    settings.set("index_sp", "1").unwrap().unwrap();
    let analyzer = Analyzer::new(settings);
    let start = Instant::now();
    let snapshot = build(
        &std::fs::read_to_string(&arguments[1]).unwrap(),
        rows,
        &analyzer,
    );
    println!(
        "{} rows in {:.1} s",
        snapshot.count(),
        start.elapsed().as_secs_f64()
    );
    let queries = std::fs::read_to_string(&arguments[2]).unwrap();
    let queries: Vec<(&str, &str)> = queries
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .filter(|(operator, _)| only.is_none_or(|only| only == operator))
        .collect();
    for of_one in queries.chunk_by(|one, other| one.0 == other.0) {
        let mut times: Vec<(Duration, u64, &str)> = of_one
            .iter()
            .map(|(_, text)| {
                let (time, total) = ask(&snapshot, text, &analyzer, ranker);
                (time, total, *text)
            })
            .collect();
        times.sort();
        let [median, (longest, total, text)] = [times[times.len() / 2], times[times.len() - 1]];
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{:16} median {:9.3} ms, longest {:9.3} ms: {text} ({total} rows)",
            of_one[0].0,
            ms(median.0),
            ms(longest),
        );
    }
}

/// One segment of the first `rows` lines.
fn build(file: &str, rows: usize, analyzer: &Analyzer) -> Arc<Snapshot> {
    let shape = TableShape {
        columns: vec![
            column("title", ColumnType::Text),
            column("body", ColumnType::Text),
        ],
        analyzer: analyzer.clone(),
        shards: 1,
    };
    let mut table = Table::create(Arc::new(MemoryDisk::new()), "posts", shape).unwrap();
    for (line, number) in file.lines().take(rows).zip(1..) {
        let (id, text) = line.split_once('\t').unwrap();
        let title = text
            .match_indices(' ')
            .nth(7)
            .map_or(text.len(), |(at, _)| at);
        let (title, body) = text.split_at(title);
        let mut words = Words::new();
        words.push_field(analyzer, 0, title);
        words.push_field(analyzer, 1, body);
        let row = [Value::Str(title.to_owned()), Value::Str(body.to_owned())];
        table
            .insert(id.parse().unwrap(), relation::row::encode(&row), &words)
            .unwrap();
        if number % 4_096 == 0 {
            drop(table.snapshot());
        }
    }
    drop(table.snapshot());
    let job = table.freeze(rows as u64).unwrap();
    table.install(job.run().unwrap()).unwrap();
    table.snapshot()
}

/// The best time, and the total.
fn ask(snapshot: &Arc<Snapshot>, text: &str, analyzer: &Analyzer, ranker: &str) -> (Duration, u64) {
    let query = language::parse(text, &["title", "body"], analyzer).unwrap();
    let select = select(true, None, 20, ranker);
    let mut best = (Duration::MAX, 0);
    for _ in 0..TIMES {
        let start = Instant::now();
        let answer = search(snapshot, &select, Some(&query), &Control::default()).unwrap();
        best = best.min((start.elapsed(), answer.total_found));
    }
    best
}
