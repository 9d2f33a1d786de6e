//! Damaged directories: the check finds the damage, the dump prints the sound rows, the repair mends and names each loss.

use std::sync::Arc;

use disk::{Disk, FaultDisk, MemoryDisk, at_random, everything_kept};
use engine::inspect::{Dumped, Repaired, check, dump, dump_journal, repair};
use engine::{Error, Now, Options};

use crate::driver::{Driver, options};
use crate::statement::command;
use crate::workload::{create_schema, dump as seen};

/// Files of every kind, and a journal of several files above them.
fn written() -> (MemoryDisk, Vec<String>) {
    let disk = MemoryDisk::new();
    let options = Options {
        journal_segment_bytes: 16 << 10,
        ..options(Arc::new(disk.clone()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    create_schema(&mut driver);
    for line in [
        "insert alerts (id, query) values (1, 'cat'), (2, 'dog')",
        "insert jobs (id) values (1), (2), (3)",
        "insert posts (id, body) values (1, 'cat'), (2, 'dog'), (3, 'cow')",
        "checkpoint",
        "replace alerts (id, query) values (2, 'dog | cow')",
        "insert posts (id, body) values (4, 'cat dog'), (5, 'hen')",
        "delete posts where id = 1",
        "insert jobs (id) values (4), (5)",
        "delete jobs where id = 2",
        "checkpoint",
        "insert jobs (id) values (6)",
        "insert jobs (id) values (7)",
        "insert posts (id, body) values (6, 'cow')",
        "delete jobs where id = 6",
        "insert alerts (id, query) values (9, 'hen')",
        "insert jobs (id) values (8)",
        "insert jobs (id) values (9)",
    ] {
        driver.run(command(line)).unwrap();
    }
    let rows = seen(&mut driver);
    (disk, rows)
}

/// The same bytes on a disk of their own.
fn copy(disk: &MemoryDisk) -> MemoryDisk {
    FaultDisk::over(disk).crash(everything_kept)
}

fn files(disk: &dyn Disk, dir: &str, found: &mut Vec<String>) {
    for name in disk.list(dir).unwrap() {
        let path = if dir.is_empty() {
            name
        } else {
            format!("{dir}/{name}")
        };
        if disk.list(&path).is_ok() {
            files(disk, &path, found);
        } else {
            found.push(path);
        }
    }
}

fn all_files(disk: &dyn Disk) -> Vec<String> {
    let mut found = Vec::new();
    files(disk, "", &mut found);
    found
}

fn one_with(disk: &dyn Disk, part: &str) -> String {
    let mut all = all_files(disk).into_iter();
    all.find(|path| path.contains(part))
        .unwrap_or_else(|| panic!("no file with {part}"))
}

fn flip(disk: &dyn Disk, path: &str, offset: u64) {
    let file = disk.open(path).unwrap();
    let mut byte = [0];
    file.read_at(offset, &mut byte).unwrap();
    file.write_at(offset, &[byte[0] ^ 0x20]).unwrap();
}

fn shared(disk: &MemoryDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

fn checked(disk: &MemoryDisk) -> Result<engine::inspect::Checked, Error> {
    check(&shared(disk), &mut |_| {})
}

fn repaired(disk: &MemoryDisk) -> Option<Repaired> {
    repair(&shared(disk), &mut |_| {}).unwrap()
}

fn opened(disk: &MemoryDisk) -> Result<Vec<String>, Error> {
    let mut driver = Driver::open(options(shared(disk)), Now::default())?;
    Ok(seen(&mut driver))
}

fn said(repaired: &Repaired) -> Vec<String> {
    repaired.losses.iter().map(ToString::to_string).collect()
}

#[test]
fn a_sound_directory_has_no_faults_and_every_kind_of_file_is_counted() {
    let (disk, _) = written();
    let found = checked(&disk).unwrap();
    assert_eq!((found.faults, found.losses), (Vec::new(), Vec::new()));
    assert_eq!(found.notes, Vec::<String>::new());
    for kind in &found.kinds {
        assert!(kind.files > 0 && kind.bytes > 0, "{kind:?}");
    }
    let counted: u64 = found.kinds.iter().map(|kind| kind.files).sum();
    let apart = ["spare", "lock"]; // no content
    let all = all_files(&disk);
    let all = all.iter().filter(|path| !apart.contains(&path.as_str()));
    assert_eq!(counted, all.count() as u64);
}

#[test]
fn neither_check_nor_dump_nor_a_needless_repair_changes_a_byte() {
    let (disk, _) = written();
    let before = FaultDisk::over(&disk);
    let watched: Arc<dyn Disk> = Arc::new(before.clone());
    check(&watched, &mut |_| {}).unwrap();
    dump(&watched, None, &mut |_| {}).unwrap();
    dump_journal(&watched, &mut |_| {}).unwrap();
    assert_eq!(repair(&watched, &mut |_| {}).unwrap(), None);
    assert_eq!(before.change_count(), 0);
}

#[test]
fn a_flipped_bit_anywhere_is_harmless_or_found_and_the_repaired_directory_starts() {
    let (disk, before) = written();
    let last = journal_entry(&disk, "queue rows 9");
    let mut found_in = std::collections::BTreeMap::new();
    for path in all_files(&disk) {
        let length = disk.open(&path).unwrap().len().unwrap();
        let kind = path.rsplit('.').next().unwrap().to_owned();
        if matches!(path.as_str(), "lock" | "spare") || kind == "spare" {
            continue;
        }
        let step = (length / 4).max(1) | 1;
        let frames = (0..length)
            .step_by(4096)
            .map(|page| page + [0, 40, 70][page as usize / 4096 % 3]);
        let offsets = (0..length).step_by(step as usize).chain(frames);
        for offset in offsets.filter(|offset| *offset < length) {
            let disk = copy(&disk);
            flip(&disk, &path, offset);
            let damage = format!("{path} at {offset}");
            let found = match checked(&disk) {
                // A low bit of a version: it may as well be a later program's file.
                Err(Error::NewerFormat { .. }) => continue,
                found => found.unwrap(),
            };
            if found.faults.is_empty() {
                let after = opened(&copy(&disk)).unwrap();
                // Nothing proves the frame of the very last sync; it may go with what is torn.
                let is_last = path == last.0 && offset >= last.1;
                let kept = before.len() - usize::from(is_last && after.len() < before.len());
                assert_eq!(after, before[..kept], "{damage}");
                continue;
            }
            *found_in.entry(kind.clone()).or_insert(0) += 1;
            let faulty = &found.faults[0].file;
            let folder = path
                .rsplit_once('/')
                .map_or(path.as_str(), |(folder, _)| folder);
            assert!(faulty.starts_with(folder), "{damage}: {:?}", found.faults);
            let done = repaired(&disk).unwrap_or_else(|| panic!("{damage}"));
            assert_eq!(done.losses, found.losses, "{damage}");
            let again = checked(&disk).unwrap();
            assert_eq!(again.faults, Vec::new(), "{damage}");
            let after = opened(&disk).unwrap_or_else(|error| panic!("{damage}: {error:?}"));
            let missing: Vec<_> = before.iter().filter(|row| !after.contains(row)).collect();
            assert!(
                missing.is_empty() || !done.losses.is_empty(),
                "{damage}: {missing:?}"
            );
            let aside = format!("{}/{path}", done.folder);
            let moved =
                disk.exists(&aside).unwrap() || done.aside.iter().any(|one| path.starts_with(one));
            assert!(moved, "{damage}: {done:?}");
        }
    }
    for kind in ["journal", "rows", "queries", "hits", "manifest"] {
        assert!(
            found_in.get(kind).is_some_and(|count| *count > 1),
            "{kind}: {found_in:?}"
        );
    }
    assert!(
        found_in.keys().any(|kind| kind.contains("tables/")),
        "segments: {found_in:?}"
    );
}

#[test]
fn a_lost_insert_into_a_queue_is_named_by_its_rows() {
    let (disk, before) = written();
    let journal = journal_entry(&disk, "queue rows 7");
    flip(&disk, &journal.0, journal.1 + 64 + 8 + 3);
    let done = repaired(&disk).unwrap();
    assert!(
        said(&done).contains(&"jobs: queue rows 7".to_owned()),
        "{:?}",
        said(&done)
    );
    let after = opened(&disk).unwrap();
    let missing: Vec<_> = before.iter().filter(|row| !after.contains(row)).collect();
    assert_eq!(missing, ["jobs 7"]);
}

/// File and offset of the record of that description.
fn journal_entry(disk: &MemoryDisk, part: &str) -> (String, u64) {
    let mut found = None;
    dump_journal(&shared(disk), &mut |entry| {
        if entry.parts.iter().any(|(_, what)| what == part) {
            found = Some((entry.file, entry.offset));
        }
    })
    .unwrap();
    found.unwrap()
}

#[test]
fn rows_of_a_frame_that_is_gone_are_named_by_the_gap_in_their_numbers() {
    let (disk, before) = written();
    let (file, offset) = journal_entry(&disk, "queue rows 8");
    flip(&disk, &file, offset + 10); // the frame's header
    let done = repaired(&disk).unwrap();
    assert!(
        said(&done).contains(&"jobs: queue rows 8".to_owned()),
        "{:?}",
        said(&done)
    );
    let after = opened(&disk).unwrap();
    let missing: Vec<_> = before.iter().filter(|row| !after.contains(row)).collect();
    assert_eq!(missing, ["jobs 8"]);
}

#[test]
fn a_repaired_queue_goes_on_with_numbers_that_were_never_given() {
    let (disk, _) = written();
    let (file, offset) = journal_entry(&disk, "queue rows 9");
    flip(&disk, &file, offset + 64 + 8 + 3);
    // The record behind it proves that it was synced.
    let done = repaired(&disk);
    let mut driver = Driver::open(options(shared(&disk)), Now::default()).unwrap();
    driver.run(command("insert jobs (id) values (10)")).unwrap();
    drop(driver);
    let mut rows = Vec::new();
    dump(&shared(&disk), Some("jobs"), &mut |line| {
        if let Dumped::Row { number, .. } = line {
            rows.extend(number);
        }
    })
    .unwrap();
    assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "{rows:?}");
    assert!(done.is_none() || rows.last() > Some(&9), "{rows:?}");
}

#[test]
fn a_damaged_index_costs_no_document() {
    for part in ["dictionary", "words", "postings", "positions"] {
        let (disk, before) = written();
        let path = one_with(&disk, part);
        let length = disk.open(&path).unwrap().len().unwrap();
        flip(&disk, &path, length / 2);
        let done = repaired(&disk).unwrap();
        assert_eq!(
            (said(&done), done.documents_saved > 0),
            (Vec::new(), true),
            "{part}"
        );
        assert_eq!(opened(&disk).unwrap(), before, "{part}");
    }
}

#[test]
fn a_missing_file_is_a_fault_and_the_rest_is_kept() {
    for part in [".queries", ".hits", ".rows", "/rows"] {
        let (disk, before) = written();
        let path = one_with(&disk, part);
        disk.remove(&path).unwrap();
        let found = checked(&disk).unwrap();
        assert!(
            found.faults.iter().any(|fault| fault.file == path),
            "{:?}",
            found.faults
        );
        let done = repaired(&disk).unwrap();
        assert!(!done.losses.is_empty(), "{part}");
        let after = opened(&disk).unwrap();
        assert!(after.len() < before.len() || part == ".hits", "{part}");
    }
}

#[test]
fn a_torn_end_is_a_note_and_no_fault() {
    let disk = FaultDisk::new();
    let mut driver = Driver::open(options(Arc::new(disk.clone())), Now::default()).unwrap();
    create_schema(&mut driver);
    let rows = "(1), ".repeat(3000) + "(1)";
    disk.inject(
        disk::Call::Sync,
        1,
        disk::Fault::Fail(std::io::ErrorKind::Other),
    );
    driver
        .run(command(&format!("insert jobs (id) values {rows}")))
        .unwrap_err();
    drop(driver);
    let torn = (0..50).find_map(|seed| {
        let found = checked(&disk.crash(at_random(seed))).unwrap();
        assert_eq!(found.faults, Vec::new());
        found.notes.into_iter().find(|note| note.contains("torn"))
    });
    assert!(torn.is_some());
}

#[test]
fn power_lost_in_any_call_of_a_repair_loses_nothing_more() {
    let (disk, _) = written();
    let (file, offset) = journal_entry(&disk, "queue rows 7");
    flip(&disk, &file, offset + 64 + 8 + 3);
    let rows = one_with(&disk, "/rows");
    flip(&disk, &rows, 4);
    let want = {
        let disk = copy(&disk);
        repaired(&disk).unwrap();
        opened(&disk).unwrap()
    };
    let calls = {
        let disk = FaultDisk::over(&disk);
        repair(&(Arc::new(disk.clone()) as Arc<dyn Disk>), &mut |_| {}).unwrap();
        disk.change_count()
    };
    for cut in (0..calls).step_by(5) {
        let broken = FaultDisk::over(&disk);
        broken.power_off_after(cut);
        repair(&(Arc::new(broken.clone()) as Arc<dyn Disk>), &mut |_| {}).unwrap_err();
        for image in [broken.crash(everything_kept), broken.crash(at_random(cut))] {
            repaired(&image);
            assert_eq!(opened(&image).as_ref(), Ok(&want), "cut {cut}");
        }
    }
}

#[test]
fn a_directory_in_use_is_neither_checked_nor_repaired() {
    let (disk, _) = written();
    let _server = Driver::open(options(shared(&disk)), Now::default()).unwrap();
    let locked = |error| matches!(error, Some(Error::Locked { .. }));
    assert!(locked(checked(&disk).err()));
    assert!(locked(repair(&shared(&disk), &mut |_| {}).err()));
    assert!(locked(dump(&shared(&disk), None, &mut |_| {}).err()));
}

#[test]
fn a_folder_that_is_no_data_directory_is_told_from_a_damaged_one() {
    let empty = checked(&MemoryDisk::new()).unwrap_err();
    assert!(matches!(empty, Error::Invalid { .. }), "{empty:?}");
    let (disk, _) = written();
    disk.remove("manifest").unwrap();
    let damaged = checked(&disk).unwrap_err();
    assert!(
        matches!(&damaged, Error::Corrupt { file, .. } if file == "manifest"),
        "{damaged:?}"
    );
}

#[test]
fn a_dump_shows_every_row_with_its_number_or_id() {
    let (disk, before) = written();
    let (mut tables, mut rows) = (Vec::new(), 0);
    let mut jobs = Vec::new();
    let faults = dump(&shared(&disk), None, &mut |line| match line {
        Dumped::Table { name, create } => {
            assert!(create.starts_with("CREATE TABLE"), "{create}");
            tables.push(name.to_owned());
        }
        Dumped::Row {
            table,
            number,
            values,
            ..
        } => {
            rows += 1;
            if table == "jobs" {
                jobs.push((number.unwrap(), values[0].to_string()));
            }
        }
        Dumped::Collected { .. } => panic!("nothing was collected"),
    });
    assert_eq!(faults.unwrap(), Vec::new());
    assert_eq!((tables.len(), rows), (9, before.len()));
    let jobs: Vec<_> = jobs.iter().map(|(row, id)| (*row, id.as_str())).collect();
    assert_eq!(
        jobs,
        [
            (1, "1"),
            (3, "3"),
            (4, "4"),
            (5, "5"),
            (7, "7"),
            (8, "8"),
            (9, "9")
        ]
    );
}
