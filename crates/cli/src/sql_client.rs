//! `seine sql`: sends statements from the command line or standard input, and prints answers as tables or lines of JSON.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use client::{Client, QueryResult};
use relation::lexer::Lexer;
use serde_json::{Map, Value as Json};
use wire::mysql::FieldType;

use crate::login::{addr, user};
use crate::output::{Exit, print_error};

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("sql")
        .about("Send SQL to a server and show the answers.")
        .arg(
            Arg::new("statement")
                .value_name("STATEMENT")
                .help("The statement; else standard input is read."),
        )
        .args(login())
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("One JSON object a row, one row a line."),
        )
}

/// Arguments for address and user, of every verb that sends SQL to a server.
pub(crate) fn login() -> [Arg; 2] {
    [addr().default_value("127.0.0.1:9306"), user()]
}

/// Connects to the server that the arguments of [`login`] name.
///
/// # Errors
/// A sentence with the address and the reason.
pub(crate) fn connect(matches: &ArgMatches) -> Result<Client, String> {
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let password = std::env::var("SEINE_PASSWORD").unwrap_or_default();
    Client::connect(text("addr"), text("user"), &password)
        .map_err(|error| format!("{}: {error}", text("addr")))
}

/// Runs the statements. The first that fails ends the verb with exit code 1.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let mut shell = Shell {
        client: connect(matches)?,
        json: matches.get_flag("json"),
        out: io::stdout().lock(),
    };
    match matches.get_one::<String>("statement") {
        Some(statement) => shell.all(statement.as_bytes()),
        None if io::stdin().is_terminal() => shell.typed(),
        None => {
            let mut statements = Vec::new();
            io::stdin().lock().read_to_end(&mut statements)?;
            shell.file(&statements)
        }
    }?;
    Ok(ExitCode::SUCCESS)
}

struct Shell<Out> {
    client: Client,
    json: bool,
    out: Out,
}

impl<Out: Write> Shell<Out> {
    /// Runs each statement of a text, in order.
    fn all(&mut self, text: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
        wire::sql::split(text).try_for_each(|statement| self.one(statement))
    }

    /// Runs each statement of a file, in order. An error names the line at which its statement begins.
    fn file(&mut self, text: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
        for statement in wire::sql::split(text) {
            let named = |error| format!("line {}: {error}", line_of(text, statement));
            self.one(statement).map_err(named)?;
        }
        Ok(())
    }

    fn one(&mut self, statement: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
        let statement = std::str::from_utf8(statement)?.trim();
        if statement.is_empty() {
            return Ok(());
        }
        let sets = self.client.query_sets(statement)?;
        for result in &sets {
            let shown = if self.json {
                json(result)
            } else {
                table(result)
            };
            self.out.write_all(shown.as_bytes())?;
        }
        self.out.flush()?;
        if sets.last().is_some_and(|result| result.warnings > 0) {
            self.tell_warnings()?;
        }
        Ok(())
    }

    /// Prints the warnings of the last statement on standard error, apart from the answer.
    fn tell_warnings(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        for row in self.client.query("SHOW WARNINGS")?.rows {
            if let Some(message) = row.last() {
                print_error(format_args!("warning: {}", shown(message)));
            }
        }
        Ok(())
    }

    /// Runs statements that a person types. A statement ends at a line that ends with `;`. An error does not end the verb.
    fn typed(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        let mut statement = String::new();
        for line in io::stdin().lock().lines() {
            statement.push_str(&line?);
            statement.push('\n');
            if statement.trim_end().ends_with(';') {
                if let Err(error) = self.all(statement.as_bytes()) {
                    print_error(&error);
                }
                statement.clear();
            }
        }
        self.all(statement.as_bytes())
    }
}

/// Line, from 1, of the first word of a statement that [`wire::sql::split`] has cut from `text`; comments do not count.
fn line_of(text: &[u8], statement: &[u8]) -> usize {
    let first = Lexer::new(statement).peek().range.start;
    let start = statement.as_ptr().addr() - text.as_ptr().addr() + first;
    let before = text.get(..start).unwrap_or_default();
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// A table of rows under their headers, with numbers to the right; without columns the count of changed rows.
fn table(result: &QueryResult) -> String {
    if result.columns.is_empty() {
        return format!("OK, {} affected\n", rows(result.affected));
    }
    let cells: Vec<Vec<String>> = result
        .rows
        .iter()
        .map(|row| row.iter().map(shown).collect())
        .collect();
    let width = |index: usize| {
        let header = result.columns[index].name.chars().count();
        cells
            .iter()
            .map(|row| row[index].chars().count())
            .chain([header])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..result.columns.len()).map(width).collect();
    let numbers: Vec<bool> = result
        .columns
        .iter()
        .map(|column| is_number(column.kind))
        .collect();
    let line = |cells: &[String]| {
        let padded = cells
            .iter()
            .zip(&widths)
            .zip(&numbers)
            .map(|((cell, width), number)| {
                if *number {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:width$}")
                }
            });
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    let headers: Vec<String> = result
        .columns
        .iter()
        .map(|column| column.name.clone())
        .collect();
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut text = line(&headers) + &line(&rules);
    text.extend(cells.iter().map(|row| line(row)));
    text + &format!("({})\n", rows(result.rows.len() as u64))
}

/// A line with a JSON object for each row, its keys sorted by name.
fn json(result: &QueryResult) -> String {
    if result.columns.is_empty() {
        return format!(
            "{}\n",
            serde_json::json!({ "affected": result.affected, "last_id": result.last_id })
        );
    }
    let mut text = String::new();
    for row in &result.rows {
        let fields = result.columns.iter().zip(row);
        let object: Map<String, Json> = fields
            .map(|(column, cell)| (column.name.clone(), json_cell(column.kind, cell)))
            .collect();
        text.push_str(&Json::Object(object).to_string());
        text.push('\n');
    }
    text
}

fn json_cell(kind: FieldType, cell: &Option<Vec<u8>>) -> Json {
    let Some(bytes) = cell else { return Json::Null };
    let text = String::from_utf8_lossy(bytes);
    let number = is_number(kind)
        .then(|| text.parse::<serde_json::Number>().ok())
        .flatten();
    number.map_or_else(|| Json::String(text.into_owned()), Json::Number)
}

/// A cell as text on one line, with control characters escaped.
fn shown(cell: &Option<Vec<u8>>) -> String {
    match cell {
        None => "NULL".to_owned(),
        Some(bytes) => String::from_utf8_lossy(bytes)
            .chars()
            .flat_map(visible)
            .collect(),
    }
}

/// The letter, escaped if it is a control character: it would break the table or let a stored text control the terminal.
fn visible(letter: char) -> impl Iterator<Item = char> {
    let escaped = letter.is_control();
    let own = (!escaped).then_some(letter);
    own.into_iter().chain(
        escaped
            .then(|| letter.escape_default())
            .into_iter()
            .flatten(),
    )
}

fn is_number(kind: FieldType) -> bool {
    [
        FieldType::TINY,
        FieldType::SHORT,
        FieldType::LONG,
        FieldType::FLOAT,
        FieldType::DOUBLE,
        FieldType::LONGLONG,
        FieldType::INT24,
    ]
    .contains(&kind)
}

fn rows(count: u64) -> String {
    if count == 1 {
        "1 row".to_owned()
    } else {
        format!("{count} rows")
    }
}

#[cfg(test)]
mod tests;
