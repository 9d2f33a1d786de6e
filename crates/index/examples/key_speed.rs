//! Look-ups of one row by a KEY beside those by id, on one thread.
//!
//! `cargo run --release -p seine-index --example key_speed -- [rows] [segments]`: rows of three integers and two texts, an integer
//! and a text with a KEY, and the same two without one. Each kind of look-up is asked for the same rows, in an order without a
//! pattern; each must give one row. Prints microseconds a look-up, the median of five rounds, and the time beside that by id.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

mod shared;

use std::sync::Arc;

use disk::MemoryDisk;
use index::{Control, Snapshot, Table, TableShape};
use language::analysis::{Analyzer, Words};
use relation::expression;
use relation::lexer::Lexer;
use relation::schema::{Column, ColumnType};
use relation::value::Value;
use shared::{column, cpu_time, search, select};

/// Look-ups of one kind in a round.
const LOOK_UPS: u64 = 2_000;
/// Rounds of each kind; scans take one.
const ROUNDS: usize = 5;
/// Look-ups in a round of scans.
const SCANS: u64 = 5;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        arguments
            .next()
            .map_or(default, |text| text.parse().unwrap())
    };
    let (rows, segments) = (number(1_900_000), number(1));
    let snapshot = build(rows, segments);
    println!("{rows} rows, {segments} segments; µs a look-up");
    let by_id = measure(&snapshot, rows, "id = {}", LOOK_UPS);
    for (condition, look_ups) in [
        ("id = {}", LOOK_UPS),
        ("keyed = {}", LOOK_UPS),
        ("keyed_text = 'USER{}@x'", LOOK_UPS),
        ("keyed = {} AND plain >= 0", LOOK_UPS),
        ("plain = {}", SCANS),
        ("plain_text = 'USER{}@x'", SCANS),
    ] {
        let took = measure(&snapshot, rows, condition, look_ups);
        println!("{condition:28} {took:12.2} {:10.2} × id", took / by_id);
    }
}

/// Rows with id 1 to `rows`; the other columns have a number of the same range, in another order.
fn build(rows: u64, segments: u64) -> Arc<Snapshot> {
    let keyed = |name: &str, kind| Column {
        keyed: true,
        ..column(name, kind)
    };
    let shape = TableShape {
        columns: vec![
            keyed("keyed", ColumnType::Bigint),
            column("plain", ColumnType::Bigint),
            keyed("keyed_text", ColumnType::String),
            column("plain_text", ColumnType::String),
        ],
        analyzer: Analyzer::default(),
        shards: 1,
    };
    let mut table = Table::create(Arc::new(MemoryDisk::new()), "t", shape).unwrap();
    let sealed_at = rows.div_ceil(segments);
    let words = Words::new();
    for id in 1..=rows {
        let number = shuffled(id, rows);
        let text = Value::Str(format!("user{number}@x"));
        let number = Value::Int(number.into());
        let row = [number.clone(), number, text.clone(), text];
        let row = relation::row::encode(&row);
        table.insert(id, row, &words).unwrap();
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

/// A number of 0 to `rows` - 1 for each `n` of as many neighbours: each once if `rows` has no factor with the prime.
fn shuffled(n: u64, rows: u64) -> u64 {
    n.wrapping_mul(15_485_863) % rows
}

/// Median of the rounds, in microseconds a look-up.
fn measure(snapshot: &Arc<Snapshot>, rows: u64, condition: &str, look_ups: u64) -> f64 {
    let rounds = if look_ups == LOOK_UPS { ROUNDS } else { 1 };
    let control = Control::default();
    let mut took = Vec::new();
    for round in 0..rounds as u64 {
        let begun = cpu_time();
        for at in 0..look_ups {
            let wanted = 1 + shuffled(at * 7_919 + round, rows - 1);
            let condition = condition.replace("{}", &wanted.to_string());
            let filter = expression::parse(&mut Lexer::new(condition.as_bytes())).unwrap();
            let answer = search(
                snapshot,
                &select(false, Some(filter), 20, "none"),
                None,
                &control,
            );
            assert_eq!(
                answer.unwrap().rows.map(Result::unwrap).count(),
                1,
                "{condition}"
            );
        }
        took.push((cpu_time() - begun).as_secs_f64() * 1e6 / look_ups as f64);
    }
    took.sort_by(f64::total_cmp);
    took[rounds / 2]
}
