//! SQLite in this process, for `seine bench select`. The one argument is the file of the database.
//!
//! Reads jobs from standard input: a line with the number of statements, then each as a line with its number of bytes, its SQL, and
//! a line break. Runs the statements, reads all columns of all rows, and answers with a line: `ok SECONDS ROWS CHECKSUM`, or
//! SQLite's error. The checksum is that of bench/src/select/rows.rs, over the values as text. The time has no part of the
//! pipe.

use std::{
    error::Error,
    io::{self, BufRead, Write},
    time::Instant,
};

use rusqlite::{Connection, types::ValueRef};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Default)]
struct Sum {
    rows: u64,
    value: u64,
}

fn mixed(row: u64, word: u64) -> u64 {
    (row ^ word)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(32)
}

fn little_endian(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

fn with_cell(mut row: u64, cell: &[u8]) -> u64 {
    row = mixed(row, cell.len() as u64);
    let mut words = cell.chunks_exact(8);
    for word in words.by_ref() {
        row = mixed(row, little_endian(word));
    }
    mixed(row, little_endian(words.remainder()))
}

/// The digits of a number.
fn digits(number: i64, room: &mut [u8; 20]) -> &[u8] {
    let (mut rest, mut first) = (number.unsigned_abs(), room.len());
    while first == room.len() || rest > 0 {
        first -= 1;
        room[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if number < 0 {
        first -= 1;
        room[first] = b'-';
    }
    &room[first..]
}

/// Runs a statement and adds its rows.
fn answer(connection: &Connection, text: &str, sum: &mut Sum) -> rusqlite::Result<()> {
    let mut room = [0; 20];
    let mut statement = connection.prepare(text)?;
    let columns = statement.column_count();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let mut value = 0;
        for column in 0..columns {
            value = match row.get_ref(column)? {
                ValueRef::Integer(number) => with_cell(value, digits(number, &mut room)),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => with_cell(value, bytes),
                ValueRef::Real(number) => with_cell(value, number.to_string().as_bytes()),
                ValueRef::Null => mixed(mixed(value, u64::MAX), 0),
            };
        }
        sum.rows += 1;
        sum.value = sum.value.wrapping_add(value);
    }
    Ok(())
}

/// Reads a line with a number; `None` at the end of the input.
fn number(input: &mut impl BufRead) -> Result<Option<usize>> {
    let mut line = String::new();
    match input.read_line(&mut line)? {
        0 => Ok(None),
        _ => Ok(Some(line.trim().parse()?)),
    }
}

/// Reads the statements of a job; `None` at the end of the input.
fn job(input: &mut impl BufRead) -> Result<Option<Vec<String>>> {
    let Some(count) = number(input)? else {
        return Ok(None);
    };
    let mut statements = Vec::with_capacity(count);
    for _ in 0..count {
        let mut text = vec![0; number(input)?.ok_or("a job ended early")?];
        input.read_exact(&mut text)?;
        input.read_exact(&mut [0])?;
        statements.push(String::from_utf8(text)?);
    }
    Ok(Some(statements))
}

fn main() -> Result<()> {
    let file = std::env::args().nth(1).ok_or("peer-sqlite FILE")?;
    let connection = Connection::open(file)?;
    // The table stays in memory, and a load needs no syncs: only reading is measured.
    connection.execute_batch(
        "PRAGMA cache_size = -1000000; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;",
    )?;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    writeln!(output, "ready SQLite {} in process", rusqlite::version())?;
    while let Some(statements) = job(&mut input)? {
        let (begun, mut sum) = (Instant::now(), Sum::default());
        let done = statements
            .iter()
            .try_for_each(|text| answer(&connection, text, &mut sum));
        let seconds = begun.elapsed().as_secs_f64();
        match done {
            Ok(()) => writeln!(output, "ok {seconds:.9} {} {}", sum.rows, sum.value)?,
            // Its text as a whole would repeat the SQL.
            Err(rusqlite::Error::SqlInputError { msg, .. }) => writeln!(output, "{msg}")?,
            Err(error) => writeln!(output, "{}", error.to_string().replace('\n', " "))?,
        }
    }
    Ok(())
}
