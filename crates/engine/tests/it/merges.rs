//! Segments are merged beside all other work: no answer changes, and no row is lost.

use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk, at_random, everything_lost};
use engine::{Control, Error, Now, Options};

use crate::driver::{Driver, options};
use crate::scripts::show_answer;
use crate::statement::{Statement, command, options_of, parse};
use crate::workload::every;

fn sealing(disk: Arc<dyn Disk>) -> Options {
    Options {
        seal_rows: 2,
        journal_segment_bytes: 32 << 10,
        ..options(disk)
    }
}

fn dump(driver: &Driver) -> Vec<String> {
    let lines = [
        "select id, n from posts order by id limit 1000000",
        "select id, weight from posts match 'cat | w3' limit 1000",
    ];
    let shown = lines.iter().flat_map(|line| match parse(line) {
        Statement::Select(select) => show_answer(
            driver
                .handle
                .snapshot()
                .select(&select, &options_of(&select), &Control::default())
                .unwrap(),
        )
        .unwrap(),
        other => panic!("{other:?}"),
    });
    shown.collect()
}

/// Statements of a table that is written to, deleted from and replaced in.
fn statements() -> Vec<String> {
    let mut lines = vec!["create search posts (body text, n int)".to_owned()];
    for id in 1..48 {
        lines.push(format!(
            "insert posts (id, body, n) values ({id}, 'cat w{} dog', {id})",
            id % 5
        ));
        if id % 6 == 0 {
            let gone = id - 3;
            lines.push(format!("delete posts where id = {gone}"));
        }
        if id % 7 == 0 {
            let old = id - 5;
            lines.push(format!(
                "replace posts (id, body, n) values ({old}, 'w3 w3', 0)"
            ));
        }
    }
    lines
}

/// The states after each statement that was acknowledged.
fn play(driver: &mut Driver) -> Vec<Vec<String>> {
    let mut states = Vec::new();
    for line in statements() {
        if driver.run(command(&line)).is_err() {
            break;
        }
        states.push(dump(driver));
    }
    states
}

#[test]
fn merges_change_no_answer_and_leave_few_segments() {
    let disk = MemoryDisk::new();
    let mut merging = Driver::open(sealing(Arc::new(disk.clone())), Now::default()).unwrap();
    let whole = options(Arc::new(MemoryDisk::new()));
    let mut whole = Driver::open(whole, Now::default()).unwrap();
    assert_eq!(play(&mut merging), play(&mut whole));
    let status = merging.handle.status();
    assert!(status.seals_total > 20 && status.segment_merges_total > 2);
    merging.run(engine::Command::Checkpoint).unwrap();
    merging.run(engine::Command::Checkpoint).unwrap();
    let names = disk.list("tables/1").unwrap();
    assert!(names.len() <= 8, "what was merged is removed: {names:?}");
    let merging = merging.reopen().unwrap();
    assert_eq!(dump(&merging), dump(&whole));
}

#[test]
fn power_may_go_in_any_call_of_seals_and_merges() {
    let disk = FaultDisk::new();
    let mut driver = Driver::open(sealing(Arc::new(disk.clone())), Now::default()).unwrap();
    let states = play(&mut driver);
    assert!(driver.handle.status().segment_merges_total > 2);
    for cut in (0..disk.change_count()).step_by(every(13)) {
        let disk = FaultDisk::new();
        disk.power_off_after(cut);
        let acknowledged = match Driver::open(sealing(Arc::new(disk.clone())), Now::default()) {
            Ok(mut driver) => play(&mut driver).len(),
            Err(_) => continue,
        };
        for image in [disk.crash(everything_lost), disk.crash(at_random(cut))] {
            let mut driver = Driver::open(sealing(Arc::new(image)), Now::default()).unwrap();
            if acknowledged == 0 {
                continue; // there may be no table
            }
            let found = dump(&driver);
            let mut may_be = states.iter().skip(acknowledged - 1).take(2);
            assert!(may_be.any(|state| *state == found), "cut {cut}: {found:?}");
            driver.run(engine::Command::Checkpoint).unwrap();
            let driver = driver.reopen().unwrap();
            assert_eq!(dump(&driver), found, "cut {cut}: the second opening");
        }
    }
}

