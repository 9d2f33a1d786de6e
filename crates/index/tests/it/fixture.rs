//! Segments written by each format version keep opening. To add one after a change of the format, run this test with
//! `SEINE_WRITE_FIXTURE=1` and commit the new directory beside the old ones.

use std::path::Path;
use std::sync::Arc;

use disk::{Disk, MemoryDisk};
use index::{Files, Table};

use crate::model::{Model, shape};
use crate::packed::merged;
use crate::subject::{DIR, Subject, filtered, row, select_all, tree};

/// What this build writes.
const VERSION: &str = "segment-v7";

/// What the fixture holds.
fn history(disk: &MemoryDisk) -> Subject {
    let mut subject = Subject::new(Arc::new(disk.clone()));
    for id in 1..40 {
        let title = if id % 3 == 0 { "black cat" } else { "" };
        subject.insert(
            id * 5,
            row(
                &format!("white dog number {id}"),
                id as i64 - 7,
                title,
                0.25,
                "Ünïcode",
            ),
        );
    }
    subject.seal();
    (5..150).step_by(20).for_each(|id| subject.delete(id));
    subject.seal();
    subject
}

fn check(table: &mut Table, model: &Model) {
    let snapshot = table.snapshot();
    for (select, root) in [
        (select_all(), Some(tree("\"black cat\" | number"))),
        // The ends of texts, which rows of versions before 4 do not tell.
        (select_all(), Some(tree("cat$ | 12$"))),
        (filtered("n > 0 AND f < 1"), None),
        (filtered("id IN (25, 100)"), None),
    ] {
        crate::subject::check(&snapshot, model, &select, root.as_ref());
    }
}

/// The table of a fixture, which answers as what it was written from.
fn opened(version: &str) -> (MemoryDisk, Files, Table) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(version);
    let written = MemoryDisk::new();
    let subject = match version {
        "segment-v5" | "segment-v6" | VERSION => merged(&written),
        _ => history(&written),
    };
    if std::env::var_os("SEINE_WRITE_FIXTURE").is_some() && version == VERSION {
        write(&folder, &written, &subject.manifest);
    }
    let (disk, manifest) = read(&folder);
    let table = Table::open(Arc::new(disk.clone()), DIR, shape(), &manifest);
    let mut table = table.expect("an old table");
    check(&mut table, &subject.model);
    (disk, manifest, table)
}

#[test]
fn version_1_is_written_again_and_its_files_stay_until_a_manifest_names_the_new_ones() {
    let (disk, manifest, mut table) = opened("segment-v1");
    let files = table.files();
    assert_eq!(files.position, manifest.position);
    assert_ne!(files.segments, manifest.segments);
    for segment in manifest.segments.iter().chain(&files.segments) {
        let path = format!("{DIR}/{}", segment.directory);
        assert!(disk.exists(&path).expect("a disk"));
    }
    table.remove_unused().expect("a disk");
    for segment in &manifest.segments {
        let path = format!("{DIR}/{}", segment.directory);
        assert!(!disk.exists(&path).expect("a disk"));
    }
    let mut again = Table::open(Arc::new(disk), DIR, shape(), &files).expect("the new ones");
    assert_eq!(again.files(), files);
    assert_eq!(again.snapshot().count(), table.snapshot().count());
}

#[test]
fn version_2_opens() {
    let (_, manifest, table) = opened("segment-v2");
    assert_eq!(table.files(), manifest);
}

#[test]
fn version_4_opens() {
    let (_, manifest, table) = opened("segment-v4");
    assert_eq!(table.files(), manifest);
}

/// Its merged rows are packed.
#[test]
fn version_5_opens() {
    let (_, manifest, table) = opened("segment-v5");
    assert_eq!(table.files(), manifest);
}

/// Its commit has two copies.
#[test]
fn version_6_opens() {
    let (_, manifest, table) = opened("segment-v6");
    assert_eq!(table.files(), manifest);
}

/// Small integers of its rows take few bytes.
#[test]
fn version_7_opens() {
    let (_, manifest, table) = opened(VERSION);
    assert_eq!(table.files(), manifest);
}

#[test]
fn the_same_history_writes_the_same_bytes() {
    for history in [history, merged] {
        writes_the_same(history);
    }
}

fn writes_the_same(history: fn(&MemoryDisk) -> Subject) {
    let (one, other) = (MemoryDisk::new(), MemoryDisk::new());
    let manifest = history(&one).manifest;
    assert_eq!(manifest, history(&other).manifest);
    for segment in &manifest.segments {
        let path = format!("{DIR}/{}", segment.directory);
        for name in one.list(&path).expect("a listing") {
            let bytes = |disk: &MemoryDisk| whole(disk, &format!("{path}/{name}"));
            assert_eq!(bytes(&one), bytes(&other), "{name}");
        }
    }
}

fn whole(disk: &MemoryDisk, path: &str) -> Vec<u8> {
    let file = disk.open(path).expect("a file");
    file.map().expect("its content").to_vec()
}

fn write(folder: &Path, disk: &MemoryDisk, manifest: &Files) {
    let mut bytes = Vec::new();
    manifest.encode(&mut bytes);
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join("files"), bytes).expect("the list of files");
    for segment in &manifest.segments {
        let path = format!("{DIR}/{}", segment.directory);
        std::fs::create_dir_all(folder.join(&segment.directory)).expect("a folder");
        for name in disk.list(&path).expect("a listing") {
            let bytes = whole(disk, &format!("{path}/{name}"));
            std::fs::write(folder.join(&segment.directory).join(name), bytes).expect("a file");
        }
    }
}

fn read(folder: &Path) -> (MemoryDisk, Files) {
    let disk = MemoryDisk::new();
    let bytes = std::fs::read(folder.join("files")).expect("the list of files");
    let manifest = Files::decode(&mut &bytes[..], false).expect("the list of files");
    for segment in &manifest.segments {
        let path = format!("{DIR}/{}", segment.directory);
        disk.create_dir(&path).expect("a folder");
        for file in std::fs::read_dir(folder.join(&segment.directory)).expect("a folder") {
            let file = file.expect("a file");
            let name = file.file_name().into_string().expect("a name");
            let bytes = std::fs::read(file.path()).expect("a file");
            let copy = disk.create(&format!("{path}/{name}")).expect("a file");
            copy.write_at(0, &bytes).expect("room");
        }
    }
    (disk, manifest)
}
