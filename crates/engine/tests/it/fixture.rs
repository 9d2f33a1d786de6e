//! A data directory of every format version stays here and must open.

use std::path::Path;
use std::sync::Arc;

use disk::{Disk, MemoryDisk, RealDisk};
use engine::{Command, Now, Options};

use crate::driver::{Driver, options};
use crate::scripts::{show, show_answer};
use crate::statement::{Statement, parse};

/// What a directory of one version was made of: tables of every kind, with files of every kind, and records above them.
struct Written {
    folder: &'static str,
    schema: &'static [&'static str],
    folded: &'static [&'static str],
    above: &'static [&'static str],
    /// What shows everything.
    reads: &'static [&'static str],
}

const FORMAT_1: Written = Written {
    folder: "data-v1",
    schema: &[
        "create search posts (body text, n int)",
        "create queue hits (query_id bigint, doc_id bigint, body text, n bigint)",
        "create pq alerts on posts into hits",
        "create queue jobs (id int)",
    ],
    folded: &[
        "insert alerts (id, query, tags) values (1, 'cat -dog', 'pets'), (7, '\"star wars\" | trek', 'film')",
        "insert posts (id, body, n) values (1, 'cat', 1), (2, 'star wars, cat', 4000000000), (3, 'dog', 0)",
        "insert jobs (id) values (1), (2), (3)",
        "delete jobs where id = 2",
    ],
    above: &[
        "replace posts (id, body, n) values (2, 'trek', 2)",
        "delete posts where id = 3",
        "insert posts (body) values ('a cat again')",
        "many insert jobs (id) values (4); delete jobs where id = 1; delete alerts where id = 1",
        "insert alerts (query) values ('mouse')",
    ],
    reads: &[
        "select id, body, n from posts order by id limit 1000000",
        "read * from alerts",
        "read * from hits",
        "read * from jobs",
    ],
};

/// Filters, sources, counts, two tables listened to, a log that is heard, a backfill.
const FORMAT_2: Written = Written {
    folder: "data-v2",
    schema: &[
        "create search posts (body text, n int)",
        "create search news (n int, body text)",
        "create search log (query_id bigint, doc_id bigint, body text)",
        "create queue calls (query_id bigint, query text, doc_id bigint)",
        "create pq alerts on posts, news into log",
        "create pq loud on log into calls",
    ],
    folded: &[
        "insert alerts (id, query, filters, source) values (1, 'cat', 'n > 5', ''), (7, 'dog', '', '{}')",
        "insert loud (query) values ('big')",
        "insert posts (id, body, n) values (1, 'big cat', 6), (2, 'cat', 5), (3, 'dog', 0)",
        "insert news (body, n) values ('big dog', 6)",
    ],
    above: &[
        "insert news (body, n) values ('a dog', 6), ('a cat', 7)",
        "replace alerts (id, query) values (7, 'big')",
        "backfill alerts 7",
        "delete log where doc_id = 1",
    ],
    reads: &[
        "select * from posts order by id limit 1000000",
        "select * from news order by id limit 1000000",
        "select * from log order by id limit 1000000",
        "select id, query, tags, filters, hits, last_hit, source from alerts",
        "select id, query, hits from loud",
        "read * from calls",
    ],
};

/// A base of queries with a file of changes above it.
const FORMAT_3: Written = Written {
    folder: "data-v3",
    schema: &["create pq alerts (body text)"],
    folded: &[
        "insert alerts (id, query) values (1, 'cat'), (2, 'dog'), (3, 'cow'), (4, 'hen'), (5, 'pig'), (6, 'fox')",
        "insert alerts (id, query) values (7, 'owl'), (8, 'elk')",
        "checkpoint",
        "replace alerts (id, query) values (2, 'big dog')",
        "delete alerts where id = 3",
    ],
    above: &["delete alerts where id = 4"],
    reads: &["select id, query from alerts"],
};

/// Everything that the tables hold.
fn dump(driver: &mut Driver, written: &Written) -> Vec<Vec<String>> {
    let mut shown = |line: &&str| match parse(line) {
        Statement::Select(select) => {
            show_answer(driver.handle.snapshot().select(&select).unwrap()).unwrap()
        }
        Statement::Command(command) => show(driver.run(command)),
        other => panic!("{other:?}"),
    };
    written.reads.iter().map(&mut shown).collect()
}

/// Small segments: the journal's files are committed with their zeroes.
fn small(disk: Arc<dyn Disk>) -> Options {
    Options {
        journal_segment_bytes: 32 << 10,
        ..options(disk)
    }
}

fn build(disk: Arc<dyn Disk>, written: &Written) -> Vec<Vec<String>> {
    let mut driver = Driver::open(small(disk), Now::default()).unwrap();
    let lines = written.schema.iter().chain(written.folded);
    for line in lines.chain(&["checkpoint"]).chain(written.above) {
        match parse(line) {
            Statement::Command(command) => drop(driver.run(command).unwrap()),
            Statement::Backfill(table, query, days) => {
                let snapshot = driver.handle.snapshot();
                for piece in snapshot.backfill(&table, query, days, driver.now).unwrap() {
                    driver.run(Command::Backfill(piece)).unwrap();
                }
            }
            other => panic!("{other:?}"),
        }
    }
    dump(&mut driver, written)
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

/// `SEINE_UPDATE=1` writes a fixture that is not there.
fn check(written: &Written) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(written.folder);
    let want = build(Arc::new(MemoryDisk::new()), written);
    if std::env::var_os("SEINE_UPDATE").is_some() && !fixture.exists() {
        std::fs::create_dir_all(&fixture).unwrap();
        build(Arc::new(RealDisk::open(&fixture).unwrap()), written);
        std::fs::remove_file(fixture.join("lock")).unwrap();
    }
    let disk = MemoryDisk::new();
    load(&disk, &fixture, "");
    let mut driver = Driver::open(small(Arc::new(disk)), Now::default()).unwrap();
    assert!(driver.recovered.records_replayed >= written.above.len() as u64);
    assert_eq!(dump(&mut driver, written), want);
}

#[test]
fn a_directory_of_format_1_opens_to_what_was_in_it() {
    check(&FORMAT_1);
}

#[test]
fn a_directory_of_format_2_opens_to_what_was_in_it() {
    check(&FORMAT_2);
}

#[test]
fn a_directory_of_format_3_opens_to_what_was_in_it() {
    check(&FORMAT_3);
}
