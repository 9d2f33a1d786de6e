//! Rows of an INSERT that were made before the engine got them are stored as the engine makes them itself.
//!
//! Two engines carry out the same commands. One gets each INSERT with rows made of a snapshot; other commands may come between the
//! snapshot and the INSERT. The other engine, which is slow and obvious, makes the rows itself. Both must give the same answers,
//! write records of the same length, and find the same rows by the same words, also when the records are read again.

use std::cell::Cell;
use std::sync::Arc;

use disk::MemoryDisk;
use engine::{Command, Error, Interrupt, MadeRows, Now, Reason, Reply, Searched, Wanted, Write};
use proptest::prelude::*;
use relation::request::{Insert, Known};
use relation::value::Value;

use crate::driver::{Driver, options};
use crate::scripts::{show, show_answer};
use crate::statement::{Statement, command, many, parse};

const COLUMNS: &str = "(title text, body text, n int, s string, wide bigint, f float)";
const QUERIES: [&str; 7] = [
    "cat",
    "REGEX(/ca.+/)",
    "\"dog cat\" | #tag",
    "@title dog",
    "@body cat",
    "@nowhere cat",
    "cat -(",
];
const WORDS: [&str; 5] = ["cat", "Dog", "#tag", "Café", "x"];

fn open() -> Driver {
    let options = options(Arc::new(MemoryDisk::new()));
    let mut driver = Driver::open(options, Now::default()).unwrap();
    for line in [
        format!("create search posts {COLUMNS}"),
        "create queue hits (query_id bigint, doc_id bigint)".to_owned(),
        "create pq alerts on posts into hits".to_owned(),
        "insert alerts (id, query) values (1, 'cat'), (2, '\"dog cat\"'), (3, '#tag')".to_owned(),
    ] {
        driver.run(command(&line)).unwrap();
    }
    driver
}

/// The rows of the INSERTs of a command, made of the present snapshot within any memory.
fn made(driver: &Driver, command: &Command) -> Vec<Option<MadeRows>> {
    let snapshot = driver.handle.snapshot();
    let made = snapshot.make_rows(command, &|_| true, &Interrupt::default());
    made.unwrap()
}

/// Records of the journal, and their bytes.
fn written(driver: &Driver) -> (u64, u64) {
    let status = driver.handle.status();
    (status.records_total, status.record_bytes_total)
}

/// All rows, the hits, and the rows of each word.
fn found(driver: &mut Driver) -> Vec<String> {
    let mut lines = show(driver.run(command("read * from hits")));
    lines.extend(show(driver.run(command("read * from alerts"))));
    let of_words = WORDS.map(|word| format!("select * from posts match '{word}'"));
    for line in of_words
        .into_iter()
        .chain(["select * from posts".to_owned()])
    {
        let Statement::Select(select) = parse(&line) else {
            panic!("{line}");
        };
        let answer = driver.handle.snapshot().select(
            &select,
            &relation::options::Options::default(),
            &engine::Control::default(),
        );
        match answer.and_then(show_answer) {
            Ok(shown) => lines.extend(shown),
            Err(error) => lines.push(error.to_string()),
        }
    }
    lines
}

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![4 => (0..WORDS.len()).prop_map(|at| WORDS[at]), 1 => Just("a, b.")];
    proptest::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => text().prop_map(Value::Str),
        3 => Just(Value::Null),
        6 => (-3..300i128).prop_map(Value::Int),
        1 => Just(Value::Str("12".to_owned())),
        1 => Just(Value::Int(i128::from(u64::MAX))),
        2 => Just(Value::Float(1.5)),
    ]
}

