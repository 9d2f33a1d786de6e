//! A receipt is valid only for the start of the server and for the table that issued it.

use std::sync::Arc;

use disk::{FaultDisk, MemoryDisk, everything_lost};
use engine::{Command, Hold, Issuer, Now, Options, QueueNext, Receipt, Reply, WaitSource};

use crate::driver::{Driver, options};
use crate::statement::{Statement, command, parse};

const HOUR_US: u64 = 3_600_000_000;

fn run(driver: &mut Driver, line: &str) {
    driver.run(command(line)).unwrap();
}

fn as_incarnation(of: Options, incarnation: u64) -> Driver {
    let options = Options { incarnation, ..of };
    Driver::open(options, Now::default()).unwrap()
}

/// The first free row of `q`, held for an hour.
fn lease(driver: &mut Driver, done: Vec<Receipt>) -> Option<Receipt> {
    let asked = Command::QueueNext(QueueNext {
        sources: vec![WaitSource::all("q")],
        group: None,
        rows: 1,
        timeout_us: 0,
        hold: Hold::Lease {
            visible_again_us: Some(HOUR_US),
        },
        done,
    });
    let Ok(Reply::Taken(taken)) = driver.run(asked) else {
        panic!("no rows and no empty answer")
    };
    taken.rows.first().map(|row| Receipt {
        table: "q".to_owned(),
        issuer: taken.issuer,
        group: None,
        row: row.row,
        delivery: row.delivery,
    })
}

fn affected(driver: &mut Driver, command: Command) -> u64 {
    match driver.run(command).unwrap() {
        Reply::Done { affected, .. } => affected,
        other => panic!("{other:?}"),
    }
}

/// Shows a late receipt in all ways: none may change a row. The leased row stays leased.
fn is_late(driver: &mut Driver, old: &Receipt) {
    let receipts = vec![old.clone()];
    let shown = [
        Command::QueueDone {
            receipts: receipts.clone(),
        },
        Command::QueueReturn {
            receipts: receipts.clone(),
            delay_us: 0,
        },
        Command::QueueExtend {
            receipts: receipts.clone(),
            visible_again_us: 1,
        },
    ];
    for command in shown {
        assert_eq!(affected(driver, command), 0);
    }
    driver.tick(1);
    assert_eq!(
        lease(driver, receipts),
        None,
        "a row was ended or given back"
    );
}

fn ends(driver: &mut Driver, receipt: Receipt) {
    let receipts = vec![receipt];
    assert_eq!(affected(driver, Command::QueueDone { receipts }), 1);
    assert_eq!(driver.handle.status().queue_rows, 0);
}

#[test]
fn a_receipt_of_before_a_restart_is_late() {
    let disk = Arc::new(MemoryDisk::new());
    let mut driver = as_incarnation(options(disk.clone()), 1);
    run(&mut driver, "create queue q (id int)");
    run(&mut driver, "insert q (id) values (7)");
    let old = lease(&mut driver, Vec::new()).unwrap();
    drop(driver);
    let mut driver = as_incarnation(options(disk), 2);
    let new = lease(&mut driver, Vec::new()).unwrap();
    assert_eq!((new.row, new.delivery), (old.row, old.delivery));
    is_late(&mut driver, &old);
    ends(&mut driver, new);
}

#[test]
fn a_receipt_of_a_dropped_queue_is_late_for_a_new_one_of_its_name() {
    let mut driver = as_incarnation(options(Arc::new(MemoryDisk::new())), 1);
    run(&mut driver, "create queue q (id int)");
    run(&mut driver, "insert q (id) values (7)");
    let old = lease(&mut driver, Vec::new()).unwrap();
    run(&mut driver, "drop q");
    run(&mut driver, "create queue q (id int)");
    run(&mut driver, "insert q (id) values (8)");
    let new = lease(&mut driver, Vec::new()).unwrap();
    assert_eq!((new.row, new.delivery), (old.row, old.delivery));
    is_late(&mut driver, &old);
    ends(&mut driver, new);
}

#[test]
fn a_receipt_of_a_row_that_a_power_cut_took_is_late_for_the_row_of_its_number() {
    let disk = FaultDisk::new();
    let mut driver = as_incarnation(options(Arc::new(disk.clone())), 1);
    run(&mut driver, "create queue q (id int) sync '100ms'");
    run(&mut driver, "insert q (id) values (7)");
    let old = lease(&mut driver, Vec::new()).unwrap();
    let image = disk.crash(everything_lost);
    let mut driver = as_incarnation(options(Arc::new(image)), 2);
    assert_eq!(driver.handle.status().queue_rows, 0, "it was not synced");
    run(&mut driver, "insert q (id) values (8)");
    let new = lease(&mut driver, Vec::new()).unwrap();
    assert_eq!((new.row, new.delivery), (old.row, old.delivery));
    is_late(&mut driver, &old);
    ends(&mut driver, new);
}

#[test]
fn a_late_receipt_is_no_error_whatever_else_it_says() {
    let mut driver = as_incarnation(options(Arc::new(MemoryDisk::new())), 1);
    run(&mut driver, "create queue q (id int)");
    let receipts = vec![Receipt {
        table: "q".to_owned(),
        issuer: Issuer::default(),
        group: Some("nobody".to_owned()),
        row: engine::RowNumber(1),
        delivery: 1,
    }];
    assert_eq!(affected(&mut driver, Command::QueueDone { receipts }), 0);
}

#[test]
fn a_command_that_waits_counts_the_receipts_ids_and_lists_that_it_brings() {
    let none = Command::Commit.bytes();
    let receipts = || {
        vec![
            Receipt {
                table: "q".to_owned(),
                issuer: Issuer::default(),
                group: None,
                row: 1.into(),
                delivery: 1,
            };
            1_000
        ]
    };
    let done = Command::QueueDone {
        receipts: receipts(),
    };
    let look = Command::Look {
        tables: Vec::new(),
        ids: Some(vec![1; 10_000]),
    };
    let ids = (1..=1_000).map(|id| id.to_string()).collect::<Vec<_>>();
    let text = format!("select * from q where id in ({})", ids.join(", "));
    let Statement::Select(select) = parse(&text) else {
        panic!("no SELECT")
    };
    let read = Command::Read {
        select: Box::new(select),
    };
    for (name, command) in [("done", done), ("look", look), ("read", read)] {
        let within = Command::Within(Box::new(command));
        assert!(within.bytes() > none + 8_000, "{name}: {}", within.bytes());
    }
}
