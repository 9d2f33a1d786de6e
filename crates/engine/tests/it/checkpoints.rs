//! The files of a checkpoint and the journal above it hold every acknowledged change, after a failure at any step.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk, everything_kept, everything_lost};
use engine::{Background, Command, Error, HeldJobs, JobLine, Now, Options, Reply};

use crate::driver::{Driver, options};
use crate::scripts::show;
use crate::statement::{command, options_of};

const SECOND_US: u64 = 1_000_000;
/// Long after 1970, so that no age is negative.
const BEGIN_S: u64 = 1_000_000_000;

fn sealing(disk: Arc<dyn Disk>) -> Options {
    Options {
        seal_rows: 3,
        ..options(disk)
    }
}

fn begun(lines: &[&str]) -> (FaultDisk, Driver) {
    let disk = FaultDisk::new();
    let now = Now {
        unix_us: (BEGIN_S * SECOND_US) as i64,
        steady_us: 0,
    };
    let mut driver = Driver::open(sealing(Arc::new(disk.clone())), now).unwrap();
    run_all(&mut driver, lines);
    (disk, driver)
}

/// An engine whose jobs run when the test says so.
fn with_held_jobs() -> (FaultDisk, HeldJobs, Driver) {
    let (disk, held) = (FaultDisk::new(), HeldJobs::default());
    let options = Options {
        background: Background::Held(held.clone()),
        ..sealing(Arc::new(disk.clone()))
    };
    let driver = Driver::open(options, Now::default()).unwrap();
    (disk, held, driver)
}

