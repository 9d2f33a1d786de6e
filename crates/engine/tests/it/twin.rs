//! An engine and its twin: the same commands at the same times, but the twin's manifests always fail, so its whole state
//! comes from its journal. After a checkpoint, a fold, a merge or a crash the engine must still equal its twin.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use disk::{Call, Disk, FaultDisk, MemoryDisk, everything_lost};
use engine::{
    Background, Batch, Command, Error, Feed, HeldJobs, Hold, LoadStep, Messages, Now, Options,
    QueueNext, Receipt, Reply, SourceMode, SyncMode, WaitSource, WhenFull,
};

use crate::driver::{Driver, Pending, options};
use crate::scripts::show;
use crate::statement::{Statement, command, options_of, parse};

/// The queues. Most are named by the option that they have. Their first column is `k`.
pub const QUEUES: [&str; 10] = [
    "plain", "grouped", "tried", "dead", "keyed", "ordered", "altered", "timed", "bounded",
    "chained",
];
/// Lanes: a queue, with a consumer group if it has groups. In the order of [`QUEUES`], then the second groups.
pub const LANES: [(&str, Option<&str>); 12] = [
    ("plain", None),
    ("grouped", Some("a")),
    ("tried", None),
    ("dead", None),
    ("keyed", None),
    ("ordered", None),
    ("altered", None),
    ("timed", None),
    ("bounded", None),
    ("chained", Some("a")),
    ("grouped", Some("b")),
    ("chained", Some("b")),
];
/// Standing queries on `posts`, whose hits go to a queue and to the search table `log`; on `log`; and on rows of no table.
pub const STANDING: [&str; 4] = ["alerts", "followed", "far", "ears"];
/// Tables that get rows made of collected messages.
pub const FED: [&str; 3] = ["posts", "ears", "keyed"];
/// The loads that the tables know.
pub const LOADS: [u64; 2] = [7, 8];
/// Age up to which the table `kept` keeps rows, in seconds. The dropped segments depend on the seals, so the twin's table stays
/// empty.
pub const KEEP_S: i64 = 60;
const SECOND_US: u64 = 1_000_000;
/// The line of [`shown`] behind which the tables of the schema stand.
const OF_SCHEMA: &str = "the schema:";

const SCHEMA: [&str; 12] = [
    "create search posts (body text, n int key)",
    "create queue hits (query_id bigint, doc_id bigint, body text)",
    "create pq alerts on posts into hits",
    "create search log (query_id bigint, doc_id bigint, body text)",
    "create pq followed on posts into log",
    "create pq far on log into hits",
    "create pq ears (body text, n int) into hits",
    "create queue plain (k int, n int)",
    "create queue grouped (k int, n int) groups a, b",
    "create queue dead (k int, n int)",
    "create queue keyed (k int, n int) unique k",
    "create queue altered (k int, n int)",
];

/// As [`command`], for the tables that the statements of the scripts cannot make.
fn more_schema() -> Vec<Command> {
    let with = |line: &str, change: &dyn Fn(&mut engine::QueueOptions)| match command(line) {
        Command::CreateTable {
            mut definition,
            if_not_exists,
        } => {
            if let engine::Kind::Queue(options) = &mut definition.kind {
                change(options);
            }
            Command::CreateTable {
                definition,
                if_not_exists,
            }
        }
        other => panic!("{other:?}"),
    };
    vec![
        with("create queue tried (k int, n int) tries 2", &|options| {
            options.dead = Some("dead".to_owned())
        }),
        with(
            "create queue chained (k int, n int) groups a, b tries 2",
            &|options| {
                options.order_by = Some("k".to_owned());
                options.dead = Some("dead".to_owned());
            },
        ),
        with("create queue ordered (k int, n int)", &|options| {
            options.order_by = Some("k".to_owned())
        }),
        with("create queue timed (k int, at bigint)", &|options| {
            options.deliver_at = Some("at".to_owned())
        }),
        with("create queue bounded (k int, n int)", &|options| {
            options.rows_max = Some(4);
            options.when_full = WhenFull::DropOldest;
        }),
    ]
}

/// Settings of the first engine, which differ from run to run. The twin syncs always and has memory for everything.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub sync: SyncMode,
    pub memory_bytes: u64,
}

impl Bounds {
    /// Every record is synced, and there is memory for everything.
    pub const NONE: Bounds = Bounds {
        sync: SyncMode::Always,
        memory_bytes: 64 << 20,
    };

