//! Options and calls of queues that Q4M lacks, one fact a test: docs/adr/023.

use std::sync::Arc;

use disk::MemoryDisk;
use engine::{
    Command, Definition, Error, Hold, Issuer, Kind, Now, QueueNext, QueueOptions, Receipt, Reply,
    RowNumber, Taken, WaitSource, WhenFull,
};
use relation::schema::{Column, ColumnType};

use crate::driver::{Driver, Pending, options};
use crate::scripts::show;
use crate::statement::command;

const SECOND: u64 = 1_000_000;

fn column(name: &str, kind: ColumnType) -> Column {
    Column {
        name: name.to_owned(),
        kind,
        nullable: true,
        default: None,
        keyed: false,
    }
}

/// `q (id, at, name)` with options.
fn create(name: &str, options: QueueOptions) -> Command {
    let bigint = ColumnType::Integer {
        bytes: 8,
        unsigned: false,
    };
    Command::CreateTable {
        definition: Box::new(Definition {
            name: name.to_owned(),
            kind: Kind::Queue(options),
            columns: vec![
                column("id", bigint),
                column("at", bigint),
                column("name", ColumnType::String),
            ],
            analysis: Default::default(),
            sync: None,
            keep: None,
        }),
        if_not_exists: false,
    }
}

fn queue(of: QueueOptions) -> Driver {
    queue_in_memory(1 << 30, of)
}

fn queue_in_memory(memory_bytes: u64, of: QueueOptions) -> Driver {
    let now = Now {
        unix_us: 1_000_000_000_000_000,
        steady_us: 0,
    };
    let options = engine::Options {
        memory_bytes,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, now).unwrap();
    driver.run(create("q", of)).unwrap();
    driver
}

fn run(driver: &mut Driver, line: &str) {
    driver.run(command(line)).unwrap();
}

fn insert(driver: &mut Driver, ids: std::ops::RangeInclusive<u32>) {
    for id in ids {
        run(driver, &format!("insert q values ({id}, NULL, 'k')"));
    }
}

fn sees(driver: &mut Driver, table: &str) -> Vec<String> {
    let outcome = driver.run(command(&format!("read id from {table}")));
    show(outcome).into_iter().skip(1).collect()
}

fn next(rows: u32, seconds: u64) -> QueueNext {
    QueueNext {
        sources: vec![WaitSource::all("q")],
        group: None,
        rows,
        timeout_us: seconds * SECOND,
        hold: Hold::Lease {
            visible_again_us: None,
        },
        done: Vec::new(),
    }
}

fn taken(pending: &Pending) -> Taken {
    match pending.take().expect("an answer") {
        Ok(Reply::Taken(taken)) => taken,
        other => panic!("{other:?}"),
    }
}

fn take(driver: &mut Driver, asked: QueueNext) -> Vec<(u64, u32)> {
    let answer = driver.ask(9, Command::QueueNext(asked));
    let rows = taken(&answer).rows.into_iter();
    rows.map(|row| (row.row.0, row.delivery)).collect()
}

/// Receipts of the queue `q`, which is the first table, as an engine of incarnation 0 hands them out.
fn receipts(rows: &[(u64, u32)]) -> Vec<Receipt> {
    let issuer = Issuer {
        incarnation: 0,
        table: 1,
    };
    let receipt = |&(row, delivery)| Receipt {
        table: "q".to_owned(),
        issuer,
        group: None,
        row: RowNumber(row),
        delivery,
    };
    rows.iter().map(receipt).collect()
}

fn affected(outcome: Result<Reply, Error>) -> u64 {
    match outcome.unwrap() {
        Reply::Done { affected, .. } => affected,
        other => panic!("{other:?}"),
    }
}

fn done(driver: &mut Driver, rows: &[(u64, u32)]) -> u64 {
    let receipts = receipts(rows);
    affected(driver.run(Command::QueueDone { receipts }))
}

#[test]
fn leased_rows_are_acknowledged_by_receipt_many_at_once_by_any_session() {
    let mut driver = queue(QueueOptions::default());
    insert(&mut driver, 1..=5);
    assert_eq!(take(&mut driver, next(3, 0)), [(1, 1), (2, 1), (3, 1)]);
    assert_eq!(take(&mut driver, next(9, 0)), [(4, 1), (5, 1)]);
    driver.ask(9, Command::SessionClosed);
    assert_eq!(
        done(&mut driver, &[(1, 1), (3, 1), (3, 1), (2, 7), (99, 1)]),
        2
    );
    assert_eq!(done(&mut driver, &[(1, 1)]), 0);
    let mut driver = driver.reopen().unwrap();
    assert_eq!(sees(&mut driver, "q"), ["2", "4", "5"]);
}

