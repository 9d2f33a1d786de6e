//! `seine log`: reports over query logs, without a server; and their queries, sent again.
//!
//! ```text
//! inputs, example     names → inputs of crate study; lines that are made up
//! options             flags → the lines that count, and how they are shown
//! reading             inputs → a summary, with progress; refuses logs without a line of a known form
//! replay              inputs → requests to a server, and a summary of its answers
//! ```

mod example;
mod inputs;
mod options;
mod reading;
mod replay;

use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use study::log::compare::{Side, compare};
use study::log::document::document;
use study::log::source::ServerRule;

use crate::output::{EXIT_USAGE, Exit, refuse};
use crate::report_output::{self, Output};
use options::Options;
use reading::read;

/// The server of all lines of a compared file, which may have another name on the other side.
const ONE_SERVER: &str = "(all)";

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("log")
        .about("Study query logs of Sphinx, Manticore or Seine, without a server; replay them.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(report_command())
        .subcommand(compare_command())
        .subcommand(replay::command())
}

fn report_command() -> Command {
    Command::new("report")
        .about("Report what the searches of a server say: times, indexes, queries, rates.")
        .long_about(
            "Report what the searches of a server say: distributions of response time overall, by server, index, number of\n\
             words and size of index; the rate over time; the slowest, most frequent and costliest queries; errors.\n\n\
             Reads plain and sphinxql lines of Sphinx and Manticore, and Seine's, also as JSON, mixed in any way. Files may be\n\
             packed by gzip or zstd. Lines of another form are counted and shown, and never end the reading.\n\
             Exit status 0: reported; 1: a file cannot be read, or no line has a known form.",
        )
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .help("Logs; - is standard input, as is a pipe without any FILE."),
        )
        .arg(
            Arg::new("example")
                .long("example")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["files", "server", "server-by", "sizes"])
                .help("Report on lines that are made up, to see a report without a log."),
        )
        .arg(
            Arg::new("server")
                .long("server")
                .value_name("NAME")
                .conflicts_with("server-by")
                .help("Name of the server that wrote all FILEs."),
        )
        .arg(
            Arg::new("server-by")
                .long("server-by")
                .value_name("PART")
                .value_parser(["file", "directory"])
                .default_value("file")
                .help("What names the server of a FILE: its own name or that of its directory."),
        )
        .arg(
            Arg::new("sizes")
                .long("sizes")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Sizes of indexes, a line each: NAME BYTES, NAME 12 MB."),
        )
        .args(options::filters())
        .args(options::shown())
        .args(report_output::forms())
}

fn compare_command() -> Command {
    let side = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .value_name(name)
            .required(true)
            .value_parser(value_parser!(PathBuf))
            .help(help)
    };
    Command::new("compare")
        .about("Report two logs side by side, such as those before and after a release.")
        .long_about(
            "Report two logs side by side, such as those before and after a release: each distribution with its difference,\n\
             and the queries that got slower and faster.\n\
             Exit status 0: reported; 1: a file cannot be read, or a side has no line of a known form.",
        )
        .arg(side("A", "The log before, or a directory with a log for each server; - is standard input."))
        .arg(side("B", "The log after, in the same way."))
        .args(options::filters())
        .args(options::shown())
        .args(report_output::forms())
}

/// Runs the verb that is named.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    match matches.subcommand() {
        Some(("report", matches)) => run_report(matches),
        Some(("compare", matches)) => run_compare(matches),
        Some(("replay", matches)) => replay::run(matches),
        _ => Ok(ExitCode::from(EXIT_USAGE)),
    }
}

fn run_report(matches: &ArgMatches) -> Exit {
    let is_example = matches.get_flag("example");
    let files: Vec<PathBuf> = matches
        .get_many("files")
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    if files.is_empty() && !is_example && stdin().is_terminal() {
        return Ok(refuse(
            "name a log, or - for standard input; --example shows a report without a log",
        ));
    }
    let mut options = match Options::of_matches(matches) {
        Ok(options) => options,
        Err(message) => return Ok(refuse(&message)),
    };
    if let Some(path) = matches.get_one::<PathBuf>("sizes") {
        options.document.sizes = inputs::read_sizes(path)?;
    }
    let output = Output::of_matches(matches)?;
    let opened = match (is_example, files.as_slice()) {
        (true, _) => example::open(),
        (false, []) => inputs::open(&[PathBuf::from("-")], &server_rule(matches))?,
        (false, files) => inputs::open(files, &server_rule(matches))?,
    };
    let read = read(opened, &options)?;
    let mut document = document(&read.summary, &read.inputs, &options.document);
    if is_example {
        example::tell(&mut document);
    }
    output.write(&document)?;
    Ok(ExitCode::SUCCESS)
}

fn server_rule(matches: &ArgMatches) -> ServerRule {
    let by = matches.get_one::<String>("server-by").map(String::as_str);
    match (matches.get_one::<String>("server"), by) {
        (Some(name), _) => ServerRule::Given(name.clone()),
        (None, Some("directory")) => ServerRule::Directory,
        (None, _) => ServerRule::FileName,
    }
}

fn run_compare(matches: &ArgMatches) -> Exit {
    let side = |name: &str| {
        let path = matches.get_one::<PathBuf>(name);
        path.cloned().unwrap_or_default()
    };
    let paths = [side("A"), side("B")];
    if paths.iter().all(|path| path == Path::new("-")) {
        return Ok(refuse(
            "A and B are both standard input: name a file for one",
        ));
    }
    let options = match Options::of_matches(matches) {
        Ok(options) => options,
        Err(message) => return Ok(refuse(&message)),
    };
    let output = Output::of_matches(matches)?;
    let [before, after] = paths.each_ref().map(|path| open_side(path));
    let (before, after) = (before?, after?);
    let (before, after) = (read(before, &options)?, read(after, &options)?);
    let [name_before, name_after] = paths.each_ref().map(|path| path.display().to_string());
    let document = compare(
        Side {
            name: &name_before,
            summary: &before.summary,
        },
        Side {
            name: &name_after,
            summary: &after.summary,
        },
        &options.document,
    );
    output.write(&document)?;
    Ok(ExitCode::SUCCESS)
}

/// The inputs of one side. The files of a directory are the logs of servers, whose names the two sides share.
fn open_side(path: &Path) -> Result<inputs::Opened, String> {
    match path.is_dir() {
        true => inputs::open(&inputs::files_of(path)?, &ServerRule::FileName),
        false => inputs::open(
            &[path.to_owned()],
            &ServerRule::Given(ONE_SERVER.to_owned()),
        ),
    }
}
