//! `seine bench statements`: its command line.

use bench::Outcome;
use bench::statements::{self, Options};
use clap::{Arg, ArgMatches, Command};

use super::{Result, addr, effort, list, numbers, server, switch, text, value};

/// The verb's command line.
pub(super) fn command() -> Command {
    Command::new("statements")
        .about("Statements of a file over connections to a running server; each answer is compared with the first.")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .help("The statements, one a line."),
        )
        .arg(list("connections", "1,32", "Connections; several with commas."))
        .arg(switch("once", "Send each statement once, as changes need it, and measure the whole list: with --runs 1."))
        .arg(value("tag", "TEXT", "A last column of the CSV."))
        .arg(addr().default_value("127.0.0.1:9306"))
}

/// Runs the benchmark.
pub(super) fn run(matches: &ArgMatches) -> Result<Outcome> {
    let path = text(matches, "file");
    let file = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let lines = file.lines().filter(|line| !line.trim().is_empty());
    Ok(statements::run(&Options {
        server: server(matches),
        statements: lines.map(str::to_owned).collect(),
        connections: numbers(matches, "connections")?,
        is_once: matches.get_flag("once"),
        tag: matches.get_one::<String>("tag").cloned(),
        effort: effort(matches)?,
    })?)
}
