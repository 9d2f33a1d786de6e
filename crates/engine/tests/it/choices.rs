//! Statements of a transaction that choose rows by what they are: COMMIT decides them again, over the rows of then.

use std::sync::Arc;

use disk::MemoryDisk;
use engine::{Command, Control, Error, Now, Reply};
use relation::options::Options as SearchOptions;
use relation::value::Value;

use crate::driver::{Driver, options};
use crate::statement::{Statement, command, parse};

fn open(lines: &[&str]) -> Driver {
    let disk = Arc::new(MemoryDisk::new());
    let mut driver = Driver::open(options(disk), Now::default()).unwrap();
    for line in lines {
        driver.run(command(line)).unwrap();
    }
    driver
}

fn stock(n: u32) -> Driver {
    open(&[
        "create search stock (n int, price int)",
        &format!("insert stock (id, n, price) values (1, {n}, 7), (2, 90, 7)"),
    ])
}

fn within(driver: &mut Driver, session: u64, line: &str) -> Result<Reply, Error> {
    let asked = Command::Within(Box::new(command(line)));
    driver.ask(session, asked).take().expect("an answer")
}

/// The count that a statement in a session's transaction tells.
fn told(driver: &mut Driver, session: u64, line: &str) -> u64 {
    match within(driver, session, line).unwrap() {
        Reply::Done { affected, .. } => affected,
        other => panic!("{other:?}"),
    }
}

/// COMMIT; false: it is refused with the error that asks for a second try.
fn commit(driver: &mut Driver, session: u64) -> bool {
    match driver.ask(session, Command::Commit).take().unwrap() {
        Ok(_) => true,
        Err(Error::Conflict { .. }) => false,
        Err(Error::InMany { error, .. }) if matches!(*error, Error::Conflict { .. }) => false,
        Err(other) => panic!("{other:?}"),
    }
}

/// The rows of a SELECT of numbers, in a session's transaction.
fn select(driver: &mut Driver, session: u64, line: &str, ids: Option<Vec<u64>>) -> Vec<Vec<i128>> {
    let Statement::Select(select) = parse(line) else {
        panic!("no SELECT")
    };
    let tables = vec![select.table.clone()];
    let look = Command::Within(Box::new(Command::Look { tables, ids }));
    let seen = driver.ask(session, look).take().unwrap().unwrap();
    let (options, control) = (SearchOptions::default(), Control::default());
    let answer = match seen {
        Reply::Seen(seen) => seen.select(&select, &options, &control),
        _ => driver.handle.snapshot().select(&select, &options, &control),
    };
    let number = |value: &Value| match value {
        Value::Int(number) => *number,
        other => panic!("{other:?}"),
    };
    let rows = answer.unwrap().rows.map(Result::unwrap);
    rows.map(|row| row.iter().map(number).collect()).collect()
}

fn committed(driver: &mut Driver, line: &str) -> Vec<Vec<i128>> {
    select(driver, 9, line, None)
}

const SELL: &str = "update stock set n = n - 1 where id = 1 and n > 0";

#[test]
fn a_stock_is_sold_once_however_many_transactions_saw_it() {
    let mut driver = stock(50);
    for session in 10..110 {
        assert_eq!(told(&mut driver, session, SELL), 1);
    }
    let sold = (10..110).filter(|session| commit(&mut driver, *session));
    assert_eq!(sold.count(), 50);
    assert_eq!(
        committed(&mut driver, "select n from stock where id = 1"),
        [[0]]
    );
    assert_eq!(told(&mut driver, 1, SELL), 0);
}

#[test]
fn transactions_that_take_any_row_that_is_free_do_not_get_the_same_one() {
    let mut driver = open(&[
        "create search doc (oncall int)",
        "insert doc (id, oncall) values (1, 1), (2, 1)",
    ]);
    let take = "update doc set oncall = 0 where oncall = 1 limit 1";
    for session in 1..3 {
        assert_eq!(told(&mut driver, session, take), 1);
    }
    assert!(commit(&mut driver, 1));
    assert!(!commit(&mut driver, 2));
    let left = "select id from doc where oncall = 1";
    assert_eq!(committed(&mut driver, left), [[2]]);
}

#[test]
fn a_row_that_was_acknowledged_meanwhile_is_not_deleted_by_a_condition_that_it_does_not_meet() {
    let mut driver = stock(0);
    let delete = "delete stock where id = 1 and n <= 0";
    assert_eq!(told(&mut driver, 1, delete), 1);
    driver
        .run(command("replace stock (id, n, price) values (1, 100, 7)"))
        .unwrap();
    assert!(!commit(&mut driver, 1));
    assert_eq!(
        committed(&mut driver, "select n from stock where id = 1"),
        [[100]]
    );
}

