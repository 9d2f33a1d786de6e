//! Promises of a queue that it shares with Q4M, one fact a test: docs/adr/023.

use std::sync::Arc;

use disk::MemoryDisk;
use engine::{
    Change, ColumnPlace, Command, Error, Hold, Now, QueueNext, Reply, SessionId, SourceMode,
    WaitSource,
};
use relation::expression;
use relation::lexer::Lexer;
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use crate::driver::{Driver, Pending, options};
use crate::scripts::show;
use crate::statement::command;

/// An engine that was asked these.
fn asked(lines: &[&str]) -> Driver {
    let mut driver = Driver::open(options(Arc::new(MemoryDisk::new())), Now::default()).unwrap();
    for line in lines {
        run(&mut driver, line);
    }
    driver
}

fn run(driver: &mut Driver, line: &str) {
    driver.run(command(line)).unwrap();
}

/// `queue` or `queue:condition`.
fn source(written: &str) -> WaitSource {
    let Some((table, condition)) = written.split_once(':') else {
        return WaitSource::all(written);
    };
    let condition = expression::parse(&mut Lexer::new(condition.as_bytes())).unwrap();
    WaitSource {
        table: table.to_owned(),
        condition: Some(condition),
    }
}

fn wait(sources: &[&str], seconds: u64) -> Command {
    Command::QueueWait {
        sources: sources.iter().map(|written| source(written)).collect(),
        timeout_us: seconds * 1_000_000,
    }
}

fn next(written: &str, rows: u32, seconds: u64) -> QueueNext {
    QueueNext {
        sources: vec![source(written)],
        group: None,
        rows,
        timeout_us: seconds * 1_000_000,
        hold: Hold::Session,
        done: Vec::new(),
    }
}

/// Which source gave a row at once.
fn take(driver: &mut Driver, session: u64, sources: &[&str]) -> u32 {
    waited(&driver.ask(session, wait(sources, 0))).expect("an answer")
}

fn waited(pending: &Pending) -> Option<u32> {
    match pending.take()? {
        Ok(Reply::Waited(source)) => Some(source),
        other => panic!("{other:?}"),
    }
}

/// What a session sees of a table, row by row.
fn sees(driver: &mut Driver, session: u64, table: &str) -> Vec<String> {
    let outcome = driver.ask(session, command(&format!("read * from {table}")));
    show(outcome.take().unwrap()).into_iter().skip(1).collect()
}

fn row_id(driver: &mut Driver, session: u64) -> Option<u64> {
    match driver.ask(session, Command::QueueRowId).take().unwrap() {
        Ok(Reply::RowId(row)) => row.map(|row| row.0),
        other => panic!("{other:?}"),
    }
}

const PRIO: &str = "create queue q (id int, prio int, name varchar(20))";

#[test]
fn a_wait_is_given_of_the_first_of_its_queues_that_has_a_row() {
    let mut driver = asked(&[
        "create queue a (id int)",
        "create queue b (id int)",
        "insert b values (7)",
    ]);
    assert_eq!(take(&mut driver, 2, &["a", "b"]), 2);
    assert_eq!(sees(&mut driver, 2, "b"), ["7"]);
    assert_eq!(sees(&mut driver, 2, "a"), [""; 0]);
    run(&mut driver, "insert b values (8)");
    run(&mut driver, "insert a values (1)");
    assert_eq!(take(&mut driver, 2, &["a", "b"]), 1);
    assert_eq!(sees(&mut driver, 2, "a"), ["1"]);
    assert_eq!(take(&mut driver, 2, &["a", "b"]), 2);
    assert_eq!(take(&mut driver, 2, &["a", "b"]), 0);
    assert_eq!(sees(&mut driver, 1, "b"), [""; 0]);
}

