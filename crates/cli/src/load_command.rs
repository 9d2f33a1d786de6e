//! `seine load`: stores rows of files in a table of a running server.
//!
//! ```text
//! input::open         a file, packed or not, or standard input
//! Records::next       its bytes, cut into records: lines, CSV records, XML documents
//! Reader::next        a record → a Row: column names and cells
//! Checker::check      a standing query is parsed here: errors name line and byte
//! Batch::push         rows with the same columns are gathered into one command
//! Sending::send       the command goes out; up to three batches wait for their answers
//! Report, Rejected    counts and progress; refused rows are kept aside as they are in the file
//! ```

mod batch;
mod check;
mod format;
mod input;
mod ndjson;
mod records;
mod rejected;
mod report;
mod row;
mod sending;
mod separated;
mod xmlpipe;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use check::Checker;
use clap::{Arg, ArgAction, ArgMatches, Command};
use format::{FORMATS, Format, Reader};
use input::Input;
use rejected::Rejected;
use report::Report;
use row::{Row, Unreadable};
use sending::Sending;

use crate::output::{Exit, print, print_error};
use crate::sql_client;

/// The verb's command line.
pub(crate) fn command() -> Command {
    let value = |name: &'static str, what: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(what).help(help)
    };
    Command::new("load")
        .about("Load rows from files into a table of a running server.")
        .long_about(
            "Load rows from files into a table of a running server.\n\n\
             NDJSON: one object a line, keys are columns. CSV and TSV (as mysql --batch writes it): the first line names\n\
             the columns. xmlpipe2: as Sphinx reads it. Plain lines: --lines COLUMN. Files may be packed: .gz, .zst.\n\
             A row with an id replaces the row that has this id. The count that is shown is of rows on disk. Run the same\n\
             command again after an interruption: the load continues behind the last row stored, and repeats none. A bad\n\
             row is not loaded: its line goes to FILE.rejected, its number and the reason are printed, and the exit status is 1.",
        )
        .arg(Arg::new("table").value_name("TABLE").required(true).help("Name of the table."))
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .num_args(1..)
                .required_unless_present("forget")
                .help("Files named .ndjson, .jsonl, .csv, .tsv or .xml; - is standard input."),
        )
        .arg(
            value("format", "FORMAT", "Of standard input and of files with other names.")
                .value_parser(FORMATS),
        )
        .arg(value("columns", "NAMES", "Columns of CSV or TSV whose first line is a row: a,b,c."))
        .arg(value("lines", "COLUMN", "Each line is a row of this one column."))
        .arg(value("rejected", "FILE", "Where bad rows go instead of FILE.rejected."))
        .arg(value(
            "resume",
            "NAME",
            "Names a load from standard input, so that it can go on: give the same input again.",
        ))
        .arg(
            Arg::new("restart")
                .long("restart")
                .action(ArgAction::SetTrue)
                .help("Begin anew where an earlier load of the same file was interrupted."),
        )
        .arg(
            Arg::new("forget")
                .long("forget")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["files", "restart", "resume"])
                .help("Load nothing: make the server forget the interrupted loads of TABLE. Their rows stay."),
        )
        .args(sql_client::login())
}

