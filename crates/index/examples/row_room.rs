//! The room that a table of texts takes on disk, by file and section, and what its rows cost: seals, merges, reads, deletions.
//!
//! `cargo run --release -p seine-index --example row_room -- RECORDS DIRECTORY`: RECORDS has lines of `id<TAB>text`; DIRECTORY is
//! emptied first. Prints wall-clock time and processor time of all threads. Linux only.
//!
//! Each step checks its answer: rows counted, texts compared with those that were put in.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

mod shared;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::{Disk, RealDisk};
use index::{Control, MergeRequest, Snapshot, Table, TableShape};
use language::analysis::Analyzer;
use relation::options::Options;
use relation::request::{Item, Select};
use relation::schema::ColumnType;
use relation::value::Value;
use shared::{analysed, any, column, query, select, tokens};

/// Rows in a tail before it is sealed, as in the engine.
const SEAL_ROWS: u64 = 65_536;

/// Names of the sections of the file `rows`; docs/formats/segment.md.
const SECTIONS: [(u16, &str); 25] = [
    (1, "ids"),
    (2, "row ends"),
    (3, "forward ends"),
    (5, "integers"),
    (6, "floats"),
    (7, "rows"),
    (8, "forward lists"),
    (9, "lengths"),
    (10, "key codes"),
    (11, "key docs"),
    (12, "paths"),
    (13, "path numbers"),
    (14, "path rows"),
    (15, "packed integers"),
    (16, "text places"),
    (17, "texts"),
    (18, "packed path numbers"),
    (20, "packed rows"),
    (21, "grouped ends"),
    (22, "pack dictionaries"),
    (23, "packed forward lists"),
    (24, "common words"),
    (25, "pairs, in the file positions"),
    (26, "packed ids"),
    (0, "others"),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (records, root) = (arguments.next().unwrap(), arguments.next().unwrap());
    let records = std::fs::read_to_string(records).unwrap();
    let rows: Vec<(u64, &str)> = records
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(id, text)| (id.parse().unwrap(), text))
        .collect();
    let bytes: u64 = rows.iter().map(|(_, text)| text.len() as u64).sum();
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(Path::new(&root)).unwrap());
    let mut table = Table::create(disk, "posts", shape()).unwrap();
    let mut seals = Spent::default();
    for (id, text) in &rows {
        let row = relation::row::encode(&[Value::Str((*text).to_owned())]);
        table.insert(*id, row, &analysed(text)).unwrap();
        if table.tail().rows >= SEAL_ROWS {
            seals.add(|| seal(&mut table));
        }
    }
    seals.add(|| seal(&mut table));
    seals.print("seals", rows.len());
    read(&mut table, &rows);
    merge(&mut table, "first merge", &rows);
    room(&root, bytes);
    read(&mut table, &rows);
    delete(&mut table, &rows);
    merge(&mut table, "second merge, a hundredth deleted", &rows);
}

fn shape() -> TableShape {
    TableShape {
        columns: vec![column("body", ColumnType::Text)],
        analyzer: Analyzer::default(),
        shards: 1,
    }
}

/// Time by the clock, and processor time of all threads.
#[derive(Default)]
struct Spent {
    clock: Duration,
    processor: Duration,
}

impl Spent {
    fn add<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (start, processor) = (Instant::now(), processor_time());
        let done = work();
        self.clock += start.elapsed();
        self.processor += processor_time() - processor;
        done
    }

    fn print(&self, what: &str, count: usize) {
        let us = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
        println!(
            "{what}: {:.3} us each by the clock, {:.3} us of processors",
            us(self.clock),
            us(self.processor)
        );
    }
}

/// Processor time of this process. Linux only; 100 ticks a second.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split(' ').collect();
    let ticks: u64 = fields[12].parse::<u64>().unwrap() + fields[13].parse::<u64>().unwrap();
    Duration::from_millis(10 * ticks)
}

fn seal(table: &mut Table) {
    let position = table.files().position + 1;
    let Some(job) = table.freeze(position) else {
        return;
    };
    table.install(job.run().unwrap()).unwrap();
    table.remove_unused().unwrap();
}

