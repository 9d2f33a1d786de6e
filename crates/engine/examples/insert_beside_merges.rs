//! How long inserts wait while segments are sealed and merged beside them; prints one line, and fails above 50 ms.
//!
//! `cargo run --release -p seine-engine --example insert_beside_merges DIR [rows]`: made-up posts of 33 words in batches of 100, one
//! after the other, in a new data directory below DIR, with seals of 4,096 rows, so that merges run all the time. What is told is
//! the whole wait of the one who inserts, the journal's sync included.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Instant;

use disk::RealDisk;
use engine::{Command, Definition, Engine, Handle, Kind, Now, Options, SearchOptions, SessionId};
use query::schema::{Column, ColumnType};
use query::value::Value;

const BATCH_ROWS: u64 = 100;
const LONGEST_US: u64 = 50_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().unwrap_or_else(|| ".".to_owned());
    let rows: u64 = arguments
        .next()
        .map_or(400_000, |rows| rows.parse().unwrap());
    let dir = Path::new(&dir).join(format!("insert-beside-merges-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let options = Options {
        seal_rows: 4_096,
        ..Options::new(Arc::new(RealDisk::open(&dir).unwrap()))
    };
    let (engine, _) = Engine::open(options, Now::default()).unwrap();
    let (handle, mailbox) = engine.mailbox();
    let begin = Instant::now();
    let clock = move || Now {
        unix_us: 0,
        steady_us: begin.elapsed().as_micros() as u64,
    };
    let thread = std::thread::spawn(move || engine.run(mailbox, clock));
    ask(&handle, create());
    let waits = (0..rows / BATCH_ROWS).map(|batch| {
        let command = insert(batch * BATCH_ROWS);
        let sent = Instant::now();
        ask(&handle, command);
        sent.elapsed().as_micros() as u64
    });
    let mut waits: Vec<u64> = waits.collect();
    waits.sort_unstable();
    let part = |permille: usize| waits[(waits.len() - 1) * permille / 1_000];
    let status = handle.status();
    println!(
        "{rows} rows, {} seals, {} merges; {BATCH_ROWS} rows wait p50 {} us, p99 {} us, p99.9 {} us, longest {} us",
        status.seals_total,
        status.segment_merges_total,
        part(500),
        part(990),
        part(999),
        part(1_000),
    );
    assert!(status.segment_merges_total > 0, "no merge ran");
    assert!(part(1_000) <= LONGEST_US, "an insert waited above 50 ms");
    ask(&handle, Command::Shutdown);
    thread.join().unwrap().unwrap();
    std::fs::remove_dir_all(dir).unwrap();
}

fn ask(handle: &Handle, command: Command) {
    let (sender, receiver) = channel();
    let reply = Box::new(move |outcome| drop(sender.send(outcome)));
    handle.submit(SessionId(1), command, reply).unwrap();
    receiver.recv().unwrap().unwrap();
}

fn create() -> Command {
    let body = Column {
        name: "body".to_owned(),
        kind: ColumnType::Text,
        nullable: true,
        default: None,
    };
    Command::CreateTable {
        definition: Definition {
            name: "posts".to_owned(),
            kind: Kind::Search(SearchOptions::default()),
            columns: vec![body],
            analysis: query::analysis::Settings::default(),
            sync: None,
            keep: None,
        },
        if_not_exists: false,
    }
}

/// Rows whose words are drawn roughly by Zipf's law.
fn insert(first: u64) -> Command {
    let row = |id: u64| {
        let mut seed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let words = (0..33).map(|_| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let part = (seed >> 11) as f64 / (1u64 << 53) as f64;
            format!("w{}", 200_000f64.powf(part) as u64)
        });
        vec![Value::Str(words.collect::<Vec<_>>().join(" "))]
    };
    Command::Insert {
        table: "posts".to_owned(),
        columns: Some(vec!["body".to_owned()]),
        rows: (first..first + BATCH_ROWS).map(row).collect(),
        replace: false,
    }
}