#[test]
fn conditions_give_one_queue_priorities() {
    let mut driver = asked(&[
        PRIO,
        "insert q values (1, 1, 'x'), (2, 0, 'x'), (3, 1, 'y'), (4, 0, 'y')",
    ]);
    let by_prio = ["q:prio=0", "q:prio=1"];
    let mut order = Vec::new();
    loop {
        let source = take(&mut driver, 2, &by_prio);
        if source == 0 {
            break;
        }
        order.push((source, row_id(&mut driver, 2).unwrap()));
    }
    assert_eq!(order, [(1, 2), (1, 4), (2, 1), (2, 3)]);
}

#[test]
fn a_condition_may_be_any_expression_over_texts_too() {
    let mut driver = asked(&[
        PRIO,
        "insert q values (1, 1, 'x'), (2, 0, NULL), (3, 5, 'y'), (4, 9, 'z')",
    ]);
    assert_eq!(
        take(&mut driver, 2, &["q:name in ('y','z') and prio * 2 > 10"]),
        1
    );
    assert_eq!(row_id(&mut driver, 2), Some(4));
    assert_eq!(take(&mut driver, 3, &["q:name is null"]), 1);
    assert_eq!(row_id(&mut driver, 3), Some(2));
    assert_eq!(take(&mut driver, 4, &["q:1 / 0 = 1"]), 0);
}

#[test]
fn a_row_taken_out_of_the_middle_returns_to_its_place() {
    let mut driver = asked(&[PRIO, "insert q values (1, 1, ''), (2, 2, ''), (3, 3, '')"]);
    assert_eq!(take(&mut driver, 2, &["q:prio = 2"]), 1);
    assert_eq!(take(&mut driver, 3, &["q"]), 1);
    assert_eq!(take(&mut driver, 4, &["q"]), 1);
    assert_eq!(row_id(&mut driver, 4), Some(3));
    driver.ask(2, Command::QueueAbort);
    driver.ask(4, Command::SessionClosed);
    assert_eq!(sees(&mut driver, 1, "q").len(), 2);
    for expected in [2, 3] {
        assert_eq!(take(&mut driver, 5, &["q"]), 1);
        assert_eq!(row_id(&mut driver, 5), Some(expected));
    }
}

#[test]
fn a_row_that_comes_back_wakes_who_has_already_looked_past_it() {
    let mut driver = asked(&[PRIO, "insert q values (1, 5, ''), (2, 1, ''), (3, 1, '')"]);
    assert_eq!(take(&mut driver, 2, &["q"]), 1);
    let first = driver.ask(3, wait(&["q:prio = 5"], 10));
    assert_eq!(waited(&first), None);
    run(&mut driver, "insert q values (4, 1, '')");
    assert_eq!(waited(&first), None);
    driver.ask(2, Command::QueueAbort);
    assert_eq!(waited(&first), Some(1));
    assert_eq!(row_id(&mut driver, 3), Some(1));
}

#[test]
fn rows_go_one_each_to_those_who_have_waited_longest() {
    let mut driver = asked(&[PRIO]);
    let waits: Vec<Pending> = (2..6)
        .map(|session| {
            let condition = if session % 2 == 0 { "q" } else { "q:prio = 1" };
            driver.ask(session, wait(&[condition], 10))
        })
        .collect();
    run(&mut driver, "insert q values (1, 0, ''), (2, 1, '')");
    let served: Vec<_> = waits.iter().map(waited).collect();
    assert_eq!(served, [Some(1), Some(1), None, None]);
    assert_eq!(row_id(&mut driver, 2), Some(1));
    assert_eq!(row_id(&mut driver, 3), Some(2));
    run(&mut driver, "insert q values (3, 1, ''), (4, 1, '')");
    assert_eq!(waited(&waits[2]), Some(1));
    assert_eq!(waited(&waits[3]), Some(1));
    assert_eq!(row_id(&mut driver, 4), Some(3));
}

