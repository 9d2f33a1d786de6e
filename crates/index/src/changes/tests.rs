//! Tests of changed values: against a plain map, and their file.

use std::collections::BTreeMap;

use disk::{Disk, MemoryDisk};
use proptest::collection::vec;
use proptest::prelude::*;
use relation::value::Value;

use super::{Changes, read_changes, write_changes};
use crate::error::Error;

const ROWS: u32 = 70_000;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => any::<i64>().prop_map(|number| Value::Int(number.into())),
        1 => Just(Value::Int(1 << 80)),
        1 => Just(Value::Null),
        1 => "[a-c]{0,3}".prop_map(Value::Str),
    ]
}

/// Rows close together and far apart, at the ends of pages and groups.
fn doc() -> impl Strategy<Value = u32> {
    prop_oneof![0..40u32, 500..530u32, 32_760..32_780u32, 0..ROWS]
}

fn sets() -> impl Strategy<Value = Vec<(u16, u32, Value)>> {
    vec((0..3u16, doc(), value()), 0..120)
}

type Plain = BTreeMap<(u16, u32), Value>;

fn set_all(changes: &mut Changes, plain: &mut Plain, sets: &[(u16, u32, Value)]) {
    for (column, doc, value) in sets {
        changes.set(*column, *doc, value.clone());
        plain.insert((*column, *doc), value.clone());
    }
}

fn listed(changes: &Changes) -> Plain {
    let all = changes.all().into_iter();
    let all = all.flat_map(|(column, rows)| {
        rows.into_iter()
            .map(move |(doc, value)| ((column, doc), value))
    });
    all.collect()
}

proptest! {
    #[test]
    fn changes_are_a_map_and_their_file_reads_back(sets in sets()) {
        let (mut changes, mut plain) = (Changes::default(), Plain::new());
        set_all(&mut changes, &mut plain, &sets);
        prop_assert_eq!(&listed(&changes), &plain);
        for ((column, doc), value) in &plain {
            let given = changes.value(usize::from(*column), *doc);
            prop_assert_eq!(given.as_ref(), Some(value));
        }
        prop_assert_eq!(changes.size().0, plain.len() as u64);
        let disk = MemoryDisk::new();
        write_changes(&disk, "changed-1", ROWS, &changes).expect("a healthy disk");
        let read = read_changes(&disk, "changed-1", ROWS).expect("the file");
        prop_assert_eq!(&listed(&read), &plain);
        prop_assert_eq!(read.size().0, changes.size().0);
        let other = read_changes(&disk, "changed-1", ROWS + 1);
        let is_refused = matches!(other, Err(Error::Corrupt { .. }));
        prop_assert!(is_refused);
    }

    #[test]
    fn what_came_since_makes_the_old_the_new(first in sets(), second in sets()) {
        let (mut changes, mut plain) = (Changes::default(), Plain::new());
        set_all(&mut changes, &mut plain, &first);
        let mut old = changes.clone();
        set_all(&mut changes, &mut plain, &second);
        prop_assert_eq!(old.is_same(&changes), second.is_empty());
        changes.since(&old.clone(), &mut |column, doc, value| old.set(column, doc, value));
        prop_assert_eq!(&listed(&old), &plain);
    }

    /// A plan is made from `first`, others change values meanwhile, then the plan is taken in: its values win.
    #[test]
    fn a_plan_is_taken_in_over_what_came_meanwhile(
        first in sets(), planned in sets(), meanwhile in sets(),
    ) {
        let (mut base, mut plain) = (Changes::default(), Plain::new());
        set_all(&mut base, &mut plain, &first);
        let mut plan = base.clone();
        set_all(&mut plan, &mut Plain::new(), &planned);
        let mut now = base.clone();
        set_all(&mut now, &mut plain, &meanwhile);
        for column in 0..3 {
            if let Some(new) = plan.of(column) {
                now.take(base.of(column), new);
            }
        }
        for (column, doc, value) in &planned {
            // A value that the plan found there already may lose to a later one: the caller decides such rows again.
            if base.value(usize::from(*column), *doc).as_ref() != Some(value) {
                plain.insert((*column, *doc), value.clone());
            }
        }
        for (column, doc, _) in &planned {
            let last = plan.value(usize::from(*column), *doc);
            if base.value(usize::from(*column), *doc) != last {
                plain.insert((*column, *doc), last.expect("a planned value"));
            }
        }
        let unsure: Vec<(u16, u32)> = planned
            .iter()
            .filter(|(column, doc, _)| {
                let column = usize::from(*column);
                base.value(column, *doc) == plan.value(column, *doc)
            })
            .map(|(column, doc, _)| (*column, *doc))
            .collect();
        let sure = |map: Plain| -> Plain {
            map.into_iter().filter(|(key, _)| !unsure.contains(key)).collect()
        };
        prop_assert_eq!(sure(listed(&now)), sure(plain));
        let count = listed(&now).len() as u64;
        prop_assert_eq!(now.size().0, count);
    }

    #[test]
    fn a_file_of_version_1_has_one_copy_and_reads_back(sets in sets()) {
        let (mut changes, mut plain) = (Changes::default(), Plain::new());
        set_all(&mut changes, &mut plain, &sets);
        let disk = MemoryDisk::new();
        write_changes(&disk, "new", ROWS, &changes).expect("a healthy disk");
        let bytes = disk.open("new").and_then(|file| file.map()).expect("its content");
        let copy = disk::Copies::of(&bytes).first_sound(|_, copy| Ok::<_, ()>(copy.to_vec()));
        let mut old = copy.expect("a copy");
        old[8] = 1;
        let end = old.len() - 4;
        let sum = crc32c::crc32c(&old[..end]);
        old[end..].copy_from_slice(&sum.to_le_bytes());
        let file = disk.create("old").expect("a file");
        file.write_at(0, &old).expect("written");
        let read = read_changes(&disk, "old", ROWS).expect("the old file");
        prop_assert_eq!(&listed(&read), &plain);
    }

    #[test]
    fn strangers_bytes_are_no_changes(bytes in vec(any::<u8>(), 0..80)) {
        let mut whole = b"seinechg\x01\0\0\0\x09\0\0\0".to_vec();
        whole.extend(bytes);
        whole.extend(crc32c::crc32c(&whole).to_le_bytes());
        let disk = MemoryDisk::new();
        let file = disk.create("file").expect("a file");
        file.write_at(0, &whole).expect("written");
        let _ = read_changes(&disk, "file", 9);
    }
}