#[test]
fn an_expression_is_worked_out_on_the_row_of_then_unless_the_row_was_read() {
    let add = "update stock set n = n + 1 where id = 1";
    let one = "select n from stock where id = 1";
    for (read, is_stored) in [
        (None, true),
        (Some(None), false),
        (Some(Some(vec![1])), false),
        (Some(Some(vec![2])), true),
    ] {
        let mut driver = stock(50);
        assert_eq!(told(&mut driver, 1, add), 1);
        if let Some(ids) = read {
            assert_eq!(select(&mut driver, 1, one, ids), [[51]]);
        }
        driver.run(command(add)).unwrap();
        assert_eq!(commit(&mut driver, 1), is_stored);
        let n = if is_stored { 52 } else { 51 };
        assert_eq!(committed(&mut driver, one), [[n]]);
    }
}

#[test]
fn a_row_that_was_changed_and_read_is_refused_with_any_column_of_another_and_other_rows_are_not() {
    for (line, is_stored) in [
        ("update stock set price = 8 where id = 1", false),
        ("update stock set price = 8 where id = 2", true),
        ("update stock set price = 7 where id = 1", true),
        ("replace stock (id, n, price) values (1, 50, 7)", true),
        ("delete stock where id = 1", false),
        ("insert stock (id, n, price) values (3, 1, 1)", true),
    ] {
        let mut driver = stock(50);
        told(&mut driver, 1, SELL);
        let all = "select n from stock where price = 7 and id = 1";
        assert_eq!(select(&mut driver, 1, all, None), [[49]]);
        driver.run(command(line)).unwrap();
        assert_eq!(commit(&mut driver, 1), is_stored, "{line}");
    }
}

#[test]
fn a_row_that_is_read_between_two_changes_of_it_is_compared_there() {
    let mut driver = stock(50);
    told(&mut driver, 1, SELL);
    assert_eq!(
        select(&mut driver, 1, "select n from stock where id = 1", None),
        [[49]]
    );
    told(&mut driver, 1, "update stock set n = 0 where id = 1");
    driver.run(command(SELL)).unwrap();
    assert!(
        !commit(&mut driver, 1),
        "the row that was shown was never there"
    );
    told(&mut driver, 1, SELL);
    assert_eq!(
        select(&mut driver, 1, "select n from stock where id = 1", None),
        [[48]]
    );
    told(&mut driver, 1, "update stock set n = 0 where id = 1");
    assert!(commit(&mut driver, 1));
}

#[test]
fn a_statement_that_chose_no_row_must_choose_none_at_commit_where_the_transaction_changes_something()
 {
    for (also, is_stored) in [
        (None, true),
        (Some("insert stock (id, n, price) values (9, 9, 9)"), false),
    ] {
        let mut driver = stock(0);
        assert_eq!(told(&mut driver, 1, SELL), 0);
        if let Some(also) = also {
            told(&mut driver, 1, also);
        }
        driver
            .run(command("update stock set n = 5 where id = 1"))
            .unwrap();
        assert_eq!(commit(&mut driver, 1), is_stored);
        assert_eq!(
            committed(&mut driver, "select n from stock where id = 1"),
            [[5]]
        );
    }
}

#[test]
fn a_value_that_is_refused_at_commit_asks_for_a_second_try() {
    let mut driver = open(&[
        "create search small (n tinyint unsigned)",
        "insert small (id, n) values (1, 1)",
    ]);
    let take = "update small set n = n - 1 where id = 1";
    told(&mut driver, 1, take);
    driver.run(command(take)).unwrap();
    assert!(!commit(&mut driver, 1));
    let refused = within(&mut driver, 1, take);
    assert!(
        matches!(refused, Err(Error::OutOfRange { .. })),
        "{refused:?}"
    );
}

#[test]
fn standing_queries_that_a_delete_chose_are_chosen_again() {
    let mut driver = open(&[
        "create pq alerts (body text)",
        "insert alerts (id, query) values (1, 'cat'), (2, 'dog')",
    ]);
    assert_eq!(told(&mut driver, 1, "delete alerts where query = 'cat'"), 1);
    driver
        .run(command("replace alerts (id, query) values (1, 'fox')"))
        .unwrap();
    assert!(!commit(&mut driver, 1));
    assert_eq!(told(&mut driver, 1, "delete alerts where query = 'fox'"), 1);
    assert!(commit(&mut driver, 1));
    assert_eq!(committed(&mut driver, "select id from alerts"), [[2]]);
}
