//! Rows whose long texts a merge has packed: they are the rows that were written, and damage of them is named.

use std::sync::Arc;

use disk::{Disk, MemoryDisk};
use index::{Control, Error, MergeRequest, Table};
use proptest::collection::vec;
use proptest::prelude::*;
use relation::value::Value;

use crate::model::shape;
use crate::subject::{DIR, Subject, cases, filtered, flip, row, search, select_all, tree};

/// A text of about `bytes` bytes, some of whose words stand in many others too.
pub(crate) fn text(seed: u64, bytes: usize) -> String {
    const WORDS: [&str; 8] = [
        "measurement",
        "the",
        "of",
        "spectra",
        "Übergang",
        "catalogue",
        "we",
        "between",
    ];
    let (mut text, mut state) = (String::new(), seed);
    while text.len() < bytes {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        match state >> 60 {
            15 => text.push_str(&format!("n{} ", state >> 50)),
            at => {
                text.push_str(WORDS[at as usize % WORDS.len()]);
                text.push(' ');
            }
        }
    }
    text
}

/// A row with a long body, and a title and a string that are long in some rows.
fn long_row(id: u64, seed: u64) -> Vec<Value> {
    let short_or_long = |seed: u64| match seed % 3 {
        0 => text(seed, 90),
        _ => format!("cat {}", seed % 5),
    };
    let bytes = [40, 200, 300, 700][(seed % 4) as usize];
    let (title, string) = (short_or_long(seed / 3), short_or_long(seed / 7));
    row(&text(seed, bytes), id as i64 % 5, &title, 0.5, &string)
}

/// Rows of two seals, merged: their texts are enough for a dictionary.
pub(crate) fn merged(disk: &MemoryDisk) -> Subject {
    let mut subject = Subject::new(Arc::new(disk.clone()));
    for id in 1..100 {
        subject.insert(id * 3, long_row(id, id));
        if id == 50 {
            subject.seal();
        }
    }
    subject.seal();
    subject.optimize();
    subject
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64, u64),
    Delete(u64),
    Change(u64, u64),
    Seal,
    Merge,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let id = 1..400u64;
    prop_oneof![
        6 => (id.clone(), any::<u64>()).prop_map(|(id, seed)| Step::Insert(id, seed)),
        4 => id.clone().prop_map(Step::Delete),
        4 => (id, any::<u64>()).prop_map(|(id, seed)| Step::Change(id, seed)),
        2 => Just(Step::Seal),
        2 => Just(Step::Merge),
        1 => Just(Step::Reopen),
    ]
}

#[track_caller]
fn check(subject: &mut Subject) {
    subject.check_counts();
    subject.check(&select_all(), None);
    subject.check(&select_all(), Some(&tree("spectra cat")));
    subject.check(&filtered("s = 'cat 3' OR title LIKE '%spectra%'"), None);
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn packed_rows_are_the_rows_written_over_seals_merges_deletes_changes_and_starts(
        steps in vec(step(), 1..40),
    ) {
        let mut subject = merged(&MemoryDisk::new());
        check(&mut subject);
        for step in steps {
            match step {
                Step::Insert(id, seed) => subject.insert(id, long_row(id, seed)),
                Step::Delete(id) => subject.delete(id),
                Step::Change(id, seed) => {
                    let string = match seed % 2 {
                        0 => text(seed, 100),
                        _ => "cat 3".to_owned(),
                    };
                    let values = vec![(1, Value::Int(3)), (4, Value::Str(string))];
                    subject.change(id, values);
                }
                Step::Seal => subject.seal(),
                Step::Merge => {
                    subject.seal();
                    subject.optimize();
                    check(&mut subject);
                }
                Step::Reopen => subject.reopen(),
            }
        }
        check(&mut subject);
        subject.seal();
        subject.optimize();
        check(&mut subject);
        subject.reopen();
        check(&mut subject);
    }
}

/// Bytes of all files of the table.
fn bytes(disk: &MemoryDisk, subject: &Subject) -> u64 {
    let mut sum = 0;
    for segment in &subject.manifest.segments {
        let path = format!("{DIR}/{}", segment.directory);
        for name in disk.list(&path).expect("a listing") {
            let file = disk.open(&format!("{path}/{name}")).expect("a file");
            sum += file.len().expect("a length");
        }
    }
    sum
}

#[test]
fn optimize_packs_a_single_segment_of_a_seal_and_leaves_a_packed_one_alone() {
    let disk = MemoryDisk::new();
    let mut subject = Subject::new(Arc::new(disk.clone()));
    (1..400).for_each(|id| subject.insert(id, long_row(id, id)));
    subject.seal();
    let sealed = bytes(&disk, &subject);
    subject.optimize();
    let packed = bytes(&disk, &subject);
    assert!(packed < sealed * 3 / 4, "{packed} of {sealed} bytes");
    let files = subject.manifest.clone();
    subject.start_merge(true);
    assert!(subject.merge.is_none() && !subject.table.is_optimizing());
    assert_eq!(subject.manifest, files);
}

