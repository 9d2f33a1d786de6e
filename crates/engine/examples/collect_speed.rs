//! Time that the engine's thread takes for a record of collected messages, without the disk's sync. ADR 037 is wrong above 20 µs for
//! 200 messages of 100 bytes.
//!
//! `cargo run --release -p seine-engine --example collect_speed DIR`: in a new data directory below DIR, which is removed again.
//! Each turn takes 8 calls, as of 8 connections, and every 64th turn a note of the collector. Fails if a message is missing.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::RealDisk;
use engine::{Command, Engine, Envelope, Messages, Now, Options, SessionId, SyncMode};

const TURNS: u64 = 4_096;
const CALLS: u64 = 8;
const MESSAGES: u64 = 200;
const TURNS_A_NOTE: u64 = 64;

fn main() {
    let dir = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let dir = Path::new(&dir).join(format!("collect-speed-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let options = Options {
        sync: SyncMode::Never,
        ..Options::new(Arc::new(RealDisk::open(&dir).unwrap()))
    };
    let (mut engine, _) = Engine::open(options, Now::default()).unwrap();
    let (handle, _mailbox) = engine.mailbox();
    let mut call = Messages::default();
    (0..MESSAGES).for_each(|_| call.push(b"web", &[b'x'; 100]));
    let (mut taken, mut upto, mut turns_us) = (0, 0, Vec::new());
    for turn in 1..=TURNS {
        let calls = (0..CALLS).map(|session| {
            let messages = call.clone();
            let sync = None;
            envelope(
                session,
                Command::Collect {
                    messages,
                    sync,
                    feeds: Vec::new(),
                },
            )
        });
        let calls = calls.collect();
        let begin = Instant::now();
        engine.step(calls, Now::default()).unwrap();
        turns_us.push(begin.elapsed().as_nanos() as f64 / 1_000.0);
        for batch in handle.handover().take(Duration::ZERO).unwrap() {
            taken += batch.messages.count();
            upto = batch.position;
        }
        if turn % TURNS_A_NOTE == 0 {
            let cursors = Vec::new();
            let note = envelope(CALLS, Command::Collected { upto, cursors });
            engine.step(vec![note], Now::default()).unwrap();
        }
    }
    assert_eq!(taken, TURNS * CALLS * MESSAGES, "messages handed over");
    let status = handle.status();
    drop(engine);
    std::fs::remove_dir_all(&dir).unwrap();
    let mean = turns_us.iter().sum::<f64>() / turns_us.len() as f64;
    turns_us.sort_by(f64::total_cmp);
    let records = CALLS as f64;
    println!(
        "{CALLS} records a turn, {MESSAGES} messages of 100 bytes a record: {:.1} µs a record (median), {:.1} µs (mean)",
        turns_us[turns_us.len() / 2] / records,
        mean / records,
    );
    let waits = [status.journal_stall_us_total, status.sync_us_total];
    let [stall, sync] = waits.map(|us| us as f64 / (records * TURNS as f64));
    println!(
        "waits of the whole run by its records: {stall:.1} µs for a new file of the journal, {sync:.1} µs for syncs"
    );
}

fn envelope(session: u64, command: Command) -> Envelope {
    Envelope {
        session: SessionId(session),
        command,
        interrupt: None,
        made: Vec::new(),
        reply: Box::new(|outcome| drop(outcome.unwrap())),
    }
}
