//! Spools on disks that fail and forget.

use super::*;
use disk::{Call, Fault, FaultDisk, MemoryDisk, at_random};

fn disk() -> FaultDisk {
    let disk = FaultDisk::over(&MemoryDisk::new());
    disk.create_dir("spool").unwrap();
    disk.sync_dir("").unwrap();
    disk
}

fn shared(disk: &FaultDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

fn numbers(range: std::ops::Range<u64>) -> Messages {
    let mut messages = Messages::default();
    for number in range {
        messages.push(b"web", number.to_string().as_bytes());
    }
    messages
}

fn read_all(spool: &mut Spool, mut number: u64, bytes_max: usize) -> Vec<u64> {
    let mut all = Vec::new();
    while number < spool.end() {
        match spool.read(number, bytes_max).unwrap() {
            Read::Messages(records) => {
                let runs = records.iter().flat_map(Messages::runs);
                let before = all.len();
                all.extend(
                    runs.flat_map(|run| run.bodies())
                        .map(|body| str::from_utf8(body).unwrap().parse::<u64>().unwrap()),
                );
                assert!(all.len() > before);
                number += (all.len() - before) as u64;
            }
            Read::Damaged { next } => {
                assert!(next > number);
                number = next;
            }
        }
    }
    all
}

#[test]
fn a_crash_keeps_what_a_noted_cursor_names_and_failed_calls_leave_no_trace() {
    for seed in 0..200_u64 {
        let mut disk = disk();
        let mut spool = Spool::create(shared(&disk), "spool", "0-web", 5).unwrap();
        let mut end = 5;
        for round in 0..6 {
            let count = 1 + (seed + round) % 4;
            if (seed + round) % 3 == 0 {
                let call =
                    [Call::Write, Call::Sync, Call::Create, Call::SyncDir][(seed % 4) as usize];
                disk.inject(call, 1 + round % 2, Fault::Fail(ErrorKind::StorageFull));
            }
            let appended = spool
                .append(&numbers(end..end + count))
                .and_then(|()| spool.sync());
            disk.refuse(None);
            match appended {
                Ok(()) => end += count,
                Err(_) => spool.give_up_unsynced(),
            }
            assert_eq!(spool.end(), end, "seed {seed}");
            let read = end.saturating_sub(seed % 5).max(5);
            let noted = spool.cursor(read, 1);
            assert_eq!(Cursor::decode(&noted.encode()), Some(noted.clone()));
            // Not noted, so the crash may take it.
            drop(spool.append(&numbers(1_000..1_003)));
            if end > 5 && round % 2 == 0 {
                disk = FaultDisk::over(&disk.crash(at_random(seed)));
                spool = Spool::open(shared(&disk), "spool", &noted).unwrap();
            } else {
                spool.give_up_unsynced();
            }
            let wanted: Vec<u64> = (read..end).collect();
            assert_eq!(
                read_all(&mut spool, read, 1),
                wanted,
                "seed {seed} round {round}"
            );
        }
    }
}

#[test]
fn a_flipped_bit_in_messages_costs_their_record_and_one_in_a_head_the_rest_of_its_file() {
    let disk = disk();
    let mut spool = Spool::create(shared(&disk), "spool", "0-web", 0).unwrap();
    for first in [0, 3, 6, 9] {
        spool.append(&numbers(first..first + 3)).unwrap();
        spool.sync().unwrap();
        if first == 6 {
            spool.last = None;
        }
    }
    let cursor = spool.cursor(0, 1);
    let record = (HEAD_BYTES + numbers(0..3).encoded().len()) as u64;
    for (name, records) in [("0000000000000000", 3), ("0000000000000009", 1)] {
        let first = u64::from_str_radix(name, 16).unwrap();
        let file = disk.open(&format!("spool/0-web/{name}")).unwrap();
        for bit in 0..records * record * 8 {
            let (place, mask) = (bit / 8, 1 << (bit % 8));
            let mut byte = [0];
            file.read_at(place, &mut byte).unwrap();
            file.write_at(place, &[byte[0] ^ mask]).unwrap();
            let damaged = first + place / record * 3;
            let is_head = place % record < 8; // the checksum is no part of what leads on
            let end = if is_head {
                first + records * 3
            } else {
                damaged + 3
            };
            let want: Vec<u64> = (0..12).filter(|n| !(damaged..end).contains(n)).collect();
            let mut spool = Spool::open(shared(&disk), "spool", &cursor).unwrap();
            assert_eq!(read_all(&mut spool, 0, 1), want, "file {name}, bit {bit}");
            file.write_at(place, &byte).unwrap();
        }
    }
}

#[test]
fn damage_and_missing_files_cost_no_other_file() {
    let disk = disk();
    let mut spool = Spool::create(shared(&disk), "spool", "0-web", 0).unwrap();
    for first in [0, 3, 6, 9] {
        spool.append(&numbers(first..first + 3)).unwrap();
        spool.sync().unwrap();
        if first == 6 {
            // As after a failed sync: the next record begins a file.
            spool.last = None;
        }
    }
    let file = disk.open("spool/0-web/0000000000000000").unwrap();
    let head_of_third = file.len().unwrap() / 3 * 2;
    file.write_at(head_of_third, b"!").unwrap();
    let mut spool = Spool::open(shared(&disk), "spool", &spool.cursor(0, 1)).unwrap();
    assert_eq!(read_all(&mut spool, 0, 1), [0, 1, 2, 3, 4, 5, 9, 10, 11]);
    spool.append(&numbers(12..14)).unwrap();
    assert_eq!(read_all(&mut spool, 9, 1_000), [9, 10, 11, 12, 13]);
    spool.sync().unwrap();
    disk.remove("spool/0-web/0000000000000009").unwrap();
    let mut spool = Spool::open(shared(&disk), "spool", &spool.cursor(0, 1)).unwrap();
    assert_eq!(read_all(&mut spool, 0, 1_000), [0, 1, 2, 3, 4, 5, 12, 13]);
    disk.remove("spool/0-web/0000000000000000").unwrap();
    let mut spool = Spool::open(shared(&disk), "spool", &spool.cursor(0, 1)).unwrap();
    for _ in 0..2 {
        assert_eq!(
            read_all(&mut spool, 0, 1_000),
            [12, 13],
            "also after going back"
        );
    }
}

#[test]
fn files_before_a_noted_cursor_are_deleted() {
    let disk = disk();
    let mut spool = Spool::create(shared(&disk), "spool", "0-web", 0).unwrap();
    for first in [0, 2, 4] {
        spool.append(&numbers(first..first + 2)).unwrap();
        spool.sync().unwrap();
        spool.last = None;
    }
    let noted = spool.cursor(3, 1);
    spool.trim(&noted).unwrap();
    let left = disk.list("spool/0-web").unwrap();
    assert_eq!(left, ["0000000000000002", "0000000000000004"]);
    assert_eq!(read_all(&mut spool, 3, 1_000), [3, 4, 5]);
}

#[test]
fn marks_count_for_the_number_that_they_were_noted_for_and_for_no_other() {
    let disk = disk();
    let mut spool = Spool::create(shared(&disk), "spool", "0-web", 0).unwrap();
    spool.append(&numbers(0..9)).unwrap();
    spool.sync().unwrap();
    spool.note_marks(4, b"some").unwrap();
    let writes = disk.count(Call::Write);
    spool.note_marks(4, b"some").unwrap();
    assert_eq!(disk.count(Call::Write), writes, "nothing changed");
    let disk = FaultDisk::over(&disk.crash(disk::everything_lost));
    let mut spool = Spool::open(shared(&disk), "spool", &spool.cursor(4, 1)).unwrap();
    assert_eq!(spool.marks(4), b"some");
    for other in [0, 3, 5] {
        assert_eq!(spool.marks(other), b"", "{other}");
    }
    spool.note_marks(4, b"").unwrap();
    assert_eq!(spool.marks(4), b"");
    assert_eq!(disk.list("spool/0-web").unwrap(), ["0000000000000000"]);
    spool.note_marks(4, b"").unwrap();
}

#[test]
fn other_bytes_are_no_cursor() {
    let spool = Spool::create(shared(&disk()), "spool", "0-web", 7).unwrap();
    let bytes = spool.cursor(7, 9).encode();
    assert!(Cursor::decode(&bytes).is_some());
    for cut in 0..=64 {
        assert!(Cursor::decode(&bytes[..cut]).is_none(), "{cut}");
    }
    assert!(Cursor::decode(&[&bytes[..64], b"../x"].concat()).is_none());
}
