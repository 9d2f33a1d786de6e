//! A damaged byte in any file is an error that names the file and the place, or is never read: no answer is ever wrong.

use std::sync::Arc;

use disk::{Copies, Disk, MemoryDisk};
use index::{Control, Error, OnDamage, Reason, Table, Warning};
use relation::request::Select;
use relation::value::Value;

use crate::model::shape;
use crate::subject::{
    DIR, Subject, answer, filtered, flip, row, search, select_all, select_count, tree,
};

/// Checksums cover blocks of this many bytes.
const BLOCK_BYTES: u64 = 16 << 10;

/// As [`undeleted`], and some rows are deleted.
fn sealed() -> (MemoryDisk, Subject) {
    let (disk, mut subject) = undeleted();
    (3..300).step_by(30).for_each(|id| subject.delete(id));
    subject.seal();
    (disk, subject)
}

fn undeleted() -> (MemoryDisk, Subject) {
    let disk = MemoryDisk::new();
    let mut subject = Subject::new(Arc::new(disk.clone()));
    for id in 1..400 {
        subject.insert(
            id * 3,
            row(
                &format!("cat w{id} black dog"),
                id as i64,
                "cat",
                0.5,
                "some text",
            ),
        );
    }
    subject.seal();
    (disk, subject)
}

/// Opens the table and asks for everything that it holds.
fn read_all(disk: &MemoryDisk, subject: &Subject) -> index::Result<Vec<crate::model::Given>> {
    let mut table = Table::open(Arc::new(disk.clone()), DIR, shape(), &subject.manifest)?;
    let snapshot = table.snapshot();
    let query = language::tree::Query {
        root: tree("\"black dog\" | cat"),
        warnings: Vec::new(),
    };
    let selects: [(Select, _); 3] = [
        (select_all(), Some(&query)),
        (filtered("n > 7 AND f = 0.5"), None),
        (filtered("id = 333"), None),
    ];
    selects
        .iter()
        .map(|(select, query)| answer(&snapshot, select, *query))
        .collect()
}

/// The content of a file of two copies.
fn content(disk: &MemoryDisk, path: &str) -> Vec<u8> {
    let bytes = disk.open(path).and_then(|file| file.map());
    let bytes = bytes.expect("its content");
    let first = Copies::of(&bytes).first_sound(|_, copy| Ok::<_, ()>(copy.to_vec()));
    first.expect("a copy")
}

/// Writes both copies of a file.
fn write_copies(disk: &MemoryDisk, path: &str, content: &[u8]) {
    let file = disk.open(path).expect("a file");
    let written = file.write_at(0, &disk::in_two_copies(content));
    written.expect("both copies");
}

/// Inverts a bit of both copies of a file.
fn flip_copies(disk: &MemoryDisk, path: &str, offset: usize) {
    let mut damaged = content(disk, path);
    damaged[offset] ^= 16;
    write_copies(disk, path, &damaged);
}