/// Loads every file. A refused row gives exit code 1.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    if matches.get_flag("forget") {
        print(format_args!(
            "{} interrupted loads forgotten",
            forget(matches)?
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let mut report = Report::new(Instant::now());
    if let Err(error) = load(matches, &mut report) {
        report.end();
        if report.is_begun() {
            print(&report);
        }
        if report.is_begun() && report.hopeless().is_none() {
            print_error("not done: run the same command again, and it goes on here");
        }
        return Err(error);
    }
    print(&report);
    Ok(match report.bad() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn load(matches: &ArgMatches, report: &mut Report) -> Result<()> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let files: Vec<&String> = matches.get_many("files").into_iter().flatten().collect();
    let formats: Vec<Format> = files
        .iter()
        .map(|file| Format::of(file, text("format"), text("lines")))
        .collect::<std::result::Result<_, String>>()?;
    let columns = text("columns").map(|names| {
        let names = names.split(',');
        names.map(|name| name.trim().to_lowercase()).collect()
    });
    let mut loading = Loading::new(matches, text("table").unwrap_or_default(), columns)?;
    for (file, format) in files.into_iter().zip(formats) {
        loading.file(file, format, report)?;
    }
    Ok(())
}

fn forget(matches: &ArgMatches) -> Result<u64> {
    let table = matches
        .get_one::<String>("table")
        .map_or("", String::as_str);
    Sending::new(sql_client::connect(matches)?, table).forget()
}

struct Loading {
    sending: Sending,
    checker: Checker,
    table: String,
    columns: Option<Vec<String>>,
    rejected: Option<PathBuf>,
    resume: Option<String>,
    restart: bool,
}

impl Loading {
    fn new(matches: &ArgMatches, table: &str, columns: Option<Vec<String>>) -> Result<Loading> {
        let mut sending = Sending::new(sql_client::connect(matches)?, table);
        let checker = Checker::new(sending.client(), table)?;
        Ok(Loading {
            sending,
            checker,
            table: table.to_owned(),
            columns,
            rejected: matches.get_one::<String>("rejected").map(PathBuf::from),
            resume: matches.get_one::<String>("resume").cloned(),
            restart: matches.get_flag("restart"),
        })
    }

    fn file(&mut self, name: &str, format: Format, report: &mut Report) -> Result<()> {
        let input = input::open(name)?;
        let load = self.load_of(&input);
        let (total, read) = (input.total, input.read.clone());
        let mut reader = Reader::new(format, input, self.columns.as_deref())
            .map_err(|what| format!("{name}: {what}"))?;
        let place = self.sending.begin(load, self.restart)?;
        if place > reader.place() {
            print_error(format_args!("{name}: goes on at byte {place}"));
            if !reader
                .skip_to(place)
                .map_err(|error| format!("{name}: {error}"))?
            {
                let what =
                    format!("{name} is shorter than what was loaded of it: --restart begins anew");
                return Err(what.into());
            }
        }
        report.begin(name, total, &read, place > 0);
        let aside = match (&self.rejected, name) {
            (Some(path), _) => Some(path.clone()),
            (None, "-") => None,
            (None, name) => Some(PathBuf::from(format!("{name}.rejected"))),
        };
        let mut rejected = Rejected::new(aside.as_deref(), reader.head(), place > 0);
        self.rows(name, &mut reader, report, &mut rejected)?;
        self.sending.end()?;
        report.end();
        if let Some(path) = rejected.path() {
            print_error(format_args!("{name}: bad rows are in {}", path.display()));
        }
        Ok(())
    }

    fn rows(
        &mut self,
        name: &str,
        reader: &mut Reader,
        report: &mut Report,
        rejected: &mut Rejected,
    ) -> Result<()> {
        let mut batch = self.sending.batch();
        let mut row = Row::default();
        while let Some((span, read)) = reader
            .next(&mut row)
            .map_err(|error| format!("{name}: {error}"))?
        {
            let checked = match read {
                Ok(()) => self.checker.check(&row, span.line, report),
                Err(Unreadable(what)) => Err(what),
            };
            if let Err(what) = checked {
                report.refused(span.line, what);
                rejected.keep(reader.bytes(&span))?;
                if batch.rows.is_empty() && self.sending.is_settled() {
                    report.end_if_hopeless()?;
                }
                continue;
            }
            if !batch.takes(&row, self.sending.rows_max()) {
                self.sending.send(batch, report, rejected)?;
                batch = self.sending.batch();
            }
            batch.push(&row, &span, reader.bytes(&span), &self.checker);
        }
        self.sending.send(batch, report, rejected)?;
        self.sending.settle(report, rejected)
    }

    /// Number of a load. The same file and table give the same number; so does the same name of standard input.
    fn load_of(&self, input: &Input) -> u64 {
        let own = match (&self.resume, &input.identity) {
            (Some(name), _) => format!("named {name}"),
            (None, Some(identity)) => identity.clone(),
            (None, None) => format!(
                "once {} {:?}",
                std::process::id(),
                std::time::SystemTime::now()
            ),
        };
        fnv(format!("{} {own}", self.table.to_lowercase()).as_bytes())
    }
}

/// FNV-1a hash: it must be the same in every version of this program.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
