//! `seine log replay`: sends a log's queries to a server again.
//!
//! ```text
//! reader   inputs → entries that the filter lets through → jobs, in the order in which they began
//! pace     jobs → connections, at the log's own pace or as fast as answered
//! sender   a job → the server → time and reply
//! tallied  replies → summary, counts, a file of results; all connections share it
//! signals  Ctrl-C → the report of what was done
//! ```

mod pace;
mod reader;
mod sender;
mod signals;
mod tallied;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use client::Client;
use study::log::document::document;
use study::log::replay::{Cell, grid, report};
use study::log::source::ServerRule;

use super::options::Options;
use super::{inputs, options};
use crate::output::{Exit, print_error, refuse};
use crate::report_output::{self, Output};
use crate::sql_client::login;
use sender::Target;
use tallied::Tallied;

/// Most connections of a replay.
const CONNECTIONS_MAX: usize = 256;

/// Connections of a log whose lines do not name theirs, at its own pace: some of them wait for slow answers.
const CONNECTIONS_OF_PLAIN: usize = 8;

/// The verb's command line.
pub(super) fn command() -> Command {
    let command = Command::new("replay")
        .about("Send a log's queries to a server again, and report how it answered.")
        .long_about(
            "Send a log's queries to a server again: at the log's own pace over its own connections, at --speed times that pace,\n\
             or --fast, as fast as answered. Ends in the report of `seine log report` over what was measured here.\n\n\
             Only SELECT and CALL PQ are sent; statements that failed or are cut are not. A plain line becomes the SELECT that it\n\
             means, without values that it does not tell. The report counts each of these. Ctrl-C ends in the report, too.\n\
             Exit status 0: reported; 1: no server, a lost one, or a log without a query.",
        )
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .num_args(1..)
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Logs, one after the other; - is standard input."),
        )
        .args(login());
    paces(command)
        .arg(
            Arg::new("http")
                .long("http")
                .value_name("HOST:PORT")
                .help("Address of the HTTP door, for the JSON requests of the log."),
        )
        .arg(
            Arg::new("results")
                .long("results")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Write the replies for `seine bench compare`; asks for the rows found after each query."),
        )
        .args(options::filters())
        .args(options::shown())
        .args(report_output::forms())
}

/// Flags that say when the queries are sent, and over how many connections.
fn paces(command: Command) -> Command {
    let numbers = |name: &'static str, most: u64| {
        let argument = Arg::new(name).long(name).value_name("N,…");
        argument
            .value_delimiter(',')
            .value_parser(value_parser!(u64).range(1..=most))
    };
    command
        .arg(
            Arg::new("speed")
                .long("speed")
                .value_name("TIMES")
                .default_value("1")
                .value_parser(speed)
                .help("Multiple of the log's own pace, such as 4 or 0.5."),
        )
        .arg(
            Arg::new("fast")
                .long("fast")
                .action(clap::ArgAction::SetTrue)
                .conflicts_with("speed")
                .help("Each connection sends its next query when it has the answer."),
        )
        .arg(
            numbers("clients", CONNECTIONS_MAX as u64)
                .help("Connections, instead of the log's own; several with commas run in turn, --fast."),
        )
        .arg(
            numbers("parts", 4_096)
                .help("Most threads of a search, by SET GLOBAL max_threads_per_query, which is put back afterwards; --fast."),
        )
}

fn speed(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|speed| (0.001..=100_000.0).contains(speed));
    number.ok_or_else(|| "a speed is a number from 0.001 to 100000".to_owned())
}

/// How the queries of one run are sent.
#[derive(Clone, Copy)]
struct Way {
    /// Multiple of the log's pace; `None`: as fast as answered.
    speed: Option<f64>,
    /// Connections; `None`: those of the log.
    clients: Option<usize>,
    /// Most threads of a search; `None`: the server's choice.
    parts: Option<u64>,
}

/// The whole replay.
struct Replay {
    files: Vec<PathBuf>,
    options: Options,
    target: Target,
    results: Option<PathBuf>,
}

