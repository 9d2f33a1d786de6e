//! `seine bench collect`: messages into a collector, over Thrift as Scribe's clients send them, or as bare lines over TCP.
//!
//! Each message has its run, connection and number in front, so the files of the collector tell whether each message came, once
//! and in order for its connection:
//!
//! ```text
//! 00000003 0007 000000000042 xxxxxxxx…
//! run 3, connection 7, message 42 of that connection
//! ```
//!
//! A collector that answers is timed until its last answer. A collector of lines does not answer, so it is timed until its files
//! have all messages. The fact `in files/s` is the latter for both. One thread drives all connections.
//!
//! `anonymous MiB` and `threads` are those of the collector's process at the last answer.

mod catch_up;
mod client;
mod files;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::task::JoinSet;

use self::catch_up::{CatchUp, Sample};
use self::client::Client;
use self::files::{Lengths, check};
use crate::device::{Device, Paired};
use crate::error::{Error, Result};
use crate::outcome::{Cell, Outcome};
use crate::process::Process;
use crate::progress::Progress;
use crate::runs::Run;
use crate::{Batch, Effort};

/// Bytes in front of a message: run, connection and number with a space behind each.
const FRONT_BYTES: usize = 8 + 1 + 4 + 1 + 12 + 1;

/// Time between two looks at files that are to stand still for a while.
const SAMPLED_EVERY: Duration = Duration::from_millis(50);

/// How a collector takes messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Calls of Scribe's `Log`.
    Scribe,
    /// Lines without an answer, as syslog servers take them.
    Lines,
    /// Syslog messages of RFC 5424 behind their lengths, without an answer.
    Octets,
}

impl Door {
    /// Whether each call is answered.
    fn answers(self) -> bool {
        self == Door::Scribe
    }

    /// Bytes of a message, as its file has it, before those of the benchmark.
    fn header(self) -> &'static str {
        match self {
            Door::Scribe | Door::Lines => "",
            Door::Octets => "2003-10-11T22:14:15.003Z host bench 7 - - ",
        }
    }
}

impl FromStr for Door {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Door, String> {
        match text {
            "scribe" => Ok(Door::Scribe),
            "lines" => Ok(Door::Lines),
            "octets" => Ok(Door::Octets),
            _ => Err(format!("{text:?} is not scribe, lines or octets")),
        }
    }
}

/// A collector that takes part.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Name in the figures.
    pub name: String,
    /// How it takes messages.
    pub door: Door,
    /// `host:port`.
    pub addr: String,
    /// Folder whose files, below it too, get the messages: nothing but these, in the order of the files' names.
    pub files: PathBuf,
}

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// The collectors. They are measured in turns; ratios are to the first.
    pub contenders: Vec<Contender>,
    /// Category of all messages, or the beginning of their names.
    pub category: String,
    /// Number of categories; the calls of a connection go round them. Above 1, each name ends in a number of six digits.
    pub categories: u32,
    /// The files stand still for at least this long in each run, because the server that writes them is away; then the time is
    /// measured that they take to catch up.
    pub away: Option<Duration>,
    /// Numbers of messages in a call.
    pub per_call: Vec<u32>,
    /// Numbers of connections.
    pub connections: Vec<u32>,
    /// Bytes of a message, its line feed included.
    pub length: usize,
    /// Messages a second of all connections; `None`: as fast as the collector answers.
    pub rate: Option<u64>,
    /// A directory on the collectors' disk, for measuring the disk.
    pub data: Option<PathBuf>,
    /// Text that is appended to each line of the CSV.
    pub tag: Option<String>,
    /// Count and length of runs.
    pub effort: Effort,
}

/// One cell of the grid.
#[derive(Clone, Copy)]
struct Shape {
    connections: u32,
    per_call: u32,
    categories: u32,
    length: usize,
    rate: Option<u64>,
}

impl Shape {
    /// Number of the category of a connection's call.
    fn category(self, connection: u32, call: u64) -> u64 {
        (u64::from(connection) + call) % u64::from(self.categories)
    }

    /// The first call of a connection that has this category.
    fn first_call(self, connection: u32, category: u64) -> u64 {
        let categories = u64::from(self.categories);
        (category + categories - u64::from(connection) % categories) % categories
    }
}

