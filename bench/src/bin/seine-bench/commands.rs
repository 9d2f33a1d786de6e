//! The command lines of the benchmarks. The library `bench` measures and checks the answers.

mod compare;
mod index;
mod log_lines;
mod search;
mod select;
mod statements;
mod touch;

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use bench::collect;
use bench::queue::{self, Contender};
use bench::{Batch, Effort, Outcome, Server, insert, percolate};
use clap::{Arg, ArgAction, ArgMatches, Command};
use ruzstd::decoding::StreamingDecoder;

use crate::bundle;
use crate::login::{addr, user};
use crate::output::{Exit, print};

/// The whole command line.
pub(crate) fn command() -> Command {
    let percolate = percolate_command();
    let insert = Command::new("insert")
        .about("Rows that are durable when acknowledged, into a running server.")
        .arg(
            Arg::new("definition")
                .value_name("DEFINITION")
                .default_value("selective-10k")
                .help("Definition of the standing queries, for the load that has any."),
        )
        .arg(
            Arg::new("data")
                .long("data")
                .value_name("DIR")
                .help("The server's data directory, to measure its disk."),
        )
        .arg(value("scribe", "HOST:PORT", "Scribe door that the rows go to as messages of the category bench_posts, instead of MySQL."))
        .arg(addr().default_value("127.0.0.1:9306"));
    Command::new("seine-bench")
        .about("Measure, and check the answer: a figure is printed only for a right one.")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .subcommand(shared(percolate))
        .subcommand(shared(insert))
        .subcommand(shared(queue_command()))
        .subcommand(shared(collect_command()))
        .subcommand(shared(search::command()))
        .subcommand(shared(index::command()))
        .subcommand(shared(select::command()))
        .subcommand(shared(statements::command()))
        .subcommand(shared(touch::command()))
        .subcommand(compare::command())
        .subcommand(log_lines::command())
}

fn collect_command() -> Command {
    Command::new("collect")
        .about("Messages into a collector over Thrift, and beside it into others; counts and order are checked in their files.")
        .arg(
            Arg::new("collector")
                .long("collector")
                .value_name("NAME=DOOR@ADDR@FOLDER")
                .action(ArgAction::Append)
                .required(true)
                .help("A collector. DOOR is scribe, lines or octets (syslog); FOLDER holds its files. The others are compared with the first."),
        )
        .arg(Arg::new("category").long("category").default_value("bench").help("Category of all messages, or the beginning of their names."))
        .arg(Arg::new("categories").long("categories").default_value("1").help("Number of categories; each connection sends to them in turn."))
        .arg(list("per-call", "200", "Messages in a call."))
        .arg(list("connections", "8", "Connections."))
        .arg(Arg::new("length").long("length").default_value("100").help("Bytes of a message."))
        .arg(Arg::new("rate").long("rate").help("Messages a second; without it, as fast as the collector answers."))
        .arg(value("away", "SECONDS", "The files do not grow for this long in each run, since the next server is away; measures how fast they catch up."))
        .arg(value("data", "DIR", "A directory on the collectors' disk, to measure it."))
        .arg(value("tag", "TEXT", "A last column of the CSV."))
}

fn run_collect(matches: &ArgMatches) -> Result<Outcome> {
    let mut contenders = Vec::new();
    for written in matches
        .get_many::<String>("collector")
        .into_iter()
        .flatten()
    {
        let parts = written.split_once('=').and_then(|(name, rest)| {
            let (door, rest) = rest.split_once('@')?;
            Some((name, door, rest.split_once('@')?))
        });
        let Some((name, door, (addr, files))) = parts else {
            return Err(format!("{written:?} is not NAME=DOOR@ADDR@FOLDER").into());
        };
        contenders.push(collect::Contender {
            name: name.to_owned(),
            door: number(door)?,
            addr: addr.to_owned(),
            files: PathBuf::from(files),
        });
    }
    Ok(collect::run(&collect::Options {
        contenders,
        category: text(matches, "category").to_owned(),
        categories: number(text(matches, "categories"))?,
        away: matches
            .get_one::<String>("away")
            .map(|written| number(written).map(Duration::from_secs))
            .transpose()?,
        per_call: numbers(matches, "per-call")?,
        connections: numbers(matches, "connections")?,
        length: number(text(matches, "length"))?,
        rate: matches
            .get_one::<String>("rate")
            .map(|written| number(written))
            .transpose()?,
        data: matches.get_one::<String>("data").map(PathBuf::from),
        tag: matches.get_one::<String>("tag").cloned(),
        effort: effort(matches)?,
    })?)
}