/// An INSERT or REPLACE of some columns in any order, with ids or without.
fn insert() -> impl Strategy<Value = Command> {
    let names: &[&str] = &["id", "title", "body", "n", "s", "wide", "f"];
    let named = proptest::sample::subsequence(names, 1..=names.len()).prop_shuffle();
    (named, 1..5usize, any::<bool>()).prop_flat_map(|(named, rows, replace)| {
        let of = |name: &str| match name {
            "id" => {
                prop_oneof![3 => (0..12i128).prop_map(Value::Int), 1 => Just(Value::Null)].boxed()
            }
            "title" | "body" => prop_oneof![9 => text().prop_map(Value::Str), 1 => value()].boxed(),
            "n" | "wide" => {
                prop_oneof![9 => (0..300i128).prop_map(Value::Int), 1 => value()].boxed()
            }
            _ => value().boxed(),
        };
        let row: Vec<_> = named.iter().map(|name| of(name)).collect();
        let rows = proptest::collection::vec(row, rows);
        let columns: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        rows.prop_map(move |rows| {
            Command::Write(Write::Insert(Insert {
                table: "posts".to_owned(),
                columns: Some(columns.clone()),
                rows,
                replace,
            }))
        })
    })
}

/// The INSERT, or one of three as an INSERT IGNORE.
fn or_ignoring(insert: impl Strategy<Value = Command>) -> impl Strategy<Value = Command> {
    (insert, 0..3).prop_map(|(command, how)| match (command, how) {
        (Command::Write(Write::Insert(insert)), 0) if !insert.replace => {
            Command::Write(Write::Upsert {
                insert,
                known: Known::Ignore,
            })
        }
        (command, _) => command,
    })
}

/// An INSERT or REPLACE of standing queries, some of which are refused in some or all definitions of the table.
fn standing() -> impl Strategy<Value = Command> {
    let query = prop_oneof![
        6 => (0..QUERIES.len()).prop_map(|at| Value::Str(QUERIES[at].to_owned())),
        1 => Just(Value::Null),
    ];
    let filter = prop_oneof![
        6 => Just(Value::Str(String::new())),
        2 => Just(Value::Str("n > 5".to_owned())),
        1 => Just(Value::Str("s REGEXP 'x+'".to_owned())),
        1 => Just(Value::Str("nothing = 1".to_owned())),
    ];
    let id = prop_oneof![3 => (0..12i128).prop_map(Value::Int), 1 => Just(Value::Null)];
    let row = (id, query, filter).prop_map(|(id, query, filter)| vec![id, query, filter]);
    let rows = proptest::collection::vec(row, 1..5);
    (rows, any::<bool>()).prop_map(|(rows, replace)| {
        Command::Write(Write::Insert(Insert {
            table: "alerts".to_owned(),
            columns: Some(["id", "query", "filters"].map(str::to_owned).to_vec()),
            rows,
            replace,
        }))
    })
}

/// INSERTs alone, several as one unit, statements of a transaction, and its end.
fn step() -> impl Strategy<Value = Command> {
    let one =
        || prop_oneof![2 => or_ignoring(insert()).boxed(), 1 => or_ignoring(standing()).boxed()];
    let member = prop_oneof![
        4 => one(),
        1 => Just(command("delete posts where id = 3")),
    ];
    prop_oneof![
        6 => one(),
        2 => proptest::collection::vec(member, 1..4).prop_map(many),
        3 => one().prop_map(|one| Command::Within(Box::new(one))),
        1 => Just(Command::Commit),
        1 => Just(Command::Rollback),
    ]
}

/// What comes between the snapshot and the INSERT: most often nothing.
fn between() -> impl Strategy<Value = Vec<Command>> {
    prop_oneof![
        4 => Just(Vec::new()),
        1 => insert().prop_map(|insert| vec![insert]),
        1 => Just(vec![crate::alter::add_column()]),
        1 => Just(vec![
            command("drop alerts"),
            command("drop posts"),
            command("create search posts (body text, n bigint, s text)"),
        ]),
        1 => Just(vec![command("delete posts where id = 3")]),
        1 => Just(vec![
            command("drop alerts"),
            command("create pq alerts (body text, s text) into hits"),
        ]),
    ]
}

