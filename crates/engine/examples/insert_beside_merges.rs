//! How long inserts wait while segments are sealed and merged beside them; prints a table, and fails above 50 ms beside a merge.
//!
//! `cargo run --release -p seine-engine --example insert_beside_merges DIR [TEXTS [TIMES]]`: in a new data directory below DIR,
//! which is removed again. TEXTS: a file with one text a line, or `-` for standard input; what stands before the last tab of a line is passed
//! over. Without it, 200,000 made-up posts of 33 words. TIMES: the texts come so often, each time with new ids.
//!
//! 1. *load*: all of it in batches of 1,000 rows, each sent when the one before was answered; seals and merges run beside.
//! 2. *idle*: nobody writes; how many segments are left, at once and after so many seconds.
//! 3. *merge*: everything is merged into one segment; until that has ended, one row after the other, and a batch of 100 after every 20.
//! 4. *alone*: the same for ten seconds with nothing beside it, to tell what machine and neighbours cost.
//!
//! What is told is the whole wait of the one who inserts, the journal's sync included; of the longest waits also how much of it the
//! journal's syncs took, and waiting for a new file of the journal.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use disk::RealDisk;
use engine::{
    Command, Definition, Engine, EngineStatus, Error, Handle, Kind, Now, Options, Reply,
    SearchOptions, SessionId, Write,
};
use relation::request::Insert;
use relation::schema::{Column, ColumnType};
use relation::value::Value;

