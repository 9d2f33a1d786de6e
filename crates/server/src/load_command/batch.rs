//! Rows gathered into one statement.

use super::check::Checker;
use super::rows::{Cell, Row};

/// Rows of one statement: one sync each, and past some hundreds the sync no longer counts. The server does a statement
/// in one go, and a put of somebody else waits for it: so no more than that.
const ROWS_MAX: usize = 250;

/// Bytes of one statement, roughly.
const BYTES_MAX: usize = 128 << 10;

/// Rows with the same columns.
#[derive(Default)]
pub(super) struct Batch {
    columns: Vec<String>,
    /// Line and `(…)` of each row.
    rows: Vec<(u64, String)>,
    bytes: usize,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.bytes = 0;
    }

    /// Whether the row fits beside those it holds.
    pub(super) fn takes(&self, row: &Row) -> bool {
        let room = self.rows.len() < ROWS_MAX && self.bytes < BYTES_MAX;
        self.rows.is_empty() || room && self.columns.iter().eq(row.names())
    }

    pub(super) fn push(&mut self, row: Row, checker: &Checker) {
        if self.rows.is_empty() {
            self.columns = row.names().cloned().collect();
        }
        let mut text = String::from("(");
        for (number, (name, cell)) in row.cells.iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            push_cell(&mut text, cell, checker.is_number(name));
        }
        text.push(')');
        self.bytes += text.len();
        self.rows.push((row.line, text));
    }

    pub(super) fn statement(&self, table: &str) -> String {
        let rows: Vec<&str> = self.rows.iter().map(|(_, row)| row.as_str()).collect();
        self.begin(table) + &rows.join(",")
    }

    /// One statement a row, with its line.
    pub(super) fn single_statements(&self, table: &str) -> impl Iterator<Item = (u64, String)> {
        let begin = self.begin(table);
        let rows = self.rows.iter();
        rows.map(move |(line, row)| (*line, format!("{begin}{row}")))
    }

    /// REPLACE where there is an id, so that a load may be run again.
    fn begin(&self, table: &str) -> String {
        let has_id = self.columns.iter().any(|column| column == "id");
        let verb = if has_id { "REPLACE" } else { "INSERT" };
        let columns: Vec<String> = self.columns.iter().map(|name| quoted_name(name)).collect();
        let (table, columns) = (quoted_name(table), columns.join(","));
        format!("{verb} INTO {table} ({columns}) VALUES ")
    }
}

fn quoted_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A number column's cell goes as it is written if it is one; the server says what is wrong with any other.
fn push_cell(text: &mut String, cell: &Cell, is_number: bool) {
    match cell {
        Cell::Null => text.push_str("NULL"),
        Cell::Number(number) => text.push_str(number),
        Cell::Text(number) if is_number && number.parse::<f64>().is_ok_and(f64::is_finite) => {
            text.push_str(number);
        }
        Cell::Text(letters) => {
            text.push('\'');
            for letter in letters.chars() {
                if matches!(letter, '\'' | '\\') {
                    text.push('\\');
                }
                text.push(letter);
            }
            text.push('\'');
        }
    }
}
