use std::collections::BTreeMap;

use disk::MemoryDisk;
use language::meter::Unmetered;
use relation::expression::Metered;
use relation::value::Value;

use super::file::{Opened, QueryFileJob};
use super::*;
use crate::command::Kind;
use crate::state::TABLES_DIR;

fn table() -> PercolateTable {
    let definition = Definition {
        name: "alerts".to_owned(),
        kind: Kind::Percolate {
            on: Vec::new(),
            into: None,
            syntax: Default::default(),
            on_update: false,
        },
        columns: Vec::new(),
        analysis: Default::default(),
        sync: None,
        keep: None,
    };
    PercolateTable::new(Arc::new(definition), 0)
}

fn row(id: u64, query: &str) -> QueryRow {
    QueryRow {
        id,
        query: query.to_owned(),
        tags: String::new(),
        filters: String::new(),
        source: String::new(),
    }
}

#[test]
fn a_stored_query_that_is_refused_is_named_and_changes_nothing() {
    let mut table = table();
    let row = row(7, "\"never closed");
    let refused = table.store(&row, None, 1).unwrap_err();
    let text = refused.to_string();
    assert!(
        text.starts_with("stored query 7 of table 'alerts': "),
        "{text}"
    );
    assert_eq!((table.set.len(), table.changed.len()), (0, 0));
}

#[test]
fn a_query_that_was_read_is_stored_without_reading_its_text_again() {
    let mut table = table();
    let compiled = table.reading().read("row 1", "fine", "").unwrap();
    let refused_if_read = row(7, "\"never closed");
    table.store(&refused_if_read, Some(compiled), 1).unwrap();
    assert_eq!(texts(&table)[&7], "\"never closed");
}

#[test]
fn a_query_that_only_an_earlier_build_accepted_is_read_again() {
    let mut table = table();
    let text = "- a";
    assert!(table.reading().read("row 1", text, "").is_err());
    table.store(&row(7, text), None, 1).unwrap();
    let query = table.set.get(7).unwrap();
    assert!(table.read_again(query).is_ok());
}

#[test]
fn a_query_whose_filter_only_an_earlier_build_accepted_stays_and_matches_nothing() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut table = table();
    let mut refused = row(7, "cat");
    refused.filters = "id + 1 = '6x'".to_owned();
    table.store(&refused, None, 1).unwrap();
    table.store(&row(8, "cat"), None, 2).unwrap();
    assert_eq!((table.set.len(), table.refused), (2, 1));
    let read = table.read_again(table.set.get(7).unwrap()).unwrap();
    assert!(read.is_refused);
    let row = Metered::new(&Unmetered, |_| Value::Int(5));
    assert!(!read.filter.expect("a filter").accepts(&row));
    fold(&disk, &mut table, true);
    let path = table.files[0].path.clone();
    let mut loaded = self::table();
    loaded.load(&*disk, &[&path]).unwrap();
    assert_eq!((loaded.set.len(), loaded.refused), (2, 1));
}

fn texts(table: &PercolateTable) -> BTreeMap<u64, String> {
    let queries = table.set.iter();
    queries
        .map(|query| (query.id, query.text.to_string()))
        .collect()
}

fn fold(disk: &Arc<dyn Disk>, table: &mut PercolateTable, is_base: bool) {
    let changed = std::mem::take(&mut table.changed);
    let job = QueryFileJob {
        disk: Arc::clone(disk),
        dir: format!("{TABLES_DIR}/1"),
        name: format!("{}.queries", table.files.len()),
        queries: table.set.snapshot(),
        changed: (!is_base).then(|| changed.into_iter().collect()),
    };
    table.files.push(job.run().unwrap());
}