const LOAD_ROWS: usize = 1_000;
const BATCH_ROWS: usize = 100;
/// Single rows between two batches.
const SINGLES: usize = 20;
const LONGEST_US: u64 = 50_000;
/// When segments are counted after the load, in seconds.
const IDLE_SECONDS: [u64; 5] = [0, 10, 20, 40, 80];
const ALONE: Duration = Duration::from_secs(10);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().unwrap_or_else(|| ".".to_owned());
    let texts = arguments.next();
    let times: usize = arguments.next().map_or(1, |times| times.parse().unwrap());
    let texts = texts.map_or_else(made_up, |path| read(&path));
    let dir = Path::new(&dir).join(format!("insert-beside-merges-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let options = Options::new(Arc::new(RealDisk::open(&dir).unwrap()));
    let (engine, _) = Engine::open(options, Now::default()).unwrap();
    let (handle, mailbox) = engine.mailbox();
    let begin = Instant::now();
    let clock = move || Now {
        unix_us: 0,
        steady_us: begin.elapsed().as_micros() as u64,
    };
    let thread = std::thread::spawn(move || engine.run(mailbox, clock));
    let mut client = Client {
        handle,
        texts,
        next: 0,
        begin,
    };
    answer(&client.send(create()));
    println!("| what | inserts | p50 us | p99 us | p99.9 us | longest us | above 50 ms |");
    println!("|---|---|---|---|---|---|---|");
    client.load(times);
    client.idle();
    let (singles, batches) = client.beside_a_merge();
    client.alone();
    answer(&client.send(Command::Shutdown));
    thread.join().unwrap().unwrap();
    std::fs::remove_dir_all(dir).unwrap();
    let longest = singles.longest_us().max(batches.longest_us());
    assert!(
        longest <= LONGEST_US,
        "an insert beside a merge waited above 50 ms"
    );
}

struct Client {
    handle: Handle,
    texts: Vec<String>,
    /// Rows inserted.
    next: usize,
    begin: Instant,
}

/// One insert.
struct Wait {
    at: Duration,
    us: u64,
    sync_us: u64,
    file_us: u64,
}

#[derive(Default)]
struct Waits(Vec<Wait>);

impl Client {
    fn send(&self, command: Command) -> Receiver<Result<Reply, Error>> {
        let (sender, receiver) = channel();
        let reply = Box::new(move |outcome| drop(sender.send(outcome)));
        self.handle.submit(SessionId(1), command, reply).unwrap();
        receiver
    }

    /// Inserts so many rows and notes how long it took.
    fn insert(&mut self, rows: usize, waits: &mut Waits) {
        let row = |at: usize| vec![Value::Str(self.texts[at % self.texts.len()].clone())];
        let command = Command::Write(Write::Insert(Insert {
            table: "posts".to_owned(),
            columns: Some(vec!["body".to_owned()]),
            rows: (self.next..self.next + rows).map(row).collect(),
            replace: false,
        }));
        let before = self.handle.status();
        let sent = Instant::now();
        answer(&self.send(command));
        let us = sent.elapsed().as_micros() as u64;
        let after = self.handle.status();
        self.next += rows;
        waits.0.push(Wait {
            at: self.begin.elapsed(),
            us,
            sync_us: after.sync_us_total - before.sync_us_total,
            file_us: after.journal_stall_us_total - before.journal_stall_us_total,
        });
    }

    fn load(&mut self, times: usize) {
        let (before, begin) = (self.handle.status(), Instant::now());
        let mut waits = Waits::default();
        let rows = self.texts.len() * times;
        while self.next < rows {
            self.insert(LOAD_ROWS.min(rows - self.next), &mut waits);
        }
        answer(&self.send(flush()));
        waits.tell("load, batches of 1,000");
        self.tell(&before, begin, "load");
    }

    fn idle(&self) {
        let (before, begin) = (self.handle.status(), Instant::now());
        for seconds in IDLE_SECONDS {
            while begin.elapsed().as_secs() < seconds {
                std::thread::park_timeout(Duration::from_millis(100));
            }
            let merges = self.handle.status().segment_merges_total - before.segment_merges_total;
            let status = self.handle.snapshot().table_status("posts").unwrap();
            let mut segments = status.iter().filter(|(name, _)| name == "segments");
            let (_, segments) = segments.next().unwrap();
            println!("idle for {seconds} s: {segments} segments, after {merges} more merges");
        }
    }

    fn beside_a_merge(&mut self) -> (Waits, Waits) {
        let mut none = Waits::default();
        (0..20).for_each(|_| self.insert(LOAD_ROWS, &mut none));
        answer(&self.send(flush()));
        let (before, begin) = (self.handle.status(), Instant::now());
        let optimized = self.send(Command::Optimize {
            table: "posts".to_owned(),
        });
        let (singles, batches) = self.mixed(|| match optimized.try_recv() {
            Err(TryRecvError::Empty) => true,
            outcome => {
                outcome.unwrap().unwrap();
                false
            }
        });
        singles.tell("merge, single rows");
        batches.tell("merge, batches of 100");
        self.tell(&before, begin, "merge");
        assert!(
            self.handle.status().segment_merges_total > before.segment_merges_total,
            "no merge ran"
        );
        (singles, batches)
    }

    fn alone(&mut self) {
        let (before, begin) = (self.handle.status(), Instant::now());
        let (singles, batches) = self.mixed(|| begin.elapsed() < ALONE);
        singles.tell("alone, single rows");
        batches.tell("alone, batches of 100");
        self.tell(&before, begin, "alone");
    }

    /// Single rows and batches in turns as long as `goes_on`.
    fn mixed(&mut self, goes_on: impl Fn() -> bool) -> (Waits, Waits) {
        let (mut singles, mut batches) = (Waits::default(), Waits::default());
        while goes_on() {
            for _ in 0..SINGLES {
                self.insert(1, &mut singles);
            }
            self.insert(BATCH_ROWS, &mut batches);
        }
        (singles, batches)
    }

    fn tell(&self, before: &EngineStatus, begin: Instant, what: &str) {
        let after = self.handle.status();
        println!(
            "{what}: {:.1} s, {} rows in all, {} seals, {} merges, {} turns above 10 ms, sync {} us on average, {} us for new journal files",
            begin.elapsed().as_secs_f64(),
            self.next,
            after.seals_total - before.seals_total,
            after.segment_merges_total - before.segment_merges_total,
            after.stalls_total - before.stalls_total,
            (after.sync_us_total - before.sync_us_total)
                / (after.syncs_total - before.syncs_total).max(1),
            after.journal_stall_us_total - before.journal_stall_us_total,
        );
    }
}

impl Waits {
    fn longest_us(&self) -> u64 {
        self.0.iter().map(|wait| wait.us).max().unwrap_or(0)
    }

    fn tell(&self, what: &str) {
        let mut sorted: Vec<&Wait> = self.0.iter().collect();
        sorted.sort_unstable_by_key(|wait| wait.us);
        let part = |permille: usize| sorted[(sorted.len() - 1) * permille / 1_000].us;
        println!(
            "| {what} | {} | {} | {} | {} | {} | {} |",
            sorted.len(),
            part(500),
            part(990),
            part(999),
            part(1_000),
            sorted.iter().filter(|wait| wait.us > LONGEST_US).count(),
        );
        for wait in sorted.iter().rev().take(3) {
            println!(
                "    after {:.1} s {} us, of which syncs {}, new journal files {}",
                wait.at.as_secs_f64(),
                wait.us,
                wait.sync_us,
                wait.file_us,
            );
        }
    }
}

fn answer(receiver: &Receiver<Result<Reply, Error>>) {
    receiver.recv().unwrap().unwrap();
}

fn flush() -> Command {
    Command::Flush {
        tables: vec!["posts".to_owned()],
    }
}

fn create() -> Command {
    let body = Column {
        name: "body".to_owned(),
        kind: ColumnType::Text,
        nullable: true,
        default: None,
        keyed: false,
    };
    Command::CreateTable {
        definition: Box::new(Definition {
            name: "posts".to_owned(),
            kind: Kind::Search(SearchOptions::default()),
            columns: vec![body],
            analysis: language::analysis::Settings::default(),
            sync: None,
            keep: None,
        }),
        if_not_exists: false,
    }
}

fn read(path: &str) -> Vec<String> {
    let input: Box<dyn Read> = match path {
        "-" => Box::new(std::io::stdin()),
        path => Box::new(std::fs::File::open(path).unwrap()),
    };
    let lines = BufReader::new(input).lines().map(Result::unwrap);
    let text = |line: String| line.rsplit('\t').next().unwrap_or_default().to_owned();
    lines.map(text).collect()
}

/// Texts whose words are drawn roughly by Zipf's law.
fn made_up() -> Vec<String> {
    let text = |id: u64| {
        let mut seed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let words = (0..33).map(|_| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let part = (seed >> 11) as f64 / (1u64 << 53) as f64;
            format!("w{}", 200_000f64.powf(part) as u64)
        });
        words.collect::<Vec<_>>().join(" ")
    };
    (0..200_000).map(text).collect()
}
