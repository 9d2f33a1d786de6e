//! A batch: rows that are sent as one command.

use wire::mysql::load::LoadCells;

use super::check::Checker;
use super::records::Span;
use super::row::{Cell, Row};

/// Approximate size of a command, in bytes. The server stores it in one turn, and other clients' writes wait for that.
const BYTES_MAX: usize = 1 << 20;

/// Rows with the same columns, and their places in the file.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) columns: Vec<String>,
    pub(super) cells: LoadCells,
    pub(super) rows: Vec<Placed>,
    /// The rows as written in the file, in case they are refused.
    written: Vec<u8>,
}

/// A row of a batch.
pub(super) struct Placed {
    pub(super) line: u64,
    pub(super) from: u64,
    pub(super) to: u64,
    /// End of its cells in the batch's cells, in bytes.
    pub(super) cells_end: usize,
    written_end: usize,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.cells = LoadCells::default();
        self.rows.clear();
        self.written.clear();
    }

    /// Whether the batch has room for the row and the same columns. `rows_max` is at least 1.
    pub(super) fn takes(&self, row: &Row, rows_max: usize) -> bool {
        let room = self.rows.len() < rows_max && self.cells.len() < BYTES_MAX;
        self.rows.is_empty() || room && self.columns == row.names()
    }

    /// Adds a row. An empty cell of a column that holds no texts becomes NULL, as spreadsheets mean it.
    pub(super) fn push(&mut self, row: &Row, span: &Span, written: &[u8], checker: &Checker) {
        if self.rows.is_empty() && self.columns != row.names() {
            self.columns = row.names().to_vec();
        }
        for (name, cell) in row.names().iter().zip(row.cells()) {
            match cell {
                Cell::Null => self.cells.null(),
                Cell::Int(number) => self.cells.int(*number),
                Cell::Float(number) => self.cells.float(*number),
                Cell::Text(text) if text.is_empty() && checker.is_number(name) => self.cells.null(),
                Cell::Text(text) => self.cells.text(text),
            }
        }
        self.written.extend_from_slice(written);
        self.rows.push(Placed {
            line: span.line,
            from: span.from,
            to: span.to,
            cells_end: self.cells.len(),
            written_end: self.written.len(),
        });
    }

    /// Encoded cells of the rows from `from` to before `to`.
    pub(super) fn cells_of(&self, from: usize, to: usize) -> &[u8] {
        let end = |row: usize| match row.checked_sub(1) {
            None => 0,
            Some(before) => self.rows.get(before).map_or(0, |row| row.cells_end),
        };
        self.cells.between(end(from), end(to))
    }

    /// A row as written in the file.
    pub(super) fn written(&self, row: usize) -> &[u8] {
        let end = |row: usize| self.rows.get(row).map_or(0, |row| row.written_end);
        let start = row.checked_sub(1).map_or(0, end);
        self.written.get(start..end(row)).unwrap_or_default()
    }
}
