//! The rows of a table on a server, page by page.
//!
//! Each page is a SELECT of the rows behind the last id, and its rows are read as they come, so neither side holds more than the
//! rows of a page. The pages are of several moments: a row that is written meanwhile counts if its id is behind the page that is
//! read. A connection that breaks ends the verb: a part of the rows would have figures that look whole.

use clap::ArgMatches;
use client::{Client, ClientError};
use report::visible;
use study::attribution::events::Events;
use study::attribution::figures::Places;
use study::attribution::input::{Lines, ReadColumns, TableRows, TouchOptions};

use crate::sql_client::connect;

/// Rows of a page. Each page looks at the ids of all rows, so large ones are better. A server with little memory refuses them: then
/// the next page has half as many, down to the least.
const PAGE_ROWS_MAX: u64 = 524_288;
const PAGE_ROWS_MIN: u64 = 16_384;

/// Errors of the server by which a page is too large: 1038 of the memory of one search, 1040 and 1105 of that of requests.
const TOO_LARGE: [u16; 3] = [1038, 1040, 1105];

/// Reads a table into events. Returns how its rows were read, and the number of orders in other currencies.
///
/// # Errors
/// No server, no such table, a table of another type, a column that is missing, a connection that broke.
pub(super) fn read(
    matches: &ArgMatches,
    table: &str,
    (events, places): (&mut Events, &mut Places),
    options: &TouchOptions,
) -> Result<(Lines, u64), String> {
    let mut client = connect(matches)?;
    let columns = ReadColumns::of(table, &columns(&mut client, table)?)?;
    let names: Vec<String> = columns.names.iter().map(|name| quoted(name)).collect();
    let page = format!("SELECT id, {} FROM {}", names.join(", "), quoted(table));
    let mut rows = TableRows::new(table, columns, events, places, options);
    let (mut condition, mut page_rows) = (String::new(), PAGE_ROWS_MAX);
    loop {
        let (before, mut last, mut wrong) = (rows.count(), String::new(), None);
        let statement = format!("{page}{condition} ORDER BY id ASC LIMIT {page_rows}");
        let mut values: Vec<Vec<u8>> = vec![Vec::new(); names.len()];
        let mut visit = |cells: &client::Cells<'_>| {
            let mut cells = cells.iter().map(|cell| cell.unwrap_or_default());
            last.clear();
            last += &String::from_utf8_lossy(cells.next().unwrap_or_default());
            if wrong.is_none() {
                for (value, cell) in values.iter_mut().zip(cells) {
                    value.clear();
                    value.extend_from_slice(cell);
                }
                let texts: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
                wrong = rows.add(&texts).err();
            }
        };
        let read = client.query_rows(&statement, &mut visit);
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        if !last.is_empty() {
            condition = format!(" WHERE id > {last}");
        }
        match read {
            Ok(_) if rows.count() - before < page_rows => return Ok(rows.finish()),
            Ok(_) => {}
            Err(ClientError::Server(error))
                if TOO_LARGE.contains(&error.code) && page_rows > PAGE_ROWS_MIN =>
            {
                page_rows /= 2;
            }
            Err(error) => return Err(failed(table, &error)),
        }
    }
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
