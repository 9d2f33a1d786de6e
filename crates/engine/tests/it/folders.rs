//! Folders of tables: the engine syncs a folder's name before a table depends on it, also after a failed creation.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk, RealDisk, everything_lost};
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

/// A folder of the real file system that is removed when the test ends.
struct Scratch(std::path::PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_engine_whose_directory_was_moved_away_acknowledges_nothing_more_and_lost_nothing() {
    let root = std::env::temp_dir().join(format!("seine-moved-{}", std::process::id()));
    let root = Scratch(root);
    let (data, away) = (root.0.join("data"), root.0.join("away"));
    let open = |path| {
        Driver::open(
            options(Arc::new(RealDisk::open(path).unwrap())),
            Now::default(),
        )
    };
    let mut first = open(&data).unwrap();
    first
        .run(command("create search posts (body text)"))
        .unwrap();
    let insert = |id: u64| command(&format!("insert posts (id, body) values ({id}, 'cat')"));
    first.run(insert(1)).unwrap();
    std::fs::rename(&data, &away).unwrap();
    let refused = open(&away).map(drop).unwrap_err();
    assert!(matches!(refused, Error::Locked { .. }), "{refused:?}");
    let mut second = open(&data).unwrap();
    second
        .run(command("create search posts (body text)"))
        .unwrap();
    let by_manifest = first.run(command("checkpoint")).unwrap_err();
    assert!(
        matches!(by_manifest, Error::Poisoned { .. }),
        "{by_manifest:?}"
    );
    first.tick(1_000_000);
    let refused = first.run(insert(2)).unwrap_err();
    assert!(
        refused.to_string().contains("moved or replaced"),
        "{refused}"
    );
    drop(first);
    second.run(insert(1)).unwrap();
    second.run(command("checkpoint")).unwrap();
    let mut first = open(&away).unwrap();
    let there = first.run(insert(1)).unwrap_err();
    assert_eq!(there, Error::DuplicateId { id: 1 }, "it was acknowledged");
    first.run(insert(2)).unwrap();
}

#[test]
fn an_engine_whose_directory_was_replaced_ends_within_a_second_of_work() {
    let root = std::env::temp_dir().join(format!("seine-replaced-{}", std::process::id()));
    let root = Scratch(root);
    let data = root.0.join("data");
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(&data).unwrap());
    let mut driver = Driver::open(options(disk), Now::default()).unwrap();
    driver
        .run(command("create search posts (body text)"))
        .unwrap();
    std::fs::rename(&data, root.0.join("away")).unwrap();
    std::fs::create_dir(&data).unwrap();
    driver.now.steady_us += 1_000_000;
    let insert = command("insert posts (id, body) values (1, 'cat')");
    let refused = driver.run(insert).unwrap_err();
    assert!(matches!(refused, Error::Poisoned { .. }), "{refused:?}");
    assert_eq!(
        std::fs::read_dir(&data).unwrap().count(),
        0,
        "nothing was written"
    );
}
