//! `seine bench search`: its command line.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use bench::search::{self, Beside, Corpus, Options};
use bench::workload;
use clap::{Arg, ArgAction, ArgMatches, Command};
use ruzstd::decoding::StreamingDecoder;

use super::{Result, addr, effort, list, number, posts, print_as, server, switch, text, value};
use crate::output::print;

/// The verb's command line.
pub(super) fn command() -> Command {
    let shape = Command::new("search")
        .about("The study's queries over records: in this process, or in a server with --addr.")
        .arg(
            Arg::new("tests")
                .value_name("TEST")
                .num_args(0..)
                .help("Which tests; an unknown name lists them."),
        )
        .arg(list("clients", "1,2", "Threads or connections that ask; several with commas.").short('c'))
        .arg(list("parts", "auto", "Parts of the index, or auto; several with commas."))
        .arg(list("threads", "auto", "Most threads of a query, or auto; several with commas."))
        .arg(
            switch("grid", "The published grid: 1 to 8 parts and auto, as many threads, 1, 2, 4 and 8 clients.")
                .conflicts_with_all(["clients", "parts", "threads"]),
        );
    shape
        .args(records())
        .args(queries())
        .arg(list(
            "layout",
            "merged",
            "Segments in this process: sealed, busy or merged as a server does beside writers or in quiet, or one; several with commas.",
        ))
        .arg(
            value(
                "peer",
                "NAME=COMMAND",
                "A program beside us, in turns: see benchmarks/peers/search; again for more.",
            )
            .action(ArgAction::Append),
        )
        .arg(
            value(
                "sphinx",
                "NAME=ADDR/INDEX[,VERSION]",
                "A searchd beside us, over its own protocol; again for more.",
            )
            .action(ArgAction::Append),
        )
        .arg(value(
            "data",
            "DIR",
            "Where tables and indexes are kept for the next run; else they are removed.",
        ))
        .arg(switch(
            "keep",
            "Leave the tables in the server at --addr, for the next run.",
        ))
        .arg(value(
            "inserts",
            "SEARCHES",
            "Measure single-row inserts beside so many searches a second, in the server at --addr.",
        ))
        .arg(value("tag", "TEXT", "A last column of the CSV."))
        .arg(value(
            "svg",
            "FILE",
            "Draw the curves of the first test into this file.",
        ))
        .arg(value(
            "export",
            "DIR",
            "Write records and queries as words, for other programs, into a folder below DIR that is told, and measure nothing.",
        ))
        .arg(addr())
}

/// Arguments that choose the queries.
fn queries() -> [Arg; 2] {
    [
        value("limit", "N", "The first N queries.").default_value("10000"),
        value(
            "queries",
            "FILE",
            "The words of these queries instead of the study's: a query log of any form, packed or not, or a query a line.",
        ),
    ]
}

/// Arguments that choose the records.
pub(super) fn records() -> [Arg; 3] {
    [
        value(
            "corpus",
            "FILE",
            "Records instead of the bundled posts: lines of id<TAB>text; .zst is unpacked.",
        ),
        value("every", "N", "One record in so many.").default_value("1"),
        value("copies", "N", "All records so many times, with new ids.").default_value("1"),
    ]
}

/// Reads the chosen records into memory.
pub(super) fn corpus(matches: &ArgMatches) -> Result<Corpus> {
    let (every, copies) = (
        number(text(matches, "every"))?,
        number(text(matches, "copies"))?,
    );
    let Some(path) = matches.get_one::<String>("corpus") else {
        let posts = workload::posts(&posts(matches)?)?;
        return Ok(Corpus::posts(&posts, every, copies)?);
    };
    let of_file = |error: &dyn std::fmt::Display| format!("{path}: {error}");
    let mut bytes = std::fs::read(path).map_err(|error| of_file(&error))?;
    if path.ends_with(".zst") {
        let mut unpacked = Vec::new();
        let mut reader = StreamingDecoder::new(&bytes[..]).map_err(|error| of_file(&error))?;
        reader
            .read_to_end(&mut unpacked)
            .map_err(|error| of_file(&error))?;
        bytes = unpacked;
    }
    Corpus::tsv(bytes, every, copies).map_err(|error| of_file(&error).into())
}

