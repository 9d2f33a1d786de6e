//! The real process is killed with SIGKILL under load, again and again. After every start:
//!
//! - An acknowledged change is there, whole and once.
//! - A change without an answer is there whole or not at all.
//! - Every hit is in the queue, or with the worker to whom the server gave it.
//!
//! The changes come from `XorShift` and not from proptest: a run of threads against a killed process never happens again, so a
//! failed one cannot shrink.

mod ledger;
mod writers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use client::Client;
use ledger::Ledger;
use rustix::process::Signal;
use writers::{Filler, Worker, Writer};

use crate::server::Server;

/// How often the process is killed; `SEINE_KILLS` asks for more.
const KILLS: u32 = 50;
const WRITERS: u64 = 2;

fn kills() -> u32 {
    std::env::var("SEINE_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(KILLS)
}

fn create_tables(addr: &str) {
    let mut client = Client::connect(addr, "root", "").unwrap();
    for statement in [
        "CREATE TABLE posts (body text, version bigint)",
        "CREATE TABLE filler (body text)",
        "CREATE TABLE hits (query_id bigint, doc_id bigint, version bigint) ENGINE=queue",
        "CREATE TABLE alerts type='pq' on='posts' into='hits'",
    ] {
        client.query(statement).unwrap();
    }
    for (id, text) in ledger::STANDING {
        client
            .query(&format!(
                "INSERT INTO alerts (id, query) VALUES ({id}, '{text}')"
            ))
            .unwrap();
    }
}

/// Loads the server until it is killed.
fn load_and_kill(
    server: &Server,
    round: u32,
    writers: &mut [Writer],
    filler: &mut Filler,
    worker: &mut Worker,
) {
    let addr = server.mysql().to_owned();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for writer in writers.iter_mut() {
            scope.spawn(|| writer.write_until(&addr, &over));
        }
        scope.spawn(|| filler.write_until(&addr, &over));
        scope.spawn(|| worker.take_until(&addr, &over));
        // The moment of the kill is the test's input, not a wait for something to become true.
        thread::park_timeout(Duration::from_millis(40 + u64::from(round * 37 % 160)));
        server.signal(Signal::KILL);
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_was_acknowledged_survives_kill_9_once_and_whole() {
    let mut server = Server::start();
    create_tables(server.mysql());
    let mut writers: Vec<Writer> = (0..WRITERS)
        .map(|number| Writer::new(number, WRITERS))
        .collect();
    let mut filler = Filler::default();
    let mut worker = Worker::default();
    let mut ledger = Ledger::default();
    for round in 0..kills() {
        load_and_kill(&server, round, &mut writers, &mut filler, &mut worker);
        server.kill_and_restart();
        let mut client = server.client();
        ledger.settle(&mut client, &mut writers, &mut worker);
        filler.settle(&mut client);
        ledger.check_hits(&mut client, &worker);
    }
    let mut client = server.client();
    ledger.check_documents(&mut client);
    assert!(ledger.documents() > 0, "the load reached the server");
    assert!(worker.taken() > 0, "the worker reached the queue");
}
