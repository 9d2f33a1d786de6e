//! `seine bench index`: its command line.

use std::io::IsTerminal;
use std::path::PathBuf;

use bench::index::{self, Options, Report};
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::search::{corpus, records, settings};
use super::{Result, addr, list, number, numbers, server, switch, text, value};

/// The verb's command line.
pub(super) fn command() -> Command {
    Command::new("index")
        .about("Documents a second into a running server, over the batch and the number of shards, timed to the last seal.")
        .arg(list("batch", "100,1000", "Rows of a statement; several with commas.").short('b'))
        .arg(list("shards", "auto", "Parts of the table, or auto; several with commas."))
        .arg(
            switch("grid", "The published grid: batch 1 to 1,000, 1 to 64 shards.")
                .conflicts_with_all(["batch", "shards"]),
        )
        .arg(value("connections", "N", "Connections that insert.").default_value("2"))
        .arg(value("documents", "N", "How many.").default_value("100000"))
        .arg(value("bytes", "N", "Bytes of each, nearly.").default_value("200"))
        .args(records())
        .arg(peer())
        .arg(list("peer-batch", "0", "Documents between two commits of peers, 0 for one commit at the end."))
        .arg(list("peer-shards", "1,2", "Threads of peers, or their shards."))
        .arg(value("data", "DIR", "A folder on the server's disk, for files and peers' indexes.").required(true))
        .arg(value("tag", "TEXT", "A last column of the CSV."))
        .arg(value("svg", "FILE", "Draw the curves into this file."))
        .arg(addr().default_value("127.0.0.1:9306"))
}

fn peer() -> Arg {
    value(
        "peer",
        "NAME=COMMAND",
        "A program beside us: see benchmarks/peers/search; again for more.",
    )
    .action(ArgAction::Append)
}

/// Runs the benchmark.
pub(super) fn run(matches: &ArgMatches) -> Result<Report> {
    let corpus = corpus(matches)?;
    let (batches, shards) = match matches.get_flag("grid") {
        true => (
            index::GRID_BATCHES.to_vec(),
            index::GRID_SHARDS.map(Some).to_vec(),
        ),
        false => (numbers(matches, "batch")?, settings(matches, "shards")?),
    };
    let mut peers = Vec::new();
    for written in matches.get_many::<String>("peer").into_iter().flatten() {
        let (name, command) = written
            .split_once('=')
            .ok_or_else(|| format!("{written:?} is not NAME=COMMAND"))?;
        peers.push((name.to_owned(), command.to_owned()));
    }
    let options = Options {
        server: server(matches),
        seine: seine()?,
        documents: number(text(matches, "documents"))?,
        bytes: number(text(matches, "bytes"))?,
        batches,
        shards,
        connections: number(text(matches, "connections"))?,
        peers,
        peer_batches: numbers(matches, "peer-batch")?,
        peer_shards: numbers(matches, "peer-shards")?,
        data: PathBuf::from(text(matches, "data")),
        tag: matches.get_one::<String>("tag").cloned(),
        runs: number(text(matches, "runs"))?,
        progress: std::io::stderr().is_terminal(),
    };
    let report = index::run(&options, &corpus)?;
    if let Some(path) = matches.get_one::<String>("svg") {
        std::fs::write(path, report.svg()).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(report)
}

/// The binary `seine`, whose verb `load` is measured: the path of this program without `-bench`, or `seine` on the PATH.
fn seine() -> std::io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let beside = own.to_str().and_then(|own| own.strip_suffix("-bench"));
    let beside = beside.map(PathBuf::from).filter(|path| path.exists());
    Ok(beside.unwrap_or_else(|| PathBuf::from("seine")))
}
