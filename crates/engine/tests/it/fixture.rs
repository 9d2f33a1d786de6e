//! A data directory of every format version stays here and must open.

use std::path::Path;
use std::sync::Arc;

use disk::{Disk, FaultDisk, MemoryDisk, RealDisk, at_random, everything_kept, everything_lost};
use engine::{Command, Now, Options, Write};

use crate::driver::{Driver, options};
use crate::scripts::{show, show_answer};
use crate::statement::{Statement, command, options_of, parse};
use crate::workload::every;

/// The statements that made a directory of one version: tables of every kind, with files of every kind, and records above them.
struct Written {
    folder: &'static str,
    schema: &'static [&'static str],
    folded: &'static [&'static str],
    above: &'static [&'static str],
    /// Statements that show all content.
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

/// A relayed row, a dropped column, a pause, a returned row, keys, and rows that a group has ended.
const FORMAT_4: Written = Written {
    folder: "data-v4",
    schema: &[
        "create queue plain (id int, junk int, note text)",
        "create queue work (id int, note text) groups a, b unique id",
        "create queue tried (id int) tries 3",
    ],
    folded: &[
        "source 3 7",
        "insert plain (id, junk, note) values (1, 10, 'one'), (2, 20, NULL)",
        "drop_column plain junk",
        "insert work (id, note) values (1, 'one'), (2, 'two'), (1, 'again')",
        "lease work a",
        "done work a 1 table 2",
        "insert tried (id) values (1), (2)",
        "lease tried none",
        "return tried none 1 table 3",
    ],
    above: &[
        "insert plain (id, note) values (3, 'three')",
        "source 3 9",
        "insert plain (id, note) values (4, 'four')",
        "lease work b",
        "done work b 1 table 2",
        "insert work (id, note) values (2, 'again'), (3, 'three')",
        "pause plain",
        "lease tried none",
        "return tried none 2 table 3",
    ],
    reads: &["read * from plain", "read * from work", "read * from tried"],
};

/// Segments of format 2: sealed, merged, with deleted rows, in shards.
const FORMAT_5: Written = Written {
    folder: "data-v5",
    schema: &[
        "create search posts (body text, title text, n int)",
        "create search spread (body text, n int) shards 3",
    ],
    folded: &[
        "insert posts (id, body, title, n) values (1, 'star wars', 'film', 1), (2, 'cat cat dog', 'pets', 2), (3, 'dog', NULL, 3)",
        "insert spread (id, body, n) values (1, 'cat', 1), (2, 'dog', 2), (3, 'cat dog', 3), (4, 'owl', 4), (5, 'cat', 5)",
        "checkpoint",
        "insert posts (id, body, title, n) values (4, 'cat', 'star wars', -4), (5, 'cow', 'cat', 5), (6, 'a b c d e f', '', 6)",
        "insert posts (id, body, n) values (7, 'cat', 7), (8, 'cat', 8)",
        "checkpoint",
        "delete posts where id = 1",
        "replace spread (id, body, n) values (3, 'owl owl', 30)",
        "checkpoint",
        "delete posts where id = 4",
    ],
    above: &[
        "insert posts (id, body, title, n) values (9, 'star', 'wars', 9)",
        "delete posts where id = 2",
        "replace spread (id, body, n) values (4, 'cat', 40)",
    ],
    reads: &[
        "select *, weight from posts match 'cat | star' limit 1000",
        "select id from posts match '\"star wars\"' limit 1000",
        "select * from posts order by id limit 1000000",
        "select *, weight from spread match 'cat | owl' limit 1000",
        "select * from spread order by id limit 1000000",
    ],
};

/// A table that knows sentences, from before their ends took a position.
const ANALYSIS_OF_FORMAT_5: Written = Written {
    folder: "data-v5-analysis",
    schema: &[
        "create search posts (body text, n int) with morphology 'stem_en' with index_sp '1'",
        "create queue hits (query_id bigint, doc_id bigint)",
        "create pq alerts on posts into hits",
    ],
    folded: &[
        "insert posts (id, body) values (1, 'Generously given. Thanks'), (2, 'at Corp. headquarters')",
        "insert alerts (id, query) values (1, 'general'), (2, '\"given thanks\"'), (3, 'generous')",
        "insert alerts (id, query) values (4, 'alpha NEAR/ 3 beta'), (5, '\"a b\"~x')",
    ],
    above: &["insert posts (id, body) values (3, 'she gave generously. Thanks')"],
    reads: &[
        "select id from posts match 'general' limit 10",
        "select id from posts match 'generous' limit 10",
        "select id from posts match '\"given thanks\"' limit 10",
        "select id from posts match 'corp SENTENCE headquarters' limit 10",
        "read * from hits",
    ],
};

