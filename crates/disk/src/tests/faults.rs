//! The faulty disk breaks what it is told to break, and nothing else.

use super::{read, write, write_synced};
use crate::{
    Call, Disk, Fate, Fault, FaultDisk, PAGE_BYTES, Unsynced, at_random, everything_kept,
    everything_lost,
};
use std::io::ErrorKind;

/// A disk with one durable file of three pages of ones.
fn with_file() -> FaultDisk {
    let disk = FaultDisk::new();
    write_synced(&disk, "a", &[1; 3 * PAGE_BYTES]);
    disk.sync_dir("").unwrap();
    disk
}

fn first_bytes_of_pages(content: &[u8]) -> Vec<u8> {
    content.chunks(PAGE_BYTES).map(|page| page[0]).collect()
}

#[test]
fn each_page_has_a_fate_of_its_own() {
    let disk = with_file();
    write(&disk, "a", &[2; 3 * PAGE_BYTES]);
    let image = disk.crash(|thing| match thing {
        Unsynced::Page(1) => Fate::Lost,
        _ => Fate::Kept,
    });
    assert_eq!(first_bytes_of_pages(&read(&image, "a")), [2, 1, 2]);
    assert_eq!(read(&disk, "a"), [2; 3 * PAGE_BYTES]);
}

#[test]
fn a_torn_page_keeps_some_of_its_sectors() {
    let disk = with_file();
    write(&disk, "a", &[2; PAGE_BYTES]);
    let content = read(&disk.crash(|_| Fate::Torn(0b0000_0101)), "a");
    let sectors: Vec<u8> = content[..PAGE_BYTES]
        .chunks(512)
        .map(|sector| sector[0])
        .collect();
    assert_eq!(sectors, [2, 1, 2, 1, 1, 1, 1, 1]);
}

#[test]
fn a_page_may_be_found_as_it_was_in_between() {
    let disk = with_file();
    write(&disk, "a", &[2; 10]);
    write(&disk, "a", &[3; 10]);
    assert_eq!(read(&disk.crash(|_| Fate::Earlier), "a")[0], 2);
}

#[test]
fn what_was_synced_stays() {
    let disk = with_file();
    write_synced(&disk, "a", &[2; 10]);
    assert_eq!(
        read(&disk.crash(everything_lost), "a")[..11],
        [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1]
    );
}

#[test]
fn a_length_is_lost_or_kept() {
    let disk = with_file();
    disk.open("a")
        .unwrap()
        .write_at(3 * PAGE_BYTES as u64, &[9])
        .unwrap();
    assert_eq!(
        read(&disk.crash(everything_lost), "a").len(),
        3 * PAGE_BYTES
    );
    let grown = disk.crash(|thing| {
        if thing == Unsynced::Length {
            Fate::Kept
        } else {
            Fate::Lost
        }
    });
    assert_eq!(read(&grown, "a")[3 * PAGE_BYTES..], [0]);
    assert_eq!(
        read(&disk.crash(everything_kept), "a")[3 * PAGE_BYTES..],
        [9]
    );
}

#[test]
fn bytes_that_were_cut_may_come_back() {
    let disk = with_file();
    let file = disk.open("a").unwrap();
    file.set_len(0).unwrap();
    file.set_len(10).unwrap();
    assert_eq!(read(&disk, "a"), [0; 10]);
    let image = disk.crash(|thing| {
        if thing == Unsynced::Length {
            Fate::Kept
        } else {
            Fate::Lost
        }
    });
    assert_eq!(read(&image, "a"), [1; 10]);
}

#[test]
fn a_name_is_durable_after_its_folder_is_synced() {
    let disk = FaultDisk::new();
    write_synced(&disk, "new", b"x");
    assert!(!disk.crash(everything_lost).exists("new").unwrap());
    assert_eq!(read(&disk.crash(everything_kept), "new"), b"x");
    disk.sync_dir("").unwrap();
    assert_eq!(read(&disk.crash(everything_lost), "new"), b"x");
    disk.remove("new").unwrap();
    assert!(disk.crash(everything_lost).exists("new").unwrap());
    assert!(!disk.crash(everything_kept).exists("new").unwrap());
}

#[test]
fn a_rename_is_whole_or_not_at_all_and_waits_for_both_folders() {
    let disk = FaultDisk::new();
    disk.create_dir("x").unwrap();
    disk.create_dir("y").unwrap();
    write_synced(&disk, "x/a", b"moved");
    for folder in ["x", "y", ""] {
        disk.sync_dir(folder).unwrap();
    }
    disk.rename("x/a", "y/a").unwrap();
    disk.sync_dir("y").unwrap();
    for seed in 0..20 {
        let image = disk.crash(at_random(seed));
        assert_ne!(image.exists("x/a").unwrap(), image.exists("y/a").unwrap());
    }
    disk.sync_dir("x").unwrap();
    assert_eq!(read(&disk.crash(everything_lost), "y/a"), b"moved");
}