fn outcome(answer: Option<Result<Reply, Error>>) -> Vec<String> {
    show(answer.expect("an answer"))
}

thread_local! {
    /// INSERTs whose rows were made, and those of them that were stored.
    static SEEN: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

#[test]
fn rows_made_beforehand_are_stored_as_the_engine_makes_them() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(96));
    let steps = proptest::collection::vec((step(), between()), 1..10);
    let run = runner.run(&steps, |steps| {
        let mut plain = open();
        let mut ahead = open();
        plain.makes_rows = false;
        ahead.makes_rows = false;
        for (insert, between) in steps {
            let rows = made(&ahead, &insert);
            for other in between {
                let (one, two) = (plain.run(other.clone()), ahead.run(other));
                prop_assert_eq!(show(one), show(two));
            }
            let (made_before, stored) = SEEN.get();
            let is_made = rows.iter().any(Option::is_some);
            let told = outcome(ahead.ask_made(1, insert.clone(), rows).take());
            let is_stored = is_made && told[0].starts_with("ok");
            SEEN.set((
                made_before + u32::from(is_made),
                stored + u32::from(is_stored),
            ));
            prop_assert_eq!(outcome(plain.ask(1, insert).take()), told);
        }
        prop_assert_eq!(found(&mut plain), found(&mut ahead));
        prop_assert_eq!(written(&plain), written(&ahead));
        let (mut plain, mut ahead) = (plain.reopen().unwrap(), ahead.reopen().unwrap());
        prop_assert_eq!(found(&mut plain), found(&mut ahead));
        Ok(())
    });
    run.unwrap();
    let (made, stored) = SEEN.get();
    assert!(made > 50 && stored > 30, "{made} made, {stored} stored");
}

#[test]
fn rows_are_made_as_far_as_there_is_room_and_until_they_are_stopped() {
    let driver = open();
    let insert = command("insert posts (id, body) values (1, 'a cat'), (2, 'a dog')");
    let snapshot = driver.handle.snapshot();
    let most = Cell::new(None);
    let room = |bytes| {
        most.set(Some(bytes));
        true
    };
    let made = snapshot.make_rows(&insert, &room, &Interrupt::default());
    let made = made.unwrap().swap_remove(0).expect("there was room");
    assert_eq!(
        most.get(),
        Some(made.bytes()),
        "all that they take was asked for"
    );
    let without = snapshot.make_rows(
        &insert,
        &|bytes: Wanted| bytes.all() < made.bytes().all(),
        &Interrupt::default(),
    );
    let without = without.unwrap().swap_remove(0);
    let without = without.expect("the first row");
    assert!(without.bytes().all() < made.bytes().all());
    let stopped = Interrupt::default();
    stopped.stop(Reason::Killed);
    let stopped = snapshot.make_rows(&insert, &|_| true, &stopped);
    assert_eq!(stopped.map(|_| ()), Err(Error::Interrupted));
}

#[test]
fn standing_queries_are_compiled_up_to_the_first_that_is_refused() {
    let mut driver = open();
    let text = |query: &str| vec![Value::Str(query.to_owned())];
    let insert = |queries: &[&str]| {
        Command::Write(Write::Insert(Insert {
            table: "alerts".to_owned(),
            columns: Some(vec!["query".to_owned()]),
            rows: queries.iter().map(|query| text(query)).collect(),
            replace: false,
        }))
    };
    let refused = insert(&["REGEX(/ca.+/)", "cat -(", "dog"]);
    let rows = made(&driver, &refused);
    assert_eq!(rows[0].as_ref().map(MadeRows::count), Some(1));
    let plain = outcome(driver.ask(1, refused.clone()).take());
    assert_eq!(outcome(driver.ask_made(1, refused, rows).take()), plain);
    assert!(plain[0].contains("row 2"), "{plain:?}");
    let stopped = Interrupt::default();
    stopped.stop(Reason::Killed);
    let snapshot = driver.handle.snapshot();
    let stopped = snapshot.make_rows(&insert(&["cat"]), &|_| true, &stopped);
    assert_eq!(stopped.map(|_| ()), Err(Error::Interrupted));
}