/// All kinds of tables, as the version before collected messages wrote them.
const FORMAT_6: Written = Written {
    folder: "data-v6",
    schema: &[
        "create search posts (body text, n int)",
        "create queue hits (query_id bigint, doc_id bigint)",
        "create pq alerts on posts into hits",
        "create queue jobs (id int)",
    ],
    folded: &[
        "insert alerts (id, query) values (1, 'star wars'), (2, 'cat')",
        "insert posts (id, body, n) values (1, 'star wars', 1), (2, 'cat cat dog', 2), (3, 'dog', 3)",
        "insert jobs (id) values (1), (2), (3)",
        "checkpoint",
        "delete posts where id = 1",
        "delete jobs where id = 2",
    ],
    above: &[
        "insert posts (id, body, n) values (4, 'a cat', 4)",
        "insert jobs (id) values (4)",
    ],
    reads: &[
        "select *, weight from posts match 'cat | star' limit 1000",
        "select * from posts order by id limit 1000000",
        "read * from hits",
        "read * from jobs",
    ],
};

/// Standing queries and units, as the version before messages in units wrote them.
const FORMAT_7: Written = Written {
    folder: "data-v7",
    schema: &[
        "create search posts (body text, n int)",
        "create queue hits (query_id bigint, doc_id bigint)",
        "create pq alerts on posts into hits",
        "create pq asked (body text)",
    ],
    folded: &[
        "insert alerts (id, query) values (1, 'star wars'), (2, 'cat')",
        "insert asked (id, query) values (1, 'dog')",
        "many insert posts (id, body, n) values (1, 'star wars', 1); insert alerts (id, query) values (3, 'dog')",
        "checkpoint",
        "insert posts (id, body, n) values (2, 'cat cat dog', 2), (3, 'dog', 3)",
    ],
    above: &[
        "many delete posts where id = 3; insert posts (id, body, n) values (4, 'a cat', 4)",
        "insert asked (id, query) values (2, 'cat')",
    ],
    reads: &[
        "select * from posts order by id limit 1000000",
        "select id, query, hits from alerts",
        "select id, query from asked",
        "read * from hits",
    ],
};

/// Rows, deletions and columns, as the version before UPDATE, KEY and RENAME wrote them.
const FORMAT_8: Written = Written {
    folder: "data-v8",
    schema: &[
        "create search posts (body text, n int, s string, f float)",
        "create queue hits (query_id bigint, doc_id bigint, n bigint)",
        "create pq alerts on posts into hits",
        "create queue jobs (id int, label varchar(9))",
    ],
    folded: &[
        "insert alerts (id, query) values (1, 'star wars'), (2, 'cat')",
        "insert posts (id, body, n, s, f) values (1, 'star wars', 1, 'a', 1.5), (2, 'cat cat', 2, 'b', 2.5), (3, 'dog', 3, 'c', 0)",
        "insert jobs (id, label) values (1, 'x'), (2, 'y')",
        "checkpoint",
        "delete posts where id = 1",
        "insert posts (id, body, n, s, f) values (4, 'a cat', 4, 'd', 4.5)",
    ],
    above: &[
        "replace posts (id, body, n, s, f) values (2, 'cat dog', 5, 'e', 0)",
        "many delete jobs where id = 1; insert jobs (id, label) values (3, 'z')",
    ],
    reads: &[
        "select *, weight from posts match 'cat | dog' limit 1000",
        "select * from posts order by id limit 1000000",
        "select id, query, hits from alerts",
        "read * from hits",
        "read * from jobs",
    ],
};

/// Files of every kind, as the version before second copies and blocks of queries wrote them.
const FORMAT_9: Written = Written {
    folder: "data-v9",
    schema: &[
        "create search posts (body text, n int, s string, f float)",
        "create queue hits (query_id bigint, doc_id bigint, n bigint)",
        "create pq alerts on posts into hits",
        "create queue jobs (id int, label varchar(9))",
    ],
    folded: &[
        "insert alerts (id, query) values (1, 'star wars'), (2, 'cat'), (3, 'dog'), (4, 'cow'), (5, 'hen'), (6, 'owl')",
        "insert posts (id, body, n, s, f) values (1, 'star wars', 1, 'a', 1.5), (2, 'cat cat', 2, 'b', 2.5), (3, 'dog', 3, 'c', 0)",
        "insert posts (id, body, n, s, f) values (4, 'a cat', 4, 'd', 4.5), (5, 'cow hen', 5, 'e', 5.5)",
        "insert jobs (id, label) values (1, 'x'), (2, 'y'), (3, 'z')",
        "checkpoint",
        "replace alerts (id, query) values (3, 'big dog')",
        "delete posts where id = 1",
        "update posts set n = n + 10, s = 'changed' where n > 2",
        "delete jobs where id = 2",
        "insert jobs (id, label) values (4, 'w'), (5, 'v')",
    ],
    above: &[
        "update posts set f = 9 where id = 2",
        "insert posts (id, body, n, s, f) values (9, 'owl cat', 9, 'i', 0)",
        "delete alerts where id = 1",
        "many delete jobs where id = 1; insert jobs (id, label) values (6, 'u')",
    ],
    reads: &[
        "select *, weight from posts match 'cat | dog' limit 1000",
        "select * from posts order by id limit 1000000",
        "select id, query, hits from alerts",
        "read * from hits",
        "read * from jobs",
    ],
};