#[test]
fn who_waits_for_several_queues_is_given_of_the_first_even_if_a_later_one_has_woken_him() {
    let mut driver = asked(&["create queue a (id int)", "create queue b (id int)"]);
    let pending = driver.ask(2, wait(&["b", "a"], 10));
    run(&mut driver, "many insert a values (1); insert b values (2)");
    assert_eq!(waited(&pending), Some(1));
    assert_eq!(sees(&mut driver, 2, "b"), ["2"]);
    assert_eq!(sees(&mut driver, 1, "a"), ["1"]);
}

#[test]
fn a_wait_enters_owner_mode_even_when_its_time_runs_out() {
    let mut driver = asked(&["create queue q (id int)", "create queue other (id int)"]);
    let pending = driver.ask(2, wait(&["q", "other"], 1));
    driver.tick(1_000_000);
    assert_eq!(waited(&pending), Some(0));
    run(&mut driver, "insert q values (1)");
    assert_eq!(sees(&mut driver, 2, "q"), [""; 0]);
    assert_eq!(row_id(&mut driver, 2), None);
    driver.ask(2, Command::QueueEnd);
    assert_eq!(sees(&mut driver, 2, "q"), ["1"]);
}

#[test]
fn a_wait_that_is_ended_is_an_error_and_a_row_that_was_given_stays_given() {
    let mut driver = asked(&["create queue q (id int)"]);
    let alone = wait(&["q"], 10);
    let next = Command::QueueNext(next("q", 1, 10));
    let within = Command::Within(Box::new(next.clone()));
    for (session, waits) in [(2, alone.clone()), (3, next), (4, within)] {
        let pending = driver.ask(session, waits);
        assert!(pending.take().is_none(), "it waits");
        driver.ask(9, Command::EndWait);
        assert!(pending.take().is_none(), "another session's wait");
        driver.ask(session, Command::EndWait);
        assert!(matches!(pending.take(), Some(Err(Error::Interrupted))));
    }
    run(&mut driver, "insert q values (1)");
    assert_eq!(waited(&driver.ask(2, alone)), Some(1));
    driver.ask(2, Command::EndWait);
    assert_eq!(row_id(&mut driver, 2), Some(1));
}

#[test]
fn a_wait_that_cannot_be_is_an_error_and_leaves_the_owned_row() {
    let mut driver = asked(&[
        PRIO,
        "insert q values (1, 1, '')",
        "create search s (body text)",
    ]);
    assert_eq!(take(&mut driver, 2, &["q"]), 1);
    let ask = |driver: &mut Driver, sources: &[&str]| {
        driver.ask(2, wait(sources, 0)).take().unwrap().unwrap_err()
    };
    let error = ask(&mut driver, &["q", "absent"]);
    assert_eq!(error, Error::NoSuchTable("absent".to_owned()));
    let error = ask(&mut driver, &["q:absent = 1"]);
    assert!(matches!(error, Error::UnknownColumn { .. }), "{error}");
    let error = ask(&mut driver, &["s"]);
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    let error = ask(&mut driver, &[]);
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    assert_eq!(sees(&mut driver, 2, "q"), ["1 | 1 | "]);
}

#[test]
fn a_dropped_queue_ends_the_waits_that_name_it_and_owners_see_nothing() {
    let mut driver = asked(&[
        "create queue a (id int)",
        "create queue b (id int)",
        "insert a values (1)",
    ]);
    assert_eq!(take(&mut driver, 2, &["a"]), 1);
    let both = driver.ask(3, wait(&["a:id > 5", "b"], 10));
    let other = driver.ask(4, wait(&["b"], 10));
    run(&mut driver, "drop a");
    assert_eq!(waited(&both), Some(0));
    run(&mut driver, "insert b values (2)");
    assert_eq!(waited(&other), Some(1));
    assert_eq!(sees(&mut driver, 2, "b"), [""; 0]);
    assert!(driver.ask(2, Command::QueueAbort).take().unwrap().is_ok());
}

