//! What the index's own work costs per row, without journal or percolation: inserts, seals, one merge; prints some lines a batch size.
//!
//! `cargo run --release -p seine-index --example insert_cost [rows [texts]]`: made-up posts of about 92 bytes, words drawn by Zipf's
//! law, or the lines of a file.
//! Every figure is followed by its check: the rows that a SELECT then finds. Processor time of the one thread, Linux only.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

mod shared;

use std::sync::Arc;
use std::time::Duration;

use disk::MemoryDisk;
use index::{MergeRequest, Table, TableShape};
use language::analysis::{Analyzer, Words};
use relation::options::Options;
use relation::request::{Item, Output, Select};
use relation::schema::ColumnType;
use relation::value::Value;
use shared::{analysed, column, cpu_time};

/// Rows in a tail before it is sealed, as in the engine.
const SEAL_ROWS: u64 = 65_536;

fn main() {
    let rows = std::env::args()
        .nth(1)
        .map_or(200_000, |rows| rows.parse().unwrap());
    let posts: Vec<(Vec<Value>, Words)> = match std::env::args().nth(2) {
        None => posts(rows),
        Some(file) => {
            let texts = std::fs::read_to_string(file).unwrap();
            texts.lines().cycle().take(rows).map(post).collect()
        }
    };
    for batch in [1, 8, 500, 4_096] {
        let mut table = Table::create(Arc::new(MemoryDisk::new()), "posts", shape()).unwrap();
        let mut seals = Duration::ZERO;
        let start = cpu_time();
        for (at, posts) in posts.chunks(batch).enumerate() {
            for ((row, words), id) in posts.iter().zip((at * batch) as u64 + 1..) {
                assert!(!table.contains(id).unwrap());
                table.insert(id, relation::row::encode(row), words).unwrap();
            }
            drop(table.snapshot());
            if table.tail().rows >= SEAL_ROWS {
                let start = cpu_time();
                let job = table.freeze(at as u64).unwrap();
                table.install(job.run().unwrap()).unwrap();
                seals += cpu_time() - start;
            }
        }
        let spent = (cpu_time() - start) - seals;
        println!(
            "batches of {batch}: {:.2} µs a row, sealing {:.2} µs a row",
            spent.as_secs_f64() * 1e6 / rows as f64,
            seals.as_secs_f64() * 1e6 / rows as f64,
        );
        search(&mut table, rows);
        merge(&mut table, rows);
        search(&mut table, rows);
    }
}

/// Seals what is left and makes one segment of all.
fn merge(table: &mut Table, rows: usize) {
    if let Some(job) = table.freeze(rows as u64) {
        table.install(job.run().unwrap()).unwrap();
    }
    let segments = table.status().segments;
    table.optimize();
    let job = table.merge_job(MergeRequest::default()).unwrap();
    let start = cpu_time();
    let merged = job.run().unwrap();
    let spent = cpu_time() - start;
    let start = cpu_time();
    table.install_merged(merged).unwrap();
    println!(
        "  merging {segments} segments: {:.2} µs a row, {:.2} ms for the writer; {} bytes a row",
        spent.as_secs_f64() * 1e6 / rows as f64,
        (cpu_time() - start).as_secs_f64() * 1e3,
        table.status().bytes_segments / rows as u64,
    );
}

/// Times a few queries and checks what they find.
fn search(table: &mut Table, rows: usize) {
    let snapshot = table.snapshot();
    assert_eq!(snapshot.count(), rows as u64);
    for text in [
        "word1",
        "word1 word3",
        "word2 | word5 | word9",
        "\"word1 word2\"",
        "word700 -word1",
    ] {
        let query = language::parse(text, &["body", "sub"], &Analyzer::default()).unwrap();
        let start = cpu_time();
        let select = select();
        let bound = snapshot.bind(&select, &Options::default()).unwrap();
        let answer = snapshot.search(&bound, Some(&query), &index::Control::default());
        let answer = answer.unwrap();
        let found = answer.rows.filter(Result::is_ok).count();
        println!(
            "    {text}: {} found, {found} shown, {:.2} ms",
            answer.total_found,
            (cpu_time() - start).as_secs_f64() * 1e3
        );
    }
}

fn shape() -> TableShape {
    let columns = vec![
        column("body", ColumnType::Text),
        column("sub", ColumnType::String),
        column("ts", ColumnType::Timestamp),
        column("score", ColumnType::Int),
    ];
    TableShape {
        columns,
        analyzer: Analyzer::default(),
        shards: 1,
    }
}

fn select() -> Select {
    let weight = Item::Value {
        what: Output::Weight,
        name: "weight()".to_owned(),
    };
    Select {
        table: "posts".to_owned(),
        items: vec![Item::Star, weight],
        matching: None,
        filter: None,
        order: Vec::new(),
        limit: Some(20),
        offset: 0,
        options: Vec::new(),
    }
}

fn posts(rows: usize) -> Vec<(Vec<Value>, Words)> {
    let mut seed = 1u64;
    let mut next = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut made = |_| {
        // The inverse of Zipf's distribution over 60,000 words, nearly.
        let words: Vec<String> = (0..13)
            .map(|_| format!("word{}", 60_000f64.powf(next()) as u32))
            .collect();
        post(&words.join(" "))
    };
    (0..rows).map(&mut made).collect()
}

fn post(body: &str) -> (Vec<Value>, Words) {
    let row = vec![
        Value::Str(body.to_owned()),
        Value::Str("news".to_owned()),
        Value::Int(1_700_000_000),
        Value::Int(7),
    ];
    (row, analysed(body))
}
