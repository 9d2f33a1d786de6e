//! The device is full: appends are refused whole, records that free room are taken, and no synced record is lost.

use std::sync::Arc;

use disk::{Disk, FaultDisk, at_random};

use super::{DIR, kept, open_with, put, record, small};
use crate::{Error, FileJournal, JournalOptions, LocalLog, Log, Position};

const PAGE: u64 = 4096;

/// Three segments of four pages fit the device.
fn nearly_full() -> FaultDisk {
    let disk = FaultDisk::new();
    disk.set_capacity(Some(13 * PAGE));
    disk
}

fn reserving(pages: u64) -> JournalOptions {
    JournalOptions {
        reserve_bytes: pages * PAGE,
        ..small()
    }
}

/// Appends small records until the device is full. Returns how many were taken.
fn fill(journal: &mut dyn Log) -> u64 {
    for number in 1.. {
        match journal.append(&[&record(number, 50)]) {
            Ok(_) => assert_eq!(journal.sync().unwrap(), Position(number)),
            Err(Error::Full) => return number - 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    unreachable!("the device has an end")
}

#[test]
fn the_prepared_room_is_used_to_the_last_page() {
    let mut journal = open_with(&nearly_full(), reserving(0)).unwrap();
    assert_eq!(fill(&mut journal), 12);
    assert_eq!(journal.room_bytes(), 0);
}

#[test]
fn deletes_go_on_when_appends_are_refused() {
    let disk = nearly_full();
    let mut journal = open_with(&disk, reserving(3)).unwrap();
    assert_eq!(fill(&mut journal), 9);
    for number in 10..=12 {
        assert!(matches!(journal.append(&[b"insert"]), Err(Error::Full)));
        assert_eq!(
            journal.append_reserved(&[b"delete"]).unwrap(),
            Position(number)
        );
    }
    journal.sync().unwrap();
    assert!(matches!(
        journal.append_reserved(&[b"delete"]),
        Err(Error::Full)
    ));
    // The segments that the trim emptied are written to again.
    journal.trim(Position(9)).unwrap();
    assert_eq!(journal.append(&[b"insert"]).unwrap(), Position(13));
    journal.sync().unwrap();
    drop(journal);
    assert_eq!(
        kept(&mut open_with(&disk, reserving(3)).unwrap()).last(),
        Some(&(13, b"insert".to_vec()))
    );
}

#[test]
fn a_frame_that_does_not_fit_is_refused_whole_and_leaves_nothing() {
    let disk = nearly_full();
    let mut journal = open_with(&disk, reserving(0)).unwrap();
    put(&mut journal, b"small");
    for _ in 0..3 {
        assert!(matches!(
            journal.append(&[&record(0, 90_000)]),
            Err(Error::Full)
        ));
    }
    assert_eq!(journal.append(&[b"after"]).unwrap(), Position(2));
    for seed in 0..20 {
        let image = disk.crash(at_random(seed));
        let found = kept(&mut open_with(&image, reserving(0)).unwrap());
        assert!(
            [(1, b"small".to_vec()), (2, b"after".to_vec())].starts_with(&found)
                && !found.is_empty()
        );
    }
    assert_eq!(journal.sync().unwrap(), Position(2));
    drop(journal);
    assert_eq!(kept(&mut open_with(&disk, reserving(0)).unwrap()).len(), 2);
}

#[test]
fn a_refused_frame_is_not_taken_for_a_torn_one() {
    let disk = nearly_full();
    let mut journal = open_with(&disk, reserving(0)).unwrap();
    put(&mut journal, b"small");
    assert!(matches!(
        journal.append(&[&record(0, 90_000)]),
        Err(Error::Full)
    ));
    drop(journal);
    let (journal, recovered) = FileJournal::open(Arc::new(disk), DIR, reserving(0)).unwrap();
    assert_eq!(
        (journal.status().last, recovered.bytes_cut),
        (Position(1), 0)
    );
}

#[test]
fn room_on_the_device_is_found_as_soon_as_there_is_some() {
    let disk = nearly_full();
    let mut journal = open_with(&disk, reserving(1)).unwrap();
    let taken = fill(&mut journal);
    disk.set_capacity(None);
    assert_eq!(journal.append(&[b"fits"]).unwrap(), Position(taken + 1));
}

#[test]
fn a_full_device_is_not_filled_to_the_brim_by_asking() {
    let disk = nearly_full();
    let mut journal = open_with(&disk, reserving(0)).unwrap();
    fill(&mut journal);
    let free = disk.space().unwrap().free_bytes;
    assert_eq!(free, PAGE);
    assert!(journal.append(&[b"x"]).is_err());
    assert_eq!(disk.space().unwrap().free_bytes, free);
}

#[test]
fn no_journal_is_begun_where_there_is_no_room_for_one() {
    let disk = FaultDisk::new();
    disk.set_capacity(Some(2 * PAGE));
    assert!(matches!(open_with(&disk, small()), Err(Error::Full)));
    disk.set_capacity(None);
    put(&mut open_with(&disk, small()).unwrap(), b"now");
}
