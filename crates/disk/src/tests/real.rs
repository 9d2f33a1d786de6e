//! Behaviour that only the real file system can show.

use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Scratch;
use crate::real::{make_folders, missing_folders};
use crate::{Disk, RealDisk, fdatasync_rate, file_system_kind};

#[test]
fn opening_makes_the_folder_and_opens_it_again() {
    let scratch = Scratch::new();
    let deep = scratch.path.join("a/b");
    super::write(&RealDisk::open(&deep).unwrap(), "f", b"kept");
    assert_eq!(super::read(&RealDisk::open(&deep).unwrap(), "f"), b"kept");
}

/// The rights of a path, as `chmod` writes them.
fn mode(path: &std::path::Path) -> u32 {
    std::fs::symlink_metadata(path)
        .unwrap()
        .permissions()
        .mode()
        & 0o7777
}

#[test]
fn what_is_made_is_for_its_owner_alone() {
    let scratch = Scratch::new();
    let disk = RealDisk::open(&scratch.path).unwrap();
    disk.create_dir("a/b").unwrap();
    super::write(&disk, "a/b/f", b"kept");
    drop(disk.lock("lock").unwrap());
    for folder in ["", "a", "a/b"] {
        assert_eq!(mode(&scratch.path.join(folder)), 0o700, "{folder:?}");
    }
    for file in ["a/b/f", "lock"] {
        assert_eq!(mode(&scratch.path.join(file)), 0o600, "{file:?}");
    }
}

#[test]
fn a_folder_with_wider_rights_keeps_them() {
    let scratch = Scratch::new();
    std::fs::create_dir(&scratch.path).unwrap();
    let wider = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&scratch.path, wider).unwrap();
    super::write(&RealDisk::open(&scratch.path).unwrap(), "f", b"kept");
    assert_eq!(mode(&scratch.path), 0o755);
}

#[test]
fn a_lock_that_is_a_link_is_refused_and_the_file_behind_it_is_not_written() {
    let scratch = Scratch::new();
    let disk = RealDisk::open(&scratch.path).unwrap();
    let behind = scratch.path.join("behind");
    std::fs::write(&behind, b"precious").unwrap();
    std::os::unix::fs::symlink(&behind, scratch.path.join("lock")).unwrap();
    let reading = RealDisk::open_to_read(&scratch.path).unwrap();
    for refused in [disk.lock("lock"), reading.lock("lock")] {
        let why = refused.err().unwrap().to_string();
        assert!(why.contains("symbolic link"), "{why}");
    }
    assert_eq!(std::fs::read(&behind).unwrap(), b"precious");
}

#[test]
fn the_parent_of_each_folder_that_opening_makes_is_synced_outermost_first() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(&scratch.path).unwrap();
    let path = scratch.path.join("a/b/c");
    let missing = missing_folders(&path, &|path| path.is_dir());
    let below =
        |names: &[&str]| -> Vec<_> { names.iter().map(|name| scratch.path.join(name)).collect() };
    assert_eq!(missing, below(&["a", "a/b", "a/b/c"]));
    let synced = RefCell::new(Vec::new());
    let sync = |folder: &Path| {
        let inner = folder.read_dir()?.count();
        synced.borrow_mut().push((folder.to_owned(), inner));
        Ok(())
    };
    make_folders(&missing, &sync).unwrap();
    let parents = below(&["", "a", "a/b"]);
    let want: Vec<_> = parents.iter().map(|parent| (parent.join(""), 1)).collect();
    assert_eq!(synced.into_inner(), want, "each holds its child by then");
    assert_eq!(
        missing_folders(&path, &|path| path.is_dir()),
        [""; 0].map(PathBuf::from)
    );
}

#[test]
fn a_failed_opening_leaves_no_folder_that_the_next_one_takes_for_durable() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(&scratch.path).unwrap();
    let too_long = scratch.path.join("a/b").join("n".repeat(300));
    assert!(RealDisk::open(&too_long).is_err());
    assert!(!scratch.path.join("a").exists());
}