    /// Whether there is not memory for everything.
    pub fn is_small(self) -> bool {
        self.memory_bytes < Bounds::NONE.memory_bytes
    }

    /// Whether an error is a refusal for lack of memory.
    pub fn is_refusal(self, error: &Error) -> bool {
        match error {
            Error::Overloaded => self.is_small(),
            Error::Limit { max, .. } => *max == self.memory_bytes,
            Error::InMany { error, .. } => self.is_refusal(error),
            _ => false,
        }
    }
}

/// Small in everything, and every piece of background work held.
fn subject_options(
    disk: Arc<dyn Disk>,
    held: &HeldJobs,
    backup_to: &BackupTo,
    bounds: Bounds,
) -> Options {
    let backup_to = Arc::clone(backup_to);
    Options {
        backups: Some(Arc::new(move |_| {
            Ok(Arc::new(backup_to.lock().unwrap().clone()) as Arc<dyn Disk>)
        })),
        background: Background::Held(held.clone()),
        sync: bounds.sync,
        memory_bytes: bounds.memory_bytes,
        seal_rows: 3,
        queue_fold_bytes: 1,
        journal_segment_bytes: 16 << 10,
        journal_bytes_max: 64 << 10,
        ..options(disk)
    }
}

fn twin_options(disk: Arc<dyn Disk>) -> Options {
    Options {
        seal_rows: 60_000,
        journal_segment_bytes: 1 << 20,
        ..options(disk)
    }
}

/// Both engines, and the work of the first that is held.
pub struct Twins {
    pub subject: Driver,
    pub disk: FaultDisk,
    pub held: HeldJobs,
    twin: Driver,
    twin_disk: FaultDisk,
    pub now: Now,
    /// Incarnation of both engines.
    incarnation: u64,
    /// Disk of the next backup of the first engine.
    pub backup_to: BackupTo,
    /// An ALTER of documents that the first engine works at. The twin gets it once the first has committed it.
    altering: Option<(Command, Pending)>,
    /// Settings of the first engine.
    pub bounds: Bounds,
    /// Images of the twin after each command and tick, if the first engine does not sync each. A crash of the first engine must
    /// leave the state of one image.
    pub prefixes: Vec<MemoryDisk>,
    /// Positions, in both engines, of the messages that were handed over and are not noted. The first engine has records of its
    /// own, such as those of `kept`, so positions differ.
    handed: Vec<[u64; 2]>,
    notes: u64,
}

type BackupTo = Arc<Mutex<MemoryDisk>>;

/// The outcome of a command in both engines.
pub enum Outcome {
    /// Equal in both; `None` while the answer is pending.
    Answered(Option<Result<Reply, Error>>),
    /// The first engine refused the command and has not changed; the twin did not get it.
    Refused(Error),
    /// The first has ended, perhaps with the command done.
    Ended(Ended),
}

/// The first engine has ended: images of the twin before and after the command under way, and after the ALTER beside it.
pub type Ended = Vec<MemoryDisk>;

impl Twins {
    pub fn new(bounds: Bounds) -> Twins {
        let now = Now {
            unix_us: 1_000_000_000 * SECOND_US as i64,
            steady_us: 0,
        };
        let (disk, twin_disk, held) = (FaultDisk::new(), FaultDisk::new(), HeldJobs::default());
        let backup_to = BackupTo::default();
        let subject = subject_options(Arc::new(disk.clone()), &held, &backup_to, bounds);
        let subject = Driver::open(subject, now).unwrap();
        let twin = Driver::open(twin_options(Arc::new(twin_disk.clone())), now).unwrap();
        let mut twins = Twins {
            subject,
            disk,
            held,
            twin,
            twin_disk,
            now,
            incarnation: 0,
            backup_to,
            altering: None,
            bounds,
            prefixes: Vec::new(),
            handed: Vec::new(),
            notes: 0,
        };
        twins.never_checkpoint();
        // A transaction that is not stored may raise the highest id, and a crash may forget that: the ids that transactions give
        // are all lower.
        let highest = [
            "insert posts (id, body) values (40, '')",
            "delete posts where id = 40",
        ];
        let schema = SCHEMA.into_iter().map(command).chain(more_schema());
        for asked in schema.chain(highest.map(command)) {
            let outcome = twins.ask(1, &asked);
            assert!(
                matches!(outcome, Outcome::Answered(Some(Ok(_)))),
                "{asked:?}"
            );
        }
        let keeps = command(&format!(
            "create search kept (body text, at timestamp) keep {KEEP_S}"
        ));
        twins.subject.run(keeps).unwrap();
        twins
            .twin
            .run(command("create search kept (body text, at timestamp)"))
            .unwrap();
        twins.note_prefix();
        twins
    }

