//! Loads: a loader sends rows again after a restart or a refusal, and the engine stores each row once.

use std::sync::Arc;

use disk::MemoryDisk;
use engine::limits::LOADS_MAX;
use engine::{Command, Error, LoadStep, Now, Reply};
use relation::value::Value;

use crate::driver::{Driver, options};
use crate::statement::command;

const LOAD: u64 = 7;

fn step(driver: &mut Driver, table: &str, step: LoadStep) -> Result<(u64, u64), Error> {
    step_of(driver, table, LOAD, step)
}

fn step_of(
    driver: &mut Driver,
    table: &str,
    load: u64,
    step: LoadStep,
) -> Result<(u64, u64), Error> {
    let table = table.to_owned();
    match driver.run(Command::Load { table, load, step })? {
        Reply::Done {
            affected, last_id, ..
        } => Ok((affected, last_id)),
        other => panic!("{other:?}"),
    }
}

/// Rows numbered by their places.
fn put(driver: &mut Driver, table: &str, from: u64, to: u64) -> Result<u64, Error> {
    put_of(driver, table, LOAD, from, to)
}

fn put_of(driver: &mut Driver, table: &str, load: u64, from: u64, to: u64) -> Result<u64, Error> {
    let rows = (from..to).map(|n| vec![Value::Int(n.into())]).collect();
    let columns = vec!["n".to_owned()];
    let rows = LoadStep::Put {
        from,
        to,
        columns,
        rows,
        replace: false,
    };
    step_of(driver, table, load, rows).map(|(stored, _)| stored)
}

fn place(driver: &mut Driver, table: &str) -> u64 {
    step(driver, table, LoadStep::Ask).unwrap().1
}

#[test]
fn rows_of_a_load_are_stored_once_across_restarts_and_checkpoints() {
    let disk = Arc::new(MemoryDisk::new());
    let mut driver = Driver::open(options(disk), Now::default()).unwrap();
    for line in ["create search posts (n int)", "create queue jobs (n int)"] {
        driver.run(command(line)).unwrap();
    }
    for table in ["posts", "jobs"] {
        assert_eq!(place(&mut driver, table), 0);
        assert_eq!(put(&mut driver, table, 0, 10), Ok(10));
        assert_eq!(put(&mut driver, table, 0, 10), Ok(0));
        driver = driver.reopen().unwrap();
        assert_eq!(place(&mut driver, table), 10);
        assert_eq!(put(&mut driver, table, 4, 9), Ok(0));
        assert!(
            put(&mut driver, table, 9, 11).is_err(),
            "half of it is there"
        );
        assert_eq!(put(&mut driver, table, 10, 15), Ok(5));
        driver.run(Command::Checkpoint).unwrap();
        driver = driver.reopen().unwrap();
        assert_eq!(put(&mut driver, table, 10, 15), Ok(0));
        // What could not be read in between is left out.
        assert_eq!(put(&mut driver, table, 17, 20), Ok(3));
        assert_eq!(place(&mut driver, table), 20);
        // Over: the same load begins anew.
        step(&mut driver, table, LoadStep::End).unwrap();
        driver = driver.reopen().unwrap();
        assert_eq!(place(&mut driver, table), 0);
        assert_eq!(put(&mut driver, table, 0, 1), Ok(1));
    }
}

#[test]
fn a_load_whose_rows_are_refused_stays_where_it_was() {
    let disk = Arc::new(MemoryDisk::new());
    let mut driver = Driver::open(options(disk), Now::default()).unwrap();
    driver.run(command("create search posts (n int)")).unwrap();
    assert_eq!(put(&mut driver, "posts", 0, 5), Ok(5));
    let rows = LoadStep::Put {
        from: 5,
        to: 7,
        columns: vec!["n".to_owned()],
        rows: vec![vec![Value::Int(5)], vec![Value::Str("many".to_owned())]],
        replace: false,
    };
    assert!(step(&mut driver, "posts", rows).is_err());
    assert_eq!(place(&mut driver, "posts"), 5);
    // A table of that name that comes later knows nothing of it.
    driver.run(command("drop posts")).unwrap();
    driver.run(command("create search posts (n int)")).unwrap();
    assert_eq!(place(&mut driver, "posts"), 0);
}

