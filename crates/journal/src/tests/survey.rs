//! A survey finds the records that recovery finds, names the lost ones, and changes nothing.

use std::sync::Arc;

use disk::{Disk, FaultDisk, MemoryDisk, at_random};
use proptest::prelude::*;

use super::{DIR, flip, kept, open, open_with, put, record, segment_files, small};
use crate::{JournalOptions, Log, Position, Survey, begin_after, survey};

const RECORD_BYTES: usize = 5000;
const FRAME_BYTES: u64 = 8192;

fn journal_of(frames: u64) -> MemoryDisk {
    let disk = MemoryDisk::new();
    let mut journal = open(&disk);
    for number in 1..=frames {
        put(&mut journal, &record(number, RECORD_BYTES));
    }
    disk
}

type Records = Vec<(u64, Vec<u8>)>;

/// The survey, and the sound records.
fn surveyed(disk: &dyn Disk, known: u64) -> (Survey, Records) {
    let mut records = Vec::new();
    let found = survey(disk, DIR, Position(known), Position(1), &mut |surveyed| {
        if surveyed.is_sound {
            records.push((surveyed.position.0, surveyed.bytes.to_vec()));
        }
    });
    (found.unwrap(), records)
}

#[test]
fn a_sound_journal_is_shown_whole() {
    let disk = journal_of(6);
    let (found, records) = surveyed(&disk, 6);
    assert_eq!(records, kept(&mut open(&disk)));
    assert_eq!(
        (found.frames, found.records, found.last),
        (6, 6, Position(6))
    );
    assert_eq!((&found.torn, found.damages.len()), (&None, 0));
}

#[test]
fn a_damaged_frame_is_named_and_those_behind_it_are_shown() {
    for byte in [0, 30, 66, 80, 4000] {
        for frame in 0..6u64 {
            let disk = journal_of(6);
            let path = segment_files(&disk)[frame as usize / 2].clone();
            let offset = frame % 2 * FRAME_BYTES;
            flip(&disk, &path, offset + byte);
            let (found, records) = surveyed(&disk, 6);
            let numbers: Vec<u64> = records.iter().map(|(number, _)| *number).collect();
            let want: Vec<u64> = (1..=6).filter(|number| *number != frame + 1).collect();
            assert_eq!(numbers, want, "frame {frame}, byte {byte}");
            let lost: Vec<_> = found
                .damages
                .iter()
                .map(|damage| (damage.first.0, damage.last.0))
                .collect();
            assert_eq!(
                lost,
                [(frame + 1, frame + 1)],
                "frame {frame}, byte {byte}: {found:?}"
            );
            assert_eq!(found.last, Position(6));
        }
    }
}

#[test]
fn of_a_frame_of_several_records_only_the_damaged_one_is_lost() {
    let disk = MemoryDisk::new();
    let mut journal = open(&disk);
    journal.append(&[b"one", b"two", b"three"]).unwrap();
    journal.sync().unwrap();
    drop(journal);
    flip(&disk, &segment_files(&disk)[0], 64 + 3 * 8 + 4);
    let mut damaged = Vec::new();
    let found = survey(&disk, DIR, Position(3), Position(1), &mut |surveyed| {
        damaged.push((surveyed.position.0, surveyed.is_sound));
    });
    assert_eq!(damaged, [(1, true), (2, false), (3, true)]);
    let damages = found.unwrap().damages;
    assert_eq!(
        (damages[0].first, damages[0].last),
        (Position(2), Position(2))
    );
}

#[test]
fn a_missing_segment_is_named_by_what_it_held() {
    let disk = journal_of(6);
    disk.remove(&segment_files(&disk)[1]).unwrap();
    let (found, records) = surveyed(&disk, 6);
    assert_eq!(records.len(), 4);
    let lost: u64 = found
        .damages
        .iter()
        .map(|damage| (damage.last.0 + 1).saturating_sub(damage.first.0))
        .sum();
    assert_eq!(lost, 2, "{found:?}");
}

#[test]
fn records_that_other_files_hold_are_not_lost() {
    let disk = journal_of(6);
    flip(&disk, &segment_files(&disk)[0], 100);
    let found = survey(&disk, DIR, Position(6), Position(4), &mut |_| {}).unwrap();
    assert_eq!(found.damages.len(), 1);
    assert!(found.damages[0].last < found.damages[0].first, "{found:?}");
}

#[test]
fn a_trimmed_journal_whose_beginning_is_gone_says_which_records_are_needed() {
    for whole in [false, true] {
        let disk = MemoryDisk::new();
        let mut journal = open(&disk);
        for number in 1..=6 {
            put(&mut journal, &record(number, RECORD_BYTES));
        }
        journal.trim(Position(3)).unwrap();
        drop(journal);
        let path = segment_files(&disk)[0].clone();
        flip(&disk, &path, 0);
        if whole {
            flip(&disk, &path, FRAME_BYTES);
        }
        let found = survey(&disk, DIR, Position(6), Position(3), &mut |_| {}).unwrap();
        let lost: Vec<_> = found
            .damages
            .iter()
            .map(|damage| (damage.first.0, damage.last.0))
            .collect();
        assert_eq!(lost, [(3, if whole { 4 } else { 3 })], "{found:?}");
        assert_eq!(found.last, Position(6));
    }
}

proptest! {
    #[test]
    fn after_any_crash_a_survey_shows_what_recovery_keeps(
        batches in proptest::collection::vec((1..4usize, any::<bool>(), 0..9000usize), 1..12),
        seed in any::<u64>(),
    ) {
        let disk = FaultDisk::new();
        let mut journal = open_with(&disk, small()).unwrap();
        let mut number = 0;
        for (records, synced, bytes) in batches {
            let records: Vec<Vec<u8>> = (0..records).map(|_| { number += 1; record(number, bytes) }).collect();
            let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
            journal.append(&records).unwrap();
            if synced {
                journal.sync().unwrap();
            }
        }
        let synced = journal.status().synced;
        let image = disk.crash(at_random(seed));
        let (found, records) = surveyed(&image, synced.0);
        let mut recovered = open_with(&image, JournalOptions { known_synced: synced, ..small() }).unwrap();
        prop_assert_eq!(&found.damages, &Vec::new());
        prop_assert_eq!(records, kept(&mut recovered));
        prop_assert_eq!(found.last, recovered.status().last);
    }
}

#[test]
fn a_journal_goes_on_after_records_that_it_does_not_hold() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    begin_after(&disk, DIR, 4 * 4096, Position(41), b"nothing").unwrap();
    assert!(begin_after(&disk, DIR, 4 * 4096, Position(41), b"nothing").is_err());
    let known = JournalOptions {
        known_synced: Position(41),
        ..small()
    };
    let (mut journal, _) = crate::FileJournal::open(Arc::clone(&disk), DIR, known).unwrap();
    assert_eq!(kept(&mut journal), [(42, b"nothing".to_vec())]);
    assert_eq!(put(&mut journal, b"goes on"), Position(43));
}