/// Queries for which a session found no memory are compiled by the engine's thread, which all writers wait for: for 20 ms of work.
#[test]
fn long_expressions_that_no_session_had_memory_for_are_refused_for_now() {
    let mut driver = open();
    let insert = |queries: std::ops::Range<usize>| {
        let text = |n| format!("REGEX(/(a|b|ab){{1,100}}(c|d){{1,100}}{n}/)");
        Command::Write(Write::Insert(Insert {
            table: "alerts".to_owned(),
            columns: Some(vec!["query".to_owned()]),
            rows: queries.map(|n| vec![Value::Str(text(n))]).collect(),
            replace: false,
        }))
    };
    let snapshot = driver.handle.snapshot();
    let without_memory = |command: &Command| {
        let made = snapshot.make_rows(command, &|_| false, &Interrupt::default());
        made.unwrap()
    };
    let few = insert(0..10);
    let rows = without_memory(&few);
    assert!(outcome(driver.ask_made(1, few, rows).take())[0].starts_with("ok"));
    let many = insert(0..500);
    let rows = without_memory(&many);
    let told = driver.ask_made(1, many.clone(), rows).take();
    assert!(matches!(told, Some(Err(Error::Overloaded))), "{told:?}");
    let rows = made(&driver, &many);
    assert!(outcome(driver.ask_made(1, many, rows).take())[0].starts_with("ok"));
}

#[test]
fn rows_that_take_long_to_make_are_known_before_the_engine_begins() {
    let mut driver = open();
    driver.run(command("create search deep (j json)")).unwrap();
    let snapshot = driver.handle.snapshot();
    let is_long = |table: &str, column: &str, texts: &[&str], made: usize| {
        let insert = Command::Write(Write::Insert(Insert {
            table: table.to_owned(),
            columns: Some(vec![column.to_owned()]),
            rows: texts
                .iter()
                .map(|it| vec![Value::Str((*it).to_owned())])
                .collect(),
            replace: false,
        }));
        insert.inserts()[0].is_long_behind(&snapshot.definition(table).unwrap(), made)
    };
    let document = format!("[{}0]", "1,".repeat(100_000));
    assert!(is_long("deep", "j", &["1", &document], 1));
    assert!(!is_long("deep", "j", &[&document, "1"], 1));
    assert!(!is_long("posts", "body", &[&document], 0));
    assert!(is_long("alerts", "query", &["dog", "regex(/ca.+/)"], 1));
    assert!(!is_long("alerts", "query", &["regex(/ca.+/)", "dog"], 1));
}

#[test]
fn an_insert_that_was_stopped_is_not_stored() {
    let mut driver = open();
    for line in [
        "insert posts (id, body) values (1, 'a cat')",
        "insert posts (id, body) values (2, 'a dog')",
    ] {
        let interrupt = Arc::new(Interrupt::default());
        interrupt.stop(Reason::Killed);
        let answer = driver.ask_until(1, command(line), interrupt);
        assert!(matches!(answer.take(), Some(Err(Error::Interrupted))));
    }
    let lines = found(&mut driver);
    assert!(lines.iter().all(|line| !line.contains("| a ")), "{lines:?}");
}

