//! Loads: a row that is sent again after anything is not stored again.

use std::sync::Arc;

use disk::MemoryDisk;
use engine::{Command, Error, LoadStep, Now, Reply};
use query::value::Value;

use crate::driver::{Driver, options};
use crate::statement::command;

const LOAD: u64 = 7;

fn step(driver: &mut Driver, table: &str, step: LoadStep) -> Result<(u64, u64), Error> {
    let table = table.to_owned();
    let load = LOAD;
    match driver.run(Command::Load { table, load, step })? {
        Reply::Done {
            affected, last_id, ..
        } => Ok((affected, last_id)),
        other => panic!("{other:?}"),
    }
}

/// Rows numbered by their places.
fn put(driver: &mut Driver, table: &str, from: u64, to: u64) -> Result<u64, Error> {
    let rows = (from..to).map(|n| vec![Value::Int(n.into())]).collect();
    let columns = vec!["n".to_owned()];
    let rows = LoadStep::Put {
        from,
        to,
        columns,
        rows,
        replace: false,
    };
    step(driver, table, rows).map(|(stored, _)| stored)
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