#[test]
fn a_base_and_the_changes_above_it_load_as_they_were_with_more_queries_than_cores_take_at_once() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut before = table();
    for id in 0..10_000 {
        before
            .store(&row(id, &format!("a{id} b")), None, 1)
            .unwrap();
    }
    fold(&disk, &mut before, true);
    for id in (0..10_000).step_by(3) {
        before.remove(id);
        before.store(&row(id + 1, "changed once"), None, 2).unwrap();
    }
    fold(&disk, &mut before, false);
    for id in (0..10_000).step_by(6) {
        before.store(&row(id, "back again"), None, 3).unwrap();
        before.remove(id + 1);
    }
    fold(&disk, &mut before, false);
    let paths: Vec<_> = before.files.iter().map(|file| file.path.as_str()).collect();
    let mut after = table();
    after.load(&*disk, &paths).unwrap();
    assert_eq!(texts(&after), texts(&before));
    assert_eq!(after.files, before.files);
    assert_eq!(after.text_bytes, before.text_bytes);
}

#[test]
fn a_query_that_is_refused_in_a_file_is_named_unless_a_later_file_replaces_it() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut before = table();
    let parsed = before.reading().read("", "fine", "").unwrap();
    before.put(Arc::new(standing(row(5, "\"never closed"))), parsed);
    fold(&disk, &mut before, true);
    let base = before.files[0].path.clone();
    let refused = table().load(&*disk, &[&base]).unwrap_err();
    let text = refused.to_string();
    assert!(
        text.starts_with("stored query 5 of table 'alerts': "),
        "{text}"
    );
    before.store(&row(5, "closed"), None, 2).unwrap();
    fold(&disk, &mut before, false);
    let above = before.files[1].path.clone();
    let mut after = table();
    after.load(&*disk, &[&base, &above]).unwrap();
    assert_eq!(texts(&after)[&5], "closed");
}

fn bytes_of(disk: &Arc<dyn Disk>, path: &str) -> Vec<u8> {
    disk.open(path).unwrap().map().unwrap().to_vec()
}

fn write(disk: &Arc<dyn Disk>, path: &str, bytes: &[u8]) {
    disk.open(path).unwrap().write_at(0, bytes).unwrap();
}

/// A base of queries 1 to 300, and a file of changes: 5 is gone, 6 is another query.
fn base_and_changes(disk: &Arc<dyn Disk>) -> (PercolateTable, [String; 2]) {
    let mut before = table();
    for id in 1..=300 {
        let text = format!("word{id} and some more words of query {id}");
        before.store(&row(id, &text), None, 1).unwrap();
    }
    fold(disk, &mut before, true);
    before.remove(5);
    before.store(&row(6, "another"), None, 2).unwrap();
    fold(disk, &mut before, false);
    let paths = [0, 1].map(|file: usize| before.files[file].path.clone());
    (before, paths)
}

/// Loads both files; gives the table and the number of damages.
fn loaded(disk: &Arc<dyn Disk>, paths: &[String; 2]) -> (PercolateTable, usize) {
    let mut after = table();
    let damages = after.load(&**disk, &paths.each_ref().map(String::as_str));
    (after, damages.unwrap().len())
}

#[test]
fn a_damaged_byte_or_page_costs_the_queries_of_its_blocks_and_each_lost_one_is_known() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let (before, paths) = base_and_changes(&disk);
    let whole = texts(&before);
    let mut most = [0; 2];
    for path in &paths {
        let bytes = bytes_of(&disk, path);
        let flipped = (0..bytes.len()).step_by(701).map(|at| (0, at..at + 1));
        let torn = (0..bytes.len()).step_by(4096).map(|at| (1, at..at + 4096));
        for (kind, range) in flipped.chain(torn) {
            let damage = format!("{path}, bytes {range:?}");
            let mut damaged = bytes.clone();
            damaged[range].iter_mut().for_each(|byte| *byte ^= 0x20);
            write(&disk, path, &damaged);
            let (after, damages) = loaded(&disk, &paths);
            let there = texts(&after);
            let lost: Vec<u64> = after.lost.ids().collect();
            let missing = whole.keys().filter(|id| !there.contains_key(id));
            let missing: Vec<u64> = missing.copied().collect();
            assert_eq!(lost, missing, "{damage}");
            assert!(there.iter().all(|(id, text)| whole[id] == *text));
            assert!(damages > 0 || lost.is_empty(), "{damage}");
            most[kind] = most[kind].max(lost.len());
        }
        write(&disk, path, &bytes);
    }
    assert!((1..120).contains(&most[0]), "{most:?} of 300 queries");
    assert!(most[1] < 240, "{most:?} of 300 queries");
    assert_eq!(loaded(&disk, &paths).1, 0);
}

