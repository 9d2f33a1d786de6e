//! Searches and changes that are stopped while they evaluate the rows of one page.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use disk::MemoryDisk;
use index::{Control, Error, Interrupt, Memory, ReadColumn, Reason};
use query::options::Options;
use query::request::Select;
use query::tree::Query;
use query::value::Value;

use crate::subject::{Subject, filtered, order, row, search, select_all, tree};

/// Rows of the table: less than a page has.
const ROWS: u64 = 4_000;

/// Most rows that may be evaluated once a search is stopped.
const LEFT_MAX: u64 = 2;

/// One segment; every row holds "cat".
fn sealed() -> Subject {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    let title = "a long title  ".repeat(20);
    for id in 1..=ROWS {
        subject.insert(id, row("cat", id as i64, &title, 0.5, "red"));
    }
    subject.seal();
    subject
}

#[test]
fn an_order_by_texts_ends_among_the_rows_of_a_page() {
    let mut subject = sealed();
    let snapshot = subject.table.snapshot();
    let cat = Query {
        root: tree("cat"),
        warnings: Vec::new(),
    };
    for query in [None, Some(&cat)] {
        // Rows that are kept take memory, 64 KiB of them at a time: the second time stops the search.
        let interrupt = Arc::new(Interrupt::default());
        let (stopped, taken) = (Arc::clone(&interrupt), AtomicUsize::new(0));
        let lender = move |_| {
            if taken.fetch_add(1, Ordering::Relaxed) == 1 {
                stopped.stop(Reason::Time);
            }
            true
        };
        let control = Control {
            interrupt,
            memory: Arc::new(Memory::new(u64::MAX).lent_by(Arc::new(lender))),
            ..Control::default()
        };
        let select = Select {
            order: vec![order("concat(title, n)", true)],
            limit: Some(ROWS),
            ..select_all()
        };
        let answer = search(&snapshot, &select, query, &control).expect("a part of the rows");
        assert_eq!(answer.partial, Some(Reason::Time));
        let found = answer.rows.len() as u64;
        // A row takes at least the 280 bytes of its title.
        let before = 2 * (64 << 10) / 280;
        assert!((1..before + LEFT_MAX).contains(&found), "{found}");
        // What was found before the end of the time is read.
        assert_eq!(answer.rows.filter(Result::is_ok).count() as u64, found);
    }
}

#[test]
fn rows_are_read_until_their_search_is_killed() {
    let mut subject = sealed();
    let snapshot = subject.table.snapshot();
    let select = Select {
        limit: Some(ROWS),
        ..select_all()
    };
    for (reason, ends) in [(Reason::Time, false), (Reason::Killed, true)] {
        let control = Control::default();
        let answer = search(&snapshot, &select, None, &control).expect("all rows");
        let mut rows = answer.rows;
        assert!(rows.by_ref().take(100).all(|row| row.is_ok()));
        control.interrupt.stop(reason);
        let read = rows.by_ref().take_while(Result::is_ok).count() as u64;
        assert_eq!(read < LEFT_MAX, ends, "{reason:?}: {read} rows");
        assert_eq!(rows.len(), 0, "one error, and no row behind it");
    }
}

#[test]
fn a_change_ends_among_the_rows_that_it_works_out() {
    let mut subject = sealed();
    let snapshot = subject.table.snapshot();
    let select = filtered("n > 0");
    let bound = snapshot.bind(&select, &Options::default());
    let bound = bound.expect("a SELECT of this table");
    for reason in [Reason::Time, Reason::Killed] {
        let control = Control::default();
        let mut asked = 0;
        let mut set = |_, _: &ReadColumn<'_>, out: &mut Vec<(u16, Value)>| {
            asked += 1;
            control.interrupt.stop(reason);
            out.push((1, Value::Int(4)));
            Ok::<(), Error>(())
        };
        let planned = snapshot.plan_change(&bound, None, &control, &mut set);
        let ended = planned.err();
        assert!(matches!(ended, Some(Error::Interrupted { reason: why }) if why == reason));
        assert!(asked <= LEFT_MAX, "{asked} rows");
    }
}