    fn never_checkpoint(&self) {
        self.twin_disk
            .refuse(Some((Call::Rename, ErrorKind::Other)));
    }

    /// One command, to both.
    pub fn ask(&mut self, session: u64, asked: &Command) -> Outcome {
        self.ask_each(session, asked, asked)
    }

    /// Messages, to both; each engine hands them over.
    pub fn collect(&mut self, messages: Messages, feeds: Vec<Feed>) -> Outcome {
        let collect = Command::Collect {
            messages,
            sync: None,
            feeds,
        };
        let outcome = self.ask(1, &collect);
        if matches!(outcome, Outcome::Answered(_)) {
            self.take_handed();
        }
        outcome
    }

    /// Each engine's collector notes the first `count` records of messages that it was handed.
    pub fn note_collected(&mut self, count: usize) -> Outcome {
        let count = count.min(self.handed.len());
        let upto = count
            .checked_sub(1)
            .map_or([0; 2], |last| self.handed[last]);
        self.notes += 1;
        let number = self.notes.to_string().as_bytes().into();
        let gone = (self.notes - 1).to_string().as_bytes().into();
        let cursors = vec![(number, Some(b"noted"[..].into())), (gone, None)];
        let [asked, same] = upto.map(|upto| Command::Collected {
            upto,
            cursors: cursors.clone(),
        });
        let outcome = self.ask_each(1, &asked, &same);
        if matches!(outcome, Outcome::Answered(_)) {
            self.handed.drain(..count);
        }
        outcome
    }

    /// Takes what both engines hand over: the same messages.
    fn take_handed(&mut self) {
        let [first, twin] = [&self.subject, &self.twin].map(handed);
        let bytes = |batches: &[Batch]| -> Vec<Vec<u8>> {
            let of = batches
                .iter()
                .map(|batch| batch.messages.encoded().to_vec());
            of.collect()
        };
        assert_eq!(bytes(&first), bytes(&twin), "messages handed over");
        let positions = first.iter().zip(&twin);
        self.handed
            .extend(positions.map(|(first, twin)| [first.position, twin.position]));
    }

    fn ask_each(&mut self, session: u64, asked: &Command, same: &Command) -> Outcome {
        let answer = self.subject.ask(session, asked.clone()).take();
        match answer {
            Some(Err(Error::Poisoned { why })) => {
                println!("the engine has ended: {why}");
                let before = self.twin_image();
                self.twin.ask(session, same.clone());
                return Outcome::Ended(self.ended_after(before));
            }
            Some(Err(
                error @ (Error::DiskFull | Error::Internal { .. } | Error::Corrupt { .. }),
            )) => {
                if matches!(asked, Command::Commit) {
                    self.twin.ask(session, Command::Rollback); // a refused transaction is over
                }
                self.settle_alter();
                return Outcome::Refused(error);
            }
            Some(Err(error)) if self.bounds.is_refusal(&error) => return Outcome::Refused(error),
            _ => {}
        }
        let same = self.twin.ask(session, same.clone()).take();
        self.note_prefix();
        self.settle_alter();
        match (answer, same) {
            (Some(answer), Some(same)) => {
                let shown = |answer: &Result<Reply, Error>| match answer {
                    Ok(Reply::Taken(taken)) => format!("{taken:?}"),
                    other => format!("{other:?}"),
                };
                assert_eq!(shown(&answer), shown(&same), "{asked:?}");
                Outcome::Answered(Some(answer))
            }
            (None, None) => Outcome::Answered(None),
            (answer, same) => panic!("{asked:?}: {answer:?} and {same:?}"),
        }
    }

    /// Only the first is asked; nothing that a restart shows may depend on it.
    pub fn ask_subject(&mut self, asked: Command) -> crate::driver::Pending {
        let answer = self.subject.ask(99, asked);
        self.settle_alter();
        answer
    }

    /// Time passes for both. Error: the first has ended.
    pub fn tick(&mut self, us: u64) -> Result<(), Ended> {
        let before = self.twin_image(); // the ALTER of a turn comes behind its other records
        self.now.steady_us += us;
        self.now.unix_us += us as i64;
        self.subject.now = self.now;
        let lives = self.subject.engine.step(Vec::new(), self.now);
        self.twin.tick(us);
        self.note_prefix();
        match lives {
            Ok(_) => {
                self.settle_alter();
                Ok(())
            }
            Err(_) => Err(self.ended_after(before)),
        }
    }

