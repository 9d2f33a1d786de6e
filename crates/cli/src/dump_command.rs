//! `seine dump`: prints the rows of a stopped data directory, or its journal's records, as lines of JSON objects.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use engine::inspect::{self, Dumped, JournalEntry};
use serde_json::{Map, Value as Json, json};
use server::as_json;

use crate::check_command::{directory, open};
use crate::output::{Exit, print_error};

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("dump")
        .about("Print the rows of a data directory that no server has, one JSON object a line; change nothing.")
        .long_about(
            "Print the rows of a data directory that no server has, one JSON object a line; change nothing.\n\n\
             A line names its table and holds either the statement that makes it (create) or a row: id and values, for a\n\
             queue row its number and values. Rows of a damaged directory are printed as far as they can be read.\n\
             Exit status 0: everything was read; 1: a part could not be read, as standard error says.",
        )
        .arg(directory())
        .arg(
            Arg::new("table")
                .long("table")
                .value_name("T")
                .help("Only this table."),
        )
        .arg(
            Arg::new("journal")
                .long("journal")
                .action(ArgAction::SetTrue)
                .conflicts_with("table")
                .help("Print the journal's records instead: the effect, place and content of each."),
        )
}

/// Prints all rows or records.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let disk = open(matches)?;
    let mut out = Lines {
        out: BufWriter::new(io::stdout().lock()),
        outcome: Ok(()),
    };
    let faults = if matches.get_flag("journal") {
        inspect::dump_journal(&disk, &mut |entry| out.line(&record(entry)))
    } else {
        let table = matches.get_one::<String>("table").map(String::as_str);
        inspect::dump(&disk, table, &mut |line| out.line(&row(&line)))
    };
    let written = out.end();
    let faults = faults?;
    // The reader of the output has closed it, as `head` does: no error.
    written.or_else(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    })?;
    for fault in &faults {
        print_error(format_args!("fault: {fault}"));
    }
    Ok(match faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

struct Lines<Out: Write> {
    out: Out,
    /// The first error. Nothing is written after it.
    outcome: io::Result<()>,
}

impl<Out: Write> Lines<Out> {
    fn line(&mut self, json: &Json) {
        if self.outcome.is_ok() {
            self.outcome = writeln!(self.out, "{json}");
        }
    }

    fn end(mut self) -> io::Result<()> {
        self.outcome.and_then(|()| self.out.flush())
    }
}

fn row(line: &Dumped<'_>) -> Json {
    match line {
        Dumped::Table { name, create } => json!({ "table": name, "create": create }),
        Dumped::Collected { messages, bytes } => {
            json!({ "collected": { "messages": messages, "bytes": bytes } })
        }
        Dumped::Row {
            table,
            number,
            columns,
            values,
        } => {
            let cells = columns.iter().zip(*values);
            let cells =
                cells.map(|((name, kind), value)| (name.clone(), as_json(value, Some(*kind))));
            let values: Map<String, Json> = cells.collect();
            match number {
                Some(number) => json!({ "table": table, "row": number, "values": values }),
                None => json!({ "table": table, "values": values }),
            }
        }
    }
}

fn record(entry: JournalEntry) -> Json {
    let parts = entry.parts.into_iter();
    let parts = parts.map(|(table, did)| json!({ "table": table, "what": did }));
    json!({
        "record": entry.position,
        "file": entry.file,
        "offset": entry.offset,
        "bytes": entry.bytes,
        "did": parts.collect::<Vec<_>>(),
        "fault": entry.fault,
        "content": entry.content,
    })
}
