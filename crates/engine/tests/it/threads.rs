//! The engine on its own thread, seals and folds on theirs, as in the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use disk::MemoryDisk;
use engine::{Background, Command, Engine, Error, Handle, Now, Options, Reply, SessionId};

use crate::driver::{Driver, options};
use crate::model::SCHEMA;
use crate::statement::command;
use crate::workload::dump;

/// How long a test waits before it says that nothing will come.
const PATIENCE: Duration = Duration::from_secs(60);

type Answers = Receiver<Result<Reply, Error>>;

fn submit(handle: &Handle, session: u64, command: Command) -> Answers {
    let (sender, receiver) = channel();
    let reply = Box::new(move |outcome| drop(sender.send(outcome)));
    handle.submit(SessionId(session), command, reply).unwrap();
    receiver
}

fn ask(handle: &Handle, line: &str) -> Result<Reply, Error> {
    submit(handle, 1, command(line))
        .recv_timeout(PATIENCE)
        .unwrap()
}

/// Starts an engine on its own thread. Joining the thread gives the engine's result.
fn start(options: &Options) -> (Handle, std::thread::JoinHandle<Result<(), Error>>) {
    let (engine, _) = Engine::open(options.clone(), Now::default()).unwrap();
    let (handle, mailbox) = engine.mailbox();
    let begin = Instant::now();
    let clock = move || Now {
        unix_us: 0,
        steady_us: begin.elapsed().as_micros() as u64,
    };
    (
        handle,
        std::thread::spawn(move || engine.run(mailbox, clock)),
    )
}

