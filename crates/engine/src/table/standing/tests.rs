use std::collections::BTreeMap;

use disk::MemoryDisk;

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
    let compiled = table.read("row 1", "fine", "").unwrap();
    let refused_if_read = row(7, "\"never closed");
    table.store(&refused_if_read, Some(compiled), 1).unwrap();
    assert_eq!(texts(&table)[&7], "\"never closed");
}

#[test]
fn a_query_that_only_an_earlier_build_accepted_is_read_again() {
    let mut table = table();
    let text = "- a";
    assert!(table.read("row 1", text, "").is_err());
    table.store(&row(7, text), None, 1).unwrap();
    let query = table.set.get(7).unwrap();
    assert!(table.read_again(query).is_ok());
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
    let parsed = before.read("", "fine", "").unwrap();
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

#[test]
fn a_byte_that_changed_in_a_file_is_damage() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let mut before = table();
    before.store(&row(5, "closed"), None, 1).unwrap();
    fold(&disk, &mut before, true);
    let path = &before.files[0].path;
    let file = disk.open(path).unwrap();
    file.write_at(20, b"?").unwrap();
    assert!(Opened::new(&*disk, path).is_err());
}
