//! A directory that is only read, and copies of it made while it is written to.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk, everything_kept};
use engine::{Error, Now, Options};

use crate::driver::{Driver, options};
use crate::scripts::show;
use crate::statement::command;
use crate::workload::{create_schema, dump};

fn open(disk: Arc<dyn Disk>) -> Driver {
    let mut driver = Driver::open(options(disk), Now::default()).unwrap();
    create_schema(&mut driver);
    driver
}

fn read_only(disk: Arc<dyn Disk>) -> Options {
    Options {
        read_only: true,
        ..options(disk)
    }
}

/// Something in files, and something above them.
fn change(driver: &mut Driver) {
    for line in [
        "insert alerts (id, query) values (1, 'cat')",
        "insert jobs (id) values (1), (2)",
        "insert posts (id, body) values (1, 'cat'), (2, 'dog')",
        "checkpoint",
        "insert jobs (id) values (3)",
        "insert posts (id, body) values (3, 'cat')",
        "delete jobs where id = 1",
    ] {
        driver.run(command(line)).unwrap();
    }
}

/// Every name and byte.
fn everything(disk: &dyn Disk, dir: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for name in disk.list(dir).unwrap() {
        let path = if dir.is_empty() {
            name
        } else {
            format!("{dir}/{name}")
        };
        if disk.list(&path).is_ok() {
            found.push((path.clone(), Vec::new()));
            everything(disk, &path, found);
        } else {
            let bytes = disk.open(&path).unwrap().map().unwrap().to_vec();
            found.push((path, bytes));
        }
    }
}

fn bytes_of(disk: &dyn Disk) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    everything(disk, "", &mut found);
    found
}

#[test]
fn a_directory_that_is_only_read_shows_everything_and_changes_no_byte() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut driver = open(Arc::clone(&disk));
    change(&mut driver);
    let want = dump(&mut driver);
    drop(driver);
    let before = bytes_of(&*disk);
    let mut driver = Driver::open(read_only(Arc::clone(&disk)), Now::default()).unwrap();
    assert_eq!(dump(&mut driver), want);
    driver.tick(10_000_000);
    driver.run(command("shutdown")).unwrap();
    drop(driver);
    assert!(bytes_of(&*disk) == before);
}

#[test]
fn every_write_to_a_directory_that_is_only_read_is_refused_and_says_why() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut driver = open(Arc::clone(&disk));
    change(&mut driver);
    drop(driver);
    let mut driver = Driver::open(read_only(disk), Now::default()).unwrap();
    for line in [
        "insert jobs (id) values (4)",
        "replace posts (id, body) values (1, 'x')",
        "delete posts",
        "create queue more (id int)",
        "drop jobs",
        "wait jobs 0",
        "end",
        "many insert jobs (id) values (9)",
        "checkpoint",
    ] {
        assert_eq!(
            driver.run(command(line)).unwrap_err(),
            Error::ReadOnly,
            "{line}"
        );
    }
    let peeked = show(driver.run(command("read id from jobs")));
    assert_eq!(peeked, ["2 found: 0", "2", "3"]);
}

#[test]
fn what_a_failed_sync_left_can_be_read() {
    let disk = FaultDisk::new();
    let mut driver = open(Arc::new(disk.clone()));
    change(&mut driver);
    let want = dump(&mut driver);
    disk.inject(Call::Sync, 1, Fault::Fail(ErrorKind::Other));
    driver
        .run(command("insert jobs (id) values (4)"))
        .unwrap_err();
    drop(driver);
    let image: Arc<dyn Disk> = Arc::new(disk.crash(disk::everything_lost));
    let before = bytes_of(&*image);
    let mut driver = Driver::open(read_only(Arc::clone(&image)), Now::default()).unwrap();
    assert_eq!(dump(&mut driver), want);
    drop(driver);
    assert!(bytes_of(&*image) == before);
}

#[test]
fn what_a_full_disk_left_can_be_read() {
    let disk = FaultDisk::new();
    let mut driver = open(Arc::new(disk.clone()));
    change(&mut driver);
    disk.set_capacity(Some(0));
    while driver.run(command("insert jobs (id) values (5)")).is_ok() {}
    let want = dump(&mut driver);
    drop(driver);
    let writes = disk.count(Call::Write);
    let mut driver = Driver::open(read_only(Arc::new(disk.clone())), Now::default()).unwrap();
    assert_eq!(dump(&mut driver), want);
    assert_eq!(disk.count(Call::Write), writes);
}

#[test]
fn a_directory_in_use_is_not_read() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let _writer = open(Arc::clone(&disk));
    let second = Driver::open(read_only(disk), Now::default());
    assert!(matches!(second.err(), Some(Error::Locked { .. })));
}

/// Options whose backups go to this disk.
fn backing_up(disk: Arc<dyn Disk>, to: Arc<dyn Disk>) -> Options {
    Options {
        backups: Some(Arc::new(move |_| Ok(Arc::clone(&to)))),
        ..options(disk)
    }
}

fn backup(driver: &mut Driver) -> Result<engine::Reply, Error> {
    driver.run(engine::Command::Backup {
        to: "anywhere".to_owned(),
    })
}

#[test]
fn a_backup_holds_what_was_acknowledged_before_it_and_restores_to_that() {
    let (disk, to) = (MemoryDisk::new(), MemoryDisk::new());
    let mut driver = Driver::open(
        backing_up(Arc::new(disk), Arc::new(to.clone())),
        Now::default(),
    )
    .unwrap();
    create_schema(&mut driver);
    change(&mut driver);
    let want = dump(&mut driver);
    backup(&mut driver).unwrap();
    driver.run(command("insert jobs (id) values (4)")).unwrap();
    driver.run(command("checkpoint")).unwrap();
    let before = bytes_of(&to);
    let restored: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let from: Arc<dyn Disk> = Arc::new(to.clone());
    engine::restore(&from, &restored).unwrap();
    let mut driver = Driver::open(options(Arc::clone(&restored)), Now::default()).unwrap();
    assert_eq!(dump(&mut driver), want);
    driver.run(command("insert jobs (id) values (5)")).unwrap();
    assert!(
        bytes_of(&to) == before,
        "what was restored shares nothing with the backup"
    );
    let again = engine::restore(&from, &restored).unwrap_err();
    assert!(matches!(again, Error::Invalid { .. }), "{again:?}");
}

#[test]
fn a_backup_that_lost_power_at_any_call_is_whole_or_is_none() {
    let mut whole = 0;
    for cut in 0.. {
        let to = FaultDisk::new();
        to.power_off_after(cut);
        let mut driver = Driver::open(
            backing_up(Arc::new(MemoryDisk::new()), Arc::new(to.clone())),
            Now::default(),
        )
        .unwrap();
        create_schema(&mut driver);
        change(&mut driver);
        let want = dump(&mut driver);
        let done = backup(&mut driver);
        driver.run(command("insert jobs (id) values (4)")).unwrap();
        let image = to.crash(everything_kept);
        if !image.exists("manifest").unwrap() {
            assert!(done.is_err());
            continue;
        }
        whole += 1;
        let mut driver = Driver::open(options(Arc::new(image)), Now::default()).unwrap();
        assert_eq!(dump(&mut driver), want);
        if done.is_ok() {
            break;
        }
    }
    assert!(whole > 0);
}

#[test]
fn without_a_place_for_them_backups_are_refused() {
    let mut driver = open(Arc::new(MemoryDisk::new()));
    let refused = backup(&mut driver).unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }), "{refused:?}");
}