/// Everything that the tables hold.
fn dump(driver: &mut Driver, written: &Written) -> Vec<Vec<String>> {
    let mut shown = |line: &&str| match parse(line) {
        Statement::Select(select) => show_answer(
            driver
                .handle
                .snapshot()
                .select(&select, &options_of(&select), &engine::Control::default())
                .unwrap(),
        )
        .unwrap(),
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
                for piece in snapshot
                    .backfill(&table, query, days, driver.now, &Arc::default())
                    .unwrap()
                {
                    driver.run(Command::Write(Write::Backfill(piece))).unwrap();
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
    let is_record = |line: &&&str| !line.starts_with("lease") && !line.starts_with("source");
    let records = written.above.iter().filter(is_record).count();
    assert!(driver.recovered.records_replayed >= records as u64);
    assert_eq!(dump(&mut driver, written), want);
}

/// The directory is opened, written to and folded by this build, and the power goes in any call of that.
fn check_written_to(written: &Written, further: &[&str]) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(written.folder);
    let image = MemoryDisk::new();
    load(&image, &fixture, "");
    let open = |disk: &FaultDisk| Driver::open(small(Arc::new(disk.clone())), Now::default());
    let run = |disk: &FaultDisk| {
        let Ok(mut driver) = open(disk) else {
            return Vec::new();
        };
        let mut states = vec![dump(&mut driver, written)];
        for line in further {
            if driver.run(command(line)).is_err() {
                break;
            }
            states.push(dump(&mut driver, written));
        }
        states
    };
    let disk = FaultDisk::over(&image);
    let states = run(&disk);
    assert_eq!(states.len(), further.len() + 1, "all is taken");
    for cut in (0..disk.change_count()).step_by(every(5)) {
        let disk = FaultDisk::over(&image);
        disk.power_off_after(cut);
        let acknowledged = run(&disk).len().max(1);
        for crashed in [
            disk.crash(everything_lost),
            disk.crash(everything_kept),
            disk.crash(at_random(cut)),
        ] {
            let mut driver = open(&FaultDisk::over(&crashed)).unwrap();
            let found = dump(&mut driver, written);
            let may_be = states.iter().skip(acknowledged - 1).take(2);
            assert!(
                may_be.clone().any(|state| *state == found),
                "{} cut {cut}: {found:?} is none of {:?}",
                written.folder,
                may_be.collect::<Vec<_>>()
            );
            let mut driver = driver.reopen().unwrap();
            assert_eq!(dump(&mut driver, written), found, "the second opening");
        }
    }
}

#[test]
fn directories_of_all_formats_may_be_written_to_and_lose_power_at_any_time() {
    check_written_to(
        &FORMAT_1,
        &[
            "insert alerts (id, query) values (20, 'cat'), (21, 'dog')",
            "insert posts (id, body, n) values (20, 'cat dog', 1)",
            "checkpoint",
            "replace alerts (id, query) values (20, 'cow')",
            "delete alerts where id = 7",
            "checkpoint",
            "insert posts (id, body, n) values (21, 'cow', 1)",
        ],
    );
    check_written_to(
        &FORMAT_2,
        &[
            "insert news (body, n) values ('a dog', 6), ('big cat', 7)",
            "checkpoint",
            "replace alerts (id, query) values (1, 'cow')",
            "many insert alerts (id, query) values (9, 'elk'); insert posts (id, body, n) values (21, 'cow elk', 1)",
            "delete alerts",
            "checkpoint",
            "insert alerts (query) values ('big')",
        ],
    );
    check_written_to(
        &FORMAT_3,
        &[
            "delete alerts where id = 1",
            "checkpoint",
            "insert alerts (id, query) values (1, 'cow'), (30, 'ape')",
            "checkpoint",
            "delete alerts",
            "checkpoint",
            "insert alerts (query) values ('big')",
        ],
    );
    check_written_to(
        &FORMAT_4,
        &[
            "insert work (id, note) values (3, 'again'), (4, 'four')",
            "source 3 9",
            "insert plain (id, note) values (5, 'known already')",
            "checkpoint",
            "lease work a",
            "done work a 2 table 2",
            "checkpoint",
        ],
    );
    check_written_to(
        &FORMAT_5,
        &[
            "delete posts where id = 5",
            "insert spread (id, body, n) values (6, 'cat', 6)",
            "checkpoint",
            "replace posts (id, body, n) values (3, 'cat', 3)",
            "delete spread where n < 4",
            "checkpoint",
        ],
    );
}

#[test]
fn a_directory_of_format_6_opens_to_what_was_in_it() {
    check(&FORMAT_6);
}

#[test]
fn a_directory_of_format_7_opens_to_what_was_in_it() {
    check(&FORMAT_7);
}

#[test]
fn a_directory_of_format_8_opens_to_what_was_in_it() {
    check(&FORMAT_8);
}

#[test]
fn a_directory_of_format_9_opens_to_what_was_in_it() {
    check(&FORMAT_9);
}

#[test]
fn files_of_format_9_are_written_anew_by_folds() {
    let further = [
        "update posts set n = n + 1 where n > 2",
        "replace alerts (id, query) values (2, 'cat cow'), (7, 'elk')",
        "insert jobs (id, label) values (7, 't')",
        "checkpoint",
        "delete alerts where id = 4",
        "delete posts where id = 3",
        "checkpoint",
    ];
    check_written_to(&FORMAT_9, &further);
}

#[test]
fn rows_of_format_8_are_updated() {
    let further = [
        "update posts set n = n + 1, s = 'changed' where n > 2",
        "insert posts (id, body, n, s, f) values (9, 'cat', 9, 'i', 0)",
        "checkpoint",
        "update posts set f = 7 match 'cat'",
    ];
    check_written_to(&FORMAT_8, &further);
}

#[test]
fn a_directory_of_format_5_opens_to_what_was_in_it() {
    check(&FORMAT_5);
}

#[test]
fn a_directory_of_format_4_opens_to_what_was_in_it() {
    check(&FORMAT_4);
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

/// The last record but one says that segment-00000001 went, the last inserts one of its ids again; no manifest followed.
#[test]
fn segments_that_an_older_record_names_go_with_their_rows() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/data-v5-retention");
    let disk = MemoryDisk::new();
    load(&disk, &fixture, "");
    let mut driver = Driver::open(small(Arc::new(disk)), Now::default()).unwrap();
    assert_eq!(driver.recovered.records_replayed, 2);
    for _ in 0..2 {
        let read = parse("select id, body from posts order by id limit 10");
        let Statement::Select(select) = read else {
            panic!("a SELECT")
        };
        let (options, control) = (options_of(&select), engine::Control::default());
        let rows = driver.handle.snapshot().select(&select, &options, &control);
        let rows = show_answer(rows.unwrap()).unwrap();
        assert_eq!(rows.get(1..).unwrap(), ["1 | again", "4 | a", "5 | b"]);
        driver = driver.reopen().unwrap();
    }
}

#[test]
fn a_table_that_exists_keeps_its_stems_and_the_positions_of_its_sentences() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(ANALYSIS_OF_FORMAT_5.folder);
    let disk = MemoryDisk::new();
    load(&disk, &fixture, "");
    let mut driver = Driver::open(small(Arc::new(disk)), Now::default()).unwrap();
    let found = |driver: &mut Driver| {
        let dumped = dump(driver, &ANALYSIS_OF_FORMAT_5);
        let selects = dumped.iter().take(4).map(|rows| rows[1..].join(" "));
        selects.collect::<Vec<_>>()
    };
    // Words, neighbours across the end of a sentence, and an abbreviation that ends one.
    assert_eq!(found(&mut driver), ["", "1 3", "1", ""]);
    driver
        .run(command("insert posts (id, body) values (4, 'generously given. Thanks'), (5, 'at Corp. headquarters')"))
        .unwrap();
    assert_eq!(found(&mut driver), ["", "1 3 4", "1 4", ""]);
    driver.run(command("checkpoint")).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(found(&mut driver), ["", "1 3 4", "1 4", ""]);
    // The same statements make a table of today's rules.
    let mut driver = Driver::open(small(Arc::new(MemoryDisk::new())), Now::default()).unwrap();
    for line in &ANALYSIS_OF_FORMAT_5.schema[..1] {
        driver.run(command(line)).unwrap();
    }
    driver
        .run(command("insert posts (id, body) values (4, 'generously given. Thanks'), (5, 'at Corp. headquarters')"))
        .unwrap();
    let reads = &ANALYSIS_OF_FORMAT_5.reads[2..4];
    let shown = reads.iter().map(|line| match parse(line) {
        Statement::Select(select) => {
            let snapshot = driver.handle.snapshot();
            let answer =
                snapshot.select(&select, &options_of(&select), &engine::Control::default());
            show_answer(answer.unwrap()).unwrap()[1..].join(" ")
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(shown.collect::<Vec<_>>(), ["", "5"]);
}
