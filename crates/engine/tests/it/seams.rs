//! The journal, the files and the manifest together: one of them fails or lags behind, and the engine loses nothing.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk};
use engine::{Background, Error, Now, Options};

use crate::driver::{Driver, options, until};
use crate::statement::command;
use crate::workload::{create_schema, dump};

fn open(options: Options) -> Driver {
    let mut driver = Driver::open(options, Now::default()).unwrap();
    create_schema(&mut driver);
    driver
}

fn sealing_at(rows: u32, disk: &FaultDisk) -> Options {
    Options {
        seal_rows: rows,
        ..options(Arc::new(disk.clone()))
    }
}

/// Something for a file of every kind.
fn change_all(driver: &mut Driver) {
    for line in [
        "insert alerts (id, query) values (1, 'cat')",
        "insert jobs (id) values (1), (2)",
        "insert posts (id, body) values (1, 'cat'), (2, 'dog'), (3, 'a'), (4, 'b')",
    ] {
        driver.run(command(line)).unwrap();
    }
}

#[test]
fn folds_that_fail_together_are_all_tried_again() {
    let disk = FaultDisk::new();
    let mut driver = open(sealing_at(4, &disk));
    disk.set_capacity(Some(0));
    change_all(&mut driver);
    assert!(driver.handle.status().disk_full);
    disk.set_capacity(None);
    driver.tick(10_000_000);
    driver.tick(10_000_000);
    driver.run(command("checkpoint")).unwrap();
    let live = dump(&mut driver);
    let mut driver = driver.reopen().unwrap();
    assert_eq!(driver.recovered.records_replayed, 0, "all is in files");
    assert_eq!(dump(&mut driver), live);
}

#[test]
fn a_seal_that_failed_is_tried_again_without_another_write() {
    let disk = FaultDisk::new();
    let mut driver = open(sealing_at(4, &disk));
    disk.set_capacity(Some(0));
    change_all(&mut driver);
    disk.set_capacity(None);
    driver.tick(10_000_000);
    driver.tick(1);
    let status = driver.handle.status();
    assert_eq!(status.seals_total, 1, "{status:?}");
    assert_eq!(status.checkpoint_position, status.position, "{status:?}");
    assert!(!status.disk_full);
}

#[test]
fn rows_whose_seal_failed_still_count_as_memory() {
    let disk = FaultDisk::new();
    let mut driver = open(sealing_at(4, &disk));
    disk.set_capacity(Some(0));
    change_all(&mut driver);
    assert!(driver.handle.status().tail_bytes > 0);
}

#[test]
fn a_manifest_that_failed_is_written_without_another_write() {
    let disk = FaultDisk::new();
    let mut driver = open(sealing_at(1, &disk));
    disk.inject(Call::Rename, 1, Fault::Fail(ErrorKind::Other));
    driver
        .run(command("insert posts (id, body) values (1, 'x')"))
        .unwrap();
    let before = driver.handle.status();
    assert_eq!(
        (before.seals_total, before.fold_errors_total),
        (1, 1),
        "{before:?}"
    );
    driver.tick(10_000_000);
    let after = driver.handle.status();
    assert_eq!(after.checkpoints_total, before.checkpoints_total + 1);
    assert_eq!(after.checkpoint_position, after.position);
}

#[test]
fn a_full_disk_and_new_room_are_seen_without_a_write() {
    let disk = FaultDisk::new();
    let mut driver = open(options(Arc::new(disk.clone())));
    disk.set_capacity(Some(0));
    let insert = format!("insert jobs (id) values (1){}", ", (1)".repeat(5000));
    until("an insert is refused", || {
        driver.run(command(&insert)).err()
    });
    driver.tick(10_000_000);
    assert!(driver.handle.status().disk_full);
    let mut driver = driver.reopen().unwrap();
    assert!(
        driver.handle.status().disk_full,
        "seen without a write, too"
    );
    disk.set_capacity(None);
    driver.tick(10_000_000);
    driver.tick(10_000_000);
    assert!(!driver.handle.status().disk_full);
    driver.run(command(&insert)).unwrap();
}

#[test]
fn an_old_manifest_beside_a_trimmed_journal_is_refused() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut driver = open(options(Arc::clone(&disk)));
    let manifest = disk.open("manifest").unwrap();
    let mut old = vec![0; manifest.len().unwrap() as usize];
    manifest.read_at(0, &mut old).unwrap();
    let insert = format!("insert jobs (id) values (1){}", ", (1)".repeat(5000));
    for _ in 0..100 {
        driver.run(command(&insert)).unwrap();
    }
    driver.run(command("checkpoint")).unwrap();
    drop(driver);
    disk::replace_file(&*disk, "manifest", &old).unwrap();
    let error = Driver::open(options(disk), Now::default()).err();
    assert!(
        matches!(&error, Some(Error::Corrupt { file, why, .. }) if file == "journal" && why.contains("needed")),
        "{error:?}"
    );
}

#[test]
fn the_folder_of_a_table_dropped_before_a_crash_goes_with_the_next_manifest() {
    let disk = FaultDisk::new();
    let mut driver = open(options(Arc::new(disk.clone())));
    driver.run(command("insert jobs (id) values (1)")).unwrap();
    driver.run(command("checkpoint")).unwrap();
    let folders = disk.list("tables").unwrap();
    disk.inject(Call::Rename, 1, Fault::Fail(ErrorKind::Other));
    driver.run(command("drop jobs")).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(disk.list("tables").unwrap(), folders);
    driver.tick(10_000_000);
    assert_eq!(disk.list("tables").unwrap().len(), folders.len() - 1);
}

#[test]
fn hits_that_memory_cannot_hold_refuse_the_insert_whole() {
    let small = Options {
        memory_bytes: 256 << 10,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = open(small);
    let queries: Vec<String> = (1..=200).map(|id| format!("({id}, 'cat')")).collect();
    let queries = queries.join(", ");
    driver
        .run(command(&format!(
            "insert alerts (id, query) values {queries}"
        )))
        .unwrap();
    let before = dump(&mut driver);
    let rows = format!(
        "insert posts (body) values ('cat'){}",
        ", ('cat')".repeat(199)
    );
    let refused = driver.run(command(&rows)).unwrap_err();
    assert!(matches!(refused, Error::Limit { .. }), "{refused:?}");
    assert_eq!(dump(&mut driver), before);
    driver
        .run(command("insert posts (body) values ('cat')"))
        .unwrap();
}

#[test]
fn a_table_dropped_while_its_seal_runs_leaves_nothing() {
    let disk = MemoryDisk::new();
    let background = Options {
        background: Background::Threads,
        seal_rows: 4,
        ..options(Arc::new(disk.clone()))
    };
    let mut driver = open(background);
    driver.run(command("checkpoint")).unwrap();
    let folders = disk.list("tables").unwrap();
    for _ in 0..50 {
        driver
            .run(command("create search notes (body text)"))
            .unwrap();
        driver
            .run(command(
                "insert notes (body) values ('a'), ('b'), ('c'), ('d')",
            ))
            .unwrap();
        driver.run(command("drop notes")).unwrap();
    }
    driver.run(command("checkpoint")).unwrap(); // waits for the seals
    assert_eq!(disk.list("tables").unwrap(), folders);
    let mut driver = driver.reopen().unwrap();
    assert_eq!(driver.recovered.orphans_removed, 0);
    assert_eq!(dump(&mut driver), Vec::<String>::new());
}