    /// Begins an ALTER of documents in the first engine, unless one is under way.
    pub fn alter(&mut self, asked: Command) {
        if self.altering.is_none() {
            let answer = self.ask_subject(asked.clone());
            self.altering = Some((asked, answer));
            self.settle_alter();
        }
    }

    /// Gives the twin the ALTER that the first engine has committed.
    pub fn settle_alter(&mut self) {
        let Some((asked, answer)) = self.altering.take() else {
            return;
        };
        match answer.take() {
            None => self.altering = Some((asked, answer)),
            // Perhaps committed: the next command tells that the engine has ended.
            Some(Err(Error::Poisoned { .. })) => self.altering = Some((asked, Pending::default())),
            Some(Ok(_)) => {
                self.alter_twin(asked);
                self.note_prefix();
            }
            // A call failed, or the column was never added because one did.
            Some(Err(
                Error::DiskFull
                | Error::Internal { .. }
                | Error::Corrupt { .. }
                | Error::UnknownColumn { .. },
            )) => {}
            Some(Err(error)) if self.bounds.is_refusal(&error) => {}
            Some(Err(error)) => panic!("{asked:?}: {error}"),
        }
    }

    fn alter_twin(&mut self, asked: Command) {
        let same = self.twin.ask(99, asked.clone());
        self.twin.tick(0);
        assert!(matches!(same.take(), Some(Ok(_))), "{asked:?}");
    }

    /// The images that an end of the first engine may leave, where the twin has done the command under way.
    pub fn ended_after(&mut self, before: MemoryDisk) -> Ended {
        let mut may_be = vec![before, self.twin_image()];
        if let Some((asked, _)) = self.altering.take() {
            self.alter_twin(asked);
            may_be.push(self.twin_image());
        }
        may_be
    }

    fn note_prefix(&mut self) {
        if self.bounds.sync != SyncMode::Always {
            self.prefixes.push(self.twin_image());
        }
    }

    /// Both processes end; the first goes on with the files of `image`, or with its own.
    pub fn restart(&mut self, image: Option<MemoryDisk>) {
        if let Some(image) = image {
            self.disk = FaultDisk::over(&image);
        }
        self.disk.refuse(None);
        self.held = HeldJobs::default();
        self.altering = None;
        drop(std::mem::replace(&mut self.subject, nobody()));
        self.incarnation += 1;
        let options = Options {
            incarnation: self.incarnation,
            ..subject_options(
                Arc::new(self.disk.clone()),
                &self.held,
                &self.backup_to,
                self.bounds,
            )
        };
        self.subject = Driver::open(options, self.now).unwrap();
        drop(std::mem::replace(&mut self.twin, nobody()));
        self.twin_disk.refuse(None);
        let options = Options {
            incarnation: self.incarnation,
            ..twin_options(Arc::new(self.twin_disk.clone()))
        };
        self.twin = Driver::open(options, self.now).unwrap();
        self.never_checkpoint();
        self.handed.clear();
        self.take_handed();
    }

    /// The synced files of the twin.
    pub fn twin_image(&self) -> MemoryDisk {
        self.twin_disk.crash(everything_lost)
    }

    /// The answers and deliveries of a server that starts on these files. `names`: tables beside the schema's.
    pub fn shown(&self, image: &MemoryDisk, names: &[String]) -> Vec<String> {
        let copy = FaultDisk::over(image); // taking rows changes the files
        let mut driver = Driver::open(options(Arc::new(copy)), self.now).unwrap();
        shown(&mut driver, names)
    }
}

/// An engine in the place of another, which has to end before its directory is opened again.
fn nobody() -> Driver {
    Driver::open(options(Arc::new(MemoryDisk::new())), Now::default()).unwrap()
}

/// The collected messages that an engine hands over.
fn handed(driver: &Driver) -> Vec<Batch> {
    let batches = driver.handle.handover().take(Duration::ZERO);
    batches.unwrap_or_default().into()
}

/// Rows of a SELECT on a search table, by id.
pub fn select(driver: &Driver, line: &str) -> Vec<String> {
    let Statement::Select(select) = parse(line) else {
        panic!("no select");
    };
    match driver.handle.snapshot().select(
        &select,
        &options_of(&select),
        &engine::Control::default(),
    ) {
        Err(error) => vec![error.to_string()],
        Ok(answer) => crate::scripts::show_answer(answer).unwrap(),
    }
}

