//! The power goes at any moment, and any part of the unsynced bytes is lost. Every synced record is there afterwards, and every
//! record that is there was appended, in order.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{
    Call, Fate, Fault, FaultDisk, MemoryDisk, Unsynced, at_random, everything_kept, everything_lost,
};
use proptest::prelude::*;

use super::{DIR, kept, record, small};
use crate::{Error, FileJournal, JournalOptions, Log, Position};

#[derive(Clone, Debug)]
pub(super) enum Step {
    Append(Vec<usize>),
    Sync,
    Trim(u64),
    Reopen,
}

/// What the program knows of its journal: each record that it appended, and the last position that a sync returned.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    /// Record `n` stands at `n - 1`; records differ between attempts at the same position.
    appended: Vec<Vec<u8>>,
    synced: u64,
    trimmed: u64,
    attempts: u64,
}

impl Knowledge {
    fn records(&mut self, sizes: &[usize]) -> Vec<Vec<u8>> {
        self.attempts += 1;
        let first = self.attempts << 20 | self.appended.len() as u64;
        (first..)
            .zip(sizes)
            .map(|(number, size)| record(number, *size))
            .collect()
    }

    /// Takes the steps until one fails. The records of a failed append may be found later or not.
    pub(super) fn run(&mut self, disk: &FaultDisk, steps: &[Step]) -> Result<(), Error> {
        let open = |known| {
            let options = JournalOptions {
                known_synced: Position(known),
                ..small()
            };
            FileJournal::open(Arc::new(disk.clone()), DIR, options)
        };
        let (mut journal, _) = open(self.synced)?;
        self.learn(&journal);
        for step in steps {
            match step {
                Step::Append(sizes) => {
                    let records = self.records(sizes);
                    let borrowed: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
                    let before = self.appended.len();
                    self.appended.extend(records.iter().cloned());
                    match journal.append(&borrowed) {
                        Ok(position) => assert_eq!(position.0, self.appended.len() as u64),
                        Err(Error::Full) => self.appended.truncate(before),
                        Err(error) => return Err(error),
                    }
                }
                Step::Sync => self.synced = journal.sync()?.0,
                Step::Trim(percent) => {
                    let below = self.synced * percent / 100;
                    self.trimmed = self.trimmed.max(below);
                    journal.trim(Position(below))?;
                }
                Step::Reopen => {
                    drop(journal);
                    journal = open(self.synced)?.0;
                    self.learn(&journal);
                }
            }
        }
        Ok(())
    }

    /// Learns from an opening: every record that the journal holds is durable, and all others are gone.
    fn learn(&mut self, journal: &FileJournal) {
        self.synced = journal.status().synced.0;
        self.appended.truncate(journal.status().last.0 as usize);
    }

    /// For a device that lied. True where every synced record is there; false where the journal refuses to open and names a
    /// file. Panics where it opens without a synced record.
    #[track_caller]
    pub(super) fn is_found_or_refused(&mut self, image: &MemoryDisk) -> bool {
        let options = JournalOptions {
            known_synced: Position(self.synced),
            ..small()
        };
        match FileJournal::open(Arc::new(image.clone()), DIR, options) {
            Err(Error::Corrupt { file, .. }) => {
                assert!(file.starts_with(DIR), "{file}");
                false
            }
            Err(error) => panic!("{error:?}"),
            Ok(_) => {
                self.check(image);
                true
            }
        }
    }

    /// Opens the journal that a crash left and compares it with the knowledge, which then is that of the next process.
    #[track_caller]
    pub(super) fn check(&mut self, image: &MemoryDisk) {
        let options = JournalOptions {
            known_synced: Position(self.synced),
            ..small()
        };
        let (mut journal, recovered) =
            FileJournal::open(Arc::new(image.clone()), DIR, options).unwrap();
        let status = journal.status();
        assert!(
            status.last.0 >= self.synced,
            "{} was synced, found {status:?}",
            self.synced
        );
        assert!(status.last.0 <= self.appended.len() as u64);
        assert!(
            status.first.0 <= self.trimmed.max(1),
            "not trimmed to {}: {status:?}",
            status.first
        );
        assert_eq!(recovered.records, status.last.0 + 1 - status.first.0);
        let records = kept(&mut journal);
        assert_eq!(records.len() as u64, recovered.records);
        for (position, record) in records {
            assert!(
                self.appended[position as usize - 1] == record,
                "record {position}"
            );
        }
        self.appended.truncate(status.last.0 as usize);
        self.synced = status.last.0;
    }
}

/// Every kind of call on a journal, in few steps.
pub(super) fn script() -> Vec<Step> {
    let mut steps = Vec::new();
    for round in 0..4 {
        steps.extend([
            Step::Append(vec![10, 20]),
            Step::Append(vec![3000, 0]),
            Step::Sync,
            Step::Append(vec![5000]),
            Step::Append(vec![100]),
            Step::Append(vec![9000, 20_000 * (round % 2)]),
            Step::Sync,
            Step::Trim(30 * round as u64),
        ]);
        if round == 1 {
            steps.push(Step::Reopen);
        }
    }
    steps
}

#[test]
fn the_power_may_go_at_every_change() {
    for changes in 0.. {
        let disk = FaultDisk::new();
        disk.power_off_after(changes);
        let mut knowledge = Knowledge::default();
        let is_done = knowledge.run(&disk, &script()).is_ok();
        knowledge.clone().check(&disk.crash(everything_lost));
        knowledge.clone().check(&disk.crash(everything_kept));
        for seed in 0..12 {
            knowledge.clone().check(&disk.crash(at_random(seed)));
        }
        if is_done {
            assert!(changes > 60, "the script is too short to mean anything");
            return;
        }
    }
}

