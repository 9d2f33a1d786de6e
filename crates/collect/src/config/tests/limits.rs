//! Files at the limits: their cost is linear in the file, and each limit has an error that names it.

use super::*;

/// A multi store with this many null stores.
fn multi(stores: usize) -> String {
    let inner = "<store>\ntype=null\n</store>\n".repeat(stores);
    store(&format!("type=multi\n{inner}"))
}

#[test]
fn a_multi_with_the_most_blocks_of_a_file_is_read_whole() {
    let (configuration, problems) = told(&multi(BLOCKS_MAX - 1), Defaults::V2_2);
    assert_eq!(problems, Vec::<String>::new());
    let StoreConfig::Multi(multi) = &configuration.stores[0].store else {
        panic!("{:?}", configuration.stores.len())
    };
    assert_eq!(multi.stores.len(), BLOCKS_MAX - 1);
}

#[test]
fn a_hundred_thousand_stores_in_a_multi_are_refused_by_the_limit_of_blocks() {
    let (configuration, problems) = told(&multi(100_000), Defaults::V2_2);
    assert!(configuration.stores.is_empty());
    let line = 4 + 3 * (BLOCKS_MAX - 1);
    let want =
        format!("f:{line}: error: a file has {BLOCKS_MAX} blocks at most: the file is not read");
    assert_eq!(problems, [want]);
}

#[test]
fn buckets_count_against_the_limit_of_stores() {
    let buckets = |count: usize| {
        store(&format!(
            "type=bucket\nnum_buckets={count}\nbucket_subdir=b\n<bucket>\ntype=file\nfile_path=/d\nbase_filename=x\n</bucket>"
        ))
    };
    let (configuration, problems) = told(&buckets(STORES_MAX - 2), Defaults::V2_2);
    assert_eq!(problems, Vec::<String>::new());
    assert!(
        matches!(&configuration.stores[0].store, StoreConfig::Bucket(bucket) if bucket.buckets.len() == STORES_MAX - 1)
    );
    let (configuration, problems) = told(&buckets(STORES_MAX), Defaults::V2_2);
    assert!(configuration.stores.is_empty());
    assert!(
        problems.contains(&format!(
            "f:6: error: a configuration has {STORES_MAX} stores at most, each bucket counted: this one is left out"
        )),
        "{problems:?}"
    );
}

/// One long value that each of many stores inherits must not be copied for each.
#[test]
fn texts_that_many_stores_inherit_count_against_the_limit_of_texts() {
    let long = "x".repeat(TEXT_BYTES_MAX / 8);
    let inner = "<store>\ntype=file\nfile_path=/x\n</store>\n".repeat(9);
    let text = format!("file::base_filename={long}\n") + &store(&format!("type=multi\n{inner}"));
    let (configuration, problems) = told(&text, Defaults::V2_2);
    let StoreConfig::Multi(multi) = &configuration.stores[0].store else {
        panic!("{problems:?}")
    };
    assert_eq!(multi.stores.len(), 7, "seven copies and their paths fit");
    let want = format!(
        "error: the texts of a configuration's stores have {TEXT_BYTES_MAX} bytes at most, each copy counted: this store is left out"
    );
    assert!(
        problems.iter().any(|problem| problem.ends_with(&want)),
        "{problems:?}"
    );
    let buckets = store(&format!(
        "type=bucket\nnum_buckets=9\nbucket_subdir=b\n<bucket>\ntype=file\nfile_path=/{long}\nbase_filename=x\n</bucket>"
    ));
    let (configuration, problems) = told(&buckets, Defaults::V2_2);
    assert!(configuration.stores.is_empty());
    assert!(
        problems.iter().any(|problem| problem.ends_with(&want)),
        "{problems:?}"
    );
}

#[test]
fn blocks_may_lie_64_deep_and_the_next_one_is_refused_with_its_line() {
    let deep = |depth: usize| {
        let open = "<store>\ntype=multi\n".repeat(depth - 2);
        let close = "</store>\n".repeat(depth - 2);
        store(&format!(
            "type=multi\n{open}<store>\ntype=null\n</store>\n{close}"
        ))
    };
    let (configuration, problems) = told(&deep(NESTING_MAX), Defaults::V2_2);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(configuration.stores.len(), 1);
    let (configuration, problems) = told(&deep(NESTING_MAX + 1), Defaults::V2_2);
    assert!(configuration.stores.is_empty());
    let line = 4 + 2 * (NESTING_MAX - 1);
    let want = format!(
        "f:{line}: error: blocks lie in each other {NESTING_MAX} deep at most: the file is not read"
    );
    assert_eq!(problems, [want]);
}

/// Lines of 15 MiB, a million keys, a million lines that mean nothing: problems are cut at the limit and quote little.
#[test]
fn files_of_many_mistakes_give_few_and_short_problems() {
    let long = "y".repeat(15 << 20);
    let texts = [
        long.clone(),
        format!("<{long}"),
        format!("<{long}>\n"),
        format!("{long}=1"),
        format!("file::{long}=1"),
        format!("port={long}"),
        "port=1\n".repeat(1_000_000),
        "file::max_size=1\n".repeat(900_000),
        "z=1\n".repeat(1_000_000),
        "</a>\n".repeat(1_000_000),
        "<a>\n</a>\n".repeat(BLOCKS_MAX),
    ];
    for text in texts {
        let (_, problems) = told(&text, Defaults::V2_2);
        let bytes: usize = problems.iter().map(String::len).sum();
        let begin = &text[..10];
        assert!(
            (2..=PROBLEMS_MAX).contains(&problems.len()),
            "{begin}: {}",
            problems.len()
        );
        assert!(bytes < PROBLEMS_MAX * 400, "{begin}: {bytes}");
    }
}
