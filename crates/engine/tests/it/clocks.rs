//! Clocks that jump: stored times may be odd, but waits end and syncs come when they are due.

use std::sync::Arc;

use disk::MemoryDisk;
use engine::{Now, Options, Reply, SyncMode};

use crate::driver::{Driver, options};
use crate::scripts::show;
use crate::statement::command;

const DAY_US: u64 = 86_400_000_000;

fn open() -> Driver {
    let options = Options {
        sync: SyncMode::Within { ms: 100 },
        ..options(Arc::new(MemoryDisk::new()))
    };
    let now = Now {
        unix_us: 1_700_000_000_000_000,
        steady_us: 5_000_000,
    };
    let mut driver = Driver::open(options, now).unwrap();
    driver.run(command("create queue q (id int)")).unwrap();
    driver
}

#[test]
fn a_wall_clock_that_goes_back_ends_no_wait_early_and_delays_no_sync() {
    let mut driver = open();
    driver.run(command("insert q (id) values (1)")).unwrap();
    driver.run(command("wait q 0")).unwrap();
    let pending = driver.ask(2, command("wait q 10"));
    driver.now.unix_us -= 365 * DAY_US as i64;
    driver.tick(9_000_000);
    assert!(pending.take().is_none(), "it waits for ten seconds");
    assert_eq!(driver.handle.status().unsynced_records, 0);
    driver.run(command("insert q (id) values (2)")).unwrap();
    assert!(matches!(pending.take(), Some(Ok(Reply::Waited(1)))));
    let mut driver = driver.reopen().unwrap();
    let rows = show(driver.run(command("read id from q")));
    assert_eq!(rows[1..], ["1", "2"]);
}

#[test]
fn a_day_that_passes_at_once_ends_waits_and_syncs_what_was_due() {
    let mut driver = open();
    driver.run(command("insert q (id) values (1)")).unwrap();
    driver.run(command("wait q 0")).unwrap();
    let pending = driver.ask(2, command("wait q 10"));
    driver.tick(DAY_US);
    assert!(matches!(pending.take(), Some(Ok(Reply::Waited(0)))));
    let status = driver.handle.status();
    assert_eq!((status.queue_waiting, status.unsynced_records), (0, 0));
}

#[test]
fn at_the_end_of_the_steady_clock_nothing_overflows() {
    let mut driver = open();
    driver.now.steady_us = u64::MAX - 1;
    let pending = driver.ask(2, command("wait q 10"));
    driver.run(command("insert q (id) values (1)")).unwrap();
    assert!(matches!(pending.take(), Some(Ok(Reply::Waited(1)))));
}

#[test]
fn ten_thousand_waiters_get_a_row_each_in_order_and_leave_when_their_time_is_over() {
    const WAITERS: u64 = 10_000;
    let mut driver = open();
    let waiting: Vec<_> = (0..WAITERS)
        .map(|waiter| driver.ask(10 + waiter, command("wait q 100")))
        .collect();
    assert_eq!(driver.handle.status().queue_waiting, WAITERS);
    for number in 0..WAITERS / 2 {
        let insert = format!("insert q (id) values ({number})");
        driver.ask(1, command(&insert));
        let place = number as usize;
        assert!(matches!(waiting[place].take(), Some(Ok(Reply::Waited(1)))));
    }
    assert!(waiting[WAITERS as usize / 2].take().is_none());
    driver.tick(100_000_000);
    let timed_out = waiting
        .iter()
        .filter_map(|pending| pending.take())
        .filter(|answer| matches!(answer, Ok(Reply::Waited(0))));
    assert_eq!(timed_out.count() as u64, WAITERS / 2);
    assert_eq!(driver.handle.status().queue_waiting, 0);
}
