//! The rows of a table on a server, as one SELECT gives them: by rising id, of one moment.
//!
//! They are read as they come, so neither side holds the table. A connection that breaks ends the verb: a part of the rows would
//! have figures that look whole.

use clap::ArgMatches;
use client::{Client, ClientError};
use report::visible;
use study::attribution::events::Events;
use study::attribution::figures::Places;
use study::attribution::input::{Lines, ReadColumns, TableRows, TouchOptions};

use crate::sql_client::connect;

/// Reads a table into events. Returns how its rows were read, and the number of orders in other currencies.
///
/// # Errors
/// No server, no such table, a table of another type, a column that is missing, a connection that broke, rows that the server cannot
/// read.
pub(super) fn read(
    matches: &ArgMatches,
    table: &str,
    (events, places): (&mut Events, &mut Places),
    options: &TouchOptions,
) -> Result<(Lines, u64), String> {
    let mut client = connect(matches)?;
    let columns = ReadColumns::among(table, &columns(&mut client, table)?)?;
    let names: Vec<String> = columns.names.iter().map(|name| quoted(name)).collect();
    let statement = format!("SELECT {} FROM {}", names.join(", "), quoted(table));
    let mut rows = TableRows::new(table, columns, events, places, options);
    let mut wrong = None;
    let mut visit = |cells: &client::Cells<'_>| {
        if wrong.is_none() {
            let texts = cells.iter().map(|cell| cell.unwrap_or_default());
            wrong = rows.add(&texts.collect::<Vec<&[u8]>>()).err();
        }
    };
    let read = client.query_rows(&statement, &mut visit);
    let read = read.map_err(|error| failed(table, &error))?;
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    // A damaged file: the server gives the rows of the others, and says so.
    if read.warnings > 0 {
        let told = client.query("SHOW WARNINGS");
        let told = told.map_err(|error| failed(table, &error))?;
        let sentence = |row: Vec<Option<Vec<u8>>>| row.into_iter().flatten().next_back();
        let sentence = told.rows.into_iter().next().and_then(sentence);
        let sentence = sentence.unwrap_or_default();
        let sentence = String::from_utf8_lossy(&sentence).into_owned();
        return Err(format!("table {}: {}", visible(table), visible(&sentence)));
    }
    Ok(rows.finish())
}

/// The columns of a search table.
fn columns(client: &mut Client, table: &str) -> Result<Vec<String>, String> {
    let found = client.query("SHOW TABLES");
    let found = found.map_err(|error| failed(table, &error))?;
    let is_other = |row: &Vec<Option<Vec<u8>>>| match row.as_slice() {
        [Some(name), Some(kind), ..] => {
            name.eq_ignore_ascii_case(table.as_bytes()) && kind != SEARCH
        }
        [..] => false,
    };
    if found.rows.iter().any(is_other) {
        return Err(format!(
            "{} is no search table: a report reads these",
            visible(table)
        ));
    }
    let statement = format!("SELECT * FROM {} LIMIT 1", quoted(table));
    let answer = client.query(&statement);
    let answer = answer.map_err(|error| failed(table, &error))?;
    Ok(answer
        .columns
        .into_iter()
        .map(|column| column.name)
        .collect())
}

/// The type of a search table in SHOW TABLES.
const SEARCH: &[u8] = b"rt";

fn failed(table: &str, error: &ClientError) -> String {
    format!("table {}: {error}", visible(table))
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
