//! The contract of `Log`, on every implementation; the log in memory is the oracle.

use std::sync::Arc;

use disk::{Call, Disk, FaultDisk, MemoryDisk, RealDisk};
use proptest::prelude::*;

use super::{DIR, kept, open, open_with, put, record, small};
use crate::limits::BUFFER_BYTES;
use crate::{Error, FileJournal, JournalOptions, Log, MemoryLog, Position, Preparation};

#[track_caller]
fn on_every_journal(check: impl Fn(&mut dyn Log)) {
    check(&mut MemoryLog::new());
    check(&mut open(&MemoryDisk::new()));
}

#[test]
fn a_new_journal_holds_nothing() {
    on_every_journal(|journal| {
        let status = journal.status();
        assert_eq!(
            (status.first, status.last, status.synced),
            (Position(1), Position(0), Position(0))
        );
        assert_eq!(kept(journal), []);
        assert_eq!(journal.sync().unwrap(), Position(0));
    });
}

#[test]
fn positions_count_records_from_one() {
    on_every_journal(|journal| {
        assert_eq!(journal.append(&[b"a", b"b"]).unwrap(), Position(2));
        assert_eq!(journal.append(&[]).unwrap(), Position(2));
        assert_eq!(journal.append(&[b""]).unwrap(), Position(3));
        assert_eq!(journal.status().synced, Position(0));
        assert_eq!(journal.sync().unwrap(), Position(3));
        let want = [(1, b"a".to_vec()), (2, b"b".to_vec()), (3, Vec::new())];
        assert_eq!(kept(journal), want);
    });
}

#[test]
fn a_read_begins_where_it_is_told_and_ends_when_it_is_told() {
    on_every_journal(|journal| {
        for number in 1..=20 {
            journal.append(&[&record(number, 3000)]).unwrap();
        }
        let mut seen = Vec::new();
        let visit = &mut |position: Position, _: &[u8]| {
            seen.push(position.0);
            position.0 < 9
        };
        journal.read(Position(7), visit).unwrap();
        assert_eq!(seen, [7, 8, 9]);
        journal
            .read(Position(21), &mut |_, _| unreachable!("nothing is there"))
            .unwrap();
    });
}

#[test]
fn a_trimmed_position_is_refused_and_the_last_synced_record_stays() {
    on_every_journal(|journal| {
        for number in 1..=50 {
            put(journal, &record(number, 5000));
        }
        journal.append(&[b"not synced"]).unwrap();
        journal.trim(Position(1000)).unwrap();
        let status = journal.status();
        assert!(
            status.first > Position(40) && status.first <= Position(50),
            "{status:?}"
        );
        let error = journal.read(Position(1), &mut |_, _| true).unwrap_err();
        assert!(
            matches!(error, Error::Trimmed { asked: Position(1), first } if first == status.first)
        );
        assert_eq!(kept(journal).last(), Some(&(51, b"not synced".to_vec())));
    });
}

#[test]
fn a_record_above_the_limit_is_refused_and_nothing_is_taken() {
    let large = vec![0; crate::RECORD_BYTES_MAX + 1];
    on_every_journal(|journal| {
        let error = journal.append(&[b"small", &large]).unwrap_err();
        assert!(matches!(error, Error::RecordTooLarge { bytes } if bytes == large.len()));
        assert_eq!(journal.append(&[b"next"]).unwrap(), Position(1));
    });
}

#[test]
fn a_frame_above_the_limit_is_refused_and_nothing_is_taken() {
    let large = vec![0; crate::RECORD_BYTES_MAX];
    let mut journal = open(&MemoryDisk::new());
    let error = journal.append(&[&large[..]; 5]).unwrap_err();
    assert!(matches!(error, Error::FrameTooLarge { .. }));
    assert_eq!(journal.append(&[b"next"]).unwrap(), Position(1));
}

#[test]
fn a_frame_larger_than_a_segment_gets_a_file_of_its_own_size() {
    let disk = MemoryDisk::new();
    let mut journal = open(&disk);
    let sizes = [10, 100_000, 10, 20_000, 16_384 - 64 - 8, 5];
    for (number, bytes) in (1..).zip(sizes) {
        put(&mut journal, &record(number, bytes));
    }
    let want: Vec<_> = (1..)
        .zip(sizes)
        .map(|(number, bytes)| (number, record(number, bytes)))
        .collect();
    assert_eq!(kept(&mut journal), want);
    drop(journal);
    assert_eq!(kept(&mut open(&disk)), want);
    let lengths = super::segment_files(&disk)
        .into_iter()
        .map(|path| disk.open(&path).unwrap().len().unwrap());
    assert!(
        lengths
            .collect::<Vec<_>>()
            .starts_with(&[16_384, 102_400, 16_384, 20_480, 16_384])
    );
}