#[test]
fn a_link_leads_to_the_old_file_or_the_new_until_its_folder_is_synced() {
    let disk = FaultDisk::new();
    for name in ["a", "b"] {
        write_synced(&disk, name, name.as_bytes());
    }
    disk.symlink("a", "now").unwrap();
    disk.sync_dir("").unwrap();
    disk.symlink("b", "now").unwrap();
    assert_eq!(read(&disk.crash(everything_lost), "now"), b"a");
    assert_eq!(read(&disk.crash(everything_kept), "now"), b"b");
    disk.sync_dir("").unwrap();
    assert_eq!(read(&disk.crash(everything_lost), "now"), b"b");
    disk.inject(Call::Symlink, 1, Fault::Fail(ErrorKind::Other));
    assert!(disk.symlink("a", "now").is_err());
    assert_eq!(read(&disk, "now"), b"b");
}

#[test]
fn after_a_failed_sync_no_later_sync_writes_the_pages() {
    let disk = with_file();
    disk.inject(Call::Sync, 1, Fault::Fail(ErrorKind::Other));
    write(&disk, "a", &[2; PAGE_BYTES]);
    let file = disk.open("a").unwrap();
    assert!(file.sync().is_err());
    file.sync().unwrap();
    assert_eq!(
        first_bytes_of_pages(&read(&disk.crash(everything_lost), "a")),
        [1, 1, 1]
    );
    assert_eq!(
        first_bytes_of_pages(&read(&disk.crash(everything_kept), "a")),
        [2, 1, 1]
    );
    write_synced(&disk, "a", &[2; PAGE_BYTES]);
    assert_eq!(
        first_bytes_of_pages(&read(&disk.crash(everything_lost), "a")),
        [2, 1, 1]
    );
}

#[test]
fn the_nth_call_of_a_kind_fails_once() {
    let disk = FaultDisk::new();
    disk.inject(Call::Create, 2, Fault::Fail(ErrorKind::PermissionDenied));
    disk.create("a").unwrap();
    assert_eq!(
        disk.create("b").err().unwrap().kind(),
        ErrorKind::PermissionDenied
    );
    disk.create("b").unwrap();
    assert_eq!(disk.count(Call::Create), 3);
}

#[test]
fn a_short_write_lands_in_part_and_says_so() {
    let disk = with_file();
    disk.inject(Call::Write, 1, Fault::Short(2));
    assert!(disk.open("a").unwrap().write_at(0, &[5; 4]).is_err());
    assert_eq!(read(&disk, "a")[..4], [5, 5, 1, 1]);
}

#[test]
fn a_flipped_bit_goes_unnoticed() {
    let disk = with_file();
    disk.inject(Call::Write, 1, Fault::Flip(9));
    write(&disk, "a", &[0; 4]);
    assert_eq!(read(&disk, "a")[..4], [0, 2, 0, 0]);
    disk.inject(Call::Read, 1, Fault::Flip(0));
    assert_eq!(read(&disk, "a")[..4], [1, 2, 0, 0]);
}

#[test]
fn an_ignored_sync_makes_nothing_durable() {
    let disk = with_file();
    disk.inject(Call::Sync, 1, Fault::Ignored);
    write_synced(&disk, "a", &[2; 4]);
    assert_eq!(read(&disk.crash(everything_lost), "a")[..4], [1; 4]);
}

#[test]
fn a_full_device_takes_what_fits_and_room_given_back_is_room() {
    let disk = FaultDisk::new();
    disk.set_capacity(Some(3 * PAGE_BYTES as u64));
    write(&disk, "a", &[1; PAGE_BYTES]);
    let file = disk.create("b").unwrap();
    let error = file.write_at(0, &[2; 3 * PAGE_BYTES]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(file.len().unwrap(), 2 * PAGE_BYTES as u64);
    assert_eq!(disk.space().unwrap().free_bytes, 0);
    file.write_at(0, &[3; 2 * PAGE_BYTES]).unwrap();
    assert_eq!(
        file.set_len(3 * PAGE_BYTES as u64).unwrap_err().kind(),
        ErrorKind::StorageFull
    );
    disk.remove("a").unwrap();
    file.write_at(0, &[2; 3 * PAGE_BYTES]).unwrap();
}

#[test]
fn nothing_works_once_the_power_is_off() {
    let disk = with_file();
    disk.power_off_after(1);
    write(&disk, "a", &[2; 1]);
    let file = disk.open("a").unwrap();
    assert!(file.write_at(0, &[3; 1]).is_err());
    assert!(file.read_at(0, &mut [0]).is_err());
    assert!(disk.create("b").is_err());
    assert_eq!(read(&disk.crash(everything_kept), "a")[0], 3);
    assert_eq!(read(&disk.crash(everything_lost), "a")[0], 1);
}

#[test]
fn a_crash_can_follow_a_crash() {
    let disk = with_file();
    write(&disk, "a", &[2; 1]);
    let second = FaultDisk::over(&disk.crash(everything_kept));
    write(&second, "a", &[3; 1]);
    assert_eq!(read(&second.crash(everything_lost), "a")[0], 2);
    assert_eq!(read(&disk, "a")[0], 2);
}