fn queue_command() -> Command {
    Command::new("queue")
        .about("Messages through queues: Q4M's three tests and others, in a running server and in peers beside it.")
        .arg(
            Arg::new("tests")
                .value_name("TEST")
                .num_args(0..)
                .help("Which tests; an unknown name lists them."),
        )
        .arg(addr().default_value("127.0.0.1:9306"))
        .arg(
            list("door", "statements,call", "How the server at --addr is asked: statements, call; several with commas.")
                .value_name("DOOR,…"),
        )
        .arg(
            value("beside", "NAME=DOOR@ADDR", "A server beside it, in turns with it; again for more. Doors: statements, call, skip-locked, postgres, redis, nats, beanstalkd.")
                .action(ArgAction::Append),
        )
        .arg(value("concurrency", "N", "Connections of Q4M's tests and of waiters.").env("CONCURRENCY"))
        .arg(value("messages", "N", "Messages of Q4M's tests.").env("MESSAGES"))
        .arg(value("var-length", "BYTES", "A second column of so many bytes in Q4M's tests.").env("VAR_LENGTH"))
        .arg(value("data", "DIR", "A directory on the servers' disk, to measure it."))
        .arg(value("tag", "TEXT", "A last column of the CSV."))
}

/// Options that the study's tool had keep their names: -b, -c, --limit, --from, --csv, --tag.
fn percolate_command() -> Command {
    let shape = Command::new("percolate")
        .about("Posts against standing queries: in this process, or in a server with --addr.")
        .arg(
            Arg::new("definition")
                .value_name("DEFINITION")
                .help("Which workload; an unknown name lists them."),
        )
        .arg(
            list(
                "batch",
                "200",
                "Documents in a call, or auto; several with commas.",
            )
            .short('b'),
        )
        .arg(
            list(
                "clients",
                "1",
                "Threads or connections; several with commas.",
            )
            .short('c'),
        )
        .arg(
            switch(
                "grid",
                "The published grid: batch 1 to 300 and auto, 1, 2 and 8 clients.",
            )
            .conflicts_with_all(["batch", "clients"]),
        );
    let documents = shape
        .arg(value(
            "limit",
            "N",
            "So many documents; more than there are begin again.",
        ))
        .arg(value("from", "N", "The first document, from 1.").default_value("1"))
        .arg(value("tag", "TEXT", "A last column of the CSV."))
        .arg(value("svg", "FILE", "Draw the curves into this file."));
    what_is_measured(documents)
}

/// Arguments for the door, and for measures beside throughput.
fn what_is_measured(percolate: Command) -> Command {
    percolate
        .arg(
            value("door", "DOOR", "How the server at --addr is asked.")
                .value_parser(["mysql", "http-binary", "elasticsearch"])
                .default_value("mysql"),
        )
        .arg(
            value(
                "changes",
                "N",
                "Beside each cell another, while N queries a second are replaced.",
            )
            .conflicts_with("grid"),
        )
        .arg(switch(
            "store",
            "Measure how long it takes to store the queries in the server at --addr.",
        ))
        .arg(value(
            "data",
            "DIR",
            "With --store: the server's data directory, to measure its disk.",
        ))
        .arg(switch(
            "own-count",
            "The server's analysis is its own: its number of pairs need not be ours.",
        ))
        .arg(value(
            "export",
            "DIR",
            "Write the workload as words, for other programs, and measure nothing.",
        ))
        .arg(addr())
}

