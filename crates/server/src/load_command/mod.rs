//! `seine load`: rows of files into a table of a running server.

mod batch;
mod check;
mod report;
mod rows;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::process::ExitCode;
use std::time::Instant;

use bench::client::{Client, ClientError};
use clap::{Arg, ArgMatches, Command};

use crate::sql_client;
use batch::Batch;
use check::Checker;
use report::Report;
use rows::{Format, Reader};

/// Its part of the command line.
pub fn command() -> Command {
    Command::new("load")
        .about("Load rows from files into a table of a running server.")
        .long_about(
            "Load rows from files into a table of a running server.\n\n\
             NDJSON: one object a line, keys are columns. CSV and TSV: the first line names the columns.\n\
             Rows with an id replace those that have it, so a load may be run again. A bad row is told with its\n\
             line and left out; exit status 1 then. What is loaded is on disk before its line is counted.",
        )
        .arg(Arg::new("table").value_name("TABLE").required(true))
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .num_args(1..)
                .required(true)
                .help("Files named .ndjson, .jsonl, .csv or .tsv; - is standard input."),
        )
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .value_parser(["ndjson", "csv", "tsv"])
                .help("Of standard input and of files with other names."),
        )
        .args(sql_client::login())
}

/// Loads every file; a row that was refused is exit code 1.
pub fn run(matches: &ArgMatches) -> ExitCode {
    match load(matches) {
        Ok(report) => {
            crate::say(&report.to_string());
            match report.bad() {
                0 => ExitCode::SUCCESS,
                _ => ExitCode::FAILURE,
            }
        }
        Err(error) => {
            crate::say_error(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn load(matches: &ArgMatches) -> Result<Report> {
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let named = matches.get_one::<String>("format").map(String::as_str);
    let files: Vec<&String> = matches.get_many("files").into_iter().flatten().collect();
    let formats: Vec<Format> = files
        .iter()
        .map(|file| Format::of(file, named))
        .collect::<std::result::Result<_, String>>()?;
    let mut loading = Loading::new(sql_client::connect(matches)?, text("table"))?;
    for (file, format) in files.into_iter().zip(formats) {
        let input: Box<dyn Read> = match file.as_str() {
            "-" => Box::new(io::stdin().lock()),
            path => Box::new(File::open(path).map_err(|error| format!("{path}: {error}"))?),
        };
        loading.file(file, Reader::new(format, BufReader::new(input))?)?;
    }
    Ok(loading.report)
}

struct Loading {
    client: Client,
    table: String,
    checker: Checker,
    report: Report,
}

impl Loading {
    fn new(mut client: Client, table: &str) -> Result<Loading> {
        let checker = Checker::new(&mut client, table)?;
        Ok(Loading {
            client,
            table: table.to_owned(),
            checker,
            report: Report::new(Instant::now()),
        })
    }

    fn file(&mut self, name: &str, reader: Reader) -> Result<()> {
        self.report.begin(name);
        let mut batch = Batch::default();
        for row in reader {
            let row = match row {
                Ok(row) => row,
                Err(bad) => {
                    self.report.refused(bad.line, bad.what);
                    if bad.is_last {
                        break;
                    }
                    continue;
                }
            };
            if let Err(what) = self.checker.check(&row, &mut self.report) {
                self.report.refused(row.line, what);
                continue;
            }
            if !batch.takes(&row) {
                self.send(&batch)?;
                batch.clear();
            }
            batch.push(row, &self.checker);
        }
        self.send(&batch)?;
        self.report.end();
        Ok(())
    }

    /// Stores a batch; if it is refused, each of its rows alone, so that only the bad ones are left out.
    fn send(&mut self, batch: &Batch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        match self.client.query(&batch.statement(&self.table)) {
            Ok(_) => self.report.stored(batch.len() as u64),
            Err(ClientError::Server(_)) => {
                for (line, statement) in batch.single_statements(&self.table) {
                    match self.client.query(&statement) {
                        Ok(_) => self.report.stored(1),
                        Err(ClientError::Server(error)) => {
                            self.report.refused(line, error.to_string());
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            Err(error) => return Err(error.into()),
        }
        self.report.draw();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