#[test]
fn what_many_sessions_were_told_is_there_after_background_seals_and_a_restart() {
    let options = Options {
        background: Background::Threads,
        seal_rows: 50,
        journal_segment_bytes: 1 << 20,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let (handle, thread) = start(&options);
    for line in SCHEMA {
        ask(&handle, line).unwrap();
    }
    ask(
        &handle,
        "insert alerts (id, query) values (1, 'cat'), (2, 'cat -dog')",
    )
    .unwrap();
    let sessions: Vec<_> = (0..4u64)
        .map(|session| {
            let handle = handle.clone();
            std::thread::spawn(move || {
                for n in 0..200 {
                    let id = n * 4 + session + 1;
                    let body = if id % 2 == 0 { "cat" } else { "cat dog" };
                    let insert = format!("insert posts (id, body, n) values ({id}, '{body}', {n})");
                    submit(&handle, session, command(&insert))
                        .recv_timeout(PATIENCE)
                        .unwrap()
                        .unwrap();
                    let snapshot = handle.snapshot();
                    let found = crate::laws::select(
                        &snapshot,
                        &format!("select id from posts where id = {id}"),
                    );
                    assert_eq!(
                        found.len(),
                        1,
                        "an acknowledged row is found by the next read"
                    );
                }
            })
        })
        .collect();
    for session in sessions {
        session.join().unwrap();
    }
    ask(&handle, "delete posts where id in (1, 2, 3)").unwrap();
    let status = handle.status();
    assert!(status.seals_total > 0, "{status:?}");
    ask(&handle, "shutdown").unwrap();
    thread.join().unwrap().unwrap();
    assert_eq!(
        handle.submit(SessionId(1), Command::QueueEnd, Box::new(|_| {})),
        Err(Error::Stopped)
    );
    let mut driver = Driver::open(options, Now::default()).unwrap();
    assert_eq!(
        driver.recovered.records_replayed, 0,
        "a clean end leaves nothing to replay"
    );
    let lines = dump(&mut driver);
    let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!(count("posts "), 797);
    assert_eq!(count("hits 1 | "), 800);
    assert_eq!(count("hits 2 | "), 400);
}

#[test]
fn a_wait_ends_with_a_row_with_its_time_or_with_the_engine() {
    let options = options(Arc::new(MemoryDisk::new()));
    let (handle, thread) = start(&options);
    ask(&handle, "create queue jobs (id int)").unwrap();
    let wait = |session, timeout_us| {
        let sources = vec![engine::WaitSource::all("jobs")];
        let wait = Command::QueueWait {
            sources,
            timeout_us,
        };
        submit(&handle, session, wait)
    };
    let timed_out = wait(2, 1000);
    assert!(matches!(
        timed_out.recv_timeout(PATIENCE).unwrap(),
        Ok(Reply::Waited(0))
    ));
    let got = wait(3, 3_600_000_000);
    ask(&handle, "insert jobs values (1)").unwrap();
    assert!(matches!(
        got.recv_timeout(PATIENCE).unwrap(),
        Ok(Reply::Waited(1))
    ));
    let left = wait(4, 3_600_000_000);
    ask(&handle, "shutdown").unwrap();
    thread.join().unwrap().unwrap();
    assert!(matches!(
        left.recv_timeout(PATIENCE).unwrap(),
        Err(Error::Stopped)
    ));
}

/// Rounds of one session that puts a row and one that waits for it.
const ROUNDS: i64 = 500;

#[test]
fn one_that_puts_and_one_that_takes_do_the_work_of_an_engine_that_rests() {
    let options = options(Arc::new(MemoryDisk::new()));
    let (handle, thread) = start(&options);
    ask(&handle, "create queue jobs (id int)").unwrap();
    let led = Arc::new(AtomicU64::new(0));
    let (taken, is_taken) = channel();
    let taker = {
        let (handle, led) = (handle.clone(), Arc::clone(&led));
        std::thread::spawn(move || {
            for _ in 0..ROUNDS {
                let sources = vec![engine::WaitSource::all("jobs")];
                let timeout_us = 3_600_000_000;
                let wait = Command::QueueWait {
                    sources,
                    timeout_us,
                };
                let waited = submit_noting(&handle, 2, wait, &led)
                    .recv_timeout(PATIENCE)
                    .unwrap();
                assert!(matches!(waited, Ok(Reply::Waited(1))), "{waited:?}");
                taken.send(()).unwrap();
            }
        })
    };
    for n in 0..ROUNDS {
        let insert = command(&format!("insert jobs values ({n})"));
        let put = submit_noting(&handle, 3, insert, &led)
            .recv_timeout(PATIENCE)
            .unwrap();
        put.unwrap();
        is_taken.recv_timeout(PATIENCE).unwrap();
    }
    taker.join().unwrap();
    assert!(
        led.load(Ordering::Relaxed) > 0,
        "no command was ever done by the thread that brought it"
    );
    ask(&handle, "shutdown").unwrap();
    thread.join().unwrap().unwrap();
    let mut driver = Driver::open(options, Now::default()).unwrap();
    // A wait ends the row before it; the last one is given back by the end of its session.
    let left = driver.run(command("read id from jobs"));
    let Ok(Reply::Rows(left)) = left else {
        panic!("no rows");
    };
    assert_eq!(left.rows.count(), 1);
}

/// As [`submit`]; counts a reply that comes on this very thread.
fn submit_noting(handle: &Handle, session: u64, command: Command, led: &Arc<AtomicU64>) -> Answers {
    let (sender, receiver) = channel();
    let (bringer, led) = (std::thread::current().id(), Arc::clone(led));
    let reply = Box::new(move |outcome| {
        let is_led = std::thread::current().id() == bringer;
        led.fetch_add(is_led.into(), Ordering::Relaxed);
        drop(sender.send(outcome));
    });
    handle.submit(SessionId(session), command, reply).unwrap();
    receiver
}

#[test]
fn a_shutdown_beside_waits_flushes_and_backups_answers_everybody_and_ends() {
    let lines = [
        "flush posts",
        "flush jobs",
        "optimize posts",
        "checkpoint",
        "insert jobs (n) values (1)",
        "insert posts (body) values ('a'), ('b'), ('c')",
    ];
    for round in 0..60 {
        let options = Options {
            background: Background::Threads,
            seal_rows: 3,
            queue_fold_bytes: 1,
            backups: Some(Arc::new(|_| Ok(Arc::new(MemoryDisk::new()) as _))),
            ..options(Arc::new(MemoryDisk::new()))
        };
        let (handle, thread) = start(&options);
        ask(&handle, "create search posts (body text)").unwrap();
        ask(&handle, "create queue jobs (n int)").unwrap();
        let sessions: Vec<_> = (0..4)
            .map(|session| {
                let handle = handle.clone();
                std::thread::spawn(move || {
                    let (mut sent, mut place) = (Vec::new(), round + session as usize);
                    loop {
                        let asked = match place % (lines.len() + 2) {
                            0 => Command::Backup {
                                to: "there".to_owned(),
                            },
                            1 => Command::QueueWait {
                                sources: vec![engine::WaitSource::all("jobs")],
                                timeout_us: 3_600_000_000,
                            },
                            other => command(lines[other - 2]),
                        };
                        place += 1;
                        let (sender, receiver) = channel();
                        let reply = Box::new(move |outcome| drop(sender.send(outcome)));
                        if handle
                            .submit(SessionId(10 + session), asked, reply)
                            .is_err()
                        {
                            return sent;
                        }
                        sent.push(receiver);
                        std::thread::yield_now();
                        if sent.len() % 16 == 0 {
                            let _ = sent[sent.len() - 2].recv_timeout(PATIENCE);
                        }
                    }
                })
            })
            .collect();
        for _ in 0..round {
            let _ = ask(&handle, "insert jobs (n) values (1)");
        }
        let ended = submit(&handle, 2, Command::Shutdown).recv_timeout(PATIENCE);
        ended.unwrap().unwrap();
        thread.join().unwrap().unwrap();
        for session in sessions {
            for sent in session.join().unwrap() {
                // Answered, or dropped unheard by a closed mailbox.
                let outcome = sent.recv_timeout(PATIENCE).err();
                assert!(
                    outcome != Some(RecvTimeoutError::Timeout),
                    "a command is not answered"
                );
            }
        }
    }
}
