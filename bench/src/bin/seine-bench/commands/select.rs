//! `seine bench select`: its command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bench::Server;
use bench::select::{self, Options, Peer, Report};
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{Result, addr, effort, list, number, numbers, posts, server, switch, text, value};

/// The verb's command line.
pub(super) fn command() -> Command {
    Command::new("select")
        .about("Rows by a list of ids, by every form that SQL has for it, in a running server and in peers beside it.")
        .arg(
            Arg::new("forms")
                .value_name("FORM")
                .num_args(0..)
                .help("Which forms; an unknown name lists them."),
        )
        .arg(list("ids", "1,10,100,1000,10000,100000,1000000", "Ids of a list; several with commas."))
        .arg(value("rows", "N", "Rows of the table.").default_value("1000000"))
        .arg(
            value(
                "peer",
                "NAME=PEER",
                "A system beside us, in turns: mysql://USER[:PASSWORD]@HOST:PORT/DATABASE, or the command of a program as in benchmarks/peers/select; again for more.",
            )
            .action(ArgAction::Append),
        )
        .arg(value("timeout", "S", "Longest time of a list, in seconds. A form that takes longer is told, and not asked for more ids.").default_value("60"))
        .arg(switch("keep", "Leave the tables in all systems, for the next run."))
        .arg(value("tag", "TEXT", "A last column of the CSV."))
        .arg(value("svg", "FILE", "Draw the curves, a picture for each system: FILE with its name before the ending."))
        .arg(addr().default_value("127.0.0.1:9306"))
}

/// Runs the benchmark.
pub(super) fn run(matches: &ArgMatches) -> Result<Report> {
    let named = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
    let seconds: f64 = number(text(matches, "timeout"))?;
    let timeout = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    if timeout.is_zero() {
        return Err("--timeout is a number of seconds above 0".into());
    }
    let report = select::run(&Options {
        server: server(matches),
        peers: named("peer")
            .map(|written| peer(written))
            .collect::<Result<_>>()?,
        forms: named("forms").cloned().collect(),
        sizes: numbers(matches, "ids")?,
        rows: number(text(matches, "rows"))?,
        keep: matches.get_flag("keep"),
        posts: posts(matches)?,
        timeout,
        tag: matches.get_one::<String>("tag").cloned(),
        effort: effort(matches)?,
    })?;
    if let Some(file) = matches.get_one::<String>("svg") {
        for (system, picture) in report.svgs() {
            let path = beside(Path::new(file), system);
            std::fs::write(&path, picture)
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(report)
}

/// `curves-mariadb.svg` of `curves.svg`.
fn beside(file: &Path, system: &str) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-{system}.svg"))
}

fn peer(written: &str) -> Result<(String, Peer)> {
    let (name, place) = written
        .split_once('=')
        .ok_or_else(|| format!("{written:?} is not NAME=PEER"))?;
    let Some(address) = place.strip_prefix("mysql://") else {
        let command = place.to_owned();
        return Ok((name.to_owned(), Peer::Program { command }));
    };
    let (login, place) = address.rsplit_once('@').unwrap_or(("", address));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (addr, database) = match place.split_once('/') {
        Some((addr, database)) => (addr, Some(database.to_owned())),
        None => (place, None),
    };
    let server = Server {
        addr: addr.to_owned(),
        user: user.to_owned(),
        password: password.to_owned(),
    };
    Ok((name.to_owned(), Peer::Server { server, database }))
}
