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

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use wire::scribe::{Dialect, MessageReader, Method, Reply, ResultCode, Transport};

use crate::device::{Device, Paired};
use crate::error::{Error, Result};
use crate::latency::Latencies;
use crate::outcome::{Cell, Outcome};
use crate::progress::Progress;
use crate::runs::Run;
use crate::{Batch, Effort};

/// Bytes in front of a message: run, connection and number with a space behind each.
const FRONT_BYTES: usize = 8 + 1 + 4 + 1 + 12 + 1;

/// Longest wait for files that do not grow any more.
const SETTLES_WITHIN: Duration = Duration::from_secs(30);

/// Pause after TRY_LATER.
const LATER: Duration = Duration::from_millis(2);

/// How a collector takes messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Calls of Scribe's `Log`.
    Scribe,
    /// Lines without an answer, as syslog servers take them.
    Lines,
}

impl FromStr for Door {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Door, String> {
        match text {
            "scribe" => Ok(Door::Scribe),
            "lines" => Ok(Door::Lines),
            _ => Err(format!("{text:?} is not scribe or lines")),
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
    /// Category of all messages.
    pub category: String,
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
    length: usize,
    rate: Option<u64>,
}

/// Runs the benchmark. Blocks for runs × seconds × collectors × cells, and for the time until the files have all messages.
///
/// # Errors
/// [`Error::WrongAnswer`]: messages were lost, came twice or out of order. [`Error::Peer`]: an unexpected answer.
pub fn run(options: &Options) -> Result<Outcome> {
    options.effort.check()?;
    if options.length <= FRONT_BYTES {
        return Err(Error::BadOption("a message has at least 29 bytes"));
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
        let one = one_run(
            contender,
            &options.category,
            shape,
            *number,
            options.effort.run_time(),
        );
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
    category: &str,
    shape: Shape,
    number: u32,
    time: Duration,
) -> Result<Run> {
    let before = Lengths::of(&contender.files)?;
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for connection in 0..shape.connections {
        let stream = TcpStream::connect(&contender.addr).await?;
        stream.set_nodelay(true)?;
        let client = Client::new(stream, contender.door, category, shape, number, connection)?;
        clients.spawn(client.send_until(begun + time));
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
    let bytes = run.elements * shape.length as u64;
    let delivered = before.grown_by(&contender.files, bytes, begun).await?;
    run.facts
        .push((IN_FILES, run.elements as f64 / delivered.as_secs_f64()));
    run.facts.push(("try later", later as f64));
    if contender.door == Door::Lines {
        run.elapsed = delivered;
    }
    check(&before, &contender.files, shape.length, number, &sent)?;
    Ok(run)
}

/// Result of a connection.
struct Ended {
    connection: u32,
    sent: u64,
    later: u64,
    latencies: Latencies,
}

/// One connection, with the bytes of its next call.
struct Client {
    stream: TcpStream,
    door: Door,
    shape: Shape,
    connection: u32,
    call: Vec<u8>,
    /// Where the number of each message stands in `call`.
    places: Vec<usize>,
    reader: MessageReader,
}

impl Client {
    fn new(
        stream: TcpStream,
        door: Door,
        category: &str,
        shape: Shape,
        run: u32,
        connection: u32,
    ) -> Result<Client> {
        let mut message = format!("{run:08} {connection:04} {:012} ", 0).into_bytes();
        message.resize(shape.length - 1, b'x');
        message.push(b'\n');
        let mut call = Vec::new();
        let messages = std::iter::repeat_n(&message[..], shape.per_call as usize);
        match door {
            Door::Scribe => Dialect::SCRIBE
                .put_log(
                    0,
                    messages.map(|message| (category.as_bytes(), message)),
                    &mut call,
                )
                .map_err(|error| Error::Peer(error.to_string()))?,
            Door::Lines => messages.for_each(|message| call.extend_from_slice(message)),
        }
        // The messages are equal, so the distance between two is that of the first two ends.
        let front = message[..FRONT_BYTES].to_vec();
        let mut places = Vec::new();
        let mut from = 0;
        while let Some(found) = call
            .get(from..)
            .and_then(|rest| rest.windows(FRONT_BYTES).position(|bytes| bytes == front))
        {
            places.push(from + found + 14);
            from += found + shape.length;
        }
        Ok(Client {
            stream,
            door,
            shape,
            connection,
            call,
            places,
            reader: MessageReader::of(Transport::Framed, 1 << 20),
        })
    }

    async fn send_until(mut self, end: Instant) -> Result<Ended> {
        let mut ended = Ended {
            connection: self.connection,
            sent: 0,
            later: 0,
            latencies: Latencies::default(),
        };
        let begun = Instant::now();
        let rate = self
            .shape
            .rate
            .map(|rate| rate as f64 / f64::from(self.shape.connections));
        while Instant::now() < end {
            if let Some(rate) = rate {
                let due = begun + Duration::from_secs_f64(ended.sent as f64 / rate);
                tokio::time::sleep_until(due.into()).await;
            }
            for (number, place) in (ended.sent..).zip(&self.places) {
                put_digits(&mut self.call[*place..*place + 12], number);
            }
            let asked = Instant::now();
            self.stream.write_all(&self.call).await?;
            if self.door == Door::Scribe && self.answer().await? == ResultCode::TryLater {
                ended.later += 1;
                tokio::time::sleep(LATER).await;
                continue;
            }
            ended.latencies.add(asked.elapsed());
            ended.sent += u64::from(self.shape.per_call);
        }
        self.stream.shutdown().await?;
        Ok(ended)
    }

    async fn answer(&mut self) -> Result<ResultCode> {
        let peer = |error: String| Error::Peer(error);
        loop {
            if self
                .reader
                .advance()
                .map_err(|error| peer(error.to_string()))?
            {
                break;
            }
            let count = self.stream.read(self.reader.spare()).await?;
            if count == 0 {
                return Err(peer("the collector closed the connection".to_owned()));
            }
            self.reader.filled(count);
        }
        match Reply::decode(self.reader.message(), Method::Log, 0)
            .map_err(|error| peer(error.to_string()))?
        {
            Reply::Log(code) => Ok(code),
            other => Err(peer(format!("Log was answered by {other:?}"))),
        }
    }
}

/// Writes a number with leading zeroes.
fn put_digits(digits: &mut [u8], mut number: u64) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The files of a collector, sorted by path, with their lengths.
struct Lengths(Vec<(PathBuf, u64)>);

impl Lengths {
    fn of(folder: &Path) -> Result<Lengths> {
        let mut files = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries {
                let entry = entry?;
                let kind = entry.file_type()?;
                match kind.is_dir() {
                    true => folders.push(entry.path()),
                    false if kind.is_file() => files.push((entry.path(), entry.metadata()?.len())),
                    false => {}
                }
            }
        }
        files.sort();
        Ok(Lengths(files))
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|(_, length)| length).sum()
    }

    fn before(&self, path: &Path) -> u64 {
        self.0
            .iter()
            .find(|(known, _)| known == path)
            .map_or(0, |(_, length)| *length)
    }

    /// Waits until the files have grown by `bytes`; gives the time since `begun`.
    async fn grown_by(&self, folder: &Path, bytes: u64, begun: Instant) -> Result<Duration> {
        let wanted = self.total() + bytes;
        let (mut last, mut since) = (0, Instant::now());
        loop {
            let total = Lengths::of(folder)?.total();
            if total >= wanted {
                return Ok(begun.elapsed());
            }
            if total > last {
                (last, since) = (total, Instant::now());
            }
            if since.elapsed() > SETTLES_WITHIN {
                return Err(Error::WrongAnswer {
                    what: "bytes in the collector's files".to_owned(),
                    expected: wanted,
                    counted: total,
                });
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Checks that the files have each message of the run once, in order for each connection. Lines without the front of the run
/// are passed over.
fn check(before: &Lengths, folder: &Path, length: usize, run: u32, sent: &[u64]) -> Result<()> {
    let front = format!("{run:08} ");
    let mut next = vec![0; sent.len()];
    for (path, _) in Lengths::of(folder)?.0 {
        let mut file = File::open(&path)?;
        file.seek(SeekFrom::Start(before.before(&path)))?;
        let mut buffer = vec![0; length << 10];
        let mut held = 0;
        loop {
            let count = file.read(&mut buffer[held..])?;
            held += count;
            let mut from = 0;
            while let Some(end) = buffer[from..held].iter().position(|byte| *byte == b'\n') {
                let line = &buffer[from..from + end];
                from += end + 1;
                if let Some(rest) = line.strip_prefix(front.as_bytes()) {
                    note(rest, &mut next)?;
                }
            }
            buffer.copy_within(from..held, 0);
            held -= from;
            if count == 0 {
                break;
            }
        }
    }
    for (next, sent) in next.iter().zip(sent) {
        Error::unless_equal("messages of a connection in the files", *sent, *next)?;
    }
    Ok(())
}

/// Notes the message of a connection; it must be the next one.
fn note(rest: &[u8], next: &mut [u64]) -> Result<()> {
    let number = |bytes: Option<&[u8]>| {
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.and_then(|text| text.parse::<u64>().ok())
            .unwrap_or(u64::MAX)
    };
    let connection = number(rest.get(..4));
    let found = number(rest.get(5..17));
    match next.get_mut(usize::try_from(connection).unwrap_or(usize::MAX)) {
        Some(next) if *next == found => {
            *next += 1;
            Ok(())
        }
        next => Err(Error::WrongAnswer {
            what: format!("the next message of connection {connection}"),
            expected: next.map_or(0, |next| *next),
            counted: found,
        }),
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Door::Scribe => "scribe",
            Door::Lines => "lines",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_out_of_order_or_twice_is_a_wrong_answer() {
        let mut next = vec![0, 0];
        for line in [
            "0000 000000000000 x",
            "0001 000000000000 x",
            "0000 000000000001 x",
        ] {
            assert!(note(line.as_bytes(), &mut next).is_ok());
        }
        assert_eq!(next, [2, 1]);
        for line in [
            "0000 000000000001 x",
            "0001 000000000002 x",
            "0002 000000000000 x",
            "junk",
        ] {
            assert!(note(line.as_bytes(), &mut next.clone()).is_err(), "{line}");
        }
    }

    #[test]
    fn digits_are_written_with_leading_zeroes() {
        let mut digits = *b"xxxxxx";
        put_digits(&mut digits, 420);
        assert_eq!(&digits, b"000420");
    }
}
