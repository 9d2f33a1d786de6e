//! The bucket of each message, by the rules of Scribe.

use super::{at, file, listing, memory, messages, surroundings};
use crate::config::{BucketConfig, BucketType, StoreConfig};
use crate::store::build;

/// Folder listing after the messages, with buckets 0 to `count` in files `0`, `1`, ….
fn buckets(change: impl FnOnce(&mut BucketConfig), count: usize, bodies: &[&str]) -> Vec<String> {
    let disk = memory();
    let bucket = |number: usize| {
        file(|config| {
            config.base.base_filename = Some(number.to_string());
            config.base.create_symlink = false;
            config.add_newlines = true;
        })
    };
    let mut config = BucketConfig {
        bucket_type: BucketType::KeyModulo,
        delimiter: b':',
        bucket_range: 0,
        remove_key: false,
        buckets: (0..=count).map(bucket).collect(),
    };
    change(&mut config);
    let config = StoreConfig::Bucket(Box::new(config));
    let mut store = build(&config, b"web", 0, &surroundings(&disk)).unwrap();
    let written = store.write(&messages(bodies), at(12, 0));
    assert_eq!((written.taken, written.failed), (bodies.len(), None));
    let listed = listing(&*disk, "log").into_iter();
    listed
        .map(|line| line.replace("_00000", "").replace('\n', " "))
        .collect()
}

#[test]
fn a_key_as_a_number_is_taken_modulo_the_buckets() {
    let bodies = ["7:a", "x", ":b", " 2z:c", "z:d", "-1:e", "5\u{0}9:f"];
    let listed = buckets(|_| (), 3, &bodies);
    // 2^64 - 1 is a multiple of 3.
    let want = [
        "0: x :b ",
        "1: z:d -1:e ",
        "2: 7:a ",
        "3:  2z:c 5\u{7e}9:f ",
    ];
    assert_eq!(listed, want);
}

#[test]
fn remove_key_cuts_off_key_and_delimiter() {
    let listed = buckets(|config| config.remove_key = true, 1, &["7:a:b", "x", ":c"]);
    assert_eq!(listed, ["0: x c ", "1: a:b "]);
}

#[test]
fn a_key_goes_to_its_part_of_the_range() {
    let in_range = |config: &mut BucketConfig| {
        config.bucket_type = BucketType::KeyRange;
        config.bucket_range = 100;
    };
    let listed = buckets(in_range, 4, &["0:a", "24:b", "25:c", "99:d", "150:e"]);
    assert_eq!(
        listed,
        ["1: 0:a 24:b ", "2: 25:c ", "3: 150:e ", "4: 99:d "]
    );
    let without = |config: &mut BucketConfig| config.bucket_type = BucketType::KeyRange;
    assert_eq!(buckets(without, 2, &["1:a"]), ["0: 1:a "]);
}

#[test]
fn a_key_is_hashed_by_djb2_over_signed_bytes() {
    let hash = |config: &mut BucketConfig| config.bucket_type = BucketType::KeyHash;
    // djb2: "a" 177670, "ab" 5863208, "é" ((5381·33 - 61)·33 - 87) = 5857809; modulo 1,000 and one more.
    let listed = buckets(hash, 1_000, &["a:1", "ab:2", "é:3", "none", "a\u{0}b:4"]);
    let want = ["0: none ", "209: ab:2 ", "671: a:1 a~b:4 ", "810: é:3 "];
    assert_eq!(listed, want);
}

#[test]
fn a_context_is_the_number_behind_the_third_byte_1() {
    let context = |config: &mut BucketConfig| config.bucket_type = BucketType::ContextLog;
    let bodies = [
        "a\u{1}b\u{1}c\u{1}5 z",
        "a\u{1}b\u{1}c\u{1}0",
        "a\u{1}b\u{1}5",
    ];
    let listed = buckets(context, 3, &bodies);
    let shown: Vec<String> = listed
        .iter()
        .map(|line| line.replace('\u{1}', "|"))
        .collect();
    assert_eq!(shown, ["0: a|b|c|0 a|b|5 ", "3: a|b|c|5 z "]);
}

#[test]
fn random_buckets_all_get_some_and_bucket_0_gets_none() {
    let random = |config: &mut BucketConfig| config.bucket_type = BucketType::Random;
    let listed = buckets(random, 4, &["x"; 100]);
    let names: Vec<&str> = listed
        .iter()
        .filter_map(|line| line.split(':').next())
        .collect();
    assert_eq!(names, ["1", "2", "3", "4"]);
}
