//! Journals written by each released format keep opening. `tests/fixtures/vN` is what `history` left, under format N,
//! copied once and never written again.

use std::path::Path;
use std::sync::Arc;

use disk::{Disk, MemoryDisk, RealDisk};

use super::{DIR, kept, put, record, segment_files, small};
use crate::{FileJournal, JournalOptions, Log, MemoryLog, Position};

fn options() -> JournalOptions {
    JournalOptions {
        segment_bytes: 2 * 4096,
        ..small()
    }
}

/// Frames of one and of several records, an empty record, one larger than a segment, a trim, and a frame that was
/// written last and not synced.
fn history(journal: &mut dyn Log) {
    for number in 1..=7 {
        put(journal, &record(number, 100 * number as usize));
    }
    put(journal, &record(8, 10_000));
    journal.append(&[b"nine", b"", b"eleven"]).unwrap();
    journal.sync().unwrap();
    journal.trim(Position(6)).unwrap();
    put(journal, "twelve \u{1f41f}".as_bytes());
    put(journal, b"thirteen");
    journal.append(&[b"torn"]).unwrap();
}

/// A copy of a fixture.
fn fixture(version: &str) -> MemoryDisk {
    let disk = MemoryDisk::new();
    disk.create_dir(DIR).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(version);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let file = disk.create(&format!("{DIR}/{name}")).unwrap();
        file.write_at(0, &std::fs::read(&path).unwrap()).unwrap();
    }
    disk
}

#[test]
fn version_1_opens() {
    let disk = fixture("v1");
    let known = JournalOptions {
        known_synced: Position(13),
        ..options()
    };
    let (mut journal, recovered) = FileJournal::open(Arc::new(disk.clone()), DIR, known).unwrap();
    let mut want = MemoryLog::new();
    history(&mut want);
    want.lose_unsynced();
    // A trim drops whole segments: the record before it is still there.
    let mut want = kept(&mut want);
    want.insert(0, (5, record(5, 500)));
    assert_eq!(kept(&mut journal), want);
    assert_eq!(
        (recovered.records, recovered.frames, recovered.segments),
        (9, 7, 5)
    );
    assert_eq!((recovered.bytes_cut, recovered.cut_offset), (4096, 4096));
    assert_eq!(put(&mut journal, b"goes on"), Position(14));
}

/// With `SEINE_WRITE_FIXTURE=<folder>` the history of the newest format is written there: once for each format.
#[test]
fn the_newest_format_tells_the_same_history() {
    let disk = MemoryDisk::new();
    history(
        &mut FileJournal::open(Arc::new(disk.clone()), DIR, options())
            .unwrap()
            .0,
    );
    let newest = segment_files(&disk);
    let (active, _) = newest.split_at(newest.len() - 1);
    super::flip(&disk, active.last().unwrap(), 4096 + 72);
    if let Some(folder) = std::env::var_os("SEINE_WRITE_FIXTURE") {
        let real = RealDisk::open(Path::new(&folder)).unwrap();
        for name in disk.list(DIR).unwrap() {
            let content = disk.open(&format!("{DIR}/{name}")).unwrap().map().unwrap();
            real.create(&name).unwrap().write_at(0, &content).unwrap();
        }
    }
    let written = kept(&mut FileJournal::open(Arc::new(disk), DIR, options()).unwrap().0);
    assert_eq!(
        written,
        kept(
            &mut FileJournal::open(Arc::new(fixture("v1")), DIR, options())
                .unwrap()
                .0
        )
    );
}
