//! A report in the forms that the command line asks for.

mod page;

use std::io::{ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use report::{Document, Terminal};

use crate::files::shown;
use crate::window::{columns, has_colour};

/// Columns of a report that goes to no window.
const COLUMNS: usize = 100;

/// Rows of a table on a terminal. The other forms have all.
const ROWS_MAX: usize = 50;

/// Where a report goes.
pub(crate) struct Output {
    printed: Printed,
    page: Option<PathBuf>,
    workbook: Option<PathBuf>,
}

/// What standard output gets.
enum Printed {
    Text(Terminal),
    Csv,
    Json,
    /// A line about each file.
    Lines,
}

/// The flags of the forms.
pub(crate) fn forms() -> [Arg; 5] {
    let switch = |name: &'static str, help: &'static str| {
        let argument = Arg::new(name).long(name).action(ArgAction::SetTrue);
        argument.help(help)
    };
    let file = |name: &'static str, help: &'static str| {
        let argument = Arg::new(name).long(name).value_name("FILE");
        argument.value_parser(value_parser!(PathBuf)).help(help)
    };
    [
        switch("csv", "Print CSV: all tables, each below its name.").conflicts_with("json"),
        switch("json", "Print one JSON object."),
        file(
            "html",
            "Write one self-contained page, instead of the report on the terminal.",
        ),
        file(
            "xlsx",
            "Write a workbook with a sheet for each table, instead of the report on the terminal.",
        ),
        switch("ascii", "Draw with ASCII characters only.").conflicts_with_all(["csv", "json"]),
    ]
}

impl Output {
    /// The forms that the flags ask for.
    ///
    /// # Errors
    /// A file cannot be written: told before the inputs are read.
    pub(crate) fn of_matches(matches: &ArgMatches) -> Result<Output, String> {
        let [page, workbook] = ["html", "xlsx"].map(|name| matches.get_one::<PathBuf>(name));
        if let (Some(page), true) = (page, page == workbook) {
            return Err(format!(
                "--html and --xlsx both name {}: name two files",
                shown(page)
            ));
        }
        for path in page.into_iter().chain(workbook) {
            page::check(path)?;
        }
        let printed = if matches.get_flag("csv") {
            Printed::Csv
        } else if matches.get_flag("json") {
            Printed::Json
        } else if page.is_some() || workbook.is_some() {
            Printed::Lines
        } else {
            Printed::Text(Terminal {
                width: columns(stdout()).unwrap_or(COLUMNS),
                rows_max: ROWS_MAX,
                colour: has_colour(),
                ascii: matches.get_flag("ascii"),
            })
        };
        Ok(Output {
            printed,
            page: page.cloned(),
            workbook: workbook.cloned(),
        })
    }

    /// Whether a program reads the report, or a file: then it may have more tables than a terminal shows well.
    pub(crate) fn is_for_programs(&self) -> bool {
        match self.printed {
            Printed::Csv | Printed::Json | Printed::Lines => true,
            Printed::Text(_) => false,
        }
    }

    /// Writes the report.
    ///
    /// # Errors
    /// What cannot be written, and why. A reader who has closed standard output, as `head` does, is no error.
    pub(crate) fn write(&self, document: &Document) -> Result<(), String> {
        let mut lines = String::new();
        let mut wrote = |path: &Path, bytes: &[u8]| {
            page::write(path, bytes)?;
            lines += &format!("{}: {} bytes\n", shown(path), bytes.len());
            Ok::<(), String>(())
        };
        if let Some(path) = &self.page {
            wrote(path, document.html().as_bytes())?;
        }
        if let Some(path) = &self.workbook {
            let bytes = document.xlsx();
            let bytes = bytes.map_err(|error| format!("{}: {error}", shown(path)))?;
            wrote(path, &bytes)?;
        }
        let text = match &self.printed {
            Printed::Text(terminal) => document.text(terminal),
            Printed::Csv => document.csv(),
            Printed::Json => document.json(),
            Printed::Lines => lines,
        };
        let mut out = stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        written.or_else(|error| match error.kind() {
            ErrorKind::BrokenPipe => Ok(()),
            _ => Err(format!("standard output: {error}")),
        })
    }
}
