//! A queue's process is killed with SIGKILL at random moments, under clients that put and clients that take. An account of
//! what each was told is compared with the queue after every start: nothing acknowledged is lost, nothing refused is
//! there, a statement is there whole or not at all, and a row whose end was acknowledged never comes again.
//!
//! A few seconds by default; `SEINE_KILL_SECONDS=3600` for an hour. `SEINE_KILL_SEED=7` draws other moments.
//!
//! The moments come from `XorShift` and not from proptest: a run of threads against a killed process never happens again, so a
//! failed one cannot shrink.

mod account;
mod clients;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use account::Account;
use clients::{Consumer, Producer, Took};
use rustix::process::Signal;

use crate::random::XorShift;
use crate::server::Server;

const SECONDS: u64 = 4;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const PRODUCERS: u64 = 4;
const CONSUMERS: usize = 4;
/// Longest life of the process, in milliseconds.
const LIFE_MS_MAX: usize = 400;
/// From this number of rows in the queue on, a life has no producers.
const ROWS_MAX: usize = 5_000;

fn number(name: &str, usual: u64) -> u64 {
    let written = std::env::var(name).ok();
    written.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// One life: clients work until the process is killed. Their answers go into the account.
fn live(server: &Server, life: Duration, producers: &mut [Producer], account: &mut Account) {
    let addr = server.mysql().to_owned();
    let over = AtomicBool::new(false);
    let mut consumers: Vec<Consumer> = (0..CONSUMERS).map(|_| Consumer::default()).collect();
    thread::scope(|scope| {
        for producer in producers.iter_mut() {
            scope.spawn(|| producer.put_until(&addr, &over));
        }
        for consumer in &mut consumers {
            scope.spawn(|| consumer.take_until(&addr, &over));
        }
        // The moment of the kill is the test's input, not a wait for something to become true.
        thread::park_timeout(life);
        server.signal(Signal::KILL);
        over.store(true, Ordering::Relaxed);
    });
    for producer in producers {
        account.add_puts(producer.take_told());
    }
    let taken: Vec<Took> = consumers
        .into_iter()
        .flat_map(Consumer::into_told)
        .collect();
    account.add_takes(&taken);
}

#[test]
fn a_killed_queue_keeps_what_it_acknowledged_and_nothing_else() {
    let seed = number("SEINE_KILL_SEED", SEED);
    let until = Instant::now() + Duration::from_secs(number("SEINE_KILL_SECONDS", SECONDS));
    let mut random = XorShift::new(seed);
    let mut server = Server::start();
    let create = "CREATE TABLE q (v bigint not null) ENGINE=queue";
    server.client().query(create).unwrap();
    let mut producers: Vec<Producer> = (0..PRODUCERS)
        .map(|place| Producer::new(place, PRODUCERS))
        .collect();
    let mut account = Account::default();
    let mut rows = 0;
    while Instant::now() < until {
        let life = Duration::from_millis(random.below(LIFE_MS_MAX) as u64);
        let producing = if rows < ROWS_MAX { producers.len() } else { 0 };
        live(&server, life, &mut producers[..producing], &mut account);
        server.kill_and_restart();
        let present = clients::rows(&mut server.client()).unwrap();
        account.settle(&present, seed);
        rows = present.len();
    }
    assert!(account.ended() > 0, "the load reached the server");
}
