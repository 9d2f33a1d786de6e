//! Changes in the overlay do not change the disk below.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Scratch, read, write};
use crate::{Copied, Disk, MemoryDisk, Overlay, RealDisk, copy_bytes, link_or_copy};

fn below() -> Arc<dyn Disk> {
    let disk = MemoryDisk::new();
    disk.create_dir("d/e").unwrap();
    write(&disk, "a", &[1; 10_000]);
    write(&disk, "d/b", b"old");
    Arc::new(disk)
}

#[test]
fn everything_below_is_seen_and_nothing_below_is_changed() {
    let below = below();
    let over = Overlay::new(Arc::clone(&below)).unwrap();
    assert_eq!(read(&over, "d/b"), b"old");
    write(&over, "d/b", b"new and longer");
    over.rename("a", "d/e/a").unwrap();
    over.open("d/e/a").unwrap().set_len(3).unwrap();
    over.remove_dir("d").unwrap();
    write(&over, "c", b"c");
    assert_eq!(over.list("").unwrap(), ["c"]);
    assert_eq!(below.list("").unwrap(), ["a", "d"]);
    assert_eq!(read(&*below, "a"), [1; 10_000]);
    assert_eq!(read(&*below, "d/b"), b"old");
}

#[test]
fn a_file_that_is_moved_above_shows_what_it_held() {
    let over = Overlay::new(below()).unwrap();
    over.rename("a", "b").unwrap();
    assert_eq!(read(&over, "b"), [1; 10_000]);
    assert!(!over.exists("a").unwrap());
}

proptest! {
    #[test]
    fn changes_above_a_file_are_as_changes_of_the_file(
        steps in proptest::collection::vec((0..3u8, 0..20_000u64, 0..9_000usize), 1..20),
    ) {
        let (plain, over) = (below(), Overlay::new(below()).unwrap());
        for (number, (kind, offset, length)) in steps.into_iter().enumerate() {
            for disk in [&*plain, &over as &dyn Disk] {
                let file = disk.open("a").unwrap();
                match kind {
                    0 => file.write_at(offset, &vec![number as u8 + 2; length]).unwrap(),
                    1 => file.write_at(offset, &vec![0; length]).unwrap(),
                    _ => file.set_len(offset).unwrap(),
                }
            }
            prop_assert_eq!(read(&over, "a"), read(&*plain, "a"));
            prop_assert_eq!(over.open("a").unwrap().map().unwrap().to_vec(), read(&*plain, "a"));
        }
    }
}

#[test]
fn a_directory_opened_to_read_takes_no_byte_and_is_kept_from_writers() {
    let scratch = Scratch::new();
    let disk = RealDisk::open(&scratch.path).unwrap();
    write(&disk, "a", b"kept");
    drop(disk.lock("lock").unwrap());
    let reader = RealDisk::open_to_read(&scratch.path).unwrap();
    let shared = (reader.lock("lock").unwrap(), reader.lock("lock").unwrap());
    assert!(disk.lock("lock").is_err());
    assert!(reader.open("a").unwrap().write_at(0, b"lost").is_err());
    drop(shared);
    let _alone = disk.lock("lock").unwrap();
    assert!(reader.lock("lock").is_err());
    assert_eq!(read(&reader, "a"), b"kept");
}

#[test]
fn a_folder_that_is_missing_is_not_made_by_reading() {
    let scratch = Scratch::new();
    assert!(RealDisk::open_to_read(&scratch.path).is_err());
    assert!(!scratch.path.exists());
}

#[test]
fn files_on_one_device_are_linked_and_others_copied() {
    let (one, other) = (Scratch::new(), Scratch::new());
    let from: Arc<dyn Disk> = Arc::new(RealDisk::open(&one.path).unwrap());
    write(&*from, "a", b"content");
    let to = RealDisk::open(&other.path).unwrap();
    assert_eq!(link_or_copy(&from, "a", &to, "b").unwrap(), Copied::Linked);
    assert_eq!(read(&to, "b"), b"content");
    let memory = MemoryDisk::new();
    assert_eq!(
        link_or_copy(&from, "a", &memory, "b").unwrap(),
        Copied::Written
    );
    assert_eq!(read(&memory, "b"), b"content");
    assert!(link_or_copy(&from, "a", &memory, "b").is_err());
    copy_bytes(&*from.open("a").unwrap(), 3, &memory, "c").unwrap();
    assert_eq!(read(&memory, "c"), b"con");
}
