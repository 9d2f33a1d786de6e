//! `seine bench queue`: sends messages through queues of Seine and of peers, over their protocols.
//!
//! One thread drives all connections: the load shares the machine with the server and must cost it little.

mod account;
mod beanstalk;
mod clients;
mod consume;
mod definition;
mod latency;
mod link;
mod meter;
mod mixed;
mod nats;
mod payload;
mod postgres;
mod puts;
mod redis;
mod sql;
mod stream;
mod tables;
mod takes;

use std::{path::PathBuf, sync::Arc, time::Duration};

use definition::{Kind, Test};
use link::Link;

use crate::{
    Batch, Effort, Server,
    device::{Device, Paired},
    error::{Error, Result},
    outcome::{Cell, Outcome},
    progress::Progress,
    runs::Run,
    workload::{Post, posts},
};

pub use link::Door;

/// A server that takes part, and the protocol of its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    /// Name in the figures.
    pub name: String,
    /// Protocol of its queue.
    pub door: Door,
    /// Address and login. The benchmark creates and drops the tables `q4m_t`, `q4m_t2` and `bench_load` of a MySQL server and
    /// `q4m_t` of a PostgreSQL. It empties the stream `q` of a Redis, the stream `Q` of a NATS and the default tube of a
    /// beanstalkd.
    pub server: Server,
}

impl Contender {
    async fn link(&self, number: u32) -> Result<Link> {
        Link::connect(self.door, &self.server, number).await
    }
}

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// Names of tests, or beginnings of names: `multirw` is one test, `puts` means all that begin so. Empty: the usual tests.
    pub tests: Vec<String>,
    /// The servers. They are measured in turns; ratios are to the first.
    pub contenders: Vec<Contender>,
    /// Count of connections; `None`: the definition's.
    pub clients: Option<u32>,
    /// Count of messages of a test; `None`: the definition's.
    pub messages: Option<u32>,
    /// Bytes of a second column; `None`: the definition's.
    pub length: Option<usize>,
    /// The posts that `mixed` loads, as unpacked NDJSON.
    pub posts: Vec<u8>,
    /// A directory on the servers' disk, for measuring the disk.
    pub data: Option<PathBuf>,
    /// Text that is appended to each line of the CSV.
    pub tag: Option<String>,
    /// Count and length of runs.
    pub effort: Effort,
}

/// Size of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    clients: u32,
    messages: u32,
    rows: u32,
    length: usize,
}

/// The names of the tests.
///
/// # Errors
/// [`Error::BadDefinition`], which a test rules out.
pub fn names() -> Result<Vec<String>> {
    Ok(definition::all()?
        .into_iter()
        .map(|test| test.name)
        .collect())
}

