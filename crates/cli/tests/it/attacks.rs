//! Requests that are small on the wire and large in memory, against the real server at `--memory 256MiB`: its anonymous
//! memory stays at that and a quarter, and another client's look-ups by id go on.
//!
//! They take minutes, and mean something in a release build only:
//!
//!     SEINE_ATTACKS=1 cargo test --release -p seine --test it attacks -- --nocapture --test-threads=1
//!
//! `SEINE_ATTACKS_P99_MS` is the bound of the look-ups' 99th percentile where others use the machine (default 50);
//! `SEINE_ATTACKS_BINARY` names another binary to attack.

#![allow(clippy::print_stderr, reason = "the figures are printed")]

mod answers;
mod raw;
mod standing;
mod statements;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use client::Client;

use crate::server::{Server, Setup};

/// `--memory` of the attacked server, in MiB.
const MEMORY_MIB: u64 = 256;

/// Most anonymous memory that the server may have, in KiB: a quarter more than `MEMORY_MIB`.
const ANONYMOUS_KIB_MAX: u64 = (MEMORY_MIB + MEMORY_MIB / 4) << 10;

/// Time between two looks at the memory.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Time between two look-ups of the other client.
const ASK_EVERY: Duration = Duration::from_millis(2);

/// Rows that the other client looks up.
const DOCUMENTS: usize = 10_000;

/// Whether the attacks are asked for.
fn wanted() -> bool {
    let wanted = std::env::var_os("SEINE_ATTACKS").is_some();
    if !wanted {
        eprintln!("not run: SEINE_ATTACKS is not set");
    }
    wanted
}

/// With the binary that is to be attacked.
fn attacked(setup: Setup) -> Setup {
    match std::env::var("SEINE_ATTACKS_BINARY") {
        Ok(binary) => setup.binary(&binary),
        Err(_) => setup,
    }
}

/// A server with rows for the other client.
fn server() -> Server {
    let setup = Setup::default().flag("--memory", &format!("{MEMORY_MIB}MiB"));
    let server = attacked(setup).start();
    let mut client = server.client();
    client
        .query("CREATE TABLE docs (body text, n bigint)")
        .unwrap();
    insert_rows(&mut client, DOCUMENTS);
    client.query("FLUSH TABLE docs").unwrap();
    server
}

/// Inserts `rows` rows of about 200 bytes.
fn insert_rows(client: &mut Client, rows: usize) {
    let filler = "lorem ipsum dolor sit amet ".repeat(7);
    for start in (0..rows).step_by(1_000) {
        let values: Vec<String> = (start..rows.min(start + 1_000))
            .map(|row| format!("({}, 'w{row} {filler}', {})", row + 1, row * 7919 % 10_007))
            .collect();
        let values = values.join(",");
        client
            .query(&format!("INSERT INTO docs (id, body, n) VALUES {values}"))
            .unwrap();
    }
}

/// Runs an attack while memory is looked at and another client looks rows up.
fn attack(name: &str, server: &Server, run: impl FnOnce(&Server)) {
    let memory = Memory::watch(server.pid());
    let other = Other::ask(server.mysql().to_owned());
    let began = Instant::now();
    run(server);
    let took = began.elapsed();
    let (peak_kib, (lookups, p99, worst)) = (memory.end(), other.end());
    eprintln!(
        "| {name} | {} MiB | {:.1} ms | {:.1} ms | {lookups} | {:.1} s |",
        peak_kib >> 10,
        p99.as_secs_f64() * 1e3,
        worst.as_secs_f64() * 1e3,
        took.as_secs_f64()
    );
    let peak_mib = peak_kib >> 10;
    assert!(peak_kib <= ANONYMOUS_KIB_MAX, "{name}: {peak_mib} MiB");
    let bound = std::env::var("SEINE_ATTACKS_P99_MS").map_or(50, |text| text.parse().unwrap());
    assert!(
        p99 <= Duration::from_millis(bound),
        "{name}: look-ups took {p99:?}"
    );
}

/// A thread that watches a process until it gets `end`. It returns the most anonymous memory that it saw, in KiB.
struct Memory {
    end: Sender<()>,
    looking: JoinHandle<u64>,
}

impl Memory {
    fn watch(pid: u32) -> Memory {
        let (end, ended) = channel();
        let looking = thread::spawn(move || {
            let mut peak = anonymous_kib(pid);
            while goes_on(&ended, LOOK_EVERY) {
                peak = peak.max(anonymous_kib(pid));
            }
            peak.max(anonymous_kib(pid))
        });
        Memory { end, looking }
    }

    fn end(self) -> u64 {
        self.end.send(()).unwrap();
        self.looking.join().unwrap()
    }
}

/// `RssAnon` of a process.
fn anonymous_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A client that looks up one row after another. It returns the number of look-ups, their 99th percentile and the longest.
struct Other {
    end: Sender<()>,
    asking: JoinHandle<(usize, Duration, Duration)>,
}

impl Other {
    fn ask(address: String) -> Other {
        let (end, ended) = channel();
        let mut client = Client::connect(&address, "other", "").unwrap();
        let asking = thread::spawn(move || {
            let mut took = Vec::new();
            let mut id = 0;
            while goes_on(&ended, ASK_EVERY) {
                id = id % DOCUMENTS + 1;
                let began = Instant::now();
                let found = client.query(&format!("SELECT id, n FROM docs WHERE id = {id}"));
                took.push(began.elapsed());
                assert_eq!(found.unwrap().rows.len(), 1, "id {id}");
            }
            took.sort_unstable();
            let p99 = took[took.len() * 99 / 100];
            (took.len(), p99, took[took.len() - 1])
        });
        Other { end, asking }
    }

    fn end(self) -> (usize, Duration, Duration) {
        self.end.send(()).unwrap();
        self.asking.join().unwrap()
    }
}

/// Waits for `wait`; false once `end` was sent.
fn goes_on(ended: &Receiver<()>, wait: Duration) -> bool {
    ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout)
}

/// MySQL's number of a refusal; `None` for an answer.
fn refusal<T>(answer: &client::Result<T>) -> Option<u16> {
    match answer {
        Ok(_) => None,
        Err(client::ClientError::Server(error)) => Some(error.code),
        Err(other) => panic!("{other}"),
    }
}