/// Runs the verb.
pub(super) fn run(matches: &ArgMatches) -> Exit {
    let ways = ways(matches);
    let files: Vec<PathBuf> = matches
        .get_many("files")
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let results = matches.get_one::<PathBuf>("results").cloned();
    if ways.len() > 1 && results.is_some() {
        return Ok(refuse(
            "--results has the replies of one run: give --clients and --parts one number each",
        ));
    }
    if ways.len() > 1 && files.iter().any(|file| file == Path::new("-")) {
        return Ok(refuse(
            "standard input is read once, and several runs need it again: name a file",
        ));
    }
    let options = match Options::of_matches(matches) {
        Ok(options) => options,
        Err(message) => return Ok(refuse(&message)),
    };
    let output = Output::of_matches(matches)?;
    let replay = Replay {
        files,
        options,
        target: Target::of_matches(matches),
        results,
    };
    signals::watch();
    let mut best: Option<Tallied> = None;
    let mut cells = Vec::new();
    for way in &ways {
        if signals::is_asked() {
            break;
        }
        let tallied = replay.once(*way)?;
        cells.push(cell(way, &tallied));
        if best
            .as_ref()
            .is_none_or(|best| best.rate() < tallied.rate())
        {
            best = Some(tallied);
        }
    }
    let Some(tallied) = best else {
        return Err("ended before the first query".into());
    };
    let mut document = document(&tallied.summary, &tallied.inputs, &replay.options.document);
    report(&mut document, &tallied.summary, &tallied.told);
    if ways.len() > 1 {
        grid(&mut document, &cells);
    }
    if signals::is_asked() {
        let note = "Ended by a signal: the report has what was done until then.";
        document.notes.insert(0, note.to_owned());
    }
    output.write(&document)?;
    match tallied.ended {
        Some(why) => {
            print_error(format_args!("the replay ended early: {why}"));
            Ok(ExitCode::FAILURE)
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Each combination of clients and parts. Parts alone, or more than one number, mean as fast as answered.
fn ways(matches: &ArgMatches) -> Vec<Way> {
    let numbers = |name: &str| -> Vec<Option<u64>> {
        match matches.get_many::<u64>(name) {
            Some(numbers) => numbers.copied().map(Some).collect(),
            None => vec![None],
        }
    };
    let (clients, parts) = (numbers("clients"), numbers("parts"));
    let is_fast = matches.get_flag("fast") || clients.len() > 1 || parts != [None];
    let speed = matches.get_one::<f64>("speed").copied().unwrap_or(1.0);
    let of = |clients: Option<u64>, parts: Option<u64>| Way {
        speed: (!is_fast).then_some(speed),
        clients: clients.and_then(|clients| usize::try_from(clients).ok()),
        parts,
    };
    let each = |clients: Option<u64>| parts.iter().map(move |parts| of(clients, *parts));
    clients.iter().flat_map(|clients| each(*clients)).collect()
}

fn cell(way: &Way, tallied: &Tallied) -> Cell {
    Cell {
        clients: way.clients.unwrap_or(1) as u64,
        parts: way.parts,
        times: tallied.summary.times(),
        sent: tallied.told.sent,
        failed: tallied.summary.counts().failed,
        elapsed_us: tallied.told.elapsed_us,
    }
}

impl Replay {
    /// Sends the whole log once.
    ///
    /// # Errors
    /// The server cannot be reached, a file cannot be read or written, or the log has no query that may be sent.
    fn once(&self, way: Way) -> Result<Tallied, String> {
        let opened = inputs::open(&self.files, &ServerRule::FileName)?;
        let mut control = self
            .target
            .connect()
            .map_err(|error| format!("{}: {error}", self.target.addr))?;
        let mut tallied = Tallied::new(self.results.as_deref())?;
        let parts_before = match way.parts {
            Some(parts) => Some(set_parts(&mut control, &parts.to_string())?),
            None => None,
        };
        pace::run(opened, &self.options, &self.target, way, &mut tallied);
        if let Some(before) = parts_before {
            set_parts(&mut control, &before)?;
        }
        tallied.finish()?;
        if tallied.told.sent == 0 && !signals::is_asked() && tallied.ended.is_none() {
            return Err(nothing(&tallied));
        }
        Ok(tallied)
    }
}

/// Sets the most threads of a search, and gives what the server had before.
fn set_parts(client: &mut Client, parts: &str) -> Result<String, String> {
    let mut done = |statement: &str| {
        let done = client.query(statement);
        done.map_err(|error| format!("--parts: {statement}: {error}"))
    };
    let before = done("SELECT @@GLOBAL.max_threads_per_query")?;
    done(&format!("SET GLOBAL max_threads_per_query = {parts}"))?;
    let cell = before.rows.first().and_then(|row| row.first()?.as_deref());
    cell.map(|cell| String::from_utf8_lossy(cell).into_owned())
        .ok_or_else(|| "--parts: the server does not tell max_threads_per_query".to_owned())
}

/// Why no query was sent.
fn nothing(tallied: &Tallied) -> String {
    let told = &tallied.told;
    let reasons = told.skipped.iter();
    let reasons = reasons.map(|(reason, count)| (*count, reason.texts().1));
    let more = [
        (told.bodies_skipped, "JSON requests: give --http"),
        (
            told.outside,
            "outside of --from, --to, --index and --server-only",
        ),
        (told.unknown, "lines of unknown form"),
    ];
    let reasons = reasons.chain(more).filter(|(count, _)| *count > 0);
    let reasons: Vec<String> = reasons
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match reasons.is_empty() {
        true => "the log has no query".to_owned(),
        false => format!("the log has no query to send: {}", reasons.join("; ")),
    }
}