/// Measures and prints. A wrong answer or an unreachable server gives exit code 1.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    match matches.subcommand() {
        Some(("percolate", matches)) => match matches.get_one::<String>("export") {
            Some(directory) => export(matches, directory),
            None => run_percolate(matches).map(|outcome| print_outcome(&outcome, matches)),
        },
        Some(("compare", matches)) => compare::run(matches),
        Some(("log-lines", matches)) => log_lines::run(matches),
        Some(("search", matches)) => search::run(matches),
        Some(("select", matches)) => select::run(matches)
            .map(|report| print_as(matches, || report.csv(), || report.json(), &report)),
        Some(("index", matches)) => index::run(matches)
            .map(|report| print_as(matches, || report.csv(), || report.json(), &report)),
        Some(("collect", matches)) => {
            run_collect(matches).map(|outcome| print_outcome(&outcome, matches))
        }
        Some(("statements", matches)) => {
            statements::run(matches).map(|outcome| print_outcome(&outcome, matches))
        }
        Some(("touch", matches)) => {
            touch::run(matches).map(|outcome| print_outcome(&outcome, matches))
        }
        Some(("queue", matches)) => {
            run_queue(matches).map(|outcome| print_outcome(&outcome, matches))
        }
        Some(("insert", matches)) => {
            run_insert(matches).map(|outcome| print_outcome(&outcome, matches))
        }
        _ => Err("no such benchmark".into()),
    }?;
    Ok(ExitCode::SUCCESS)
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn run_percolate(matches: &ArgMatches) -> Result<Outcome> {
    let options = percolate_options(matches)?;
    let outcome = match matches.get_flag("store") {
        true => {
            let data = matches.get_one::<String>("data").map(PathBuf::from);
            percolate::store(&options, data.as_deref())?
        }
        false => percolate::run(&options)?,
    };
    if let Some(path) = matches.get_one::<String>("svg") {
        std::fs::write(path, outcome.svg()).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(outcome)
}

/// Writes the workload into files and prints the expected count of pairs.
fn export(matches: &ArgMatches, directory: &str) -> Result<()> {
    let pairs = percolate::export(&percolate_options(matches)?, Path::new(directory))?;
    print(pairs);
    Ok(())
}

fn percolate_options(matches: &ArgMatches) -> Result<percolate::Options> {
    let named = matches.get_one::<String>("definition").cloned();
    let definition = match named {
        Some(name) => name,
        None => percolate::names()?.into_iter().next().unwrap_or_default(),
    };
    let door = number(text(matches, "door"))?;
    let place = match matches.get_one::<String>("addr") {
        Some(_) => percolate::Target::Server(door, server(matches)),
        None => percolate::Target::Within,
    };
    let (batches, concurrencies) = if matches.get_flag("grid") {
        let grid = percolate::GRID_BATCHES.map(Batch::Of);
        let batches = grid.into_iter().chain([Batch::Auto]).collect();
        (batches, percolate::GRID_CLIENTS.to_vec())
    } else {
        (numbers(matches, "batch")?, numbers(matches, "clients")?)
    };
    let given = |name: &str| matches.get_one::<String>(name);
    Ok(percolate::Options {
        definition,
        posts: posts(matches)?,
        from: number(text(matches, "from"))?,
        limit: given("limit").map(|written| number(written)).transpose()?,
        place,
        own_count: matches.get_flag("own-count"),
        batches,
        concurrencies,
        changes: given("changes")
            .map(|written| number(written))
            .transpose()?,
        tag: given("tag").cloned(),
        effort: effort(matches)?,
    })
}

fn run_insert(matches: &ArgMatches) -> Result<Outcome> {
    Ok(insert::run(&insert::Options {
        server: server(matches),
        posts: posts(matches)?,
        definition: text(matches, "definition").to_owned(),
        loads: match matches.contains_id("scribe") {
            true => insert::LOGGED.to_vec(),
            false => insert::LOADS.to_vec(),
        },
        scribe: matches.get_one::<String>("scribe").cloned(),
        data: matches.get_one::<String>("data").map(PathBuf::from),
        effort: effort(matches)?,
    })?)
}

fn run_queue(matches: &ArgMatches) -> Result<Outcome> {
    let named = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
    let server = server(matches);
    let mut contenders = Vec::new();
    for door in text(matches, "door").split(',').map(str::trim) {
        contenders.push(Contender {
            name: format!("seine-{door}"),
            door: number(door)?,
            server: server.clone(),
        });
    }
    for written in named("beside") {
        contenders.push(contender(written, &server)?);
    }
    let size = |name: &str| matches.get_one::<String>(name);
    Ok(queue::run(&queue::Options {
        tests: named("tests").cloned().collect(),
        contenders,
        clients: size("concurrency")
            .map(|written| number(written))
            .transpose()?,
        messages: size("messages")
            .map(|written| number(written))
            .transpose()?,
        length: size("var-length")
            .map(|written| number(written))
            .transpose()?,
        posts: posts(matches)?,
        data: matches.get_one::<String>("data").map(PathBuf::from),
        tag: matches.get_one::<String>("tag").cloned(),
        effort: effort(matches)?,
    })?)
}

/// Parses `NAME=DOOR@ADDR`; user and password are those of the server at --addr.
fn contender(written: &str, server: &Server) -> Result<Contender> {
    let parts = written
        .split_once('=')
        .and_then(|(name, rest)| Some((name, rest.split_once('@')?)));
    let Some((name, (door, addr))) = parts else {
        return Err(format!("{written:?} is not NAME=DOOR@ADDR").into());
    };
    Ok(Contender {
        name: name.to_owned(),
        door: number(door)?,
        server: Server {
            addr: addr.to_owned(),
            ..server.clone()
        },
    })
}

fn print_outcome(outcome: &Outcome, matches: &ArgMatches) {
    print_as(matches, || outcome.csv(), || outcome.json(), outcome);
}

/// Prints as CSV, JSON or a table, as the arguments say.
fn print_as(
    matches: &ArgMatches,
    csv: impl Fn() -> String,
    json: impl Fn() -> String,
    table: &dyn std::fmt::Display,
) {
    let text = match (matches.get_flag("csv"), matches.get_flag("json")) {
        (true, _) => csv(),
        (_, true) => json(),
        _ => table.to_string(),
    };
    print(text.trim_end());
}

fn shared(command: Command) -> Command {
    command
        .arg(
            Arg::new("runs")
                .long("runs")
                .value_name("N")
                .default_value("5")
                .help("Number of runs; the median is printed."),
        )
        .arg(
            Arg::new("seconds")
                .long("seconds")
                .value_name("S")
                .default_value("5")
                .help("Shortest time of a run, in seconds."),
        )
        .arg(
            Arg::new("posts")
                .long("posts")
                .value_name("FILE")
                .help("Your own posts, one JSON object a line, instead of the bundled ones."),
        )
        .arg(switch("csv", "Print the figures as CSV.").conflicts_with("json"))
        .arg(switch("json", "Print the figures as JSON."))
        .arg(user())
}

fn list(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("N,…")
        .default_value(default)
        .help(help)
}

fn value(name: &'static str, shown: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(shown).help(help)
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

fn text<'a>(matches: &'a ArgMatches, name: &str) -> &'a str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}

fn server(matches: &ArgMatches) -> Server {
    Server {
        addr: text(matches, "addr").to_owned(),
        user: text(matches, "user").to_owned(),
        password: std::env::var("SEINE_PASSWORD").unwrap_or_default(),
    }
}

fn effort(matches: &ArgMatches) -> Result<Effort> {
    Ok(Effort {
        runs: number(text(matches, "runs"))?,
        seconds_min: number(text(matches, "seconds"))?,
        progress: std::io::stderr().is_terminal(),
    })
}

fn numbers<T: FromStr>(matches: &ArgMatches, name: &str) -> Result<Vec<T>> {
    text(matches, name)
        .split(',')
        .map(|part| number(part.trim()))
        .collect()
}

fn number<T: FromStr>(written: &str) -> Result<T> {
    written
        .parse()
        .map_err(|_| format!("{written:?} is not a value that makes sense here").into())
}

/// The user's posts, or the unpacked bundled posts.
fn posts(matches: &ArgMatches) -> Result<Vec<u8>> {
    if let Some(path) = matches.get_one::<String>("posts") {
        return std::fs::read(path).map_err(|error| format!("{path}: {error}").into());
    }
    let mut unpacked = Vec::new();
    StreamingDecoder::new(bundle::POSTS)?.read_to_end(&mut unpacked)?;
    Ok(unpacked)
}
