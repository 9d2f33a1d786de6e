//! Segment files are used again: the frames that they held before do not count.

use disk::{Call, Disk, Fate, FaultDisk, Unsynced, at_random};

use super::{DIR, kept, open, put, record};
use crate::{Log, Position};

/// Appends `frames` frames of one page each, trimming as a server does.
fn write_and_trim(journal: &mut dyn Log, frames: u64) {
    for _ in 0..frames {
        let next = journal.status().last.0 + 1;
        let position = put(journal, &record(next, 100));
        if position.0.is_multiple_of(8) {
            journal.trim(Position(position.0 - 2)).unwrap();
        }
    }
}

#[test]
fn a_journal_that_is_trimmed_makes_no_new_files() {
    let disk = FaultDisk::new();
    let mut journal = open(&disk);
    write_and_trim(&mut journal, 40);
    let (created, bytes) = (disk.count(Call::Create), journal.status().disk_bytes);
    write_and_trim(&mut journal, 400);
    assert_eq!(
        (disk.count(Call::Create), journal.status().disk_bytes),
        (created, bytes)
    );
}

#[test]
fn the_stale_frames_of_a_segment_are_never_shown() {
    let disk = FaultDisk::new();
    let mut journal = open(&disk);
    write_and_trim(&mut journal, 100);
    drop(journal);
    // At each stop another part of the active segment is overwritten.
    for more in 1..12 {
        let mut journal = open(&disk);
        let last = journal.status().last.0;
        write_and_trim(&mut journal, more % 3 + 1);
        journal.append(&[b"not synced"]).unwrap();
        for seed in 0..10 {
            let image = disk.crash(at_random(seed));
            let found = kept(&mut open(&image));
            let synced = last + more % 3 + 1;
            let newest = found.last().unwrap();
            assert!(newest.0 == synced || *newest == (synced + 1, b"not synced".to_vec()));
            assert!(found.iter().all(|(n, bytes)| *bytes == record(*n, 100)
                || bytes == b"not synced"
                || n > &synced
                || kept(&mut journal).contains(&(*n, bytes.clone()))));
        }
    }
}

#[test]
fn a_segment_is_whole_on_the_device_before_it_has_its_name() {
    for changes in 0.. {
        let disk = FaultDisk::new();
        disk.power_off_after(changes);
        let is_done = super::open_with(&disk, super::small()).is_ok();
        let image = disk.crash(|thing| {
            if thing == Unsynced::Name {
                Fate::Kept
            } else {
                Fate::Lost
            }
        });
        if image.exists(DIR).unwrap() {
            for path in super::segment_files(&image) {
                assert_eq!(image.open(&path).unwrap().len().unwrap(), 16_384);
            }
        }
        if is_done {
            return;
        }
    }
}

#[test]
fn few_spares_are_kept_and_the_rest_is_given_back() {
    let disk = FaultDisk::new();
    let mut journal = open(&disk);
    for number in 1..=80 {
        put(&mut journal, &record(number, 100));
    }
    journal.trim(Position(80)).unwrap();
    let names = disk.list(DIR).unwrap();
    let spares = names.iter().filter(|name| name.ends_with(".spare")).count();
    assert_eq!((spares, names.len()), (2, 4));
    assert_eq!(journal.status().disk_bytes, 4 * 16_384);
    drop(journal);
    assert_eq!(open(&disk).status().disk_bytes, 4 * 16_384);
}

#[test]
fn files_of_others_are_left_alone() {
    let disk = FaultDisk::new();
    put(&mut open(&disk), b"x");
    disk.create(&format!("{DIR}/notes.txt")).unwrap();
    disk.create(&format!("{DIR}/prepared.tmp")).unwrap();
    assert_eq!(kept(&mut open(&disk)).len(), 1);
    assert!(disk.exists(&format!("{DIR}/notes.txt")).unwrap());
    assert!(!disk.exists(&format!("{DIR}/prepared.tmp")).unwrap());
}

#[test]
fn segments_of_another_length_are_read_and_written_on() {
    let disk = FaultDisk::new();
    for (segment_pages, number) in [(4, 0), (2, 1), (16, 2), (1, 3)] {
        let options = crate::JournalOptions {
            segment_bytes: segment_pages * 4096,
            ..super::small()
        };
        let mut journal = super::open_with(&disk, options).unwrap();
        for more in 1..=10 {
            put(&mut journal, &record(number * 10 + more, 100));
        }
        journal.trim(Position(number * 10 + 3)).unwrap();
    }
    let mut journal = open(&disk);
    let found = kept(&mut journal);
    assert!(found.len() <= 20 && found.last().unwrap().0 == 40);
    assert!(found.iter().all(|(n, bytes)| *bytes == record(*n, 100)));
}