#[test]
fn a_merge_beside_writers_leaves_packing_to_one_in_quiet() {
    let disk = MemoryDisk::new();
    let mut subject = Subject::new(Arc::new(disk.clone()));
    for id in 0..900 {
        subject.insert(id + 1, long_row(id + 1, id + 1));
        if id % 100 == 99 {
            subject.seal();
        }
    }
    let sealed = bytes(&disk, &subject);
    let merge = |subject: &mut Subject, quiet_us| {
        subject.merge = subject.table.merge_job(MergeRequest {
            quiet_us,
            keep_by: None,
        });
        assert!(subject.merge.is_some());
        subject.run_merge();
        subject.install_merged();
        subject.seal();
        check(subject);
        bytes(&disk, subject)
    };
    let merged = merge(&mut subject, 0);
    assert!(merged > sealed * 3 / 4, "{merged} of {sealed} bytes");
    let packed = merge(&mut subject, 60_000_000);
    assert!(packed < merged * 3 / 4, "{packed} of {merged} bytes");
}

#[test]
fn rows_of_a_later_merge_are_packed_with_the_dictionary_of_the_first() {
    let disk = MemoryDisk::new();
    let mut subject = merged(&disk);
    let one = bytes(&disk, &subject);
    for id in 1_000..1_100 {
        subject.insert(id, long_row(id, id));
    }
    subject.seal();
    subject.optimize();
    let both = bytes(&disk, &subject);
    assert!(both < 2 * one, "{one} bytes, then {both}");
    check(&mut subject);
}

#[test]
fn a_damaged_block_of_packed_rows_is_named_and_the_rows_of_the_others_are_read() {
    let disk = MemoryDisk::new();
    let mut subject = Subject::new(Arc::new(disk.clone()));
    (1..400).for_each(|id| subject.insert(id, long_row(id, id)));
    subject.seal();
    subject.optimize();
    let path = format!("{DIR}/{}/rows", subject.manifest.segments[0].directory);
    let length = disk.open(&path).expect("a file").len().expect("a length");
    let (mut named, mut read) = (0, 0);
    for offset in (0..length).step_by((length / 40).max(1) as usize) {
        flip(&disk, &path, offset);
        let opened = Table::open(Arc::new(disk.clone()), DIR, shape(), &subject.manifest);
        if let Ok(mut table) = opened {
            let snapshot = table.snapshot();
            for id in 1..400 {
                match snapshot.get(id) {
                    Ok(row) => {
                        assert_eq!(row, Some(long_row(id, id)), "byte {offset}");
                        read += 1;
                    }
                    Err(Error::Corrupt {
                        file, offset: at, ..
                    }) => {
                        assert_eq!(file, path);
                        assert!(at.abs_diff(offset) <= 2 * (16 << 10), "{at}, {offset}");
                        named += 1;
                    }
                    Err(other) => panic!("byte {offset}: {other:?}"),
                }
            }
        }
        flip(&disk, &path, offset);
    }
    assert!(named > 1_000 && read > 1_000, "{named} named, {read} read");
}

#[test]
fn a_damaged_dictionary_is_read_from_its_second_copy() {
    let disk = MemoryDisk::new();
    let mut subject = Subject::new(Arc::new(disk.clone()));
    (1..400).for_each(|id| subject.insert(id, long_row(id, id)));
    subject.seal();
    subject.optimize();
    let path = format!("{DIR}/{}/rows", subject.manifest.segments[0].directory);
    let length = disk.open(&path).expect("a file").len().expect("a length");
    flip(&disk, &path, length - 1); // the second copy is the last section of a table without keys
    subject.reopen();
    check(&mut subject);
    let listed = &subject.manifest.segments[0];
    let damages = index::verify(&subject.disk, DIR, listed);
    assert!(matches!(&damages[..], [Error::Corrupt { file, .. }] if *file == path));
}

#[test]
fn a_search_names_the_damage_of_a_row_that_it_shows() {
    let disk = MemoryDisk::new();
    let mut subject = merged(&disk);
    let path = format!("{DIR}/{}/rows", subject.manifest.segments[0].directory);
    flip(&disk, &path, 6_000);
    subject.reopen();
    let snapshot = subject.table.snapshot();
    let answer = search(&snapshot, &select_all(), None, &Control::default());
    let shown = answer.and_then(|answer| answer.rows.collect::<index::Result<Vec<_>>>());
    assert!(matches!(shown, Err(Error::Corrupt { file, .. }) if file == path));
}