fn merge(table: &mut Table, what: &str, rows: &[(u64, &str)]) {
    seal(table);
    let mut spent = Spent::default();
    table.optimize();
    while let Some(job) = table.merge_job(MergeRequest::default()) {
        let merged = spent.add(|| job.run().unwrap());
        table.install_merged(merged).unwrap();
        table.remove_unused().unwrap();
    }
    spent.print(what, rows.len());
}

/// Reads rows by their ids, rows of searches, and the ids and weights of the same.
fn read(table: &mut Table, rows: &[(u64, &str)]) {
    let snapshot = table.snapshot();
    let mut seed = 7usize;
    let mut any_row = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        rows[(seed >> 33) % rows.len()]
    };
    for is_told in [false, true] {
        let mut spent = Spent::default();
        spent.add(|| {
            for _ in 0..100_000 {
                let (id, text) = any_row();
                let row = snapshot.get(id).unwrap().unwrap();
                assert_eq!(row, [Value::Str(text.to_owned())]);
            }
        });
        if is_told {
            spent.print("  row by id", 100_000); // the second time its pages are mapped
        }
    }
    let star = Select {
        items: vec![Item::Star],
        ..select(true, None, 100, "bm25")
    };
    let ids = select(true, None, 100, "bm25");
    let texts = (0..200)
        .map(|_| tokens(any_row().1))
        .filter(|words| words.len() > 12);
    let queries: Vec<_> = texts.map(|words| query(any(&words[3..6]))).collect();
    let mut sums = BTreeMap::new();
    let mut spent = [Spent::default(), Spent::default()];
    for turn in 0..6 {
        for (at, select) in [&star, &ids].into_iter().enumerate() {
            let mut ignored = Spent::default();
            let spent = if turn == 0 {
                &mut ignored
            } else {
                &mut spent[at]
            };
            let sum: usize = spent.add(|| {
                let found = queries.iter().map(|query| ask(&snapshot, select, query));
                found.sum()
            });
            assert_eq!(*sums.entry(at).or_insert(sum), sum);
        }
    }
    spent[0].print("  SELECT * of 100 rows of an OR", 5 * queries.len());
    spent[1].print("  SELECT id, weight() of them", 5 * queries.len());
}

/// Number of values of the answer.
fn ask(snapshot: &Arc<Snapshot>, select: &Select, query: &language::tree::Query) -> usize {
    let bound = snapshot.bind(select, &Options::default()).unwrap();
    let answer = snapshot.search(&bound, Some(query), &Control::default());
    answer.unwrap().rows.map(|row| row.unwrap().len()).sum()
}

/// Deletes one row in a hundred.
fn delete(table: &mut Table, rows: &[(u64, &str)]) {
    let mut spent = Spent::default();
    let gone = rows.iter().step_by(100);
    spent.add(|| {
        for (id, _) in gone.clone() {
            assert!(table.delete(*id).unwrap());
        }
    });
    spent.print("  deletion", gone.count());
}

/// Prints the bytes of all files below `root`, and of the sections of the files `rows`.
fn room(root: &str, text_bytes: u64) {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for segment in std::fs::read_dir(format!("{root}/posts")).unwrap() {
        for file in std::fs::read_dir(segment.unwrap().path()).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            *sums.entry(name.clone()).or_default() += file.metadata().unwrap().len();
            if name == "commit" {
                sections(&std::fs::read(file.path()).unwrap(), &mut sums);
            }
        }
    }
    let mut total = 0;
    for (name, bytes) in &sums {
        total += if name.starts_with(' ') { 0 } else { *bytes };
        println!(
            "{name:24} {bytes:12} bytes, {:.3} a byte of text",
            *bytes as f64 / text_bytes as f64
        );
    }
    println!(
        "all files {total} bytes, {:.3} a byte of text",
        total as f64 / text_bytes as f64
    );
}

/// Adds the sections that a commit lists.
fn sections(commit: &[u8], sums: &mut BTreeMap<String, u64>) {
    let number = |at: usize, bytes: usize| {
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(&commit[at..at + bytes]);
        u64::from_le_bytes(number)
    };
    for at in (0..number(41, 4) as usize).map(|section| 45 + 20 * section) {
        let kind = number(at, 2) as u16;
        let named = SECTIONS.iter().find(|(known, _)| *known == kind);
        let (_, name) = named.unwrap_or(&SECTIONS[SECTIONS.len() - 1]);
        *sums.entry(format!("  rows: {name}")).or_default() += number(at + 12, 8);
    }
}