/// Everyone who writes waits for the engine's thread, so it makes rows that no session has made for 20 ms of work and no longer.
#[test]
fn rows_that_take_long_are_stored_only_if_a_session_has_made_them() {
    let mut driver = open();
    driver.run(command("create search deep (j json)")).unwrap();
    let numbers = vec!["0"; 100_000].join(",");
    let document = format!("{}{numbers}{}", "[".repeat(60), "]".repeat(60));
    let insert = |rows: usize| {
        Command::Write(Write::Insert(Insert {
            table: "deep".to_owned(),
            columns: Some(vec!["j".to_owned()]),
            rows: vec![vec![Value::Str(document.clone())]; rows],
            replace: false,
        }))
    };
    let before = driver.handle.status().record_bytes_total;
    let refused = driver.ask(1, insert(2)).take();
    assert!(matches!(refused, Some(Err(Error::Overloaded))));
    assert_eq!(
        driver.handle.status().record_bytes_total,
        before,
        "nothing is stored"
    );
    let rows = made(&driver, &insert(2));
    let stored = driver.ask_made(1, insert(2), rows).take();
    assert!(matches!(stored, Some(Ok(Reply::Done { affected: 2, .. }))));
    // In a transaction they are kept: COMMIT would not make them either.
    let within = |rows| Command::Within(Box::new(insert(rows)));
    let rows = made(&driver, &within(2));
    let told = driver.ask_made(1, within(2), rows).take();
    assert!(
        matches!(told, Some(Ok(Reply::Done { affected: 2, .. }))),
        "{told:?}"
    );
    let committed = driver.ask(1, Command::Commit).take();
    assert!(matches!(committed, Some(Ok(_))), "{committed:?}");
    assert_eq!(driver.handle.snapshot().source("deep").unwrap().count(), 4);
}