#[test]
fn one_call_acknowledges_and_takes_the_next() {
    let mut driver = queue(QueueOptions::default());
    insert(&mut driver, 1..=3);
    let first = take(&mut driver, next(2, 0));
    let asked = QueueNext {
        done: receipts(&first),
        ..next(2, 0)
    };
    assert_eq!(take(&mut driver, asked), [(3, 1)]);
    assert_eq!(driver.handle.status().queue_rows, 1);
}

#[test]
fn a_lease_that_is_over_gives_the_row_to_the_next_and_its_receipt_is_void() {
    let mut driver = queue(QueueOptions {
        visible_again_us: Some(2 * SECOND),
        ..QueueOptions::default()
    });
    insert(&mut driver, 1..=1);
    assert_eq!(take(&mut driver, next(1, 0)), [(1, 1)]);
    let waiting = driver.ask(8, Command::QueueNext(next(1, 10)));
    driver.tick(2 * SECOND - 1);
    assert!(waiting.take().is_none());
    driver.tick(1);
    let rows = taken(&waiting).rows;
    assert_eq!((rows[0].row.0, rows[0].delivery), (1, 2));
    assert_eq!(done(&mut driver, &[(1, 1)]), 0);
    assert_eq!(done(&mut driver, &[(1, 2)]), 1);
    assert_eq!(driver.handle.status().queue_lapsed_total, 1);
}

#[test]
fn a_lease_may_be_made_longer_or_given_back_with_a_delay_that_survives_a_restart() {
    let mut driver = queue(QueueOptions::default());
    insert(&mut driver, 1..=2);
    assert_eq!(take(&mut driver, next(2, 0)).len(), 2);
    driver.tick(29 * SECOND);
    let extend = Command::QueueExtend {
        receipts: receipts(&[(1, 1)]),
        visible_again_us: 10 * SECOND,
    };
    assert_eq!(affected(driver.run(extend)), 1);
    driver.tick(SECOND);
    assert_eq!(take(&mut driver, next(9, 0)), [(2, 2)]);
    let give_back = Command::QueueReturn {
        receipts: receipts(&[(1, 1)]),
        delay_us: 60 * SECOND,
    };
    assert_eq!(affected(driver.run(give_back)), 1);
    let mut driver = driver.reopen().unwrap();
    assert_eq!(take(&mut driver, next(9, 0)), [(2, 1)]);
    driver.run(Command::Checkpoint).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(take(&mut driver, next(9, 0)), [(2, 1)]);
    driver.tick(60 * SECOND);
    assert!(take(&mut driver, next(9, 0)).contains(&(1, 2)));
}

#[test]
fn a_row_goes_out_at_its_time_and_later_rows_pass_it() {
    let mut driver = queue(QueueOptions {
        deliver_at: Some("At".to_owned()),
        ..QueueOptions::default()
    });
    let at = driver.now.unix_us + 5_000_000;
    run(
        &mut driver,
        &format!("insert q values (1, {at}, ''), (2, NULL, ''), (3, 7, '')"),
    );
    assert_eq!(take(&mut driver, next(9, 0)), [(2, 1), (3, 1)]);
    let waiting = driver.ask(8, Command::QueueNext(next(1, 60)));
    driver.tick(5 * SECOND - 1);
    assert!(waiting.take().is_none());
    driver.tick(1);
    assert_eq!(taken(&waiting).rows[0].row.0, 1);
}

