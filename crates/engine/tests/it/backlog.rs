//! A queue that is far longer than memory. `SEINE_LONG_TESTS=1` makes it a hundred million rows: docs/operations.md.

use relation::request::Insert;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::RealDisk;
use engine::{Command, EngineStatus, Now, Options, Reply, Write};
use relation::value::Value;

use crate::driver::Driver;
use crate::scripts::show;
use crate::statement::command;

const ROWS_A_BATCH: u64 = 1_000;

/// Size of the backlog, and the most files, bytes and time that it may need.
struct Size {
    rows: u64,
    fold_bytes: u64,
    segment_bytes: u64,
    files_max: u64,
    journal_bytes_max: u64,
    /// Most anonymous memory of the process. `None` where other tests share the process.
    anonymous_max: Option<u64>,
    restart_max: Duration,
}

fn size() -> Size {
    if std::env::var_os("SEINE_LONG_TESTS").is_some() {
        let rows = std::env::var("SEINE_LONG_ROWS").ok();
        return Size {
            rows: rows.map_or(100_000_000, |rows| rows.parse().unwrap()),
            fold_bytes: 32 << 20,
            segment_bytes: 64 << 20,
            files_max: 100,
            journal_bytes_max: 8 << 30,
            anonymous_max: Some(200 << 20),
            restart_max: Duration::from_secs(5),
        };
    }
    Size {
        rows: 100_000,
        fold_bytes: 256 << 10,
        segment_bytes: 1 << 20,
        files_max: 40,
        journal_bytes_max: 16 << 20,
        anonymous_max: None,
        restart_max: Duration::from_secs(5),
    }
}

/// A folder that is gone when the test is.
struct Folder(PathBuf);

