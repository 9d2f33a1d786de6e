//! The rows of conditions on attributes, cached from search to search. That answers stay the same is a law (`laws.rs`).

use std::sync::Arc;

use disk::{Disk, MemoryDisk};
use index::{Control, Filters, Interrupt, Reason, Table};
use language::tree::{Node, Query};

use crate::model::{Given, shape};
use crate::subject::{DIR, Subject, answer_by, filtered, row, select_all, tree};

/// Rows of the table.
const ROWS: u64 = 600;
/// The first of them hold "dog", too.
const DOGS: u64 = 10;

/// One segment; every row holds "cat".
fn sealed() -> (MemoryDisk, Subject) {
    let disk = MemoryDisk::new();
    let mut subject = Subject::new(Arc::new(disk.clone()));
    for id in 1..=ROWS {
        let body = if id <= DOGS { "cat dog" } else { "cat" };
        let colour = if id % 2 == 0 { "red" } else { "blue" };
        let title = "so many words ".repeat(20);
        subject.insert(id, row(body, id as i64 % 10, &title, 0.5, colour));
    }
    subject.seal();
    (disk, subject)
}

fn control(bytes_max: u64) -> (Control, Arc<Filters>) {
    let filters = Arc::new(Filters::new(bytes_max));
    let control = Control {
        filters: Some(Arc::clone(&filters)),
        ..Control::default()
    };
    (control, filters)
}

fn ask(subject: &mut Subject, filter: &str, root: Option<Node>, control: &Control) -> Given {
    let warnings = Vec::new();
    let query = root.map(|root| Query { root, warnings });
    let snapshot = subject.table.snapshot();
    let given = answer_by(&snapshot, &filtered(filter), query.as_ref(), control);
    let given = given.expect("an answer");
    assert_eq!(
        given,
        subject.model.search(&filtered(filter), query.as_ref())
    );
    given
}

#[test]
fn a_condition_asked_of_a_whole_page_is_not_asked_again() {
    let (_, mut subject) = sealed();
    for condition in [
        "n < 5",
        "s = 'red'",
        "n < 2 OR f > 3",
        "id > 100 AND n <> 4",
    ] {
        let (control, filters) = control(1 << 20);
        for round in 0..3 {
            ask(&mut subject, condition, None, &control);
            ask(&mut subject, condition, Some(tree("cat")), &control);
            assert_eq!(
                (filters.pages_made(), filters.pages_used()),
                (1, 2 * round + 1)
            );
        }
    }
}

/// How many of these searches are not begun within a budget of units, since they are long.
fn long_searches(subject: &mut Subject, filters: &[&str], root: Option<&Node>, limit: u64) -> u32 {
    let mut long = 0;
    for filter in filters {
        let mut select = match filter.is_empty() {
            true => select_all(),
            false => filtered(filter),
        };
        select.limit = Some(limit);
        let query = root.map(|root| Query {
            root: root.clone(),
            warnings: Vec::new(),
        });
        let snapshot = subject.table.snapshot();
        let control = Control {
            interrupt: Arc::new(Interrupt::with_units(1 << 40)),
            ..Control::default()
        };
        let answer = answer_by(&snapshot, &select, query.as_ref(), &control);
        let moved = Some(Reason::Moved);
        assert!(answer.is_ok() || control.interrupt.reason() == moved);
        long += u32::from(answer.is_err());
    }
    long
}

#[test]
fn a_search_that_keeps_many_rows_is_long_and_a_high_limit_alone_is_not() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    for id in 1..=1_500 {
        subject.insert(id, row("cat", 0, "", 0.5, ""));
    }
    subject.seal();
    let cat = tree("cat");
    let (few, many) = (["id = 7", "id IN (1, 2, 3)"], ["", "n = 0", "id > 0"]);
    assert_eq!(long_searches(&mut subject, &few, None, 1 << 40), 0);
    assert_eq!(long_searches(&mut subject, &few, Some(&cat), 1 << 40), 0);
    assert_eq!(long_searches(&mut subject, &many, None, 20), 0);
    assert_eq!(long_searches(&mut subject, &many, None, 1 << 40), 3);
    assert_eq!(long_searches(&mut subject, &many, Some(&cat), 1 << 40), 3);
}

