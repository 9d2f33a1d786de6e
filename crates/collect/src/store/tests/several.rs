//! Stores of several stores: a message comes to each once, also if one of them fails in between.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk};
use proptest::prelude::*;

use super::{at, file, listing, memory, messages, read, surroundings, web, write};
use crate::config::{BucketConfig, BucketType, MultiConfig, StoreConfig};
use crate::message::Message;
use crate::store::{Store, build};

fn named(name: &str) -> StoreConfig {
    file(|config| {
        config.base.base_filename = Some(name.to_owned());
        config.base.create_symlink = false;
        config.base.max_write_size = 4;
        config.add_newlines = true;
    })
}

fn multi(any_succeeds: bool) -> StoreConfig {
    StoreConfig::Multi(MultiConfig {
        any_succeeds,
        stores: vec![named("first"), named("second")],
    })
}

/// Two stores: the second takes the first message of three.
fn half_failed(any_succeeds: bool) -> (FaultDisk, Box<dyn Store>, usize) {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut store = web(&shared, &multi(any_succeeds));
    disk.inject(Call::Write, 5, Fault::Short(2));
    let written = store.write(&messages(&["one1", "two2", "three3"]), at(12, 0));
    assert_eq!(written.failed.is_some(), written.taken < 3);
    (disk, store, written.taken)
}

#[test]
fn a_store_ahead_of_the_others_gets_no_message_twice() {
    let (disk, mut store, taken) = half_failed(false);
    assert_eq!(taken, 1);
    assert_eq!(
        store.status().as_deref(),
        Some("File write error: short write")
    );
    write(&mut *store, &["two2", "three3", "four4"], at(12, 0));
    let all = "one1\ntwo2\nthree3\nfour4\n";
    assert_eq!(
        listing(&disk, "log"),
        [
            format!("first_00000: {all}"),
            format!("second_00000: {all}")
        ]
    );
}

#[test]
fn messages_that_were_given_up_take_none_of_the_next_with_them() {
    let (disk, mut store, _) = half_failed(false);
    write(&mut *store, &["four4", "five5"], at(12, 0));
    let want = [
        "first_00000: one1\ntwo2\nthree3\nfour4\nfive5\n",
        "second_00000: one1\nfour4\nfive5\n",
    ];
    assert_eq!(listing(&disk, "log"), want);
}

/// A line that ends a batch earlier the second time: what the first store has lies behind that batch.
#[test]
fn a_shorter_batch_takes_nothing_of_the_next_with_it() {
    let (disk, mut store, taken) = half_failed(false);
    assert_eq!(taken, 1);
    write(&mut *store, &["two2"], at(12, 0));
    write(&mut *store, &["four4"], at(12, 0));
    let want = [
        "first_00000: one1\ntwo2\nthree3\nfour4\n",
        "second_00000: one1\ntwo2\nfour4\n",
    ];
    assert_eq!(listing(&disk, "log"), want);
}

#[test]
fn with_any_one_store_is_enough() {
    let (disk, mut store, taken) = half_failed(true);
    assert_eq!(taken, 3);
    disk.inject(Call::Sync, 2, Fault::Fail(ErrorKind::Other));
    store.sync().unwrap();
    write(&mut *store, &["four4"], at(12, 0));
    let want = [
        "first_00000: one1\ntwo2\nthree3\nfour4\n",
        "second_00000: one1\nfour4\n",
    ];
    assert_eq!(listing(&disk, "log"), want);
}

#[test]
fn with_any_the_sync_of_a_store_that_missed_messages_is_not_enough() {
    let (disk, mut store, _) = half_failed(true);
    disk.inject(Call::Sync, 1, Fault::Fail(ErrorKind::Other));
    assert!(store.sync().is_err());
}

#[test]
fn a_category_store_has_a_copy_for_each_category() {
    let disk = memory();
    let surroundings = surroundings(&disk);
    let model = StoreConfig::Category(Box::new(named("ignored")));
    let mut store = build(&model, b"", 0, &surroundings).unwrap();
    let message = |category: &'static str, body: &'static str| Message {
        category: category.as_bytes(),
        body: body.as_bytes(),
    };
    let batch = [
        message("a", "1"),
        message("b", "2"),
        message("a", "3"),
        message("../x", "4"),
        message("b", "5"),
    ];
    let written = store.write(&batch, at(12, 0));
    assert_eq!(written.taken, 3);
    assert!(
        written
            .failed
            .unwrap()
            .contains("cannot be the name of a file")
    );
    assert_eq!(
        listing(&*disk, "log"),
        ["a/a_00000: 1\n3\n", "b/b_00000: 2\n5\n"]
    );
}

