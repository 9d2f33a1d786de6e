//! `seine attribution`: what led to orders, from files, or from a table on a server.
//!
//! ```text
//! options   flags → models and how orders are read
//! reading   files → a report of the study, with progress; refuses files without a line of a known form
//! table     rows of a table on a server → touches and orders
//! ```

mod options;
mod reading;
mod table;

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, value_parser};
use study::attribution::document::{DocumentOptions, document};

use crate::output::{EXIT_USAGE, Exit, refuse};
use crate::report_output::{self, Output};
use crate::sql_client::login;
use options::Options;

/// Flags that name files.
const INPUTS: [(&str, &str); 3] = [
    (
        "paths",
        "Paths with counts, CSV: path, conversions, value, nulls; a path is Search > Social.",
    ),
    (
        "touches",
        "Touches and orders, CSV or a JSON object a line: visitor, time, channel (or source, medium, subcat), value, order, currency.",
    ),
    (
        "ga",
        "Cookies of MultiTouch Analytics as its events were exported, one a line.",
    ),
];

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("attribution")
        .about("Report which channels led to orders, by files or a table on a server.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(report_command())
}

fn report_command() -> Command {
    let inputs = INPUTS.map(|(name, help)| {
        Arg::new(name)
            .long(name)
            .value_name("FILE")
            .action(ArgAction::Append)
            .value_parser(value_parser!(std::path::PathBuf))
            .help(format!("{help} May be given again; - is standard input."))
    });
    let [paths, touches, cookies] = inputs;
    let table = Arg::new("table").long("table").value_name("NAME").help(
        "A search table of touches and orders on a server, with the columns of --touches, such as touches.",
    );
    // Paths are counted already: no order of them could be told from one of the other files.
    let inputs = [
        paths.conflicts_with_all(["touches", "ga", "table"]),
        touches,
        cookies,
        table,
    ];
    Command::new("report")
        .about("Report transactions and revenue by channel and model, paths, overlap and time lag.")
        .long_about(
            "Report transactions and revenue by channel and model, side by side; numbers of touches, overlap of channels, paths,\n\
             time from first touch to order, and by day, week and month.\n\n\
             Lines of another form are counted and shown, and never end the reading. Money is decimal: the channels add up to\n\
             the total to the cent; CSV and JSON have unrounded figures, too.\n\
             Exit status 0: reported; 1: a file cannot be read, no line has a known form, or a model has no answer.",
        )
        .args(inputs)
        .group(
            ArgGroup::new("input")
                .args(INPUTS.map(|(name, _)| name))
                .arg("table")
                .multiple(true)
                .required(true),
        )
        .args(login())
        .args(options::models())
        .args(options::channels())
        .args(options::windows())
        .arg(options::top())
        .args(report_output::forms())
}

/// Runs the verb that is named.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    match matches.subcommand() {
        Some(("report", matches)) => run_report(matches),
        _ => Ok(ExitCode::from(EXIT_USAGE)),
    }
}

fn run_report(matches: &ArgMatches) -> Exit {
    let options = match Options::of_matches(matches) {
        Ok(options) => options,
        Err(message) => return Ok(refuse(&message)),
    };
    let output = Output::of_matches(matches)?;
    let rows = options.rows;
    let mut report = reading::read(matches, options)?;
    let document = document(
        &mut report,
        DocumentOptions {
            rows,
            exact: output.is_for_programs(),
        },
    );
    output.write(&document)?;
    Ok(ExitCode::SUCCESS)
}
