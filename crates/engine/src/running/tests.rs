use relation::request::Insert;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use disk::MemoryDisk;
use language::analysis::Settings;
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use super::*;
use crate::command::{Command, Definition, Envelope, Kind, QueueOptions, Reply, SessionId, Write};
use crate::engine::Options;
use crate::jobs::Background;
use crate::mailbox::Handle;

/// How long a test waits before it says that nothing will come.
const PATIENCE: Duration = Duration::from_secs(60);

type Answers = Receiver<Result<Reply>>;

/// The answer to a command; a closed channel where the mailbox refused it.
fn submit(handle: &Handle, session: u64, command: Command) -> Answers {
    let (sender, receiver) = channel();
    let reply = Box::new(move |outcome| drop(sender.send(outcome)));
    let _ = handle.submit(SessionId(session), command, reply);
    receiver
}

fn insert() -> Command {
    Command::Write(Write::Insert(Insert {
        table: "jobs".to_owned(),
        columns: None,
        rows: vec![vec![Value::Int(1)]],
        replace: false,
    }))
}

/// An engine that holds the queue `jobs`.
fn engine() -> Engine {
    let options = Options {
        background: Background::Inline,
        journal_segment_bytes: 256 << 10,
        ..Options::new(Arc::new(MemoryDisk::new()))
    };
    let (mut engine, _) = Engine::open(options, Now::default()).unwrap();
    let definition = Definition {
        name: "jobs".to_owned(),
        kind: Kind::Queue(QueueOptions::default()),
        columns: vec![Column {
            name: "n".to_owned(),
            kind: ColumnType::Int,
            nullable: true,
            default: None,
            keyed: false,
        }],
        analysis: Settings::default(),
        sync: None,
        keep: None,
    };
    let create = Envelope {
        session: SessionId(0),
        command: Command::CreateTable {
            definition: Box::new(definition),
            if_not_exists: false,
        },
        interrupt: None,
        made: Vec::new(),
        reply: Box::new(|created| drop(created.unwrap())),
    };
    engine.step(vec![create], Now::default()).unwrap();
    engine
}

/// What a thread's work comes to.
fn on_a_thread(
    work: impl FnOnce() -> Result<()> + Send + 'static,
) -> std::result::Result<Result<()>, RecvTimeoutError> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(PATIENCE)
}

#[test]
fn a_shutdown_that_a_leading_caller_takes_ends_the_engine() {
    let engine = engine();
    let (handle, mailbox) = engine.mailbox();
    let running = Arc::new(Running {
        inbox: Arc::clone(mailbox.inbox()),
        engine: Mutex::new(Some(engine)),
        clock: Box::new(Now::default),
    });
    let inserted = submit(&handle, 1, insert());
    let ended = submit(&handle, 2, Command::Shutdown);
    running.lead();
    assert!(inserted.try_recv().unwrap().is_ok());
    assert!(ended.try_recv().unwrap().is_ok());

    let later = submit(&handle, 3, insert());
    running.lead();
    assert_eq!(later.try_recv().unwrap().unwrap_err(), Error::Stopped);
    let serving = Arc::clone(&running);
    assert_eq!(on_a_thread(move || serving.serve()), Ok(Ok(())));
}

#[test]
fn a_shutdown_beside_inserts_of_two_sessions_ends_the_engine_every_time() {
    for _ in 0..100 {
        let engine = engine();
        let (handle, mailbox) = engine.mailbox();
        let begin = std::time::Instant::now();
        let clock = move || Now {
            unix_us: 0,
            steady_us: begin.elapsed().as_micros() as u64,
        };
        let (sender, ends) = channel();
        let running = std::thread::spawn(move || sender.send(engine.run(mailbox, clock)));
        let inserting = handle.clone();
        let inserting = std::thread::spawn(move || {
            // Ends with the first insert that is not done: refused, or dropped by a closed mailbox.
            while let Ok(Ok(_)) = submit(&inserting, 1, insert()).recv_timeout(PATIENCE) {}
        });
        let ended = submit(&handle, 2, Command::Shutdown);
        assert!(ended.recv_timeout(PATIENCE).unwrap().is_ok());
        assert_eq!(ends.recv_timeout(PATIENCE), Ok(Ok(())));
        inserting.join().unwrap();
        running.join().unwrap().unwrap();
    }
}