#[test]
fn a_call_that_fails_in_a_merge_costs_nothing_but_the_merge() {
    let disk = MemoryDisk::new();
    let mut whole = Driver::open(options(Arc::new(disk)), Now::default()).unwrap();
    play(&mut whole);
    for (call, nth) in [
        (Call::CreateDir, 12),
        (Call::Sync, 200),
        (Call::SyncDir, 40),
        (Call::Create, 90),
        (Call::Write, 300),
    ] {
        for nth in (nth / 4..nth * 2).step_by(nth as usize / 4) {
            let disk = FaultDisk::new();
            let mut driver = Driver::open(sealing(Arc::new(disk.clone())), Now::default()).unwrap();
            disk.inject(call, nth, Fault::Fail(std::io::ErrorKind::StorageFull));
            for line in statements() {
                if driver.run(command(&line)).is_err() {
                    driver.tick(61_000_000); // a full journal: it is asked again later
                    if driver.run(command(&line)).is_err() {
                        // A failed sync has ended it; what it did not acknowledge may be there.
                        driver = driver.reopen().unwrap();
                        let outcome = driver.run(command(&line));
                        assert!(matches!(outcome, Ok(_) | Err(Error::DuplicateId { .. })));
                    }
                }
            }
            assert_eq!(dump(&driver), dump(&whole), "{call:?} {nth}");
            driver.tick(61_000_000);
            driver.tick(61_000_000);
            assert_eq!(dump(&driver), dump(&whole), "{call:?} {nth}, later");
            let driver = driver.reopen().unwrap();
            assert_eq!(dump(&driver), dump(&whole), "{call:?} {nth}, opened again");
        }
    }
}

#[test]
fn an_optimize_that_meets_damage_or_a_full_disk_is_told_and_loses_nothing() {
    let disk = FaultDisk::new();
    let mut driver = Driver::open(options(Arc::new(disk.clone())), Now::default()).unwrap();
    for line in [
        "create search posts (body text, n int)",
        "insert posts (id, body, n) values (1, 'cat', 1), (2, 'cat', 2), (3, 'cat', 3)",
        "checkpoint",
        "insert posts (id, body, n) values (4, 'cat', 4)",
        "checkpoint",
    ] {
        driver.run(command(line)).unwrap();
    }
    let whole = dump(&driver);
    disk.set_capacity(Some(64 << 10));
    let refused = optimize(&mut driver);
    assert!(matches!(refused, Err(Error::DiskFull)), "{refused:?}");
    disk.set_capacity(None);
    assert_eq!(dump(&driver), whole);
    let segment = disk.list("tables/1").unwrap().remove(0);
    let positions = disk.open(&format!("tables/1/{segment}/positions")).unwrap();
    let mut byte = [0];
    positions.read_at(0, &mut byte).unwrap();
    positions.write_at(0, &[byte[0] ^ 1]).unwrap();
    let mut driver = driver.reopen().unwrap();
    driver.tick(61_000_000);
    let refused = optimize(&mut driver);
    assert!(
        matches!(&refused, Err(Error::Corrupt { file, .. }) if file.contains(&segment)),
        "{refused:?}"
    );
    positions.write_at(0, &byte).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(dump(&driver), whole);
    optimize(&mut driver).unwrap();
    assert_eq!(disk.list("tables/1").unwrap().len(), 1);
    assert_eq!(dump(&driver), whole);
}

/// The answer to OPTIMIZE, after the merges that it waits for.
fn optimize(driver: &mut Driver) -> Result<engine::Reply, Error> {
    let answer = driver.ask(1, command("optimize posts"));
    for _ in 0..9 {
        if let Some(answer) = answer.take() {
            return answer;
        }
        driver.tick(1_000_000);
    }
    panic!("no answer");
}

#[test]
fn a_disk_that_is_full_while_segments_are_sealed_and_merged_loses_nothing() {
    let mut whole = Driver::open(options(Arc::new(MemoryDisk::new())), Now::default()).unwrap();
    play(&mut whole);
    for room in (60..400).step_by(17) {
        let disk = FaultDisk::new();
        let mut driver = Driver::open(sealing(Arc::new(disk.clone())), Now::default()).unwrap();
        disk.set_capacity(Some(room << 10));
        let mut refused = 0;
        for line in statements() {
            while driver.run(command(&line)).is_err() {
                refused += 1;
                assert!(refused < 200, "room {room}: {line}");
                disk.set_capacity(None); // somebody makes room, once
                driver.tick(61_000_000);
            }
        }
        assert_eq!(dump(&driver), dump(&whole), "room {room}");
        disk.set_capacity(None);
        driver.tick(61_000_000);
        driver.tick(61_000_000);
        driver.run(engine::Command::Checkpoint).unwrap();
        assert_eq!(dump(&driver), dump(&whole), "room {room}, later");
        let driver = driver.reopen().unwrap();
        assert_eq!(
            driver.recovered.records_replayed, 0,
            "room {room}: all is in files"
        );
        assert_eq!(dump(&driver), dump(&whole), "room {room}, opened again");
    }
}