#[test]
fn a_row_that_its_owner_has_deleted_stays_deleted_after_an_abort() {
    let mut driver = asked(&["create queue q (id int)", "insert q values (1), (2)"]);
    assert_eq!(take(&mut driver, 2, &["q"]), 1);
    assert!(driver.ask(2, command("delete q")).take().unwrap().is_ok());
    assert_eq!(row_id(&mut driver, 2), None);
    driver.ask(2, Command::QueueAbort);
    assert_eq!(sees(&mut driver, 1, "q"), ["2"]);
}

#[test]
fn row_ids_rise_and_survive_a_compaction_and_a_restart() {
    let mut driver = asked(&["create queue q (id int)", "insert q values (1), (2), (3)"]);
    let outside = driver.run(Command::QueueRowId).unwrap_err();
    assert_eq!(outside.to_string(), "queue_rowid(): not in owner mode");
    assert_eq!(take(&mut driver, 1, &["q"]), 1);
    assert_eq!(row_id(&mut driver, 1), Some(1));
    assert_eq!(take(&mut driver, 1, &["q"]), 1);
    let table = "q".to_owned();
    driver.run(Command::QueueCompact { table }).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(take(&mut driver, 1, &["q"]), 1);
    assert_eq!(row_id(&mut driver, 1), Some(2));
    run(&mut driver, "insert q values (4)");
    assert_eq!(take(&mut driver, 2, &["q:id = 4"]), 1);
    assert_eq!(row_id(&mut driver, 2), Some(4));
}

fn relay(driver: &mut Driver, session: u64, mode: SourceMode, row: u64, value: u64) {
    let sender = 63;
    let command = Command::QueueSetSource { sender, mode, row };
    driver.ask(session, command).take().unwrap().unwrap();
    let insert = crate::statement::command(&format!("insert q values ({value})"));
    driver.ask(session, insert).take().unwrap().unwrap();
}

#[test]
fn a_relayed_row_is_taken_once_across_restarts_and_checkpoints() {
    let mut driver = asked(&["create queue q (id int)"]);
    relay(&mut driver, 1, SourceMode::Append, 5, 50);
    relay(&mut driver, 2, SourceMode::Append, 5, 51);
    relay(&mut driver, 2, SourceMode::Append, 4, 40);
    assert_eq!(sees(&mut driver, 1, "q"), ["50"]);
    let mut driver = driver.reopen().unwrap();
    relay(&mut driver, 1, SourceMode::Append, 5, 52);
    driver.run(Command::Checkpoint).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(driver.recovered.records_replayed, 0);
    relay(&mut driver, 1, SourceMode::Append, 5, 53);
    relay(&mut driver, 1, SourceMode::Append, 6, 60);
    assert_eq!(sees(&mut driver, 1, "q"), ["50", "60"]);
    relay(&mut driver, 1, SourceMode::Reset, 2, 20);
    relay(&mut driver, 1, SourceMode::Append, 3, 30);
    run(&mut driver, "insert q values (0)");
    assert_eq!(sees(&mut driver, 1, "q"), ["50", "60", "20", "30", "0"]);
}

#[test]
fn a_refused_insert_does_not_use_up_what_queue_set_srcid_said() {
    let mut driver = asked(&["create queue q (id int)"]);
    let (sender, mode, row) = (0, SourceMode::Append, 9);
    driver
        .run(Command::QueueSetSource { sender, mode, row })
        .unwrap();
    assert!(driver.run(command("insert q values (1, 2)")).is_err());
    run(&mut driver, "insert q values (1)");
    driver
        .run(Command::QueueSetSource { sender, mode, row })
        .unwrap();
    run(&mut driver, "insert q values (2)");
    assert_eq!(sees(&mut driver, 1, "q"), ["1"]);
    let sender = 64;
    let refused = driver.run(Command::QueueSetSource { sender, mode, row });
    assert!(matches!(refused, Err(Error::Invalid { .. })));
}