/// The paths that the scribed of 2.2 makes: a copy of a store that copies its model again goes one folder deeper.
#[test]
fn a_copy_of_a_category_store_has_its_files_two_folders_deep() {
    let disk = memory();
    let files = StoreConfig::Category(Box::new(named("ignored")));
    let nested = StoreConfig::Category(Box::new(files.clone()));
    for (model, category) in [(&files, "web"), (&nested, "app")] {
        let mut store = build(model, category.as_bytes(), 1, &surroundings(&disk)).unwrap();
        let message = Message {
            category: category.as_bytes(),
            body: b"1",
        };
        assert_eq!(store.write(&[message], at(12, 0)).taken, 1);
    }
    let want = ["app/app/app/app_00000: 1\n", "web/web/web_00000: 1\n"];
    assert_eq!(listing(&*disk, "log"), want);
}

#[test]
fn a_null_store_counts_and_keeps_nothing() {
    let disk = memory();
    let surroundings = surroundings(&disk);
    let mut store = build(&StoreConfig::Null, b"web", 0, &surroundings).unwrap();
    write(&mut *store, &["one", "two"], at(12, 0));
    assert_eq!(surroundings.counters.all()[&b"web:ignored"[..]], 2);
    let backlog = store.backlog().unwrap();
    assert!(backlog.is_empty(at(12, 0)).unwrap());
    assert!(backlog.read_oldest(usize::MAX, at(12, 0)).unwrap().count() == 0);
}

/// Buckets that are drawn, in the folders `NAME-0` to `NAME-2`.
fn random(name: &str) -> StoreConfig {
    let bucket = |number| file(|config| config.base.sub_directory = format!("{name}-{number}"));
    StoreConfig::Bucket(Box::new(BucketConfig {
        bucket_type: BucketType::Random,
        delimiter: b':',
        bucket_range: 0,
        remove_key: false,
        buckets: (0..3).map(bucket).collect(),
    }))
}

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

#[test]
fn two_stores_of_a_line_draw_different_random_numbers() {
    let disk = memory();
    let both = StoreConfig::Multi(MultiConfig {
        any_succeeds: false,
        stores: vec![random("a"), random("b")],
    });
    write(&mut *web(&disk, &both), &DIGITS, at(12, 0));
    let [a, b] = ["a", "b"].map(|name| read(&*disk, &format!("log/{name}-1/web_00000")));
    assert_ne!(a, b);
}

#[test]
fn two_copies_of_a_model_draw_different_random_numbers() {
    let disk = memory();
    let model = StoreConfig::Category(Box::new(random("of")));
    let mut store = build(&model, b"", 0, &surroundings(&disk)).unwrap();
    for category in [&b"x"[..], b"y"] {
        let batch = messages(&DIGITS);
        let batch: Vec<_> = batch
            .into_iter()
            .map(|of| Message { category, ..of })
            .collect();
        assert_eq!(store.write(&batch, at(12, 0)).taken, DIGITS.len());
    }
    let [x, y] = ["x", "y"].map(|name| read(&*disk, &format!("log/{name}/of-1/{name}_00000")));
    assert_ne!(x, y);
}

proptest! {
    #[test]
    fn each_bucket_gets_its_messages_once_and_in_order_whatever_writes_fail(
        keys in prop::collection::vec(0..4_u8, 1..60),
        faults in prop::collection::vec(1..40_u64, 0..9),
        sizes in prop::collection::vec(1..9_usize, 1..9),
    ) {
        let disk = FaultDisk::new();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let config = StoreConfig::Bucket(Box::new(BucketConfig {
            bucket_type: BucketType::KeyModulo,
            delimiter: b':',
            bucket_range: 0,
            remove_key: true,
            buckets: (0..=4).map(|number| named(&number.to_string())).collect(),
        }));
        let mut store = build(&config, b"web", 0, &surroundings(&shared)).unwrap();
        faults.iter().for_each(|nth| disk.inject(Call::Write, *nth, Fault::Short(3)));
        let bodies: Vec<String> = keys.iter().enumerate().map(|(n, key)| format!("{key}:{n}")).collect();
        let mut waiting: Vec<&str> = bodies.iter().map(String::as_str).collect();
        for size in sizes.iter().cycle().take(200) {
            let size = waiting.len().min(*size);
            let written = store.write(&messages(&waiting[..size]), at(12, 0));
            prop_assert_eq!(written.failed.is_none(), written.taken == size);
            waiting.drain(..written.taken);
        }
        prop_assert!(waiting.is_empty());
        let mut want: BTreeMap<String, String> = BTreeMap::new();
        for (number, key) in keys.iter().enumerate() {
            want.entry(format!("{}_00000", key + 1)).or_default().push_str(&format!("{number}\n"));
        }
        let want: Vec<String> = want.iter().map(|(name, text)| format!("{name}: {text}")).collect();
        prop_assert_eq!(listing(&disk, "log"), want);
    }
}