#[test]
fn a_row_whose_turn_comes_by_its_key_still_waits_for_its_time() {
    let mut driver = queue(QueueOptions {
        order_by: Some("name".to_owned()),
        deliver_at: Some("at".to_owned()),
        ..QueueOptions::default()
    });
    let at = driver.now.unix_us + 5_000_000;
    let rows = format!("insert q values (1, NULL, 'a'), (2, {at}, 'a'), (3, NULL, 'a')");
    run(&mut driver, &rows);
    assert_eq!(take(&mut driver, next(9, 0)), [(1, 1)]);
    assert_eq!(done(&mut driver, &[(1, 1)]), 1);
    let waiting = driver.ask(8, Command::QueueNext(next(9, 60)));
    driver.tick(5 * SECOND - 1);
    assert!(waiting.take().is_none(), "row 2 is next, and not due");
    driver.tick(1);
    let rows = taken(&waiting).rows;
    assert_eq!(rows.iter().map(|row| row.row.0).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_row_that_was_delivered_too_often_goes_to_the_dead() {
    let of = QueueOptions {
        max_deliveries: Some(2),
        dead: Some("q_dead".to_owned()),
        ..QueueOptions::default()
    };
    let mut driver = queue(of);
    insert(&mut driver, 1..=2);
    let wait = || Command::QueueWait {
        sources: vec![WaitSource::all("q")],
        timeout_us: 0,
    };
    driver.run(wait()).unwrap();
    driver.run(Command::QueueAbort).unwrap();
    // The count survives a restart.
    let mut driver = driver.reopen().unwrap();
    assert_eq!(take(&mut driver, next(1, 0)), [(1, 2)]);
    driver.tick(30 * SECOND);
    assert_eq!(sees(&mut driver, "q"), ["2"]);
    assert_eq!(sees(&mut driver, "q_dead"), ["1"]);
    assert_eq!(driver.handle.status().queue_dead_total, 1);
    let dropped = driver.run(command("drop q_dead"));
    assert!(matches!(dropped, Err(Error::TableInUse { .. })));
    let mut driver = driver.reopen().unwrap();
    assert_eq!(sees(&mut driver, "q_dead"), ["1"]);
}

#[test]
fn a_session_that_ends_while_the_engine_is_to_end_has_its_delivery_counted() {
    let mut driver = queue(QueueOptions {
        max_deliveries: Some(2),
        ..QueueOptions::default()
    });
    insert(&mut driver, 1..=1);
    let wait = Command::QueueWait {
        sources: vec![WaitSource::all("q")],
        timeout_us: 0,
    };
    driver.run(wait).unwrap();
    driver.handle.refuse_statements();
    assert!(driver.run(Command::SessionClosed).is_ok());
    assert!(driver.run(Command::Shutdown).is_ok());
    let mut driver = driver.reopen().unwrap();
    assert_eq!(take(&mut driver, next(1, 0)), [(1, 2)]);
}

#[test]
fn a_full_queue_refuses_or_drops_its_oldest_free_rows() {
    let of = |when_full| QueueOptions {
        rows_max: Some(3),
        when_full,
        ..QueueOptions::default()
    };
    let mut driver = queue(of(WhenFull::Refuse));
    insert(&mut driver, 1..=3);
    let refused = driver.run(command("insert q (id) values (4)")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "queue 'q' is full: try again when rows were taken"
    );
    assert!(
        driver
            .run(command(
                "many delete q where id = 1; insert q (id) values (4)"
            ))
            .is_ok()
    );
    assert_eq!(sees(&mut driver, "q"), ["2", "3", "4"]);

    let mut driver = queue(of(WhenFull::DropOldest));
    insert(&mut driver, 1..=3);
    assert_eq!(take(&mut driver, next(1, 0)), [(1, 1)]);
    insert(&mut driver, 4..=5);
    assert_eq!(sees(&mut driver, "q"), ["4", "5"]);
    assert_eq!(driver.handle.status().queue_dropped_total, 2);
    assert_eq!(done(&mut driver, &[(1, 1)]), 1);
    let too_many = "insert q (id) values (1), (2), (3), (4)";
    assert!(matches!(
        driver.run(command(too_many)),
        Err(Error::QueueFull { .. })
    ));
}

#[test]
fn of_one_key_only_the_first_row_is_out() {
    let mut driver = queue(QueueOptions {
        order_by: Some("name".to_owned()),
        ..QueueOptions::default()
    });
    run(
        &mut driver,
        "insert q (id, name) values (1, 'a'), (2, 'a'), (3, 'b'), (4, NULL), (5, NULL), (6, 'a')",
    );
    assert_eq!(
        take(&mut driver, next(9, 0)),
        [(1, 1), (3, 1), (4, 1), (5, 1)]
    );
    let waiting = driver.ask(8, Command::QueueNext(next(9, 60)));
    let give_back = Command::QueueReturn {
        receipts: receipts(&[(1, 1)]),
        delay_us: SECOND,
    };
    driver.run(give_back).unwrap();
    assert!(
        waiting.take().is_none(),
        "a delayed row holds those behind it"
    );
    driver.tick(SECOND);
    assert_eq!(taken(&waiting).rows[0].row.0, 1);
    let waiting = driver.ask(8, Command::QueueNext(next(9, 60)));
    assert_eq!(done(&mut driver, &[(1, 2)]), 1);
    let rows = taken(&waiting).rows;
    assert_eq!(rows.iter().map(|row| row.row.0).collect::<Vec<_>>(), [2]);
    run(&mut driver, "delete q where id = 6");
    assert_eq!(done(&mut driver, &[(2, 1)]), 1);
    assert_eq!(take(&mut driver, next(9, 0)), []);
}

#[test]
fn a_key_is_taken_once_within_its_window_across_restarts() {
    let mut driver = queue(QueueOptions {
        unique_by: Some("name".to_owned()),
        unique_for_us: Some(10 * SECOND),
        ..QueueOptions::default()
    });
    let put = |driver: &mut Driver, values: &str| {
        affected(driver.run(command(&format!("insert q (id, name) values {values}"))))
    };
    assert_eq!(
        put(
            &mut driver,
            "(1, 'a'), (2, 'b'), (3, 'a'), (4, NULL), (5, NULL)"
        ),
        4
    );
    assert_eq!(put(&mut driver, "(6, 'a')"), 0);
    let mut driver = driver.reopen().unwrap();
    assert_eq!(put(&mut driver, "(7, 'a')"), 0);
    driver.run(Command::Checkpoint).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(driver.recovered.records_replayed, 0);
    assert_eq!(put(&mut driver, "(8, 'b'), (9, 'c')"), 1);
    let refused = "many insert q (id, name) values (10, 'd'); insert q values (1)";
    assert!(driver.run(command(refused)).is_err());
    assert_eq!(put(&mut driver, "(11, 'd')"), 1);
    driver.tick(10 * SECOND);
    assert_eq!(put(&mut driver, "(12, 'a')"), 1);
    assert_eq!(driver.handle.status().queue_duplicates_total, 1);
}

fn of_group(group: &str, rows: u32) -> QueueNext {
    QueueNext {
        group: Some(group.to_owned()),
        ..next(rows, 0)
    }
}

fn done_in(driver: &mut Driver, group: &str, rows: &[(u64, u32)]) -> u64 {
    let mut receipts = receipts(rows);
    for receipt in &mut receipts {
        receipt.group = Some(group.to_owned());
    }
    affected(driver.run(Command::QueueDone { receipts }))
}

#[test]
fn every_group_gets_every_row_and_the_last_one_takes_it_out() {
    let mut driver = queue(QueueOptions {
        groups: vec!["A".to_owned(), "b".to_owned()],
        ..QueueOptions::default()
    });
    insert(&mut driver, 1..=3);
    assert_eq!(take(&mut driver, of_group("a", 2)), [(1, 1), (2, 1)]);
    assert_eq!(take(&mut driver, of_group("B", 1)), [(1, 1)]);
    assert_eq!(done_in(&mut driver, "a", &[(1, 1), (2, 1)]), 2);
    assert_eq!(sees(&mut driver, "q"), ["1", "2", "3"]);
    assert_eq!(done_in(&mut driver, "b", &[(1, 1)]), 1);
    assert_eq!(sees(&mut driver, "q"), ["2", "3"]);
    let mut driver = driver.reopen().unwrap();
    assert_eq!(take(&mut driver, of_group("a", 9)), [(3, 1)]);
    driver.run(Command::Checkpoint).unwrap();
    let mut driver = driver.reopen().unwrap();
    assert_eq!(take(&mut driver, of_group("a", 9)), [(3, 1)]);
    assert_eq!(take(&mut driver, of_group("b", 9)), [(2, 1), (3, 1)]);
    let without = driver
        .ask(1, Command::QueueNext(next(1, 0)))
        .take()
        .unwrap();
    assert!(matches!(without, Err(Error::Invalid { .. })));
    let unknown = driver.ask(1, Command::QueueNext(of_group("c", 1)));
    assert!(matches!(
        unknown.take().unwrap(),
        Err(Error::Invalid { .. })
    ));
}

#[test]
fn a_group_in_owner_mode_ends_its_own_delivery_only() {
    let mut driver = queue(QueueOptions {
        groups: vec!["a".to_owned(), "b".to_owned()],
        ..QueueOptions::default()
    });
    insert(&mut driver, 1..=2);
    let owns = |group| QueueNext {
        hold: Hold::Session,
        ..of_group(group, 1)
    };
    assert_eq!(take(&mut driver, owns("a")), [(1, 1)]);
    assert_eq!(take(&mut driver, owns("a")), [(2, 1)]);
    driver.ask(9, Command::QueueAbort);
    assert_eq!(take(&mut driver, of_group("b", 9)), [(1, 1), (2, 1)]);
    assert_eq!(take(&mut driver, of_group("a", 9)), [(2, 2)]);
    let pause = Command::QueuePause {
        table: "q".to_owned(),
        group: Some("a".to_owned()),
        paused: true,
    };
    driver.run(pause).unwrap();
    insert(&mut driver, 3..=3);
    assert_eq!(take(&mut driver, of_group("a", 9)), []);
    assert_eq!(take(&mut driver, of_group("b", 9)), [(3, 1)]);
}

#[test]
fn each_group_goes_on_in_the_order_of_keys_by_itself() {
    let mut driver = queue(QueueOptions {
        groups: vec!["a".to_owned(), "b".to_owned()],
        order_by: Some("name".to_owned()),
        ..QueueOptions::default()
    });
    insert(&mut driver, 1..=2);
    assert_eq!(take(&mut driver, of_group("a", 9)), [(1, 1)]);
    assert_eq!(take(&mut driver, of_group("b", 9)), [(1, 1)]);
    assert_eq!(done_in(&mut driver, "a", &[(1, 1)]), 1);
    assert_eq!(take(&mut driver, of_group("a", 9)), [(2, 1)]);
    assert_eq!(take(&mut driver, of_group("b", 9)), []);
    let mut driver = driver.reopen().unwrap();
    assert_eq!(take(&mut driver, of_group("a", 9)), [(2, 1)]);
    assert_eq!(take(&mut driver, of_group("b", 9)), [(1, 1)]);
}

#[test]
fn a_delay_that_ends_while_nobody_looks_is_over_for_the_first_who_does() {
    let mut driver = queue(QueueOptions::default());
    insert(&mut driver, 1..=1);
    take(&mut driver, next(1, 0));
    let give_back = Command::QueueReturn {
        receipts: receipts(&[(1, 1)]),
        delay_us: 60 * SECOND,
    };
    driver.run(give_back).unwrap();
    driver.run(Command::Checkpoint).unwrap();
    driver.now.unix_us += 60_000_000;
    let mut driver = driver.reopen().unwrap();
    assert_eq!(take(&mut driver, next(9, 0)), [(1, 2)]);
}

#[test]
fn options_that_contradict_each_other_or_name_what_is_not_there_are_refused() {
    let mut driver = queue(QueueOptions::default());
    let none = QueueOptions::default;
    let name = || Some("absent".to_owned());
    let wrong = [
        QueueOptions {
            dead: name(),
            ..none()
        },
        QueueOptions {
            order_by: name(),
            ..none()
        },
        QueueOptions {
            unique_by: Some("id".to_owned()),
            ..none()
        },
        QueueOptions {
            unique_for_us: Some(1),
            ..none()
        },
        QueueOptions {
            when_full: WhenFull::DropOldest,
            ..none()
        },
        QueueOptions {
            deliver_at: Some("name".to_owned()),
            ..none()
        },
        QueueOptions {
            rows_max: Some(0),
            ..none()
        },
        QueueOptions {
            groups: vec!["a".to_owned(), "A".to_owned()],
            ..none()
        },
    ];
    for options in wrong {
        let refused = driver.run(create("wrong", options.clone()));
        assert!(refused.is_err(), "{options:?}");
    }
    let all = QueueOptions {
        visible_again_us: Some(1_500_000),
        max_deliveries: Some(5),
        dead: Some("all_dead".to_owned()),
        groups: vec!["a".to_owned(), "b".to_owned()],
        rows_max: Some(10),
        bytes_max: Some(1 << 20),
        when_full: WhenFull::DropOldest,
        order_by: Some("name".to_owned()),
        unique_by: Some("id".to_owned()),
        unique_for_us: Some(600 * SECOND),
        deliver_at: Some("at".to_owned()),
    };
    driver.run(create("all", all)).unwrap();
    let driver = driver.reopen().unwrap();
    let made = driver.handle.snapshot().show_create("all").unwrap();
    let options = made.split(" ENGINE=queue ").nth(1).unwrap();
    assert_eq!(
        options,
        "visible_again='1500ms' max_deliveries='5' dead='all_dead' groups='a,b' rows_max='10' bytes_max='1048576' \
         when_full='drop_oldest' order_by='name' unique_by='id' unique_for='600s' deliver_at='at'"
    );
}

#[test]
fn leases_that_end_together_come_back_in_pieces_with_commands_in_between() {
    let mut driver = queue(QueueOptions::default());
    let rows: Vec<String> = (0..3_000).map(|id| format!("({id}, NULL, 'k')")).collect();
    run(&mut driver, &format!("insert q values {}", rows.join(", ")));
    assert_eq!(take(&mut driver, next(3_000, 0)).len(), 3_000);
    let mut lapsed = Vec::new();
    driver.tick(31 * SECOND);
    for id in 0..3 {
        lapsed.push(driver.handle.status().queue_lapsed_total);
        insert(&mut driver, id..=id);
    }
    let piece = engine::limits::DUE_ROWS_MAX as u64;
    assert_eq!(lapsed, [piece, 2 * piece, 3_000]);
    assert_eq!(take(&mut driver, next(4_000, 0)).len(), 3_003);
}

#[test]
fn keys_that_memory_does_not_hold_are_refused_until_some_are_forgotten() {
    let mut driver = queue_in_memory(
        1 << 20,
        QueueOptions {
            unique_by: Some("name".to_owned()),
            unique_for_us: Some(60 * SECOND),
            ..QueueOptions::default()
        },
    );
    let row = |id: u32| format!("insert q values ({id}, 0, '{id}{}')", "x".repeat(1_000));
    let full = (0..2_000).find(|id| {
        let stored = driver.run(command(&row(*id)));
        driver.run(command("delete q where true")).unwrap();
        stored.is_err()
    });
    let full = full.expect("keys count, though their rows are gone");
    assert!((500..1_000).contains(&full), "{full}");
    let refused = driver.run(command(&row(full))).unwrap_err();
    assert_eq!(refused, Error::Overloaded);
    driver.tick(61 * SECOND);
    run(&mut driver, &row(full));
}

#[test]
fn leases_fill_an_eighth_of_memory_and_no_more_until_some_end() {
    let mut driver = queue_in_memory(1 << 20, QueueOptions::default());
    for first in (1..=2_000).step_by(500) {
        insert(&mut driver, first..=first + 499);
    }
    driver.run(Command::Checkpoint).unwrap();
    let held = (0..20).find(|_| {
        let asked = Command::QueueNext(next(100, 0));
        driver
            .run(asked)
            .is_err_and(|error| error == Error::Overloaded)
    });
    assert_eq!(
        held,
        Some(11),
        "1,100 rows of 128 bytes are more than 128 KiB"
    );
    let acknowledging = QueueNext {
        done: receipts(&[(1, 1)]),
        ..next(1, 0)
    };
    let rows = take(&mut driver, acknowledging);
    assert_eq!(
        rows,
        [(1_101, 1)],
        "a call that acknowledges takes the next"
    );
    driver.tick(3_600 * SECOND);
    assert_eq!(take(&mut driver, next(100, 0)).len(), 100);
}

#[test]
fn the_defaults_of_a_table_are_bounded_and_counted_in_each_row() {
    let of = |bytes: usize| {
        let mut create = create("wide", QueueOptions::default());
        if let Command::CreateTable { definition, .. } = &mut create {
            definition.columns[2].default = Some(relation::value::Value::Str("x".repeat(bytes)));
        }
        create
    };
    let mut driver = queue_in_memory(1 << 20, QueueOptions::default());
    let refused = driver.run(of((64 << 10) + 1)).unwrap_err();
    assert!(
        matches!(refused, Error::Limit { max: 65_536, .. }),
        "{refused}"
    );
    driver.run(of(64 << 10)).unwrap();
    let rows = |count: usize| {
        let rows = vec!["(1)"; count].join(", ");
        command(&format!("insert wide (id) values {rows}"))
    };
    driver.run(rows(10)).unwrap();
    let refused = driver.run(rows(20)).unwrap_err();
    assert!(matches!(refused, Error::Limit { .. }), "{refused}");
}
