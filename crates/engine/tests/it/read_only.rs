//! Engines that open a data directory read-only, and backups that an engine makes while it takes writes.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk, at_random, everything_kept, everything_lost};
use engine::{Error, Now, Options, inspect};

use crate::driver::{Driver, options, until};
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
    let insert = command("insert jobs (id) values (5)");
    until("an insert is refused", || driver.run(insert.clone()).err());
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
fn a_backup_holds_the_files_of_the_collectors_cursors() {
    let (disk, to) = (MemoryDisk::new(), MemoryDisk::new());
    let write = |path: &str, bytes: &[u8]| {
        let (folder, _) = path.rsplit_once('/').unwrap();
        disk.create_dir(folder).unwrap();
        disk.create(path).unwrap().write_at(0, bytes).unwrap();
    };
    write("spools/1-web/0", b"whole");
    write("spools/1-web/4", b"needed, and more");
    write("spools/2-of-no-cursor/0", b"left");
    let mut options = backing_up(Arc::new(disk.clone()), Arc::new(to.clone()));
    options.spools = Some(Arc::new(|_, cursors| {
        let file = |name: &str, bytes| engine::SpoolFile {
            path: format!("spools/1-web/{name}"),
            bytes,
        };
        let named = cursors.contains_key(&b"web"[..]);
        let files = vec![file("0", None), file("4", Some(6))];
        Ok(files.into_iter().filter(|_| named).collect())
    }));
    let mut driver = Driver::open(options, Now::default()).unwrap();
    driver
        .run(engine::Command::Collected {
            upto: 0,
            cursors: vec![((*b"web").into(), Some((*b"a cursor").into()))],
        })
        .unwrap();
    assert!(!driver.handle.is_backing_up());
    backup(&mut driver).unwrap();
    assert!(!driver.handle.is_backing_up());
    let restored: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let from: Arc<dyn Disk> = Arc::new(to.clone());
    engine::restore(&from, &restored).unwrap();
    for copy in [&from, &restored] {
        assert_eq!(copy.list("spools").unwrap(), ["1-web"]);
        let read = |path: &str| copy.open(path).unwrap().map().unwrap().to_vec();
        assert_eq!(read("spools/1-web/0"), b"whole");
        assert_eq!(read("spools/1-web/4"), b"needed");
    }
    let driver = Driver::open(super::driver::options(restored), Now::default()).unwrap();
    assert_eq!(
        driver.handle.collected().1.len(),
        1,
        "and the cursor that names them"
    );
}

/// What a device may hold after the power went while a copy was written to it.
fn images(disk: &FaultDisk, seed: u64) -> Vec<MemoryDisk> {
    let mut images = vec![disk.crash(everything_kept), disk.crash(everything_lost)];
    images.extend((0..4).map(|n| disk.crash(at_random(seed * 4 + n))));
    images
}

/// Checks a copy that was cut short: it opens with all rows, or each way to open it refuses it and changes no byte. Returns
/// whether it is whole.
fn is_whole_or_refused(image: MemoryDisk, want: &[String]) -> bool {
    let before = bytes_of(&image);
    if before.is_empty() {
        return false; // not even the mark: a new folder
    }
    let image: Arc<dyn Disk> = Arc::new(image);
    let opened = Driver::open(read_only(Arc::clone(&image)), Now::default());
    let is_whole = match opened {
        Ok(mut driver) => {
            assert_eq!(dump(&mut driver), want);
            true
        }
        Err(error) => {
            assert!(
                matches!(&error, Error::Invalid { what } if what.contains("incomplete") && what.contains("delete")),
                "{error:?}"
            );
            false
        }
    };
    let target: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let outcomes = [
        inspect::check(&image, &mut |_| {}).map(drop),
        inspect::dump(&image, None, &mut |_| {}).map(drop),
        inspect::dump_journal(&image, &mut |_| {}).map(drop),
        inspect::repair(&image, &mut |_| {}).map(drop),
        engine::restore(&image, &target).map(drop),
    ];
    for (way, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.is_ok(), is_whole, "way {way}: {outcome:?}");
    }
    assert_eq!(target.list("").unwrap().is_empty(), !is_whole);
    let opened = Driver::open(options(Arc::clone(&image)), Now::default());
    match opened {
        Ok(mut driver) => assert_eq!(dump(&mut driver), want),
        Err(_) => {
            let mut after = bytes_of(&*image);
            after.retain(|(path, _)| path != "lock");
            assert!(after == before, "a refused copy keeps every byte");
            assert!(!is_whole);
        }
    }
    is_whole
}