/// Runs the benchmark. Blocks for runs × seconds × contenders × tests, and for the time of filling the queues.
///
/// # Errors
/// Before anything is measured: bad options. [`Error::WrongAnswer`]: messages were lost or came twice. [`Error::Peer`]: an
/// unexpected answer. An error of one contender ends the benchmark for all.
pub fn run(options: &Options) -> Result<Outcome> {
    options.effort.check()?;
    if options.contenders.is_empty() {
        return Err(Error::BadOption("there is no server to measure"));
    }
    let tests = sized(options)?;
    let posts = Arc::new(match tests.iter().any(|test| test.kind == Kind::Mixed) {
        true => posts(&options.posts)?,
        false => Vec::new(),
    });
    let mut notes = vec![match options.data.as_deref().map(Device::measure) {
        Some(device) => device.to_string(),
        None => "disk not known: give a directory on it to measure it".to_owned(),
    }];
    notes.push("all clients are connections of one thread on this machine".to_owned());
    for contender in &options.contenders {
        let Contender { name, door, server } = contender;
        notes.push(format!("{name}: {door} at {}", server.addr));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut cells = Vec::new();
    for test in &tests {
        cells.extend(measure(options, test, &posts, &runtime)?);
    }
    Ok(Outcome {
        name: "queue".to_owned(),
        element: "msgs",
        notes,
        tag: options.tag.clone(),
        cells,
    })
}

/// The chosen tests, in the chosen sizes.
fn sized(options: &Options) -> Result<Vec<Test>> {
    let mut tests = definition::named(&options.tests)?;
    for test in &mut tests {
        let of_q4m = matches!(
            test.kind,
            Kind::Multireader | Kind::Multirw | Kind::Multiwait
        );
        if of_q4m || test.kind == Kind::Waiters {
            test.clients = options.clients.unwrap_or(test.clients);
        }
        if of_q4m {
            test.messages = options.messages.unwrap_or(test.messages);
            test.length = options.length.unwrap_or(test.length);
        }
        if test.clients == 0 || (of_q4m && test.messages < test.clients) {
            return Err(Error::BadOption(
                "a client has at least one message, and there is at least one client",
            ));
        }
    }
    Ok(tests)
}

/// Measures the cells of a test. The contenders take turns; the runs of a turn are compared with each other.
fn measure(
    options: &Options,
    test: &Test,
    posts: &Arc<Vec<Post>>,
    runtime: &tokio::runtime::Runtime,
) -> Result<Vec<Cell>> {
    let able = |contender: &&Contender| match test.kind {
        Kind::Takes => contender.door == Door::Call,
        Kind::Mixed => contender.door.is_q4m(),
        Kind::Multiwait => contender.door != Door::Commit, // values come more than once, ids must not
        _ => test.rows == 1 || contender.door.is_sql(),
    };
    let contenders: Vec<&Contender> = options.contenders.iter().filter(able).collect();
    let mut progress = Progress::new(options.effort.progress);
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); contenders.len()];
    let turns = options.effort.runs as usize * contenders.len();
    for turn in 0..turns {
        let at = turn % contenders.len();
        let contender = contenders[at];
        progress.show(
            &format!("{} {}", test.name, contender.name),
            turn as f64 / turns as f64,
        );
        let paired = Paired::begin(options.data.as_deref());
        let turn = turn_of(contender, test, posts, options.effort.run_time());
        let mut run = runtime
            .block_on(turn)
            .map_err(|error| error.of(&contender.name))?;
        paired.end(&mut run);
        runs[at].push(run);
    }
    let ratios: Vec<f64> = runs.iter().map(|own| ratio(own, &runs[0])).collect();
    let cells = contenders.iter().zip(runs).zip(ratios);
    Ok(cells
        .map(|((contender, mut runs), ratio)| {
            runs.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
            let mut cell = Cell::new(test.clients, Batch::Of(test.rows), &runs);
            cell.name = format!("{} {}", test.name, contender.name);
            cell.facts.push(("x first", ratio));
            cell
        })
        .collect())
}

/// The median of the ratios of rates, run by run in the order made.
fn ratio(own: &[Run], first: &[Run]) -> f64 {
    let mut ratios: Vec<f64> = own
        .iter()
        .zip(first)
        .map(|(own, first)| own.rate() / first.rate().max(1e-9))
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(0.0)
}

/// One run of one contender.
async fn turn_of(
    contender: &Contender,
    test: &Test,
    posts: &Arc<Vec<Post>>,
    time: Duration,
) -> Result<Run> {
    let shape = test.shape();
    match test.kind {
        Kind::Multireader => consume::run(consume::Kind::Multireader, contender, shape, time).await,
        Kind::Multirw => consume::run(consume::Kind::Multirw, contender, shape, time).await,
        Kind::Multiwait => consume::run(consume::Kind::Multiwait, contender, shape, time).await,
        Kind::Puts => puts::run(contender, shape, time).await,
        Kind::Takes => takes::run(contender, shape, time).await,
        Kind::Latency => latency::one(contender, time).await,
        Kind::Waiters => latency::many(contender, shape, time).await,
        Kind::Mixed => mixed::run(contender, posts, time).await,
    }
}
