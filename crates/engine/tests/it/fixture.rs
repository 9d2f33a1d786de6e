//! A data directory of every format version stays here and must open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, MemoryDisk, RealDisk};
use engine::{Now, Options};

use crate::driver::{Driver, options};
use crate::scripts::{show, show_answer};
use crate::statement::{Statement, command, parse};

/// Tables of every kind, with files of every kind, and records above them.
const FOLDED: [&str; 4] = [
    "insert alerts (id, query, tags) values (1, 'cat -dog', 'pets'), (7, '\"star wars\" | trek', 'film')",
    "insert posts (id, body, n) values (1, 'cat', 1), (2, 'star wars, cat', 4000000000), (3, 'dog', 0)",
    "insert jobs (id) values (1), (2), (3)",
    "delete jobs where id = 2",
];
const ABOVE: [&str; 5] = [
    "replace posts (id, body, n) values (2, 'trek', 2)",
    "delete posts where id = 3",
    "insert posts (body) values ('a cat again')",
    "many insert jobs (id) values (4); delete jobs where id = 1; delete alerts where id = 1",
    "insert alerts (query) values ('mouse')",
];

const SCHEMA: [&str; 4] = [
    "create search posts (body text, n int)",
    "create queue hits (query_id bigint, doc_id bigint, body text, n bigint)",
    "create pq alerts on posts into hits",
    "create queue jobs (id int)",
];

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/data-v1")
}

/// Everything that the tables hold.
fn dump(driver: &mut Driver) -> Vec<Vec<String>> {
    let lines = [
        "select id, body, n from posts order by id limit 1000000",
        "read * from alerts",
        "read * from hits",
        "read * from jobs",
    ];
    let mut shown = |line| match parse(line) {
        Statement::Select(select) => {
            show_answer(driver.handle.snapshot().select(&select).unwrap()).unwrap()
        }
        Statement::Command(command) => show(driver.run(command)),
        other => panic!("{other:?}"),
    };
    lines.iter().map(|line| shown(line)).collect()
}

/// Small segments: the journal's files are committed with their zeroes.
fn small(disk: Arc<dyn Disk>) -> Options {
    Options {
        journal_segment_bytes: 32 << 10,
        ..options(disk)
    }
}

fn build(disk: Arc<dyn Disk>) -> Vec<Vec<String>> {
    let mut driver = Driver::open(small(disk), Now::default()).unwrap();
    for line in SCHEMA
        .iter()
        .chain(&FOLDED)
        .chain(&["checkpoint"])
        .chain(&ABOVE)
    {
        driver.run(command(line)).unwrap();
    }
    dump(&mut driver)
}

/// Copies files and folders of the real directory; the disk's own test is elsewhere.
fn load(disk: &dyn Disk, from: &Path, to: &str) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if to.is_empty() {
            name
        } else {
            format!("{to}/{name}")
        };
        if entry.file_type().unwrap().is_dir() {
            disk.create_dir(&path).unwrap();
            load(disk, &entry.path(), &path);
        } else {
            let bytes = std::fs::read(entry.path()).unwrap();
            disk.create(&path).unwrap().write_at(0, &bytes).unwrap();
        }
    }
}

#[test]
fn a_directory_of_format_1_opens_to_what_was_in_it() {
    let want = build(Arc::new(MemoryDisk::new()));
    if std::env::var_os("SEINE_UPDATE").is_some() && !fixture().exists() {
        std::fs::create_dir_all(fixture()).unwrap();
        build(Arc::new(RealDisk::open(&fixture()).unwrap()));
        std::fs::remove_file(fixture().join("lock")).unwrap();
    }
    let disk = MemoryDisk::new();
    load(&disk, &fixture(), "");
    let mut driver = Driver::open(small(Arc::new(disk)), Now::default()).unwrap();
    assert!(driver.recovered.records_replayed >= ABOVE.len() as u64);
    assert_eq!(dump(&mut driver), want);
}