fn next(queue: &str, group: Option<&str>) -> Command {
    Command::QueueNext(QueueNext {
        sources: vec![WaitSource::all(queue)],
        group: group.map(str::to_owned),
        rows: 1_000,
        timeout_us: 0,
        hold: Hold::Lease {
            visible_again_us: Some(3_600 * SECOND_US),
        },
        done: Vec::new(),
    })
}

/// The part of [`Twins::shown`] that does not depend on tables beside those of the schema.
pub fn of_schema(lines: &[String]) -> &[String] {
    let from = lines.iter().position(|line| line == OF_SCHEMA);
    &lines[from.expect("the schema")..]
}

/// Everything that a restarted server shows, hands out, counts and remembers. What it asks changes the server.
fn shown(driver: &mut Driver, names: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut tables = driver.handle.snapshot().tables();
    tables.sort();
    lines.push(format!("{tables:?}"));
    for name in names {
        lines.extend(select(
            driver,
            &format!("select * from {name} order by id limit 100000"),
        ));
        lines.extend(show(driver.run(command(&format!("read * from {name}")))));
    }
    lines.push(OF_SCHEMA.to_owned());
    let batches = handed(driver);
    lines.extend(batches.iter().map(|batch| format!("{:?}", batch.messages)));
    lines.push(format!("{:?}", driver.handle.collected().1));
    lines.extend(select(
        driver,
        "select * from posts order by id limit 100000",
    ));
    lines.extend(select(driver, "select * from log order by id limit 100000"));
    // Through the lists of words and the index of the key, which ALTER writes anew.
    lines.extend(select(
        driver,
        "select id from posts match 'cat' where n > 3 limit 100000",
    ));
    for table in STANDING {
        let read = format!("read id, query, hits from {table}");
        lines.extend(show(driver.run(command(&read))));
    }
    for queue in QUEUES.into_iter().chain(["hits"]) {
        lines.push(queue.to_owned());
        lines.extend(show(driver.run(command(&format!("read * from {queue}")))));
    }
    for table in ["posts", "plain"] {
        for load in LOADS {
            let table = table.to_owned();
            let step = LoadStep::Ask;
            lines.extend(show(driver.run(Command::Load { table, load, step })));
        }
    }
    hand_out(driver, &mut lines);
    remembered(driver, &mut lines);
    lines
}

/// For 12 seconds, hands every row to every lane as soon as it is free, and ends it.
fn hand_out(driver: &mut Driver, lines: &mut Vec<String>) {
    for second in 0..12 {
        for (queue, group) in LANES {
            let Ok(Reply::Taken(taken)) = driver.run(next(queue, group)) else {
                panic!("no answer");
            };
            let receipts = taken.rows.iter().map(|row| Receipt {
                table: queue.to_owned(),
                issuer: taken.issuer,
                group: group.map(str::to_owned),
                row: row.row,
                delivery: row.delivery,
            });
            let receipts: Vec<_> = receipts.collect();
            for row in &taken.rows {
                let (number, delivery, values) = (row.row, row.delivery, &row.values);
                lines.push(format!(
                    "{second}: {queue} {group:?} {number} ({delivery}): {values:?}"
                ));
            }
            if !receipts.is_empty() {
                driver.run(Command::QueueDone { receipts }).unwrap();
            }
        }
        driver.tick(SECOND_US);
    }
}

/// Keys that were seen, rows that were relayed, ids that were given.
fn remembered(driver: &mut Driver, lines: &mut Vec<String>) {
    let keys: Vec<String> = (0..8).map(|key| format!("({key}, 0)")).collect();
    let insert = format!("insert keyed values {}", keys.join(", "));
    lines.extend(show(driver.run(command(&insert))));
    for sender in 0..2 {
        for row in 1..40 {
            let mode = SourceMode::Append;
            driver
                .run(Command::QueueSetSource { sender, mode, row })
                .unwrap();
            driver.run(command("insert plain values (0, 0)")).unwrap();
        }
    }
    lines.extend(show(driver.run(command("read count from plain"))));
    lines.extend(show(
        driver.run(command("insert posts (body) values ('cat')")),
    ));
    lines.extend(show(
        driver.run(command("insert alerts (query) values ('cat')")),
    ));
}