#[test]
fn a_backup_that_lost_power_at_any_call_is_whole_or_is_none() {
    let mut whole = 0;
    for cut in 0.. {
        let (from, to) = (MemoryDisk::new(), FaultDisk::new());
        to.power_off_after(cut);
        let mut driver = Driver::open(
            backing_up(Arc::new(from.clone()), Arc::new(to.clone())),
            Now::default(),
        )
        .unwrap();
        create_schema(&mut driver);
        change(&mut driver);
        let want = dump(&mut driver);
        let before = bytes_of(&from);
        let done = backup(&mut driver);
        for image in images(&to, cut) {
            let is_whole = is_whole_or_refused(image, &want);
            assert!(is_whole || done.is_err());
            whole += u64::from(is_whole);
        }
        if done.is_ok() {
            break;
        }
        assert_eq!(bytes_of(&from).len(), before.len());
        driver.run(command("insert jobs (id) values (4)")).unwrap();
        driver.run(command("checkpoint")).unwrap();
        let after = dump(&mut driver);
        assert_eq!(dump(&mut driver.reopen().unwrap()), after);
    }
    assert!(whole > 0);
}

#[test]
fn a_restore_that_lost_power_at_any_call_is_whole_or_is_none() {
    let backed_up: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut driver = Driver::open(
        backing_up(Arc::new(MemoryDisk::new()), Arc::clone(&backed_up)),
        Now::default(),
    )
    .unwrap();
    create_schema(&mut driver);
    change(&mut driver);
    let want = dump(&mut driver);
    backup(&mut driver).unwrap();
    let mut whole = 0;
    for cut in 0.. {
        let disk = FaultDisk::new();
        disk.power_off_after(cut);
        let to: Arc<dyn Disk> = Arc::new(disk.clone());
        let done = engine::restore(&backed_up, &to);
        for image in images(&disk, cut) {
            let is_whole = is_whole_or_refused(image, &want);
            assert!(is_whole || done.is_err());
            whole += u64::from(is_whole);
        }
        if done.is_ok() {
            break;
        }
    }
    assert!(whole > 0);
}

#[test]
fn a_backup_without_room_says_what_to_do_and_the_engine_goes_on() {
    let to = FaultDisk::new();
    to.set_capacity(Some(8192));
    let mut driver = Driver::open(
        backing_up(Arc::new(MemoryDisk::new()), Arc::new(to.clone())),
        Now::default(),
    )
    .unwrap();
    create_schema(&mut driver);
    change(&mut driver);
    let refused = backup(&mut driver).unwrap_err();
    assert!(
        matches!(&refused, Error::Invalid { what } if what.contains("full") && what.contains("delete")),
        "{refused:?}"
    );
    assert!(!is_whole_or_refused(to.crash(everything_kept), &[]));
    driver.run(command("insert jobs (id) values (4)")).unwrap();
    let again = backup(&mut driver).unwrap_err();
    assert!(
        matches!(&again, Error::Invalid { what } if what.contains("incomplete")),
        "{again:?}"
    );
}

#[test]
fn an_interrupted_restore_is_not_taken_for_a_place_to_restore_into() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    disk.create("incomplete").unwrap();
    let from: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let refused = engine::restore(&from, &disk).unwrap_err();
    assert!(
        matches!(&refused, Error::Invalid { what } if what.contains("cut short") && what.contains("delete")),
        "{refused:?}"
    );
}

#[test]
fn a_directory_with_tables_and_no_manifest_is_damaged_and_keeps_every_file() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut driver = open(Arc::clone(&disk));
    change(&mut driver);
    drop(driver);
    disk.remove("manifest").unwrap();
    disk.remove_dir("journal").unwrap();
    let before = bytes_of(&*disk);
    let is_damage = |error: &Error| matches!(error, Error::Corrupt { file, why, .. } if file == "manifest" && why.contains("beside tables"));
    for options in [options(Arc::clone(&disk)), read_only(Arc::clone(&disk))] {
        let error = Driver::open(options, Now::default()).err().unwrap();
        assert!(is_damage(&error), "{error:?}");
    }
    let checked = inspect::check(&disk, &mut |_| {}).unwrap_err();
    assert!(is_damage(&checked), "{checked:?}");
    let repaired = inspect::repair(&disk, &mut |_| {}).unwrap_err();
    assert!(is_damage(&repaired), "{repaired:?}");
    assert!(bytes_of(&*disk) == before);
}

#[test]
fn without_a_place_for_them_backups_are_refused() {
    let mut driver = open(Arc::new(MemoryDisk::new()));
    let refused = backup(&mut driver).unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }), "{refused:?}");
}