#[test]
fn queue_next_acknowledges_what_is_owned_and_gives_several_rows_at_once() {
    let mut driver = asked(&[
        "create queue q (id int)",
        "insert q values (1), (2), (3), (4), (5)",
    ]);
    let ids = |outcome: Result<Reply, Error>| match outcome.unwrap() {
        Reply::Taken(taken) => {
            let rows = taken.rows.into_iter();
            (taken.source, rows.map(|row| row.row.0).collect::<Vec<_>>())
        }
        other => panic!("{other:?}"),
    };
    let first = driver.run(Command::QueueNext(next("q", 2, 0)));
    assert_eq!(ids(first), (1, vec![1, 2]));
    assert_eq!(sees(&mut driver, 1, "q"), ["1", "2"]);
    assert_eq!(sees(&mut driver, 2, "q"), ["3", "4", "5"]);
    let second = driver.run(Command::QueueNext(next("q", 2, 0)));
    assert_eq!(ids(second), (1, vec![3, 4]));
    driver.run(Command::QueueAbort).unwrap();
    assert_eq!(sees(&mut driver, 2, "q"), ["3", "4", "5"]);
    driver.run(Command::QueueNext(next("q", 10, 0))).unwrap();
    let waiting = driver.ask(1, Command::QueueNext(next("q", 10, 5)));
    assert!(waiting.take().is_none());
    assert_eq!(sees(&mut driver, 2, "q"), [""; 0]);
    run_as(&mut driver, 2, "insert q values (6), (7)");
    assert_eq!(ids(waiting.take().unwrap()), (1, vec![6, 7]));
    let waiting = driver.ask(1, Command::QueueNext(next("q", 10, 5)));
    driver.tick(5_000_000);
    assert_eq!(ids(waiting.take().unwrap()), (0, vec![]));
}

fn run_as(driver: &mut Driver, session: u64, line: &str) {
    let outcome = driver.ask(session, command(line)).take();
    outcome.expect("an answer").unwrap();
}

#[test]
fn queue_stats_counts_what_became_of_rows_and_waits() {
    let mut driver = asked(&["create queue q (id int)", "insert q values (1), (2), (3)"]);
    take(&mut driver, 2, &["q"]);
    take(&mut driver, 3, &["q"]);
    take(&mut driver, 4, &["q"]);
    driver.ask(2, Command::QueueAbort);
    driver.ask(3, Command::SessionClosed);
    driver.ask(4, Command::QueueEnd);
    let delayed = driver.ask(5, wait(&["q:id = 9"], 5));
    run(&mut driver, "insert q values (9)");
    assert_eq!(waited(&delayed), Some(1));
    take(&mut driver, 6, &["q:id = 100"]);
    let table = "Q".to_owned();
    let Reply::QueueStats(stats) = driver.run(Command::QueueStats { table }).unwrap() else {
        panic!("no counters")
    };
    assert_eq!((stats.rows_written, stats.rows_removed), (4, 1));
    let waits = (stats.wait_immediate, stats.wait_delayed, stats.wait_timeout);
    assert_eq!(waits, (3, 1, 1));
    assert_eq!((stats.restored_by_abort, stats.restored_by_close), (1, 1));
    assert!(stats.bytes_removed > 0 && stats.bytes_removed < stats.bytes_total);
}

#[test]
fn truncate_takes_owned_rows_too_and_owners_see_nothing_until_they_end() {
    let mut driver = asked(&["create queue q (id int)", "insert q values (1), (2), (3)"]);
    take(&mut driver, 2, &["q"]);
    let table = || "q".to_owned();
    let gone = driver.run(Command::Truncate { table: table() });
    assert!(
        matches!(gone, Ok(Reply::Done { affected: 3, .. })),
        "{gone:?}"
    );
    run(&mut driver, "insert q values (4)");
    assert_eq!(sees(&mut driver, 2, "q"), [""; 0]);
    driver.ask(2, Command::QueueAbort);
    assert_eq!(sees(&mut driver, 2, "q"), ["4"]);
    let mut driver = driver.reopen().unwrap();
    assert_eq!(sees(&mut driver, 1, "q"), ["4"]);
}