/// Measures and prints; or writes the words of the corpus.
pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let corpus = corpus(matches)?;
    if let Some(folder) = matches.get_one::<String>("export") {
        let tests = matches.get_many::<String>("tests").into_iter().flatten();
        let tests: Vec<String> = tests.cloned().collect();
        let written = search::export(&corpus, Path::new(folder), &tests)?;
        print(written.display());
        return Ok(());
    }
    let given = matches.get_one::<String>("data").map(PathBuf::from);
    let passing = std::env::temp_dir().join(format!("seine-bench-{}", std::process::id()));
    let options = options(matches, given.clone().unwrap_or_else(|| passing.clone()))?;
    let measured = measure(matches, &options, &corpus);
    if given.is_none() {
        // Fails if the run has not created the folder.
        let _ = std::fs::remove_dir_all(&passing);
    }
    measured
}

fn measure(matches: &ArgMatches, options: &Options, corpus: &Corpus) -> Result<()> {
    if let Some(searches) = matches.get_one::<String>("inserts") {
        let outcome = search::inserts(options, corpus, number(searches)?)?;
        super::print_outcome(&outcome, matches);
        return Ok(());
    }
    let report = search::run(options, corpus)?;
    if let Some(path) = matches.get_one::<String>("svg") {
        std::fs::write(path, report.svg()).map_err(|error| format!("{path}: {error}"))?;
    }
    print_as(matches, || report.csv(), || report.json(), &report);
    Ok(())
}

fn options(matches: &ArgMatches, data: PathBuf) -> Result<Options> {
    let named = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
    let (shards, threads, clients) = match matches.get_flag("grid") {
        true => (
            search::GRID_SETTINGS.to_vec(),
            search::GRID_SETTINGS.to_vec(),
            search::GRID_CLIENTS.to_vec(),
        ),
        false => (
            settings(matches, "parts")?,
            settings(matches, "threads")?,
            super::numbers(matches, "clients")?,
        ),
    };
    let mut beside = Vec::new();
    for written in named("peer") {
        beside.push(program(written)?);
    }
    for written in named("sphinx") {
        beside.push(searchd(written)?);
    }
    Ok(Options {
        tests: named("tests").cloned().collect(),
        queries: number(text(matches, "limit"))?,
        own_queries: match matches.get_one::<String>("queries") {
            Some(path) => Some(queries_of(path)?),
            None => None,
        },
        server: matches.get_one::<String>("addr").map(|_| server(matches)),
        data,
        keep: matches.get_flag("keep"),
        shards,
        layouts: super::numbers(matches, "layout")?,
        threads,
        clients,
        beside,
        tag: matches.get_one::<String>("tag").cloned(),
        effort: effort(matches)?,
    })
}

/// The full-text queries of a log; of a file without a line of a log, its lines.
fn queries_of(path: &str) -> Result<Vec<String>> {
    let of_file = |error: std::io::Error| format!("{path}: {error}");
    let open = || File::open(path).map_err(of_file);
    let queries = study::log::replay::full_texts(Box::new(open()?));
    if !queries.is_empty() {
        return Ok(queries);
    }
    let text = std::io::read_to_string(open()?).map_err(of_file)?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Parses a list of numbers from 1 and `auto`, which is `None`.
pub(super) fn settings(matches: &ArgMatches, name: &str) -> Result<Vec<Option<u32>>> {
    let parts = text(matches, name).split(',').map(str::trim);
    let setting = |part: &str| match part {
        "auto" => Ok(None),
        "0" => Err(format!("--{name} are 1 or more, or auto").into()),
        part => number(part).map(Some),
    };
    parts.map(setting).collect()
}

fn program(written: &str) -> Result<Beside> {
    let (name, command) = written
        .split_once('=')
        .ok_or_else(|| format!("{written:?} is not NAME=COMMAND"))?;
    Ok(Beside::Program {
        name: name.to_owned(),
        command: command.to_owned(),
    })
}

fn searchd(written: &str) -> Result<Beside> {
    let parts = written
        .split_once('=')
        .and_then(|(name, rest)| Some((name, rest.split_once('/')?)));
    let (name, (addr, index)) =
        parts.ok_or_else(|| format!("{written:?} is not NAME=ADDR/INDEX"))?;
    let (index, about) = index.split_once(',').unwrap_or((index, "a searchd"));
    Ok(Beside::Sphinx {
        name: name.to_owned(),
        addr: addr.to_owned(),
        index: index.to_owned(),
        about: about.to_owned(),
    })
}