fn run_all(driver: &mut Driver, lines: &[&str]) {
    for line in lines {
        let answer = driver.ask(1, command_of(line));
        for _ in 0..9 {
            driver.tick(1); // a FLUSH is answered after the work that it waits for
        }
        let answer = answer.take().expect("an answer");
        answer.unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

/// As [`command`], and `truncate Q`, `purge Q`.
fn command_of(line: &str) -> Command {
    match line.split_once(' ') {
        Some(("truncate", table)) => Command::Truncate {
            table: table.to_owned(),
        },
        Some(("purge", table)) => Command::QueuePurge {
            table: table.to_owned(),
        },
        _ => command(line),
    }
}

/// The power goes, with everything that was not synced.
fn after_power_cut(disk: &FaultDisk, driver: &Driver) -> Driver {
    let image = Arc::new(disk.crash(everything_lost));
    Driver::open(sealing(image), driver.now).unwrap()
}

/// Leases rows and returns (row, delivery) of each.
fn lease(driver: &mut Driver, queue: &str, group: &str) -> Vec<(u64, u32)> {
    match driver.run(command(&format!("lease {queue} {group}"))) {
        Ok(Reply::Taken(taken)) => taken
            .rows
            .iter()
            .map(|row| (row.row.0, row.delivery))
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn affected(driver: &mut Driver, line: &str) -> u64 {
    match driver.run(command(line)) {
        Ok(Reply::Done { affected, .. }) => affected,
        other => panic!("{line}: {other:?}"),
    }
}

fn rows(driver: &mut Driver, read: &str) -> Vec<String> {
    show(driver.run(command(read)))[1..].to_vec()
}

fn ids(driver: &Driver) -> Vec<String> {
    let crate::statement::Statement::Select(select) =
        crate::statement::parse("select id from posts order by id limit 1000")
    else {
        panic!("no select");
    };
    let snapshot = driver.handle.snapshot();
    let answer = snapshot.select(&select, &options_of(&select), &engine::Control::default());
    let rows = answer.unwrap().rows.map(|row| row.unwrap()[0].to_string());
    rows.collect()
}

#[test]
fn a_row_that_a_group_acknowledged_stays_acknowledged_after_a_manifest_without_a_fold() {
    for empties in ["truncate q", "purge q"] {
        let (disk, mut driver) = begun(&[
            "create queue q (n int) groups a, b",
            "create queue other (n int)",
            "insert q values (1)",
            empties,
            "insert q values (2)",
        ]);
        assert_eq!(lease(&mut driver, "q", "a"), [(2, 1)]);
        run_all(&mut driver, &["done q a 2 table 1", "drop other"]);
        let mut driver = after_power_cut(&disk, &driver);
        assert_eq!(lease(&mut driver, "q", "a"), [], "{empties}");
        assert_eq!(lease(&mut driver, "q", "b"), [(2, 1)]);
    }
}

#[test]
fn the_delay_and_the_delivery_count_of_a_returned_row_stay_after_a_manifest_without_a_fold() {
    let (disk, mut driver) = begun(&[
        "create queue q (n int)",
        "create queue other (n int)",
        "insert q values (1)",
        "truncate q",
        "insert q values (2)",
    ]);
    assert_eq!(lease(&mut driver, "q", "none"), [(2, 1)]);
    run_all(&mut driver, &["return q none 2 table 1", "drop other"]);
    let mut driver = after_power_cut(&disk, &driver);
    assert_eq!(
        lease(&mut driver, "q", "none"),
        [],
        "5 seconds have not passed"
    );
    driver.tick(5 * SECOND_US);
    assert_eq!(lease(&mut driver, "q", "none"), [(2, 2)]);
}

#[test]
fn a_lapsed_lease_of_a_returned_row_is_forgotten_with_files_as_it_is_without() {
    const LEASE_S: u64 = 60;
    for flush in [false, true] {
        let (disk, mut driver) = begun(&["create queue q (n int)", "insert q values (1)"]);
        assert_eq!(lease(&mut driver, "q", "none"), [(1, 1)]);
        run_all(&mut driver, &["return q none 1 table 1"]);
        driver.tick(5 * SECOND_US);
        assert_eq!(lease(&mut driver, "q", "none"), [(1, 2)]);
        driver.tick(LEASE_S * SECOND_US);
        if flush {
            run_all(&mut driver, &["checkpoint"]);
        }
        let mut driver = after_power_cut(&disk, &driver);
        assert_eq!(lease(&mut driver, "q", "none"), [(1, 2)], "{flush}");
    }
}

#[test]
fn the_deliveries_of_a_row_are_counted_on_after_a_manifest_without_a_fold() {
    let (disk, mut driver) = begun(&[
        "create queue q (n int) tries 2",
        "create queue other (n int)",
        "insert q values (1)",
        "truncate q",
        "insert q values (2)",
    ]);
    assert_eq!(lease(&mut driver, "q", "none"), [(2, 1)]);
    driver.tick(61 * SECOND_US);
    run_all(&mut driver, &["drop other"]);
    let mut driver = after_power_cut(&disk, &driver);
    assert_eq!(lease(&mut driver, "q", "none"), [(2, 2)]);
    driver.tick(61 * SECOND_US);
    assert_eq!(
        lease(&mut driver, "q", "none"),
        [],
        "two deliveries were all"
    );
}

#[test]
fn keys_of_rows_from_before_an_alter_are_read_in_the_columns_of_then() {
    let (disk, mut driver) = begun(&[
        "create queue u (a int, k int) unique k",
        "create queue other (n int)",
        "insert u values (1, 7)",
        "drop_column u a",
        "drop other",
    ]);
    let restarted = after_power_cut(&disk, &driver);
    for driver in [&mut driver, &mut { restarted }] {
        assert_eq!(affected(driver, "insert u values (1)"), 1);
        assert_eq!(affected(driver, "insert u values (7)"), 0);
        assert_eq!(rows(driver, "read k from u"), ["7", "1"]);
    }
}

#[test]
fn rows_that_need_not_be_kept_stay_gone_after_a_crash_before_a_manifest_names_their_segment() {
    let (disk, mut driver) = begun(&["create search posts (body text, at timestamp) keep 100"]);
    driver.tick(9 * SECOND_US);
    let old = BEGIN_S - 1_000;
    for nth in [1, 2] {
        disk.inject(Call::Rename, nth, Fault::Fail(ErrorKind::StorageFull));
    }
    let insert = format!(
        "insert posts (id, body, at) values (1, 'a', {old}), (2, 'b', {old}), (3, 'c', {old})"
    );
    driver.run(command(&insert)).unwrap();
    assert_eq!(driver.handle.status().seals_total, 1);
    driver.tick(2 * SECOND_US); // retention looks, and the manifest fails once more
    let young = BEGIN_S + 10;
    let again = driver.run(command(&format!(
        "replace posts (id, body, at) values (1, 'x', {young})"
    )));
    again.unwrap();
    let image = after_power_cut(&disk, &driver);
    assert_eq!(
        ids(&image),
        ["1"],
        "once, and the replay has its rows in the tail"
    );
    assert_eq!(ids(&driver), ["1"]);
    for _ in 0..4 {
        driver.tick(11 * SECOND_US);
    }
    assert_eq!(ids(&driver), ["1"]);
    assert_eq!(ids(&after_power_cut(&disk, &driver)), ["1"]);
}

/// One table of each kind that has files.
const KINDS: [(&str, &str, &str); 3] = [
    (
        "create search t (n int)",
        "insert t (id, n) values (1, 1)",
        "flush t",
    ),
    (
        "create pq t (body text)",
        "insert t (id, query) values (1, 'cat')",
        "flush t",
    ),
    ("create queue t (n int)", "insert t values (1)", "flush t"),
];

#[test]
fn flush_is_answered_ok_only_when_a_durable_manifest_names_the_files() {
    for (create, insert, flush) in KINDS {
        // The rename of the manifest fails, and the sync of its folder.
        for (call, error) in [
            (Call::Rename, ErrorKind::StorageFull),
            (Call::SyncDir, ErrorKind::Other),
        ] {
            for calls_before in 0..4 {
                let (disk, mut driver) = begun(&[create, insert]);
                disk.inject(call, 1 + calls_before, Fault::Fail(error));
                let answer = driver.ask(1, command(flush));
                for _ in 0..5 {
                    driver.tick(1);
                }
                let is_told = match answer.take() {
                    Some(Ok(_)) => true,
                    Some(Err(_)) => false,
                    None => panic!("{flush} of {create} is not answered"),
                };
                let image = after_power_cut(&disk, &driver);
                let replayed = image.recovered.records_replayed;
                assert!(
                    !is_told || replayed == 0,
                    "{create}: OK, and {replayed} records are in no file"
                );
                driver.tick(2 * SECOND_US);
                run_all(&mut driver, &[flush]);
                let image = after_power_cut(&disk, &driver);
                assert_eq!(image.recovered.records_replayed, 0, "{create}: asked again");
            }
        }
    }
}

#[test]
fn flush_is_answered_when_the_manifest_is_durable_and_not_before() {
    for (create, insert, flush) in KINDS {
        let (disk, held) = (FaultDisk::new(), HeldJobs::default());
        let options = Options {
            background: Background::Held(held.clone()),
            ..sealing(Arc::new(disk.clone()))
        };
        let mut driver = Driver::open(options, Now::default()).unwrap();
        driver.run(command(create)).unwrap();
        driver.run(command(insert)).unwrap();
        let answer = driver.ask(1, command(flush));
        let mut pieces = 0;
        while answer.take().is_none_or(|answer| answer.is_err()) {
            assert!(held.run(JobLine::Folds), "{create}: nothing is under way");
            driver.tick(1);
            pieces += 1;
            assert!(pieces < 100, "{create}: not answered");
        }
        assert!(pieces > 1, "{create}: a file, then the manifest");
        let image = after_power_cut(&disk, &driver);
        assert_eq!(image.recovered.records_replayed, 0, "{create}");
    }
}

#[test]
fn flush_and_optimize_are_answered_beside_a_writer_that_never_rests() {
    for asked in ["flush posts", "optimize posts"] {
        let held = HeldJobs::default();
        let options = Options {
            background: Background::Held(held.clone()),
            ..sealing(Arc::new(FaultDisk::new()))
        };
        let mut driver = Driver::open(options, Now::default()).unwrap();
        let insert = "insert posts (body) values ('a'), ('b'), ('c')";
        run_all(&mut driver, &["create search posts (body text)", insert]);
        let answer = driver.ask(1, command(asked));
        let mut turns = 0;
        let outcome = loop {
            if let Some(outcome) = answer.take() {
                break outcome;
            }
            turns += 1;
            assert!(turns < 200, "{asked} is not answered");
            driver.ask(2, command(insert)); // a tail is full again whenever one was sealed
            held.run(JobLine::Folds);
            held.run(JobLine::Merges);
            driver.tick(1);
        };
        outcome.unwrap();
    }
}

#[test]
fn flush_of_standing_queries_that_were_hit_is_answered_also_where_counts_cannot_be_written() {
    let (disk, mut driver) = begun(&[
        "create search posts (body text)",
        "create pq alerts on posts",
        "insert alerts (id, query) values (1, 'cat')",
        "insert posts (id, body) values (1, 'cat')",
        "flush alerts",
        "insert posts (id, body) values (2, 'cat')",
        "insert alerts (id, query) values (2, 'dog')",
    ]);
    // The name of the file of counts, then that of the queries.
    disk.inject(Call::Rename, 1, Fault::Fail(ErrorKind::Other));
    let answer = driver.ask(1, command("flush alerts"));
    for _ in 0..5 {
        driver.tick(1);
    }
    assert!(matches!(answer.take(), Some(Err(Error::Internal { .. }))));
    driver.tick(2 * SECOND_US); // what failed is tried again after a second
    run_all(&mut driver, &["flush alerts"]);
    let mut restarted = after_power_cut(&disk, &driver);
    for driver in [&mut driver, &mut restarted] {
        assert_eq!(
            rows(driver, "read id, hits from alerts"),
            ["1 | 2", "2 | 0"]
        );
    }
}

#[test]
fn a_file_of_counts_has_no_hit_of_a_record_above_its_position() {
    let (disk, held, mut driver) = with_held_jobs();
    run_all(
        &mut driver,
        &[
            "create search posts (body text)",
            "create queue hits (query_id bigint)",
            "create pq alerts on posts into hits",
            "insert alerts (id, query) values (1, 'cat')",
            "insert posts (id, body) values (1, 'cat')",
        ],
    );
    driver.tick(1);
    driver.tick(61 * SECOND_US); // the counts are due
    run_all(&mut driver, &["insert posts (id, body) values (2, 'cat')"]);
    assert!(held.run(JobLine::Folds), "the file of counts");
    let flushed = driver.ask(1, command("flush hits"));
    for _ in 0..5 {
        driver.tick(1);
        held.run(JobLine::Folds);
    }
    flushed.take().expect("an answer").unwrap();
    let mut restarted = after_power_cut(&disk, &driver);
    for driver in [&mut driver, &mut restarted] {
        assert_eq!(rows(driver, "read id, hits from alerts"), ["1 | 2"]);
    }
}

#[test]
fn what_is_too_old_goes_beside_a_writer_that_never_rests() {
    let held = HeldJobs::default();
    let options = Options {
        background: Background::Held(held.clone()),
        ..sealing(Arc::new(FaultDisk::new()))
    };
    let now = Now {
        unix_us: (BEGIN_S * SECOND_US) as i64,
        steady_us: 0,
    };
    let mut driver = Driver::open(options, now).unwrap();
    let old = BEGIN_S - 1_000;
    let insert = format!(
        "insert posts (id, body, at) values (1, 'a', {old}), (2, 'a', {old}), (3, 'a', {old})"
    );
    let create = "create search posts (body text, at timestamp) keep 100";
    run_all(&mut driver, &[create, &insert]);
    for turn in 0..60 {
        let at = BEGIN_S + turn;
        driver.ask(
            2,
            command(&format!(
                "insert posts (body, at) values ('b', {at}), ('c', {at}), ('d', {at})"
            )),
        );
        held.run(JobLine::Folds);
        driver.tick(SECOND_US);
    }
    assert!(
        !ids(&driver).contains(&"1".to_owned()),
        "it was too old from the first"
    );
    assert!(ids(&driver).len() > 100);
}

#[test]
fn a_row_of_a_refused_unit_leaves_with_its_segment() {
    let old = BEGIN_S - 1_000;
    let (disk, mut driver) = begun(&["create search posts (body text, at timestamp) keep 100"]);
    driver.tick(11 * SECOND_US);
    let insert = format!(
        "insert posts (id, body, at) values (1, 'a', {old}), (2, 'b', {old}), (3, 'c', {old})"
    );
    let refused = format!(
        "many replace posts (id, body, at) values (1, 'x', {old}); insert posts (id, body, at) values (2, 'y', {old})"
    );
    run_all(&mut driver, &[&insert]);
    let outcome = driver.run(command(&refused));
    assert!(
        matches!(outcome, Err(Error::InMany { index: 1, .. })),
        "{outcome:?}"
    );
    assert_eq!(ids(&driver), ["1", "2", "3"]);
    driver.tick(11 * SECOND_US);
    let image = after_power_cut(&disk, &driver);
    assert_eq!(ids(&driver), Vec::<String>::new());
    assert_eq!(ids(&image), Vec::<String>::new());
}

#[test]
fn a_file_of_a_queue_stays_while_a_backup_copies_it() {
    let (held, to) = (HeldJobs::default(), MemoryDisk::new());
    let place = to.clone();
    let options = Options {
        background: Background::Held(held.clone()),
        backups: Some(Arc::new(move |_| {
            Ok(Arc::new(place.clone()) as Arc<dyn Disk>)
        })),
        ..sealing(Arc::new(FaultDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    for line in [
        "create queue q (n int)",
        "insert q values (1)",
        "checkpoint",
    ] {
        driver.run(command(line)).unwrap();
    }
    let to_there = "there".to_owned();
    let backup = driver.ask(1, Command::Backup { to: to_there });
    driver.run(command_of("truncate q")).unwrap();
    driver.run(command("checkpoint")).unwrap();
    assert!(held.run(JobLine::Backups));
    backup.take().expect("an answer").unwrap();
    let mut copy = Driver::open(sealing(Arc::new(to)), Now::default()).unwrap();
    assert_eq!(rows(&mut copy, "read * from q"), ["1"]);
}

#[test]
fn segments_that_a_merge_replaced_stay_until_a_manifest_without_them() {
    let (disk, held, mut driver) = with_held_jobs();
    run_all(
        &mut driver,
        &["create search posts (body text, at timestamp)"],
    );
    for first in [1, 4] {
        let row = |id: u64| format!("({id}, 'cat', 0)");
        let rows: Vec<String> = (first..first + 3).map(row).collect();
        let insert = format!("insert posts (id, body, at) values {}", rows.join(", "));
        run_all(&mut driver, &[&insert, "checkpoint"]);
    }
    run_all(
        &mut driver,
        &["create queue q (n int)", "insert q values (1)"],
    );
    driver.ask(1, command("optimize posts"));
    driver.tick(11 * SECOND_US);
    driver.ask(2, command("flush q"));
    assert!(held.run(JobLine::Folds), "the rows of the queue");
    driver.tick(1);
    // A manifest of the old segments is under way when the merge has replaced them.
    assert!(held.run(JobLine::Merges));
    driver.tick(1);
    let mut pieces = 0;
    while held.run(JobLine::Folds) {
        pieces += 1;
        assert!(pieces < 100, "there is always work under way");
        driver.tick(1);
        let image = Arc::new(disk.crash(everything_kept)); // removals among it
        let image = Driver::open(sealing(image), driver.now).unwrap();
        assert_eq!(ids(&image), ["1", "2", "3", "4", "5", "6"]);
    }
    assert!(
        pieces > 2,
        "two manifests, and what the second has no use for"
    );
}