#[test]
fn a_purge_leaves_the_rows_that_are_held() {
    let mut driver = asked(&["create queue q (id int)", "insert q values (1), (2), (3)"]);
    take(&mut driver, 2, &["q:id = 2"]);
    let table = "q".to_owned();
    let gone = driver.run(Command::QueuePurge { table });
    assert!(
        matches!(gone, Ok(Reply::Done { affected: 2, .. })),
        "{gone:?}"
    );
    assert_eq!(sees(&mut driver, 2, "q"), ["2"]);
    driver.ask(2, Command::QueueAbort);
    driver.run(Command::Checkpoint).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(sees(&mut driver, 1, "q"), ["2"]);
}

#[test]
fn a_paused_queue_hands_out_nothing_until_it_is_resumed_across_restarts() {
    let pause = |paused| Command::QueuePause {
        table: "q".to_owned(),
        group: None,
        paused,
    };
    let mut driver = asked(&["create queue q (id int)", "insert q values (1)"]);
    driver.run(pause(true)).unwrap();
    assert_eq!(take(&mut driver, 2, &["q"]), 0);
    let mut driver = driver.reopen().unwrap();
    driver.run(Command::Checkpoint).unwrap();
    let mut driver = driver.reopen().unwrap();
    let waiting = driver.ask(2, wait(&["q"], 10));
    run(&mut driver, "insert q values (2)");
    assert_eq!(waited(&waiting), None);
    driver.run(pause(false)).unwrap();
    assert_eq!(waited(&waiting), Some(1));
}

fn column(name: &str, kind: ColumnType, default: Option<Value>) -> Column {
    Column {
        name: name.to_owned(),
        kind,
        nullable: default.is_none(),
        default,
        keyed: false,
    }
}

fn alter(driver: &mut Driver, changes: Vec<Change>) -> Result<Reply, Error> {
    let table = "q".to_owned();
    driver.run(Command::AlterTable { table, changes })
}

const BIGINT: ColumnType = ColumnType::Integer {
    bytes: 8,
    unsigned: false,
};

fn changes() -> [Vec<Change>; 3] {
    let varchar = ColumnType::Char {
        variable: true,
        chars_max: 5,
    };
    [
        vec![Change::Add {
            column: column("Added", varchar, Some(Value::Str("new".to_owned()))),
            place: ColumnPlace::First,
        }],
        vec![
            Change::Drop {
                name: "id".to_owned(),
            },
            Change::Add {
                column: column("late", BIGINT, None),
                place: ColumnPlace::After("prio".to_owned()),
            },
        ],
        vec![Change::Modify {
            column: column("prio", varchar, None),
        }],
    ]
}

#[test]
fn rows_from_before_an_alter_are_read_in_its_columns_wherever_they_are() {
    let mut driver = asked(&[PRIO, "insert q values (1, 7, 'x')"]);
    driver.run(Command::Checkpoint).unwrap();
    run(&mut driver, "insert q values (2, 8, NULL)");
    let [add, swap, modify] = changes();
    alter(&mut driver, add).unwrap();
    assert_eq!(
        sees(&mut driver, 1, "q"),
        ["new | 1 | 7 | x", "new | 2 | 8 | NULL"]
    );
    run(&mut driver, "insert q values ('a', 3, 9, 'z')");
    alter(&mut driver, swap).unwrap();
    alter(&mut driver, modify).unwrap();
    run(&mut driver, "insert q values ('b', 'text', -1, 'z')");
    let all = [
        "new | 7 | NULL | x",
        "new | 8 | NULL | NULL",
        "a | 9 | NULL | z",
        "b | text | -1 | z",
    ];
    assert_eq!(sees(&mut driver, 1, "q"), all);
    let mut driver = driver.reopen().unwrap();
    assert_eq!(sees(&mut driver, 1, "q"), all);
    driver.run(Command::Checkpoint).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(sees(&mut driver, 1, "q"), all);
}