impl Folder {
    fn named(name: &str) -> Folder {
        let root = std::env::var_os("SEINE_LONG_DIR");
        let root = root.map_or_else(std::env::temp_dir, PathBuf::from);
        let path = root.join(format!("seine-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(folder: &Path, size: &Size) -> Driver {
    let options = Options {
        queue_fold_bytes: size.fold_bytes,
        journal_segment_bytes: size.segment_bytes,
        ..Options::new(Arc::new(RealDisk::open(folder).unwrap()))
    };
    Driver::open(options, Now::default()).unwrap()
}

/// Anonymous memory of this process, where the system tells it.
fn anonymous_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB"));
    kib.and_then(|kib| kib.trim().parse::<u64>().ok())
        .unwrap_or(0)
        << 10
}

/// Rows of about a hundred bytes; the number of each is in it.
fn batch(first: u64) -> Command {
    let row = |number: u64| {
        let text = format!("{number:0>20}{}", "message ".repeat(10));
        vec![Value::Int(number.into()), Value::Str(text)]
    };
    Command::Write(Write::Insert(Insert {
        table: "q".to_owned(),
        columns: None,
        rows: (first..first + ROWS_A_BATCH).map(row).collect(),
        replace: false,
    }))
}

/// Takes the first free row and ends it.
fn take(driver: &mut Driver) -> String {
    assert!(matches!(
        driver.run(command("wait q 0")),
        Ok(Reply::Waited(1))
    ));
    let shown = show(driver.run(command("read id from q")));
    driver.run(command("end")).unwrap();
    shown[1].clone()
}

fn files(driver: &Driver) -> u64 {
    let status = driver.handle.snapshot().table_status("q").unwrap();
    let files = status.iter().find(|(name, _)| name == "files");
    files.unwrap().1.parse().unwrap()
}

/// Removes `rows` rows from the front, except the first: session 7 owns it.
fn consume_all_but_first(driver: &mut Driver, rows: u64) {
    driver.ask(7, command("wait q 0"));
    for first in (0..rows).step_by(ROWS_A_BATCH as usize) {
        let delete = format!(
            "delete q where true limit {}",
            ROWS_A_BATCH.min(rows - first)
        );
        driver.run(command(&delete)).unwrap();
        driver.tick(10_000);
    }
}

#[test]
fn a_long_backlog_takes_little_memory_few_files_and_a_short_restart() {
    let (size, folder) = (size(), Folder::named("backlog"));
    let mut driver = open(&folder.0, &size);
    driver
        .run(command("create queue q (id bigint, text varchar(200))"))
        .unwrap();
    let (begun, mut highest) = (Instant::now(), 0);
    for first in (1..=size.rows).step_by(ROWS_A_BATCH as usize) {
        driver.run(batch(first)).unwrap();
        if first % (ROWS_A_BATCH * 500) == 1 {
            highest = highest.max(anonymous_bytes());
        }
    }
    let loaded = begun.elapsed();
    driver.run(command("checkpoint")).unwrap();
    let status: EngineStatus = driver.handle.status();
    let (held, files_held) = (anonymous_bytes(), files(&driver));
    assert_eq!((status.queue_rows, status.queue_bytes), (size.rows, 0));
    assert!(files_held <= size.files_max, "{files_held} files");
    assert!(status.journal_bytes <= size.journal_bytes_max, "{status:?}");
    drop(driver);

    let begun = Instant::now();
    let mut driver = open(&folder.0, &size);
    let restart = begun.elapsed();
    let opened = anonymous_bytes();
    println!(
        "{} rows: loaded in {loaded:?}, {files_held} files, {} merges, journal {} MiB, anonymous memory {} MiB while \
         loading, {} MiB after, {} MiB after a restart of {restart:?}",
        size.rows,
        status.queue_merges_total,
        status.journal_bytes >> 20,
        highest >> 20,
        held >> 20,
        opened >> 20,
    );
    assert!(restart <= size.restart_max, "{restart:?}");
    if let Some(max) = size.anonymous_max {
        assert!(
            highest.max(held).max(opened) <= max,
            "{highest} {held} {opened}"
        );
    }
    assert_eq!(driver.handle.status().queue_rows, size.rows);
    for number in 1..=100 {
        assert_eq!(take(&mut driver), number.to_string());
    }
}

#[test]
fn one_row_that_is_never_ended_keeps_no_large_file() {
    let size = Size {
        rows: 20_000,
        ..size()
    };
    let folder = Folder::named("pinned");
    let mut driver = open(&folder.0, &size);
    driver
        .run(command("create queue q (id bigint, text varchar(200))"))
        .unwrap();
    for first in (1..=size.rows).step_by(ROWS_A_BATCH as usize) {
        driver.run(batch(first)).unwrap();
    }
    driver.run(command("checkpoint")).unwrap();
    let stored = |folder: &Path| -> u64 {
        let files = std::fs::read_dir(folder.join("tables/1")).unwrap();
        files
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum()
    };
    let full = stored(&folder.0);
    consume_all_but_first(&mut driver, size.rows - 1);
    driver.run(command("checkpoint")).unwrap();
    driver.run(command("checkpoint")).unwrap(); // what the first one found to merge is in files, and the old ones are gone
    assert_eq!(driver.handle.status().queue_rows, 1);
    let left = stored(&folder.0);
    assert!(left * 20 < full, "{left} of {full} bytes");
    let mut driver = driver.reopen().unwrap();
    assert_eq!(take(&mut driver), "1");
}

#[test]
fn a_long_scan_is_the_readers_and_shows_the_queue_as_it_was() {
    let (size, folder) = (size(), Folder::named("scan"));
    let mut driver = open(&folder.0, &size);
    driver
        .run(command("create queue q (id bigint, text varchar(200))"))
        .unwrap();
    for first in (1..=6_000).step_by(ROWS_A_BATCH as usize) {
        driver.run(batch(first)).unwrap();
    }
    driver.ask(7, command("wait q 0"));
    let scan = driver.run(command(
        "read id from q where id > 4000 order by id desc limit 2",
    ));
    let count = driver.run(command("read count from q"));
    driver.run(command("delete q where true")).unwrap();
    driver.run(command("checkpoint")).unwrap();
    driver.run(batch(9_001)).unwrap();
    assert!(matches!(scan, Ok(Reply::Reading(_))), "{scan:?}");
    assert_eq!(show(scan), ["2000 found: 0", "6000", "5999"]);
    assert!(
        matches!(count, Ok(Reply::Rows(_))),
        "it is known: {count:?}"
    );
    assert_eq!(show(count)[1], "5999", "the owned row is its owner's");
}
