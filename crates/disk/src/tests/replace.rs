//! After `replace_file` the file is the old one or the new one, whatever happens.

use super::{on_every_disk, read, write_synced};
use crate::{Call, Disk, Fault, FaultDisk, at_random, everything_lost, replace_file};
use std::io::ErrorKind;

#[test]
fn a_file_is_replaced_and_nothing_is_left_over() {
    on_every_disk(|disk| {
        disk.create_dir("d").unwrap();
        replace_file(disk, "d/a", b"one").unwrap();
        super::write(disk, "d/a.tmp", b"left over by a crash");
        replace_file(disk, "d/a", b"two").unwrap();
        replace_file(disk, "at-root", b"three").unwrap();
        assert_eq!(read(disk, "d/a"), b"two");
        assert_eq!(disk.list("d").unwrap(), ["a"]);
        assert_eq!(disk.list("").unwrap(), ["at-root", "d"]);
    });
}

/// A disk that durably holds the old file.
fn with_old_file() -> FaultDisk {
    let disk = FaultDisk::new();
    write_synced(&disk, "a", &[1; 9000]);
    disk.sync_dir("").unwrap();
    disk
}

#[test]
fn a_crash_at_any_point_leaves_the_old_file_or_the_new() {
    for changes in 0.. {
        let disk = with_old_file();
        disk.power_off_after(changes);
        let is_done = replace_file(&disk, "a", &[2; 5000]).is_ok();
        for seed in 0..20 {
            let content = read(&disk.crash(at_random(seed)), "a");
            assert!(
                content == [2; 5000] || !is_done && content == [1; 9000],
                "change {changes}, seed {seed}"
            );
        }
        if is_done {
            return;
        }
    }
}

#[test]
fn a_call_that_fails_leaves_the_old_file_or_the_new() {
    for call in [
        Call::Create,
        Call::Write,
        Call::Sync,
        Call::Rename,
        Call::SyncDir,
    ] {
        let disk = with_old_file();
        disk.inject(call, 1, Fault::Fail(ErrorKind::Other));
        assert!(replace_file(&disk, "a", &[2; 5000]).is_err(), "{call:?}");
        let content = read(&disk.crash(everything_lost), "a");
        assert!(content == [1; 9000] || content == [2; 5000], "{call:?}");
        replace_file(&disk, "a", &[3; 10]).unwrap();
        assert_eq!(read(&disk.crash(everything_lost), "a"), [3; 10]);
    }
}