#[test]
fn a_file_in_place_of_the_folder_is_refused() {
    let scratch = Scratch::new();
    std::fs::write(&scratch.path, b"").unwrap();
    assert!(RealDisk::open(&scratch.path).is_err());
    std::fs::remove_file(&scratch.path).unwrap();
}

#[test]
fn two_disks_on_one_folder_share_its_lock() {
    let scratch = Scratch::new();
    let (one, other) = (
        RealDisk::open(&scratch.path).unwrap(),
        RealDisk::open(&scratch.path).unwrap(),
    );
    let held = one.lock("lock").unwrap();
    assert!(other.lock("lock").is_err());
    let text = std::fs::read_to_string(scratch.path.join("lock")).unwrap();
    assert_eq!(text, format!("{}\n", std::process::id()));
    drop(held);
    drop(other.lock("lock").unwrap());
}

#[test]
fn a_removed_lock_file_lets_no_second_holder_in_and_is_put_back() {
    let scratch = Scratch::new();
    let one = RealDisk::open(&scratch.path).unwrap();
    let held = one.lock("lock").unwrap();
    for other in [
        RealDisk::open(&scratch.path).unwrap(),
        RealDisk::open_to_read(&scratch.path).unwrap(),
    ] {
        std::fs::remove_file(scratch.path.join("lock")).unwrap();
        let refused = other.lock("lock").err().unwrap();
        assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
        assert!(
            !scratch.path.join("lock").exists(),
            "a refusal makes no file"
        );
        held.check().unwrap();
        let text = std::fs::read_to_string(scratch.path.join("lock")).unwrap();
        assert_eq!(text, format!("{}\n", std::process::id()));
        let of_file = std::fs::File::open(scratch.path.join("lock")).unwrap();
        assert!(
            of_file.try_lock().is_err(),
            "builds that lock the file alone"
        );
    }
    drop(held);
    drop(one.lock("lock").unwrap());
}

#[test]
fn a_lock_file_that_another_process_took_is_noticed() {
    let scratch = Scratch::new();
    let disk = RealDisk::open(&scratch.path).unwrap();
    let held = disk.lock("lock").unwrap();
    std::fs::remove_file(scratch.path.join("lock")).unwrap();
    let taken = std::fs::File::create(scratch.path.join("lock")).unwrap();
    taken.lock().unwrap(); // as an earlier build does, which knows the file alone
    assert!(held.check().is_err());
}

#[test]
fn a_folder_that_was_moved_away_or_replaced_is_noticed_and_stays_locked() {
    let scratch = Scratch::new();
    let (path, away) = (scratch.path.join("data"), scratch.path.join("away"));
    let disk = RealDisk::open(&path).unwrap();
    let held = disk.lock("lock").unwrap();
    held.check().unwrap();
    std::fs::rename(&path, &away).unwrap();
    let moved = held.check().unwrap_err().to_string();
    assert!(moved.contains("moved or replaced"), "{moved}");
    let replaced = RealDisk::open(&path).unwrap();
    assert!(held.check().is_err(), "another folder has the path");
    drop(replaced.lock("lock").unwrap());
    let moved = RealDisk::open(&away).unwrap();
    assert!(moved.lock("lock").is_err(), "it is locked wherever it is");
    std::fs::remove_dir_all(&path).unwrap();
    std::fs::rename(&away, &path).unwrap();
    held.check().unwrap();
}

#[test]
fn a_map_shows_what_reading_shows() {
    let scratch = Scratch::new();
    let disk = RealDisk::open(&scratch.path).unwrap();
    let content: Vec<u8> = (0..100_000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    super::write_synced(&disk, "f", &content);
    assert_eq!(
        disk.open("f").unwrap().map().unwrap()[..],
        super::read(&disk, "f")[..]
    );
}

#[test]
fn the_device_says_what_it_is_and_how_fast() {
    let scratch = Scratch::new();
    RealDisk::open(&scratch.path).unwrap();
    assert!(fdatasync_rate(&scratch.path).unwrap() > 0.0);
    assert_eq!(std::fs::read_dir(&scratch.path).unwrap().count(), 0);
    assert!(!file_system_kind(&scratch.path).is_empty());
    assert_eq!(file_system_kind(&scratch.path.join("none")), "unknown");
}