/// Gives the rows that were removed.
fn truncate(driver: &mut Driver, table: &str) -> u64 {
    let table = table.to_owned();
    match driver.run(Command::Truncate { table }).unwrap() {
        Reply::Done { affected, .. } => affected,
        other => panic!("{other:?}"),
    }
}

/// Tables with as many unfinished loads as there may be: load 1 is of `jobs`, the others are of `posts`.
fn full_of_loads() -> Driver {
    let disk = Arc::new(MemoryDisk::new());
    let mut driver = Driver::open(options(disk), Now::default()).unwrap();
    for line in ["create search posts (n int)", "create queue jobs (n int)"] {
        driver.run(command(line)).unwrap();
    }
    assert_eq!(put_of(&mut driver, "jobs", 1, 0, 2), Ok(2));
    for load in 2..=LOADS_MAX as u64 {
        assert_eq!(put_of(&mut driver, "posts", load, 0, 2), Ok(2));
    }
    driver
}

#[test]
fn a_load_above_the_limit_is_refused_and_those_under_way_go_on() {
    let mut driver = full_of_loads();
    for _ in 0..2 {
        let refused = put_of(&mut driver, "posts", 1_000, 0, 2).unwrap_err();
        let text = refused.to_string();
        assert!(matches!(refused, Error::Limit { .. }), "{text}");
        for wanted in ["256", "unfinished loads", "TRUNCATE"] {
            assert!(text.contains(wanted), "{text}");
        }
        assert_eq!(
            put_of(&mut driver, "posts", 2, 0, 2),
            Ok(0),
            "not forgotten"
        );
        driver = driver.reopen().unwrap();
    }
    for load in 2..=LOADS_MAX as u64 {
        assert_eq!(put_of(&mut driver, "posts", load, 2, 3), Ok(1));
    }
    step_of(&mut driver, "posts", 2, LoadStep::End).unwrap();
    assert_eq!(put_of(&mut driver, "posts", 1_000, 0, 2), Ok(2));
    assert!(put_of(&mut driver, "posts", 1_001, 0, 2).is_err());
    driver.run(command("drop jobs")).unwrap();
    assert_eq!(put_of(&mut driver, "posts", 1_001, 0, 2), Ok(2));
}

#[test]
fn truncate_forgets_the_loads_of_its_table_and_a_repeated_load_begins_at_0() {
    let mut driver = full_of_loads();
    for (table, load) in [("jobs", 1), ("posts", 2)] {
        truncate(&mut driver, table);
        for _ in 0..2 {
            let (_, place) = step_of(&mut driver, table, load, LoadStep::Ask).unwrap();
            assert_eq!(place, 0, "{table}");
            driver = driver.reopen().unwrap();
        }
        assert_eq!(put_of(&mut driver, table, load, 0, 5), Ok(5));
        driver.run(command("checkpoint")).unwrap();
    }
    for load in 1_000..1_000 + LOADS_MAX as u64 - 2 {
        assert_eq!(put_of(&mut driver, "posts", load, 0, 1), Ok(1));
    }
    assert!(put_of(&mut driver, "posts", 1, 0, 1).is_err());
}

#[test]
fn truncate_of_an_empty_table_forgets_its_loads_too() {
    let mut driver = full_of_loads();
    for line in ["delete jobs", "delete posts"] {
        driver.run(command(line)).unwrap();
    }
    for (table, load) in [("jobs", 1), ("posts", 2)] {
        assert_eq!(put_of(&mut driver, table, load, 0, 2), Ok(0));
        truncate(&mut driver, table);
        assert_eq!(put_of(&mut driver, table, load, 0, 2), Ok(2));
    }
}

#[test]
fn forgotten_loads_make_room_and_their_rows_stay() {
    let mut driver = full_of_loads();
    let forgotten = step_of(&mut driver, "posts", 0, LoadStep::Forget);
    assert_eq!(forgotten, Ok((LOADS_MAX as u64 - 1, 0)));
    driver = driver.reopen().unwrap();
    let none_left = step_of(&mut driver, "posts", 0, LoadStep::Forget);
    assert_eq!(none_left, Ok((0, 0)));
    assert_eq!(
        put_of(&mut driver, "jobs", 1, 0, 2),
        Ok(0),
        "of another table"
    );
    assert_eq!(put_of(&mut driver, "posts", 2, 0, 2), Ok(2));
    assert_eq!(truncate(&mut driver, "posts"), 2 * LOADS_MAX as u64);
}
