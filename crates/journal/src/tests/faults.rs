//! One call to the device goes wrong. The journal returns an error, or nothing has changed; it never shows a wrong record.

use std::io::ErrorKind;

use disk::{Call, Fault, FaultDisk, at_random, everything_lost};

use super::crash::{Knowledge, script};
use super::{kept, open, open_with, put, small};
use crate::{Error, JournalOptions, LocalLog, Log, Position};

const CALLS: [Call; 9] = [
    Call::Open,
    Call::Create,
    Call::CreateDir,
    Call::List,
    Call::Rename,
    Call::Remove,
    Call::SyncDir,
    Call::Sync,
    Call::SetLen,
];

/// Runs the script with one fault, once for each call of the kind that it makes. Then the process ends. The next one finds the
/// disk as it is, or as a power cut leaves it.
fn each_call(call: Call, fault: Fault) {
    for nth in 1.. {
        let disk = FaultDisk::new();
        disk.inject(call, nth, fault);
        let mut knowledge = Knowledge::default();
        let outcome = knowledge.run(&disk, &script());
        if disk.count(call) < nth {
            assert!(
                nth > 1 || call == Call::SetLen,
                "the script makes no {call:?}"
            );
            outcome.unwrap();
            return;
        }
        for seed in 0..4 {
            knowledge.clone().check(&disk.crash(at_random(seed)));
        }
        knowledge.run(&disk, &script()).unwrap();
        knowledge.check(&disk.crash(everything_lost));
    }
}

#[test]
fn every_call_may_fail_once() {
    for call in CALLS.into_iter().chain([Call::Write, Call::Read]) {
        each_call(call, Fault::Fail(ErrorKind::Other));
    }
}

#[test]
fn every_write_may_be_short() {
    for bytes in [0, 1, 64, 600, 4096, 5000] {
        each_call(Call::Write, Fault::Short(bytes));
    }
}

#[test]
fn every_call_may_find_the_device_full() {
    for call in [Call::Create, Call::Write, Call::SetLen, Call::Rename] {
        each_call(call, Fault::Fail(ErrorKind::StorageFull));
    }
}

#[test]
fn a_failed_sync_poisons() {
    let disk = FaultDisk::new();
    let mut journal = open(&disk);
    put(&mut journal, b"acknowledged");
    journal.append(&[b"doubtful"]).unwrap();
    disk.inject(Call::Sync, 1, Fault::Fail(ErrorKind::Other));
    let poisoned =
        |error: Error| matches!(error, Error::Poisoned { cause, .. } if cause.contains("injected"));
    assert!(poisoned(journal.sync().unwrap_err()));
    assert!(poisoned(journal.sync().unwrap_err()));
    assert!(poisoned(journal.append(&[b"more"]).unwrap_err()));
    assert!(poisoned(journal.append_reserved(&[b"more"]).unwrap_err()));
    assert!(poisoned(journal.trim(Position(1)).unwrap_err()));
    assert_eq!(journal.status().synced, Position(1));
    assert_eq!(kept(&mut journal).len(), 2);
}

#[test]
fn a_failed_write_poisons() {
    let disk = FaultDisk::new();
    let mut journal = open(&disk);
    disk.inject(Call::Write, 1, Fault::Fail(ErrorKind::Other));
    assert!(matches!(
        journal.append(&[b"a"]),
        Err(Error::Poisoned { .. })
    ));
    assert!(matches!(journal.sync(), Err(Error::Poisoned { .. })));
}

/// Runs the script with one call that lies, then cuts the power: the next process finds every record, or names the place of
/// the loss.
fn each_lie(call: Call, fault: impl Fn(u64) -> Fault) {
    let mut refused = 0;
    for nth in 1.. {
        let disk = FaultDisk::new();
        disk.inject(call, nth, fault(nth));
        let mut knowledge = Knowledge::default();
        // The script opens the journal twice: either opening may find the damage.
        match knowledge.run(&disk, &script()) {
            Ok(()) if disk.count(call) < nth => break,
            Ok(()) => {}
            Err(error) => {
                assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
                refused += 1;
            }
        }
        refused += usize::from(!knowledge.is_found_or_refused(&disk.crash(everything_lost)));
    }
    assert!(refused > 0, "no {call:?} that lies was ever noticed");
}

#[test]
fn a_write_that_was_flipped_is_found_out() {
    each_lie(Call::Write, |nth| Fault::Flip(nth * 7919));
    each_lie(Call::Write, |_| Fault::Flip(64 * 8 + 64 + 3));
}

#[test]
fn a_write_that_never_happened_is_found_out() {
    each_lie(Call::Write, |_| Fault::Ignored);
}

#[test]
fn a_sync_that_never_happened_is_found_out() {
    each_lie(Call::Sync, |_| Fault::Ignored);
}

#[test]
fn a_read_that_was_flipped_never_shows_a_wrong_record() {
    let disk = FaultDisk::new();
    let mut journal = open(&disk);
    for number in 0..3 {
        put(&mut journal, &super::record(number, 900));
    }
    let sound = kept(&mut journal);
    for bit in (0..3 * 4096 * 8).step_by(61) {
        disk.inject(Call::Read, 1, Fault::Flip(bit));
        let mut shown = Vec::new();
        let outcome = journal.read(Position(1), &mut |position, record| {
            shown.push((position.0, record.to_vec()));
            true
        });
        assert!(sound.starts_with(&shown));
        assert!(outcome.is_err() || shown == sound);
    }
}

#[test]
fn an_open_that_fails_half_way_can_be_repeated() {
    let disk = FaultDisk::new();
    put(&mut open(&disk), b"kept");
    for call in [
        Call::List,
        Call::SyncDir,
        Call::Sync,
        Call::Read,
        Call::Open,
    ] {
        disk.inject(call, 1, Fault::Fail(ErrorKind::Other));
        assert!(open_with(&disk, small()).is_err(), "{call:?}");
        let options = JournalOptions {
            known_synced: Position(1),
            ..small()
        };
        assert_eq!(kept(&mut open_with(&disk, options).unwrap()).len(), 1);
    }
}