#[test]
fn the_power_may_go_again_while_a_crash_is_recovered_from() {
    for changes in (20..140).step_by(7) {
        let disk = FaultDisk::new();
        disk.power_off_after(changes);
        let mut knowledge = Knowledge::default();
        let _ = knowledge.run(&disk, &script());
        for seed in 0..6 {
            let image = disk.crash(at_random(seed));
            for again in 0.. {
                let second = FaultDisk::over(&image);
                second.power_off_after(again);
                let mut knowledge = knowledge.clone();
                let is_done = knowledge.run(&second, &[]).is_ok();
                for seed in 0..4 {
                    knowledge.clone().check(&second.crash(at_random(seed)));
                }
                if is_done {
                    break;
                }
            }
        }
    }
}

#[test]
fn records_that_only_the_cache_holds_after_a_failed_sync_are_written_again() {
    let disk = FaultDisk::new();
    let mut knowledge = Knowledge::default();
    let steps = [
        Step::Append(vec![10]),
        Step::Sync,
        Step::Append(vec![5000]),
        Step::Append(vec![7]),
    ];
    knowledge.run(&disk, &steps).unwrap();
    disk.inject(Call::Sync, 1, Fault::Fail(ErrorKind::Other));
    // The next process opens the journal, and its first sync fails.
    assert!(knowledge.run(&disk, &[]).is_err());
    // The process after it sees the records and makes them durable, although the system believes their pages clean.
    knowledge.run(&disk, &[]).unwrap();
    assert_eq!(knowledge.synced, 3);
    knowledge.check(&disk.crash(everything_lost));
}

#[test]
fn what_was_cut_does_not_come_back() {
    let disk = FaultDisk::new();
    let mut knowledge = Knowledge::default();
    let steps = [
        Step::Append(vec![10]),
        Step::Sync,
        Step::Append(vec![11]),
        Step::Append(vec![12]),
    ];
    knowledge.run(&disk, &steps).unwrap();
    // Of the two frames that were not synced only the second one arrived.
    let image = disk.crash(|thing| match thing {
        Unsynced::Page(2) => Fate::Kept,
        _ => Fate::Lost,
    });
    let options = small();
    let (mut journal, recovered) =
        FileJournal::open(Arc::new(image.clone()), DIR, options).unwrap();
    assert_eq!(
        (recovered.records, recovered.bytes_cut, recovered.cut_offset),
        (1, 8192, 4096)
    );
    assert_eq!(
        recovered.cut_file.as_deref(),
        Some(super::segment_files(&image)[0].as_str())
    );
    // The first one is written again, byte for byte. The second one must not follow it.
    let again = knowledge.appended[1].clone();
    journal.append(&[&again]).unwrap();
    drop(journal);
    assert_eq!(super::open(&image).status().last, Position(2));
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![6 => 0..300usize, 3 => 0..9000usize, 1 => 0..40_000usize];
    prop_oneof![
        5 => prop::collection::vec(size, 0..5).prop_map(Step::Append),
        3 => Just(Step::Sync),
        2 => (0..=100u64).prop_map(Step::Trim),
        1 => Just(Step::Reopen),
    ]
}

/// The steps of one process, the faults of its device, and the fate of unsynced pages at its end.
#[derive(Clone, Debug)]
struct Life {
    steps: Vec<Step>,
    /// The power goes after this many changes; never where the steps make fewer.
    changes: u64,
    /// Pages that the device can hold.
    capacity: Option<u64>,
    /// Calls that fail, or are short.
    faults: Vec<(Call, u64, Fault)>,
    /// After a fault the process ends; whether the power goes, too, before the next one starts.
    power_goes: bool,
    seed: u64,
}

fn fault() -> impl Strategy<Value = (Call, u64, Fault)> {
    let call = prop::sample::select(vec![
        Call::Open,
        Call::Create,
        Call::List,
        Call::Rename,
        Call::Remove,
        Call::SyncDir,
        Call::Read,
        Call::Write,
        Call::SetLen,
        Call::Sync,
    ]);
    let fault = prop_oneof![
        2 => Just(Fault::Fail(ErrorKind::Other)),
        1 => Just(Fault::Fail(ErrorKind::StorageFull)),
        1 => (0..9000usize).prop_map(Fault::Short),
    ];
    (call, 1..60u64, fault)
}

fn life() -> impl Strategy<Value = Life> {
    let steps = prop::collection::vec(step(), 0..40);
    let faults = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(fault(), 1..4)];
    let capacity = prop_oneof![2 => Just(None), 1 => (8..60u64).prop_map(Some)];
    (
        steps,
        0..200u64,
        capacity,
        faults,
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(
            |(steps, changes, capacity, faults, power_goes, seed)| Life {
                steps,
                changes,
                capacity,
                faults,
                power_goes,
                seed,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn nothing_acknowledged_is_lost_over_many_lives(lives in prop::collection::vec(life(), 1..5)) {
        let mut image = MemoryDisk::new();
        let mut knowledge = Knowledge::default();
        for life in lives {
            let disk = FaultDisk::over(&image);
            disk.power_off_after(life.changes);
            disk.set_capacity(life.capacity.map(|pages| pages * 4096));
            for (call, nth, fault) in life.faults {
                disk.inject(call, nth, fault);
            }
            let _ = knowledge.run(&disk, &life.steps);
            let mut fate = at_random(life.seed);
            image = disk.crash(|thing| if life.power_goes { fate(thing) } else { Fate::Kept });
            knowledge.check(&image);
        }
    }
}