/// Writes another version and the checksum that goes with it.
fn write_version(disk: &MemoryDisk, path: &str, version: u8) {
    let mut bytes = content(disk, path);
    bytes[8..12].copy_from_slice(&[version, 0, 0, 0]);
    let end = bytes.len() - 4;
    let sum = crc32c::crc32c(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    write_copies(disk, path, &bytes);
}

#[test]
fn every_damaged_byte_is_noticed_where_it_is_read() {
    let (disk, subject) = sealed();
    let whole = read_all(&disk, &subject).expect("an undamaged table");
    let segment = format!("{DIR}/{}", subject.manifest.segments[0].directory);
    let mut noticed = 0;
    for name in disk.list(&segment).expect("a listing") {
        let path = format!("{segment}/{name}");
        let length = disk.open(&path).expect("a file").len().expect("a length");
        for offset in (0..length).step_by((length / 60).max(1) as usize) {
            flip(&disk, &path, offset);
            match read_all(&disk, &subject) {
                Ok(given) => assert_eq!(given, whole, "byte {offset} of {path}"),
                Err(Error::Corrupt {
                    file, offset: at, ..
                }) => {
                    assert_eq!(file, path);
                    assert!(at.abs_diff(offset) <= BLOCK_BYTES.max(length.min(BLOCK_BYTES)));
                    noticed += 1;
                }
                Err(Error::NewerFormat { file, .. }) => assert_eq!(file, path),
                Err(other) => panic!("byte {offset} of {path}: {other:?}"),
            }
            flip(&disk, &path, offset);
        }
    }
    assert!(
        noticed > 250,
        "{noticed} of some 300 damages noticed outside of copies"
    );
    assert_eq!(
        read_all(&disk, &subject).expect("an undamaged table"),
        whole
    );
}

#[test]
fn damage_of_pairs_is_named_and_phrases_read_places() {
    let (disk, mut subject) = sealed();
    subject.optimize();
    let whole = read_all(&disk, &subject).expect("an undamaged table");
    let listed = &subject.manifest.segments[0];
    let path = format!("{DIR}/{}/positions", listed.directory);
    let length = disk.open(&path).expect("a file").len().expect("a length");
    for offset in [BLOCK_BYTES, BLOCK_BYTES + 40, length - 1] {
        flip(&disk, &path, offset);
        assert_eq!(read_all(&disk, &subject).expect("all rows"), whole);
        let given: Arc<dyn Disk> = Arc::new(disk.clone());
        match &index::verify(&given, DIR, listed)[..] {
            [Error::Corrupt { file, what, .. }] => {
                assert_eq!(*file, path);
                assert!(what.starts_with("the rows of pairs of words are damaged"));
            }
            other => panic!("{other:?}"),
        }
        flip(&disk, &path, offset);
    }
}

#[test]
fn a_file_cut_short_or_missing_is_an_error() {
    for name in [
        "rows",
        "dictionary",
        "words",
        "postings",
        "positions",
        "commit",
    ] {
        let (disk, subject) = sealed();
        let path = format!("{DIR}/{}/{name}", subject.manifest.segments[0].directory);
        let file = disk.open(&path).expect("a file");
        let length = file.len().expect("a length");
        file.set_len(length - 1).expect("a cut");
        match read_all(&disk, &subject) {
            Err(Error::Corrupt { file, .. }) => assert_eq!(file, path),
            other => panic!("{name}: {other:?}"),
        }
        disk.remove(&path).expect("removed");
        match read_all(&disk, &subject) {
            Err(Error::Corrupt { file, what, .. }) => {
                assert_eq!((file, what), (path, "the file is missing"));
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn a_deletion_that_is_decided_does_not_fail_where_it_is_applied() {
    // Opening the table reads the forward lists of deleted rows.
    let (disk, subject) = undeleted();
    let path = format!("{DIR}/{}/rows", subject.manifest.segments[0].directory);
    let length = disk.open(&path).expect("a file").len().expect("a length");
    let mut refused = 0;
    for offset in (0..length).step_by(BLOCK_BYTES as usize / 2) {
        flip(&disk, &path, offset);
        for id in [9, 600, 1_194] {
            let table = Table::open(Arc::new(disk.clone()), DIR, shape(), &subject.manifest);
            let Ok(mut table) = table else { continue };
            match table.can_delete(id) {
                Ok(is_there) => assert_eq!(table.delete(id).expect("a deletion"), is_there),
                Err(error) => {
                    assert!(matches!(error, Error::Corrupt { file, .. } if file == path));
                    refused += 1;
                }
            }
        }
        flip(&disk, &path, offset);
    }
    assert!(refused > 0, "{refused} refused");
}

#[test]
fn a_newer_version_is_refused() {
    let (disk, subject) = sealed();
    let segment = format!("{DIR}/{}", subject.manifest.segments[0].directory);
    let deleted = subject.manifest.segments[0]
        .deleted
        .clone()
        .expect("deleted rows");
    for (name, version) in [("commit", 7), (deleted.as_str(), 2)] {
        let path = format!("{segment}/{name}");
        write_version(&disk, &path, 9);
        match read_all(&disk, &subject) {
            Err(Error::NewerFormat {
                file,
                found: 9,
                known,
            }) => assert_eq!((file, known), (path.clone(), u32::from(version))),
            other => panic!("{other:?}"),
        }
        // A damaged byte of the version is no newer version.
        flip_copies(&disk, &path, 8);
        match read_all(&disk, &subject) {
            Err(Error::Corrupt { file, .. }) => assert_eq!(file, path),
            other => panic!("{other:?}"),
        }
        write_version(&disk, &path, version);
    }
}

#[test]
fn a_damaged_copy_of_a_small_file_costs_nothing_and_is_named_by_a_check() {
    let (disk, mut subject) = sealed();
    (4..300)
        .step_by(50)
        .for_each(|id| subject.change(id * 3, vec![(1, Value::Int(77))]));
    subject.seal();
    let whole = read_all(&disk, &subject).expect("an undamaged table");
    let listed = subject.manifest.segments[0].clone();
    let names = [
        Some("commit".to_owned()),
        listed.deleted.clone(),
        listed.changed.clone(),
    ];
    let given: Arc<dyn Disk> = Arc::new(disk.clone());
    for name in names.map(|name| name.expect("a file of each kind")) {
        let path = format!("{DIR}/{}/{name}", listed.directory);
        let bytes = disk.open(&path).and_then(|file| file.map());
        let bytes = bytes.expect("its content").to_vec();
        let length = content(&disk, &path).len();
        let second = bytes.len() - length;
        for at in (0..length).step_by(11) {
            for (start, offset) in [(0, at), (second, second + at)] {
                flip(&disk, &path, offset as u64);
                assert_eq!(read_all(&disk, &subject).expect("all rows"), whole);
                match &index::verify(&given, DIR, &listed)[..] {
                    [Error::Corrupt { file, offset, .. }] => {
                        assert_eq!(*file, path);
                        assert!((start..=start + 12).contains(&(*offset as usize)));
                    }
                    other => panic!("byte {offset} of {path}: {other:?}"),
                }
                flip(&disk, &path, offset as u64);
            }
        }
        for page in 0..bytes.len().div_ceil(4096) {
            let mut torn = bytes.clone();
            let end = bytes.len().min((page + 1) * 4096);
            torn[page * 4096..end].fill(0xee);
            let file = disk.open(&path).expect("a file");
            file.write_at(0, &torn).expect("written");
            assert_eq!(read_all(&disk, &subject).expect("all rows"), whole);
            file.write_at(0, &bytes).expect("written");
        }
        assert!(index::verify(&given, DIR, &listed).is_empty(), "{path}");
    }
}

#[test]
fn a_damaged_segment_is_named_while_the_others_are_searched_and_nothing_is_written() {
    let (disk, mut subject) = sealed();
    let path = format!("{DIR}/{}/commit", subject.manifest.segments[0].directory);
    for id in 2_000..2_010 {
        subject.insert(id, row("cat", id as i64, "cat", 0.5, ""));
    }
    subject.seal();
    flip_copies(&disk, &path, 20);
    let mut table = Table::open(Arc::new(disk.clone()), DIR, shape(), &subject.manifest)
        .expect("the other segment");
    let words = crate::model::words_of(&shape(), &row("dog", 1, "", 0.0, ""));
    table
        .insert(
            3_000,
            relation::row::encode(&row("dog", 1, "", 0.0, "")),
            &words,
        )
        .expect("a row of the journal");
    let snapshot = table.snapshot();
    let refused = search(&snapshot, &select_all(), None, &Control::default());
    assert!(matches!(refused, Err(Error::Corrupt { file, .. }) if file == path));
    let control = Control {
        on_damage: OnDamage::Skip,
        ..Control::default()
    };
    let answer = search(&snapshot, &select_all(), None, &control).expect("rows");
    assert_eq!(
        (answer.total_found, answer.partial),
        (11, Some(Reason::Damage))
    );
    assert!(matches!(&answer.warnings[..], [Warning::Damaged { file, .. }] if *file == path));
    assert!(matches!(table.check_whole(), Err(Error::Corrupt { file, .. }) if file == path));
    assert!(!table.is_saved() && table.freeze(99).is_none());
    table.optimize();
    assert!(table.merge_job(index::MergeRequest::default()).is_none() && !table.is_optimizing());
    let mut named: Vec<_> = table.files().segments;
    named.sort_by(|a, b| a.directory.cmp(&b.directory));
    assert_eq!(named, subject.manifest.segments);
    flip_copies(&disk, &path, 20);
    subject.reopen();
    subject.check_counts();
    // Damage that only the search meets.
    let path = path.replace("commit", "postings");
    flip(&disk, &path, 20);
    subject.reopen();
    let query = language::tree::Query {
        root: tree("cat"),
        warnings: Vec::new(),
    };
    let answer = search(
        &subject.table.snapshot(),
        &select_all(),
        Some(&query),
        &control,
    );
    let answer = answer.expect("rows of the other segment");
    assert_eq!((answer.total_found, answer.rows.len()), (10, 10));
    assert!(matches!(&answer.warnings[..], [Warning::Damaged { file, .. }] if *file == path));
}

/// Two segments, 39 rows each; every row holds "cat" and its own word.
fn two_segments() -> (MemoryDisk, Subject) {
    let disk = MemoryDisk::new();
    let mut subject = Subject::new(Arc::new(disk.clone()));
    for id in 1..79 {
        subject.insert(
            id,
            row(&format!("cat w{id}"), id as i64, "cat", 0.5, "some text"),
        );
        if id % 39 == 0 {
            subject.seal();
        }
    }
    (disk, subject)
}

#[test]
fn a_damaged_segment_is_named_while_the_others_serve() {
    let (disk, mut subject) = two_segments();
    assert_eq!(subject.manifest.segments.len(), 2);
    let damaged = format!("{DIR}/{}", subject.manifest.segments[0].directory);
    let mut left = subject.model.clone();
    (1..40).for_each(|id| assert!(left.delete(id)));
    let skip = || index::Control {
        on_damage: index::OnDamage::Skip,
        ..index::Control::default()
    };
    let query = language::tree::Query {
        root: tree("cat"),
        warnings: Vec::new(),
    };
    let mut named = 0;
    for name in disk.list(&damaged).expect("a listing") {
        let path = format!("{damaged}/{name}");
        let length = disk.open(&path).expect("a file").len().expect("a length");
        for offset in (0..length).step_by((length / 20).max(1) as usize) {
            flip(&disk, &path, offset);
            let opened = Table::open(Arc::new(disk.clone()), DIR, shape(), &subject.manifest);
            if let Ok(mut table) = opened {
                let snapshot = table.snapshot();
                let select = filtered("n > 0");
                let answer = search(&snapshot, &select, Some(&query), &skip()).expect("an answer");
                if let [Warning::Damaged { file, .. }] = &answer.warnings[..] {
                    named += 1;
                    assert_eq!((file, answer.partial), (&path, Some(Reason::Damage)));
                    let rows: Vec<_> = answer.rows.map(|row| row.expect("a row")).collect();
                    assert_eq!(rows, left.search(&select, Some(&query)).rows, "weights too");
                    let count = search(&snapshot, &select_count(), Some(&query), &skip());
                    assert!(
                        matches!(count, Err(Error::Corrupt { .. })),
                        "a count refuses"
                    );
                    let refused =
                        search(&snapshot, &select, Some(&query), &index::Control::default());
                    assert!(matches!(refused, Err(Error::Corrupt { .. })));
                } else {
                    assert_eq!(answer.total_found, 78, "byte {offset} of {path}");
                }
            }
            flip(&disk, &path, offset);
        }
    }
    assert!(named > 10, "{named}");
    subject.check(&select_all(), Some(&tree("cat")));
}