#[test]
fn an_alter_keeps_ownership_and_asks_those_who_wait_anew() {
    let mut driver = asked(&[PRIO, "insert q values (1, 7, 'x'), (2, 8, 'y')"]);
    take(&mut driver, 2, &["q"]);
    let gone = driver.ask(3, wait(&["q:id = 100"], 10));
    let stays = driver.ask(4, wait(&["q:prio = 100"], 10));
    let [add, swap, modify] = changes();
    for changes in [add, swap, modify] {
        alter(&mut driver, changes).unwrap();
    }
    assert!(matches!(
        gone.take().unwrap(),
        Err(Error::UnknownColumn { .. })
    ));
    assert_eq!(sees(&mut driver, 2, "q"), ["new | 7 | NULL | x"]);
    run(&mut driver, "insert q values ('c', '100', 1, '')");
    assert_eq!(waited(&stays), Some(1));
    driver.ask(2, Command::QueueAbort);
    assert_eq!(sees(&mut driver, 1, "q").len(), 2);
}

#[test]
fn an_alter_that_a_row_or_a_name_does_not_fit_is_refused_whole() {
    let mut driver = asked(&[PRIO, "insert q values (1, 7, 'x'), (2, NULL, 'long')"]);
    let narrow = ColumnType::Char {
        variable: true,
        chars_max: 2,
    };
    let drop = |name: &str| Change::Drop {
        name: name.to_owned(),
    };
    let refused = alter(
        &mut driver,
        vec![
            drop("id"),
            Change::Modify {
                column: column("name", narrow, None),
            },
        ],
    );
    assert!(
        matches!(refused, Err(Error::BadValue { row: 2, .. })),
        "{refused:?}"
    );
    let strict = Column {
        nullable: false,
        ..column("prio", BIGINT, None)
    };
    let refused = alter(&mut driver, vec![Change::Modify { column: strict }]);
    assert!(
        matches!(refused, Err(Error::BadValue { row: 2, .. })),
        "{refused:?}"
    );
    let twice = Change::Add {
        column: column("name", BIGINT, None),
        place: ColumnPlace::Last,
    };
    assert!(alter(&mut driver, vec![twice]).is_err());
    assert!(alter(&mut driver, vec![drop("absent")]).is_err());
    assert!(alter(&mut driver, vec![drop("id"), drop("prio"), drop("name")]).is_err());
    assert_eq!(sees(&mut driver, 1, "q"), ["1 | 7 | x", "2 | NULL | long"]);
}

#[test]
fn a_hundred_waiters_and_a_hundred_rows_meet_whatever_comes_first() {
    let mut driver = asked(&["create queue q (id int)"]);
    let waits: Vec<Pending> = (2..102)
        .map(|session| driver.ask(session, wait(&["q"], 10)))
        .collect();
    let inserts = (0..100).map(|id| {
        let insert = command(&format!("insert q values ({id})"));
        (SessionId(1), insert)
    });
    driver.batch(inserts.collect());
    assert!(waits.iter().all(|pending| waited(pending) == Some(1)));
    assert_eq!(row_id(&mut driver, 2), Some(1));
    assert_eq!(row_id(&mut driver, 101), Some(100));
}

#[test]
fn a_wait_is_woken_however_many_conditions_were_asked_before() {
    let mut driver = asked(&[PRIO]);
    for prio in 0..300 {
        take(&mut driver, 2, &[&format!("q:prio = {prio}")]);
    }
    let mut sources = vec!["q:prio = 299".to_owned()];
    sources.extend((1000..1063).map(|prio| format!("q:prio = {prio}")));
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let pending = driver.ask(2, wait(&sources, 10));
    run(&mut driver, "insert q values (1, 299, '')");
    assert_eq!(waited(&pending), Some(1));
}