/// Runs the benchmark. Blocks for runs × seconds × collectors × cells, and for the time until the files have all messages.
///
/// # Errors
/// [`Error::WrongAnswer`]: messages were lost, came twice or out of order. [`Error::Peer`]: an unexpected answer.
pub fn run(options: &Options) -> Result<Outcome> {
    options.effort.check()?;
    let headers = options.contenders.iter().map(|one| one.door.header().len());
    if options.length <= FRONT_BYTES + headers.max().unwrap_or(0) {
        return Err(Error::BadOption(
            "a message has at least 29 bytes, and 71 over syslog",
        ));
    }
    if options.categories == 0 || options.per_call.contains(&0) {
        return Err(Error::BadOption(
            "categories and messages a call are at least 1",
        ));
    }
    let mut notes = vec![match options.data.as_deref().map(Device::measure) {
        Some(device) => device.to_string(),
        None => "disk not known: give a directory on it to measure it".to_owned(),
    }];
    for contender in &options.contenders {
        notes.push(format!(
            "{}: {} at {}",
            contender.name, contender.door, contender.addr
        ));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut cells = Vec::new();
    let mut number = 0;
    for &connections in &options.connections {
        for &per_call in &options.per_call {
            let shape = Shape {
                connections,
                per_call,
                categories: options.categories,
                length: options.length,
                rate: options.rate,
            };
            cells.extend(measure(options, shape, &mut number, &runtime)?);
        }
    }
    Ok(Outcome {
        name: "collect".to_owned(),
        element: "msgs",
        notes,
        tag: options.tag.clone(),
        cells,
    })
}

/// Measures a cell of each collector; they take turns.
fn measure(
    options: &Options,
    shape: Shape,
    number: &mut u32,
    runtime: &tokio::runtime::Runtime,
) -> Result<Vec<Cell>> {
    let mut progress = Progress::new(options.effort.progress);
    let contenders = &options.contenders;
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); contenders.len()];
    let turns = options.effort.runs as usize * contenders.len();
    for turn in 0..turns {
        let contender = &contenders[turn % contenders.len()];
        let doing = format!(
            "{} × {} {}",
            shape.connections, shape.per_call, contender.name
        );
        progress.show(&doing, turn as f64 / turns as f64);
        *number += 1;
        let paired = Paired::begin(options.data.as_deref());
        let one = one_run(contender, options, shape, *number);
        let mut run = runtime
            .block_on(one)
            .map_err(|error| error.of(&contender.name))?;
        paired.end(&mut run);
        runs[turn % contenders.len()].push(run);
    }
    let in_files = |run: &Run| {
        run.facts
            .iter()
            .find(|(name, _)| *name == IN_FILES)
            .map_or(0.0, |(_, rate)| *rate)
    };
    let mut cells = Vec::new();
    for (place, contender) in contenders.iter().enumerate() {
        let mut ratios: Vec<f64> = runs[place]
            .iter()
            .zip(&runs[0])
            .map(|(own, first)| in_files(own) / in_files(first))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let mut own = runs[place].clone();
        own.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
        let mut cell = Cell::new(shape.connections, Batch::Of(shape.per_call), &own);
        cell.name.clone_from(&contender.name);
        cell.facts
            .push(("in files x first", ratios[ratios.len() / 2]));
        cells.push(cell);
    }
    Ok(cells)
}

const IN_FILES: &str = "in files/s";

async fn one_run(
    contender: &Contender,
    options: &Options,
    shape: Shape,
    number: u32,
) -> Result<Run> {
    let files = &contender.files;
    let before = Lengths::of(files)?;
    let acknowledged = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let end = begun + options.effort.run_time();
    let mut clients = JoinSet::new();
    for connection in 0..shape.connections {
        let stream = TcpStream::connect(&contender.addr).await?;
        stream.set_nodelay(true)?;
        let client = Client::new(
            stream,
            contender.door,
            &options.category,
            shape,
            number,
            connection,
            acknowledged.clone(),
        )?;
        clients.spawn(client.send_until(end));
    }
    let mut samples = Vec::new();
    while options.away.is_some() && Instant::now() < end {
        samples.push(Sample {
            at: begun.elapsed(),
            acknowledged: acknowledged.load(Ordering::Relaxed),
            in_files: (Lengths::of(files)?.total() - before.total()) / shape.length as u64,
        });
        tokio::time::sleep(SAMPLED_EVERY).await;
    }
    let mut run = Run::default();
    let (mut sent, mut later) = (vec![0; shape.connections as usize], 0);
    while let Some(ended) = clients.join_next().await {
        let ended = ended.map_err(|error| Error::Peer(error.to_string()))??;
        sent[ended.connection as usize] = ended.sent;
        later += ended.later;
        run.latencies.merge(&ended.latencies);
    }
    run.elapsed = begun.elapsed();
    run.elements = sent.iter().sum();
    let of_process = process_facts(&contender.addr);
    let bytes = run.elements * shape.length as u64;
    let delivered = before.grown_by(files, bytes, begun).await?;
    run.facts
        .push((IN_FILES, run.elements as f64 / delivered.as_secs_f64()));
    run.facts.push(("try later", later as f64));
    run.facts.extend(of_process);
    if !contender.door.answers() {
        run.elapsed = delivered;
    }
    let header = contender.door.header().len();
    let repeated = check(&before, files, header, shape, number, &sent)?;
    match options.away {
        None => Error::unless_equal("messages that came twice", 0, repeated)?,
        Some(away) => {
            run.facts.extend(CatchUp::of(&samples, away)?.facts());
            run.facts.push(("repeated", repeated as f64));
        }
    }
    Ok(run)
}

/// Memory and threads of the process that listens on an address; none if it belongs to another machine or user.
fn process_facts(addr: &str) -> Vec<(&'static str, f64)> {
    let process = Process::listening(addr);
    let anonymous = process.as_ref().and_then(Process::anonymous_bytes);
    let threads = process.as_ref().and_then(Process::threads);
    let facts = [
        ("anonymous MiB", anonymous.map(|bytes| bytes >> 20)),
        ("threads", threads),
    ];
    let known = |(name, value): (&'static str, Option<u64>)| Some((name, value? as f64));
    facts.into_iter().filter_map(known).collect()
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Door::Scribe => "scribe",
            Door::Lines => "lines",
            Door::Octets => "octets",
        })
    }
}