#[test]
fn conditions_of_whole_numbers_drop_the_same_rows_in_every_block_of_a_page() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    for id in 1..=2_600 {
        subject.insert(id, row("cat", id as i64 * 7_919 % 11, "", 0.5, ""));
    }
    subject.seal();
    let ids: Vec<String> = (1..=2_600).map(|id| id.to_string()).collect();
    let listed = format!("id IN ({}) AND (n < 3 OR n = 7)", ids.join(","));
    for condition in [
        "n < 3 OR n = 7",
        "(n, 1) IN ((2, 1), (9, 1), (4, 2))",
        "n IN (1, 5) OR id BETWEEN 1000 AND 1100",
        &listed,
    ] {
        ask(&mut subject, condition, None, &Control::default());
        ask(
            &mut subject,
            condition,
            Some(tree("cat")),
            &Control::default(),
        );
    }
}

#[test]
fn of_few_rows_each_is_asked_until_that_has_cost_as_much_as_the_page() {
    let (_, mut subject) = sealed();
    for condition in ["s = 'red'", "n < 5"] {
        let (control, filters) = control(1 << 20);
        for asked in 1..ROWS / DOGS {
            ask(&mut subject, condition, Some(tree("dog")), &control);
            assert_eq!(filters.pages_made(), 0, "{condition}, {asked}");
        }
        ask(&mut subject, condition, Some(tree("dog")), &control);
        assert_eq!((filters.pages_made(), filters.pages_used()), (1, 0));
        ask(&mut subject, condition, Some(tree("dog")), &control);
        assert_eq!((filters.pages_made(), filters.pages_used()), (1, 1));
    }
}

#[test]
fn what_is_kept_survives_deletions_and_not_a_merge_nor_a_restart() {
    let (_, mut subject) = sealed();
    let (control, filters) = control(1 << 20);
    ask(&mut subject, "n < 5", None, &control);
    subject.delete(1);
    subject.replace(2, row("cat", 9, "", 0.5, "red"));
    let after = ask(&mut subject, "n < 5", None, &control);
    assert_eq!(after.total_found, ROWS / 2 - 2);
    assert_eq!((filters.pages_made(), filters.pages_used()), (1, 1));
    subject.seal();
    subject.optimize();
    ask(&mut subject, "n < 5", None, &control);
    assert_eq!(filters.pages_made(), 2, "of the merged segment");
    subject.reopen();
    ask(&mut subject, "n < 5", None, &control);
    assert_eq!(
        filters.pages_made(),
        3,
        "of the segment as it was opened again"
    );
}

#[test]
fn without_room_every_row_is_asked_each_time() {
    let (_, mut subject) = sealed();
    let (control, filters) = control(8_000);
    for _ in 0..3 {
        ask(&mut subject, "s = 'red'", None, &control);
        ask(&mut subject, "n < 5", None, &control);
    }
    assert_eq!((filters.pages_made(), filters.pages_used()), (0, 0));
    assert!(filters.bytes() <= 8_000);
}

#[test]
fn a_damaged_row_that_a_query_does_not_find_does_it_no_harm() {
    let (disk, subject) = sealed();
    let path = format!("{DIR}/{}/rows", subject.manifest.segments[0].directory);
    let file = disk.open(&path).expect("a file");
    let length = file.len().expect("a length");
    let query = Query {
        root: tree("dog"),
        warnings: Vec::new(),
    };
    let (mut answered, mut refused) = (0, 0);
    for at in (0..length).step_by(16 << 10) {
        let mut byte = [0];
        file.read_at(at, &mut byte).expect("a byte");
        file.write_at(at, &[byte[0] ^ 1]).expect("a byte");
        for condition in ["s = 'red'", "n < 5"] {
            let select = filtered(condition);
            let open = || {
                let disk = Arc::new(disk.clone());
                Table::open(disk, DIR, shape(), &subject.manifest).map(|mut table| table.snapshot())
            };
            let ask = |snapshot, control: &Control| {
                answer_by(snapshot, &select, Some(&query), control).ok()
            };
            let (snapshot, again) = (open().expect("a table"), open().expect("a table"));
            let wanted = ask(&snapshot, &Control::default());
            let (control, _) = control(1 << 20);
            // Often enough for the whole page to be tried.
            for _ in 0..2 * ROWS / DOGS {
                assert_eq!(ask(&again, &control), wanted, "{condition}, byte {at}");
            }
            match wanted {
                Some(_) => answered += 1,
                None => refused += 1,
            }
        }
        file.write_at(at, &byte).expect("a byte");
    }
    assert!(answered > 0 && refused > 0, "{answered}, {refused}");
}
