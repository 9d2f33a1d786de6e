//! `seine bench log-lines`: its command line.

use std::path::PathBuf;
use std::time::Instant;

use bench::log_lines::{self, Options, Packing};
use clap::{Arg, ArgMatches, Command};
use study::log::generate::{GeneratedForm, SERVERS, Workload};

use super::{Result, number, switch, text, value};
use crate::output::print;

/// Names of the forms of lines.
const FORMS: [(&str, GeneratedForm); 4] = [
    ("one-time", GeneratedForm::OneTime),
    ("plain", GeneratedForm::Plain),
    ("sphinxql", GeneratedForm::Sphinxql),
    ("json", GeneratedForm::Json),
];

/// The verb's command line.
pub(super) fn command() -> Command {
    Command::new("log-lines")
        .about("Write query logs with the distributions of the study (W2), for seine log report; nothing is measured.")
        .arg(
            Arg::new("out")
                .long("out")
                .value_name("DIR")
                .required(true)
                .help("Directory of the logs, one for each server, and of sizes.txt for --sizes."),
        )
        .arg(value("lines", "N", "Lines of all logs together.").default_value("5000000"))
        .arg(value("servers", "N", "Logs: 1 to 15.").default_value("15"))
        .arg(
            value("form", "FORM", "Form of the lines; one-time is plain lines of Sphinx 0.9.8.")
                .value_parser(FORMS.map(|(name, _)| name))
                .default_value("one-time"),
        )
        .arg(value("seed", "N", "Another seed gives other lines.").default_value("1"))
        .arg(switch("gzip", "Pack the logs by gzip.").conflicts_with("zstd"))
        .arg(switch("zstd", "Pack the logs by zstd."))
}

/// Writes the logs.
pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let servers: u32 = number(text(matches, "servers"))?;
    if !(1..=SERVERS).contains(&servers) {
        return Err(format!("--servers is a number from 1 to {SERVERS}").into());
    }
    let form = FORMS
        .iter()
        .find(|(name, _)| *name == text(matches, "form"));
    let packing = match (matches.get_flag("gzip"), matches.get_flag("zstd")) {
        (true, _) => Packing::Gzip,
        (false, true) => Packing::Zstd,
        (false, false) => Packing::Plain,
    };
    let default = Workload::default();
    let options = Options {
        workload: Workload {
            seed: number(text(matches, "seed"))?,
            form: form.map_or(default.form, |(_, form)| *form),
            ..default
        },
        lines: number(text(matches, "lines"))?,
        servers,
        directory: PathBuf::from(text(matches, "out")),
        packing,
    };
    let began = Instant::now();
    let written = log_lines::write(&options);
    let bytes = written.map_err(|error| format!("{}: {error}", options.directory.display()))?;
    let seconds = began.elapsed().as_secs_f64();
    print(format_args!(
        "{} lines, {bytes} bytes before they were packed, in {seconds:.1} s",
        options.lines
    ));
    Ok(())
}
