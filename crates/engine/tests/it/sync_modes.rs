//! The sync modes `always`, `100ms` and `never`: when a reply is sent, and which rows a power cut may take.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Fault, FaultDisk, everything_kept, everything_lost};
use engine::{Error, Now, Options, SessionId, SyncMode};
use proptest::prelude::*;

use crate::driver::{Driver, options};
use crate::power::mixed_cut;
use crate::scripts::show;
use crate::statement::command;
use crate::workload::cases;

fn open(disk: &FaultDisk, sync: &str) -> Driver {
    let options = Options {
        sync: SyncMode::parse(sync).unwrap(),
        ..options(Arc::new(disk.clone()))
    };
    Driver::open(options, Now::default()).unwrap()
}

fn run(driver: &mut Driver, line: &str) {
    driver.run(command(line)).unwrap();
}

/// The values of a queue's only column.
fn rows(driver: &mut Driver, table: &str) -> Vec<String> {
    let shown = show(driver.run(command(&format!("read id from {table}"))));
    shown.into_iter().skip(1).collect()
}

fn numbers(range: std::ops::RangeInclusive<u32>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

#[test]
fn a_table_may_ask_for_less_than_the_server_and_not_for_more() {
    let mut driver = open(&FaultDisk::new(), "1s");
    for mode in ["1s", "90s", "never"] {
        let name = format!("q{mode}");
        run(
            &mut driver,
            &format!("create queue {name} (id int) sync '{mode}'"),
        );
        let made = driver.handle.snapshot().show_create(&name).unwrap();
        assert!(made.ends_with(&format!(" sync='{mode}'")), "{made}");
    }
    let refused = driver.run(command("create queue q (id int) sync '100ms'"));
    let Err(Error::Invalid { what }) = refused else {
        panic!("{refused:?}")
    };
    assert!(
        what.contains("sync='100ms'") && what.contains("sync = '1s'"),
        "{what}"
    );
}

#[test]
fn a_batch_syncs_only_where_a_record_asks_for_it() {
    let mut driver = open(&FaultDisk::new(), "always");
    run(&mut driver, "create queue strict (id int)");
    run(&mut driver, "create queue loose (id int) sync 'never'");
    let syncs = driver.handle.status().syncs_total;
    for _ in 0..10 {
        run(&mut driver, "insert loose (id) values (1)");
        driver.tick(1_000_000);
    }
    let status = driver.handle.status();
    assert_eq!(
        (status.syncs_total, status.unsynced_records),
        (syncs, 10),
        "nobody asked"
    );
    assert_eq!(
        rows(&mut driver, "loose").len(),
        10,
        "and all of it is seen"
    );
    let both = [
        "insert loose (id) values (1)",
        "insert strict (id) values (1)",
    ];
    driver.batch(both.map(|line| (SessionId(1), command(line))).into());
    let status = driver.handle.status();
    assert_eq!(
        (status.syncs_total, status.unsynced_records),
        (syncs + 1, 0)
    );
}

#[test]
fn the_strictest_table_of_a_record_decides() {
    let mut driver = open(&FaultDisk::new(), "always");
    run(&mut driver, "create search posts (body text) sync 'never'");
    run(&mut driver, "create queue hits (query_id bigint)");
    run(&mut driver, "create pq alerts on posts into hits");
    run(&mut driver, "insert alerts (query) values ('cat')");
    let syncs = driver.handle.status().syncs_total;
    run(&mut driver, "insert posts (body) values ('dog')");
    assert_eq!(driver.handle.status().syncs_total, syncs, "no hit");
    run(&mut driver, "insert posts (body) values ('cat')");
    assert_eq!(driver.handle.status().syncs_total, syncs + 1, "a hit");
}

#[test]
fn the_sync_comes_when_its_time_has_come_and_no_later() {
    let mut driver = open(&FaultDisk::new(), "100ms");
    run(&mut driver, "create queue q (id int)");
    let syncs = driver.handle.status().syncs_total;
    run(&mut driver, "insert q (id) values (1)");
    driver.tick(60_000);
    run(&mut driver, "insert q (id) values (2)");
    driver.tick(39_999);
    assert_eq!(driver.handle.status().syncs_total, syncs);
    driver.tick(1);
    let status = driver.handle.status();
    assert_eq!(
        (status.syncs_total, status.unsynced_records),
        (syncs + 1, 0)
    );
    driver.tick(1_000_000);
    assert_eq!(driver.handle.status().syncs_total, syncs + 1, "once");
}

#[test]
fn a_failed_sync_ends_the_engine_in_every_mode() {
    for (mode, provoke) in [
        ("100ms", None),
        ("never", Some("drop q")),
        ("never", Some("create queue other (id int)")),
    ] {
        let disk = FaultDisk::new();
        let mut driver = open(&disk, mode);
        run(&mut driver, "create queue q (id int)");
        run(&mut driver, "insert q (id) values (1)");
        disk.inject(Call::Sync, 1, Fault::Fail(ErrorKind::Other));
        match provoke {
            None => driver.tick(100_000),
            Some(line) => {
                let refused = driver.run(command(line));
                assert!(
                    matches!(refused, Err(Error::Poisoned { .. })),
                    "{refused:?}"
                );
            }
        }
        let refused = driver.run(command("insert q (id) values (2)"));
        assert!(
            matches!(refused, Err(Error::Poisoned { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn what_was_answered_without_a_sync_outlives_the_process() {
    let disk = FaultDisk::new();
    let mut driver = open(&disk, "never");
    run(&mut driver, "create queue q (id int)");
    for id in 1..=5 {
        run(&mut driver, &format!("insert q (id) values ({id})"));
    }
    let mut driver = driver.reopen().unwrap();
    assert_eq!(rows(&mut driver, "q"), numbers(1..=5));
}

#[test]
fn a_strict_answer_makes_everything_before_it_durable() {
    let disk = FaultDisk::new();
    let mut driver = open(&disk, "always");
    run(&mut driver, "create queue loose (id int) sync 'never'");
    run(&mut driver, "create queue strict (id int)");
    for id in 1..=5 {
        run(&mut driver, &format!("insert loose (id) values ({id})"));
    }
    run(&mut driver, "insert strict (id) values (1)");
    run(&mut driver, "insert loose (id) values (6)");
    let mut driver = open(&FaultDisk::over(&disk.crash(everything_lost)), "always");
    assert_eq!(rows(&mut driver, "loose"), numbers(1..=5));
    assert_eq!(rows(&mut driver, "strict"), ["1"]);
}

proptest! {
    #![proptest_config(cases(24))]

    /// Whatever pages are lost: the journal opens, its tail is cut and never taken for damage, and what is left is a
    /// prefix that holds all that was synced.
    #[test]
    fn after_a_power_cut_a_prefix_is_left_in_every_mode(
        mode in proptest::sample::select(&["100ms", "never"][..]),
        inserts in 1..60u32,
        text in 0..6000usize,
        checkpoint in proptest::option::of(1..60u32),
        tick_us in 0..60_000u64,
        cut in mixed_cut(),
    ) {
        let disk = FaultDisk::new();
        let mut driver = open(&disk, mode);
        run(&mut driver, "create queue q (id int, text text)");
        let mut synced = 0;
        for id in 1..=inserts {
            run(&mut driver, &format!("insert q (id, text) values ({id}, '{}')", "x".repeat(text)));
            driver.tick(tick_us);
            if checkpoint == Some(id) {
                run(&mut driver, "checkpoint");
            }
            if driver.handle.status().unsynced_records == 0 {
                synced = id;
            }
        }
        for image in [disk.crash(everything_lost), disk.crash(everything_kept), cut.image(&disk)] {
            let mut driver = open(&FaultDisk::over(&image), mode);
            let found = rows(&mut driver, "q");
            let count = found.len() as u32;
            prop_assert!((synced..=inserts).contains(&count), "{count} of {inserts}, {synced} synced");
            prop_assert_eq!(&found, &numbers(1..=count));
            run(&mut driver, "insert q (id) values (1000)");
            let mut driver = driver.reopen().unwrap();
            prop_assert_eq!(rows(&mut driver, "q").len() as u32, count + 1, "what was cut does not come back");
        }
    }
}