#[test]
fn a_small_append_costs_one_write_and_one_sync() {
    let disk = FaultDisk::new();
    let mut journal = open(&disk);
    put(&mut journal, b"first");
    let before = (disk.change_count(), disk.count(Call::Read));
    put(&mut journal, b"second");
    assert_eq!(
        (disk.change_count(), disk.count(Call::Read)),
        (before.0 + 2, before.1)
    );
    journal.sync().unwrap();
    assert_eq!(disk.change_count(), before.0 + 2);
    let status = journal.status();
    assert_eq!(
        (status.frame_count, status.record_count, status.sync_count),
        (2, 2, 2)
    );
}

#[test]
fn records_of_a_large_frame_are_written_from_where_they_lie() {
    let disk = FaultDisk::new();
    let roomy = JournalOptions {
        segment_bytes: 32 * BUFFER_BYTES as u64,
        ..small()
    };
    let mut journal = open_with(&disk, roomy.clone()).unwrap();
    put(&mut journal, b"first");
    let before = disk.change_count();
    let large = record(2, 2 * BUFFER_BYTES);
    journal
        .append(&[b"a", &large, b"b", b"c", &large, b"d"])
        .unwrap();
    let pieces = ["head and a", "large", "b and c", "large", "d and padding"];
    assert_eq!(disk.change_count() - before, pieces.len() as u64);
    let records = kept(&mut journal);
    assert_eq!(records[2], (3, large));
    drop(journal);
    assert_eq!(kept(&mut open_with(&disk, roomy).unwrap()), records);
}

#[test]
fn a_thread_prepares_segments_on_the_real_disk() {
    let path = std::env::temp_dir().join(format!("seine-journal-{}", std::process::id()));
    let disk = Arc::new(RealDisk::open(&path).unwrap());
    let options = JournalOptions {
        preparation: Preparation::Background,
        ..small()
    };
    let open = || FileJournal::open(disk.clone() as Arc<dyn Disk>, DIR, options.clone()).unwrap();
    let (mut journal, _) = open();
    for number in 1..=200 {
        put(&mut journal, &record(number, 3000));
        if number % 50 == 0 {
            journal.trim(Position(number - 10)).unwrap();
        }
    }
    let status = journal.status();
    assert_eq!(status.last, Position(200));
    drop(journal);
    let (mut journal, recovered) = open();
    assert_eq!(journal.status().first, status.first);
    assert_eq!(
        (recovered.bytes_cut, recovered.records),
        (0, 201 - status.first.0)
    );
    let want: Vec<_> = (status.first.0..=200)
        .map(|number| (number, record(number, 3000)))
        .collect();
    assert_eq!(kept(&mut journal), want);
    drop(journal);
    std::fs::remove_dir_all(&path).unwrap();
}

#[derive(Clone, Debug)]
enum Step {
    Append(Vec<usize>),
    Sync,
    Trim(u64),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![6 => 0..300usize, 3 => 0..9000usize, 1 => 0..40_000usize];
    prop_oneof![
        5 => prop::collection::vec(size, 0..6).prop_map(Step::Append),
        3 => Just(Step::Sync),
        1 => (0..100u64).prop_map(Step::Trim),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn files_and_memory_agree(steps in prop::collection::vec(step(), 1..60), reserve in 0..3u64) {
        let disk = MemoryDisk::new();
        let options = JournalOptions { reserve_bytes: reserve * 8192, ..small() };
        let mut file = open_with(&disk, options.clone()).unwrap();
        let mut memory = MemoryLog::new();
        for step in steps {
            match step {
                Step::Append(sizes) => {
                    let next = memory.status().last.0 + 1;
                    let records: Vec<_> = (next..).zip(&sizes).map(|(n, size)| record(n, *size)).collect();
                    let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
                    prop_assert_eq!(file.append(&records).unwrap(), memory.append(&records).unwrap());
                }
                Step::Sync => prop_assert_eq!(file.sync().unwrap(), memory.sync().unwrap()),
                Step::Trim(percent) => {
                    // A trim drops only synced records. The file log may have synced more: it syncs at the end of a segment.
                    prop_assert_eq!(file.sync().unwrap(), memory.sync().unwrap());
                    let below = Position(memory.status().last.0 * percent / 100);
                    file.trim(below).unwrap();
                    memory.trim(below).unwrap();
                }
                Step::Reopen => {
                    drop(file);
                    file = open_with(&disk, options.clone()).unwrap();
                    // Opening makes every record durable.
                    memory.sync().unwrap();
                }
            }
            let (got, want) = (file.status(), memory.status());
            prop_assert_eq!(got.last, want.last);
            // A trim drops whole segments.
            prop_assert!(got.synced >= want.synced && got.first <= want.first);
        }
        let mut got = kept(&mut file);
        let want = kept(&mut memory);
        got.drain(..got.len() - want.len());
        prop_assert_eq!(got, want);
    }
}