/// What a column of a measured table is, and a value of it for each number.
type Shape = (&'static str, fn(usize) -> Value);

fn str(text: String) -> Value {
    Value::Str(text)
}

/// Columns of short and long texts, of words that rows share and words of their own, of numbers, and of nothing.
const SHAPES: &[Shape] = &[
    ("text", |n| str(format!("a{} b c d e f g h i j", n % 7))),
    ("text", |n| {
        str(format!("{} {} {} {}", n % 90, n % 80, n % 70, n % 60))
    }),
    ("text", |n| {
        str(format!("word{n} other{} third{}", n * 3, n * 7))
    }),
    ("text", |n| str(format!("{n:0>40} {:0>40}", n * 7))),
    ("text", |n| str(format!("{n} ").repeat(200))),
    ("string", |n| str(format!("value number {n}"))),
    ("string", |n| str(format!("{n:0>400}"))),
    ("bigint", |n| Value::Int(n as i128)),
    ("float", |n| Value::Float(n as f64 / 7.0)),
    ("bigint", |_| Value::Null),
];

/// What an INSERT of rows of this shape wants, and what it takes. `absent`: columns of the table that it does not name.
fn measured((kind, value): Shape, columns: usize, rows: usize, absent: usize) -> [Wanted; 2] {
    let options = options(Arc::new(MemoryDisk::new()));
    let mut driver = Driver::open(options, Now::default()).unwrap();
    let named = (0..columns).map(|at| format!("c{at} {kind}"));
    let others = (0..absent).map(|at| format!("d{at} bigint"));
    let named: Vec<String> = named.chain(others).collect();
    let create = format!("create search t (extra text, {})", named.join(", "));
    driver.run(command(&create)).unwrap();
    let of_row = |row: usize| (0..columns).map(move |at| value(row * columns + at));
    let insert = Command::Write(Write::Insert(Insert {
        table: "t".to_owned(),
        columns: Some((0..columns).map(|at| format!("c{at}")).collect()),
        rows: (0..rows).map(|row| of_row(row).collect()).collect(),
        replace: false,
    }));
    let definition = driver.handle.snapshot().definition("t").unwrap();
    let wanted = insert.inserts()[0].wanted(&definition);
    let words = made(&driver, &insert)[0].as_ref().unwrap().bytes().words;
    let before = driver.handle.status().tail_bytes;
    driver.run(insert).unwrap();
    let rows = (driver.handle.status().tail_bytes - before) as usize;
    [wanted, Wanted { rows, words }]
}

/// Percent of what was wanted that was taken, of rows and of words.
fn percent([wanted, taken]: [Wanted; 2]) -> [usize; 2] {
    [
        100 * taken.rows / wanted.rows,
        100 * taken.words / wanted.words,
    ]
}

#[test]
fn an_insert_takes_what_it_wants_at_most_and_no_factor_is_far_above() {
    let mut most = [0, 0];
    for shape in SHAPES {
        for (columns, rows) in [(1, 2000), (4, 500), (30, 100), (60, 40)] {
            let taken = percent(measured(*shape, columns, rows, 0));
            let about = format!("{rows} rows of {columns} {}: {taken:?}", shape.0);
            assert!(taken.iter().all(|percent| *percent <= 100), "{about}");
            most = [0, 1].map(|at| taken[at].max(most[at]));
        }
    }
    assert!(most.iter().all(|percent| *percent >= 85), "{most:?}");
    let null = *SHAPES.last().unwrap();
    let [of_rows, of_words] = percent(measured(null, 1, 2000, 0));
    assert!(of_rows >= 35 && of_words >= 60, "{of_rows}, {of_words}");
    let [few, many] = [0, 200].map(|absent| measured(null, 1, 500, absent));
    let more = [0, 1].map(|at| many[at].rows - few[at].rows);
    assert!(more[1] <= more[0] && 2 * more[1] >= more[0], "{more:?}");
}

/// What the expressions of a transaction compile to is kept until COMMIT: it counts as memory of the transaction.
#[test]
fn expressions_of_a_transaction_count_as_its_bytes_until_it_ends() {
    let mut driver = open();
    let insert = |n: usize| {
        let query = format!("REGEX(/(a|b|ab){{1,100}}(c|d){{1,100}}{n}/)");
        Command::Within(Box::new(Command::Write(Write::Insert(Insert {
            table: "alerts".to_owned(),
            columns: Some(vec!["query".to_owned()]),
            rows: vec![vec![Value::Str(query)]],
            replace: false,
        }))))
    };
    let compiled = made(&driver, &insert(0))[0].as_ref().unwrap().bytes();
    let mut stored = 0;
    let refused = loop {
        let rows = made(&driver, &insert(stored));
        match driver.ask_made(1, insert(stored), rows).take().unwrap() {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
    };
    let most = driver.memory() / 8;
    let what = "bytes of a transaction";
    assert_eq!(refused, Error::Limit { what, max: most });
    let taken = stored as u64 * compiled.rows as u64;
    // The estimate of a row beside its expressions is not the same in both.
    let about = most / 100 * 95..=most / 100 * 105;
    assert!(about.contains(&taken), "{taken} of {most}");
    driver.run(Command::Rollback).unwrap();
    let rows = made(&driver, &insert(0));
    let again = driver.ask_made(1, insert(0), rows).take().unwrap();
    assert!(again.is_ok(), "{again:?}");
}

/// What a transaction keeps of expressions is no measure of what a look at its table costs.
#[test]
fn a_transaction_sees_its_standing_queries_however_long_their_expressions() {
    let mut driver = open();
    for n in 0..12 {
        let query = format!("REGEX(/(a|b|ab){{1,100}}(c|d){{1,100}}{n}/)");
        let insert = Command::Within(Box::new(Command::Write(Write::Insert(Insert {
            table: "alerts".to_owned(),
            columns: Some(vec!["query".to_owned()]),
            rows: vec![vec![Value::Str(query)]],
            replace: false,
        }))));
        let rows = made(&driver, &insert);
        assert!(outcome(driver.ask_made(1, insert, rows).take())[0].starts_with("ok"));
    }
    let read = Command::Within(Box::new(command("read * from alerts")));
    let lines = outcome(driver.ask(1, read).take());
    let own = lines.iter().filter(|line| line.contains("REGEX")).count();
    assert_eq!(own, 12, "{lines:?}");
}
