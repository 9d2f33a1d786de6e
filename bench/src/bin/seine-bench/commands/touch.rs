//! `seine bench touch`: its command line.

use std::path::PathBuf;

use bench::Outcome;
use bench::touch::{self, Options};
use clap::{Arg, ArgMatches, Command};

use super::{Result, addr, effort, number, server, text, value};

/// The verb's command line.
pub(super) fn command() -> Command {
    Command::new("touch")
        .about("Touches of pages, durable when answered, beside /insert of the same values, into a running server with touch.origins.")
        .arg(
            Arg::new("http")
                .long("http")
                .value_name("HOST:PORT")
                .default_value("127.0.0.1:9308")
                .help("The server's HTTP door."),
        )
        .arg(
            Arg::new("connections")
                .long("connections")
                .default_value("32")
                .help("Connections."),
        )
        .arg(value("data", "DIR", "The server's data directory, to measure its disk."))
        .arg(addr().default_value("127.0.0.1:9306"))
}

/// Runs the benchmark.
pub(super) fn run(matches: &ArgMatches) -> Result<Outcome> {
    Ok(touch::run(&Options {
        server: server(matches),
        http: text(matches, "http").to_owned(),
        connections: number(text(matches, "connections"))?,
        data: matches.get_one::<String>("data").map(PathBuf::from),
        effort: effort(matches)?,
    })?)
}
