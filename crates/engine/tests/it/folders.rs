//! Folders of tables: the engine syncs a folder's name before a table depends on it, also after a failed creation.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk, everything_lost};
use engine::{Error, Now};

use crate::driver::{Driver, options};
use crate::statement::command;

#[test]
fn a_table_created_after_a_refused_creation_outlives_a_power_cut() {
    let mut refused = 0;
    for nth in 1.. {
        let disk = FaultDisk::new();
        let mut driver = Driver::open(options(Arc::new(disk.clone())), Now::default()).unwrap();
        disk.inject(Call::SyncDir, nth, Fault::Fail(ErrorKind::Other));
        let create = command("create search posts (body text)");
        if driver.run(create.clone()).is_ok() {
            break;
        }
        refused += 1;
        driver.run(create).unwrap();
        let insert = command("insert posts (id, body) values (1, 'cat')");
        driver.run(insert.clone()).unwrap();
        driver.run(command("checkpoint")).unwrap();
        let image = disk.crash(everything_lost);
        let mut driver = Driver::open(options(Arc::new(image)), Now::default()).unwrap();
        let again = driver.run(insert).unwrap_err();
        assert_eq!(again, Error::DuplicateId { id: 1 }, "sync {nth} failed");
    }
    assert!(refused > 0, "CREATE makes the name of its folder durable");
}

#[test]
fn a_missing_folder_that_a_failed_opening_made_is_durable_after_the_next_one() {
    let whole = MemoryDisk::new();
    let mut driver = Driver::open(options(Arc::new(whole.clone())), Now::default()).unwrap();
    let create = command("create search posts (body text)");
    driver.run(create).unwrap();
    driver.run(command("checkpoint")).unwrap();
    drop(driver);
    whole.remove_dir("tables").unwrap(); // as a backup of an empty table leaves it
    let mut failed = 0;
    for nth in 1.. {
        let disk = FaultDisk::over(&whole);
        let open = || Driver::open(options(Arc::new(disk.clone())), Now::default());
        disk.inject(Call::SyncDir, nth, Fault::Fail(ErrorKind::Other));
        if open().is_ok() {
            break;
        }
        failed += 1;
        let mut driver = open().unwrap();
        let insert = command("insert posts (id, body) values (1, 'cat')");
        driver.run(insert.clone()).unwrap();
        driver.run(command("checkpoint")).unwrap();
        let image = disk.crash(everything_lost);
        let mut driver = Driver::open(options(Arc::new(image)), Now::default()).unwrap();
        let again = driver.run(insert).unwrap_err();
        assert_eq!(again, Error::DuplicateId { id: 1 }, "sync {nth} failed");
    }
    assert!(failed > 0);
}