/// The table of [`base_and_changes`] with the first block of its base damaged.
fn damaged(disk: &Arc<dyn Disk>) -> (PercolateTable, [String; 2]) {
    let (_, paths) = base_and_changes(disk);
    let mut bytes = bytes_of(disk, &paths[0]);
    bytes[4096 + 30] ^= 1;
    write(disk, &paths[0], &bytes);
    let (table, _) = loaded(disk, &paths);
    (table, paths)
}

#[test]
fn a_lost_query_is_there_for_insert_and_gone_once_it_is_stored_or_deleted() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let (mut table, _) = damaged(&disk);
    let lost: Vec<u64> = table.lost.ids().collect();
    assert_eq!(
        &lost[..6],
        [1, 2, 3, 4, 7, 8],
        "5 and 6 are in the other file"
    );
    assert!(table.contains(1) && table.lost.check("alerts").is_err());
    assert!(table.lost.check_ids("alerts", &[2]).is_err());
    assert!(table.lost.check_ids("alerts", &[6, 300, 999]).is_ok());
    table.store(&row(1, "again"), None, 3).unwrap();
    lost[1..].iter().for_each(|id| table.remove(*id));
    assert!(table.lost.check("alerts").is_ok());
    assert!(table.contains(1) && !table.contains(2));
    assert_eq!(table.changed.len(), lost.len());
}

#[test]
fn files_of_the_earlier_versions_are_read_and_the_base_above_them_is_of_this_one() {
    let mut body = Vec::new();
    relation::codec::put_number(&mut body, 0); // no ids that are gone
    relation::codec::put_number(&mut body, 2_000);
    for id in 1..=2_000u64 {
        relation::codec::put_number(&mut body, id);
        for text in ["cat", "", "", ""] {
            relation::codec::put_text(&mut body, text);
        }
    }
    let mut bytes = b"SEINEQRY\x03\0\0\0".to_vec();
    bytes.extend(crc32c::crc32c(&body).to_le_bytes());
    bytes.extend(&body);
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    disk.create("old").unwrap().write_at(0, &bytes).unwrap();
    let mut old = table();
    assert_eq!(old.load(&*disk, &["old"]).unwrap(), Vec::new());
    assert_eq!((old.set.len(), old.lost.is_empty()), (2_000, true));
    let before = texts(&old);
    old.files.clear();
    fold(&disk, &mut old, true);
    let path = old.files[0].path.clone();
    assert_eq!(bytes_of(&disk, &path)[8], 4, "the version");
    let mut after = table();
    after.load(&*disk, &[&path]).unwrap();
    assert_eq!(texts(&after), before);
    bytes[40] ^= 1;
    disk.open("old").unwrap().write_at(0, &bytes).unwrap();
    assert!(Opened::new(&*disk, "old").is_err(), "one sum over all");
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_one_that_was_cut_is_damaged() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let (_, paths) = base_and_changes(&disk);
    let bytes = bytes_of(&disk, &paths[0]);
    let mut newer = bytes.clone();
    newer[8] = 5;
    let sum = crc32c::crc32c(&newer[..4092]);
    newer[4092..4096].copy_from_slice(&sum.to_le_bytes());
    write(&disk, &paths[0], &newer);
    let refused = Opened::new(&*disk, &paths[0]).err();
    assert_eq!(refused, Some(Error::NewerFormat { found: 5, known: 4 }));
    write(&disk, &paths[0], &bytes);
    let file = disk.open(&paths[0]).unwrap();
    file.set_len(bytes.len() as u64 - 1).unwrap();
    let refused = Opened::new(&*disk, &paths[0]).err();
    assert!(matches!(refused, Some(Error::Corrupt { .. })));
}
