mod contract;
mod corruption;
mod crash;
mod faults;
mod fixture;
mod full;
mod recycle;
mod survey;

use std::sync::Arc;

use disk::Disk;

use crate::{FileJournal, JournalOptions, Log, Position, Preparation, Result};

const DIR: &str = "journal";

/// Small segments, and every call in the same order each time.
fn small() -> JournalOptions {
    JournalOptions {
        segment_bytes: 4 * 4096,
        reserve_bytes: 0,
        known_synced: Position(0),
        preparation: Preparation::Inline,
    }
}

fn open(disk: &(impl Disk + Clone + 'static)) -> FileJournal {
    open_with(disk, small()).unwrap()
}

fn open_with(disk: &(impl Disk + Clone + 'static), options: JournalOptions) -> Result<FileJournal> {
    FileJournal::open(Arc::new(disk.clone()), DIR, options).map(|(journal, _)| journal)
}

/// All records that are kept, with their positions.
fn kept(journal: &mut dyn Log) -> Vec<(u64, Vec<u8>)> {
    let mut records = Vec::new();
    let first = journal.status().first;
    let visit = &mut |position: Position, record: &[u8]| {
        records.push((position.0, record.to_vec()));
        true
    };
    journal.read(first, visit).unwrap();
    records
}

/// A record that can be told from all others, of a length that depends on its number.
fn record(number: u64, bytes: usize) -> Vec<u8> {
    let mut record = number.to_le_bytes().to_vec();
    record.resize(bytes.max(8), number as u8 ^ 0xa5);
    record
}

/// Appends one record and syncs it.
fn put(journal: &mut dyn Log, record: &[u8]) -> Position {
    let position = journal.append(&[record]).unwrap();
    assert_eq!(journal.sync().unwrap(), position);
    position
}

/// The segment files, lowest first.
fn segment_files(disk: &dyn Disk) -> Vec<String> {
    let names = disk.list(DIR).unwrap().into_iter();
    names
        .filter(|name| name.ends_with(".journal"))
        .map(|name| format!("{DIR}/{name}"))
        .collect()
}

fn flip(disk: &dyn Disk, path: &str, offset: u64) {
    let file = disk.open(path).unwrap();
    let mut byte = [0];
    file.read_at(offset, &mut byte).unwrap();
    file.write_at(offset, &[byte[0] ^ 0x10]).unwrap();
}
