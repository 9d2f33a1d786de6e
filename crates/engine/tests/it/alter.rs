//! ALTER TABLE of search tables, whose jobs write the rows again: what the server shows of it, and what a refused one leaves.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk};
use engine::{
    Background, Change, Command, Error, HeldJobs, JobLine, Now, Options, Reply, SyncMode,
};
use relation::schema::{Column, ColumnType, TypeSystem};

use crate::driver::{Driver, options, until};
use crate::statement::command;

pub fn add_column() -> Command {
    let kind = ColumnType::parse("int", &[], false, TypeSystem::Search).unwrap();
    let column = Column {
        name: "more".to_owned(),
        kind,
        nullable: false,
        default: None,
        keyed: false,
    };
    let place = engine::ColumnPlace::Last;
    Command::AlterTable {
        table: "posts".to_owned(),
        changes: vec![Change::Add { column, place }],
    }
}

/// A table with rows in two segments and in its tail.
fn filled(options: Options, work: impl Fn(&mut Driver)) -> Driver {
    let mut driver = Driver::open(options, Now::default()).unwrap();
    driver
        .run(command("create search posts (body text)"))
        .unwrap();
    for id in 1..=9 {
        let insert = format!("insert posts (id, body) values ({id}, 'cat')");
        driver.run(command(&insert)).unwrap();
        work(&mut driver);
    }
    driver
}

#[test]
fn status_counts_the_rows_that_an_alter_has_written_and_those_it_has_not() {
    let held = HeldJobs::default();
    let options = Options {
        seal_rows: 4,
        background: Background::Held(held.clone()),
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = filled(options, |driver| {
        while held.run(JobLine::Folds) {}
        driver.tick(1);
    });
    let answer = driver.ask(1, add_column());
    let mut seen = Vec::new();
    while !answer.is_answered() {
        let status = driver.handle.status();
        seen.push((status.altered_rows, status.altering_rows));
        held.run(JobLine::Merges);
        driver.tick(1);
    }
    assert_eq!(seen, [(0, 9), (4, 9)]);
    let status = driver.handle.status();
    assert_eq!((status.altered_rows, status.altering_rows), (0, 0));
}

fn alter(driver: &mut Driver) -> Result<Reply, Error> {
    let answer = driver.ask(1, add_column());
    until("the ALTER is answered", || {
        driver.tick(1);
        answer.take()
    })
}

/// Names of all files and folders of the table.
fn names(disk: &dyn Disk) -> Vec<String> {
    let mut names = disk.list("tables/1").unwrap();
    names.sort();
    names
}

/// Nothing is left of a refused ALTER that a restart would remove, and it can be done again.
fn check_left(mut driver: Driver, disk: &FaultDisk, why: &str) {
    driver.tick(10_000_000); // the engine looks for room again after some seconds
    driver.run(command("checkpoint")).unwrap();
    let left = names(disk);
    let mut driver = driver.reopen().unwrap();
    driver.run(command("checkpoint")).unwrap();
    assert_eq!(left, names(disk), "{why}");
    alter(&mut driver).unwrap();
}

#[test]
fn an_alter_that_any_call_refuses_leaves_no_file_and_can_be_done_again() {
    let mut refused = 0;
    for call in [Call::Create, Call::Write, Call::Sync, Call::SyncDir] {
        for nth in 1.. {
            let disk = FaultDisk::new();
            let of_disk = Options {
                seal_rows: 4,
                sync: SyncMode::Never, // a journal that cannot be written refuses; one that cannot be synced ends the engine
                ..options(Arc::new(disk.clone()))
            };
            let mut driver = filled(of_disk, |_| ());
            driver.run(command("checkpoint")).unwrap();
            disk.inject(call, nth, Fault::Fail(ErrorKind::StorageFull));
            let answer = alter(&mut driver);
            disk.refuse(None);
            match answer {
                Ok(Reply::Done { .. }) => break,
                Err(Error::Poisoned { .. }) => continue,
                Err(_) => refused += 1,
                other => panic!("{other:?}"),
            }
            check_left(driver, &disk, &format!("{call:?} {nth} failed"));
        }
    }
    assert!(refused > 0, "an ALTER that must write can be refused");
}

#[test]
fn an_alter_that_the_journal_has_no_room_for_leaves_no_file_and_can_be_done_again() {
    let disk = FaultDisk::new();
    let mut driver = filled(options(Arc::new(disk.clone())), |_| ());
    driver.run(command("create queue jobs (id int)")).unwrap();
    let full = disk.space().unwrap();
    disk.set_capacity(Some(full.total_bytes - full.free_bytes));
    for rows in [2_000, 1] {
        let rows = vec!["(1)"; rows].join(", ");
        let insert = command(&format!("insert jobs (id) values {rows}"));
        let refused = (0..10_000).find_map(|_| driver.run(insert.clone()).err());
        assert_eq!(refused, Some(Error::DiskFull));
    }
    // Room for the rows in their new columns, not for a segment of the journal.
    let full = disk.space().unwrap();
    disk.set_capacity(Some(full.total_bytes - full.free_bytes + (128 << 10)));
    assert_eq!(alter(&mut driver).unwrap_err(), Error::DiskFull);
    disk.set_capacity(None);
    check_left(driver, &disk, "the journal was full");
}
