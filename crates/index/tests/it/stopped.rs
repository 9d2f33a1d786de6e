//! Searches and changes that are stopped while they evaluate the rows of one page.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use disk::MemoryDisk;
use index::limits::EXPANSION_MAX;
use index::{Control, Error, Interrupt, Memory, ReadColumn, Reason, Snapshot};
use language::tree::Query;
use relation::options::Options;
use relation::request::Select;
use relation::value::Value;

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

/// A table of `words` words, all in one tail or segment.
fn dictionary(words: usize, is_sealed: bool) -> Subject {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    for (id, first) in (0..words).step_by(1_000).enumerate() {
        let text: Vec<String> = (first..words.min(first + 1_000))
            .map(|number| format!("w{number:05}"))
            .collect();
        subject.insert(id as u64 + 1, row(&text.join(" "), 1, "", 0.5, "red"));
    }
    if is_sealed {
        subject.seal();
    }
    subject
}

/// `w0* | *w0* | %w0* | …`: each stands for the same words.
fn wildcards(count: usize) -> Query {
    let pattern = |number: usize| format!("{}w0*", "%".repeat(number));
    let patterns: Vec<String> = (0..count).map(pattern).collect();
    Query {
        root: tree(&patterns.join(" | ")),
        warnings: Vec::new(),
    }
}

#[test]
fn the_words_of_wildcards_take_memory_and_end_with_their_search() {
    for is_sealed in [false, true] {
        let mut subject = dictionary(2_000, is_sealed);
        let snapshot = subject.table.snapshot();
        let query = wildcards(40);
        let answer = search(&snapshot, &select_all(), Some(&query), &Control::default());
        assert_eq!(answer.expect("all rows").total_found, 2);
        for reason in [Reason::Time, Reason::Killed] {
            let interrupt = Arc::new(Interrupt::default());
            let taken = Arc::new(AtomicUsize::new(0));
            let (stopped, takes) = (Arc::clone(&interrupt), Arc::clone(&taken));
            let lender = move |_| {
                if takes.fetch_add(1, Ordering::Relaxed) == 1 {
                    stopped.stop(reason);
                }
                true
            };
            let control = Control {
                interrupt,
                memory: Arc::new(Memory::new(u64::MAX).lent_by(Arc::new(lender))),
                ..Control::default()
            };
            let answer = search(&snapshot, &select_all(), Some(&query), &control);
            assert_eq!(
                taken.load(Ordering::Relaxed),
                2,
                "no later wildcard was looked up"
            );
            match (reason, answer) {
                (Reason::Time, Ok(answer)) => {
                    assert_eq!(answer.partial, Some(Reason::Time));
                    assert_eq!((answer.total_found, answer.rows.len()), (0, 0));
                }
                (_, Err(Error::Interrupted { reason: why })) => assert_eq!(why, reason),
                (_, answer) => panic!("{:?}", answer.map(|answer| answer.total_found)),
            }
        }
        assert_out_of_memory(&snapshot, &query, 4 << 20);
    }
}

/// Asserts that a search with so few bytes is refused for want of memory.
fn assert_out_of_memory(snapshot: &Arc<Snapshot>, query: &Query, bytes_max: u64) {
    let control = Control {
        memory: Arc::new(Memory::new(bytes_max)),
        ..Control::default()
    };
    let answer = search(snapshot, &select_all(), Some(query), &control).err();
    assert!(
        matches!(answer, Some(Error::SearchMemory { .. })),
        "{answer:?}"
    );
}

#[test]
fn a_wildcard_that_a_query_has_often_takes_memory_for_each_time() {
    let mut subject = dictionary(2_000, true);
    let snapshot = subject.table.snapshot();
    let parts: Vec<String> = (0..200)
        .map(|number| format!("(w0* w{number:05})"))
        .collect();
    let query = Query {
        root: tree(&parts.join(" | ")),
        warnings: Vec::new(),
    };
    assert_out_of_memory(&snapshot, &query, 16 << 20);
}

#[test]
fn a_wildcard_of_too_many_words_is_refused_as_soon_as_they_are_found() {
    for is_sealed in [false, true] {
        let mut subject = dictionary(EXPANSION_MAX + 1, is_sealed);
        let snapshot = subject.table.snapshot();
        let refused = |text: &str| {
            let query = Query {
                root: tree(text),
                warnings: Vec::new(),
            };
            let answer = search(&snapshot, &select_all(), Some(&query), &Control::default());
            matches!(answer, Err(Error::TooManyWords { pattern }) if pattern == "w*")
        };
        assert!(refused("w*"));
        assert!(refused("w00000 MAYBE w*"));
        // All but one.
        subject.delete(17);
        let snapshot = subject.table.snapshot();
        let query = Query {
            root: tree("w*"),
            warnings: Vec::new(),
        };
        let answer = search(&snapshot, &select_all(), Some(&query), &Control::default());
        assert_eq!(answer.expect("16,000 words").total_found, 16);
    }
}
