//! Rows gathered into one command.

use wire::mysql::load::LoadCells;

use super::check::Checker;
use super::records::Span;
use super::row::{Cell, Row};

/// Bytes of one command, roughly: the server does it in one go, and what others write waits for it.
const BYTES_MAX: usize = 1 << 20;

/// Rows with the same columns, and where they stand in the file.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) columns: Vec<String>,
    pub(super) cells: LoadCells,
    pub(super) rows: Vec<Placed>,
    /// The rows as they stand in the file, for those that are refused.
    written: Vec<u8>,
}

/// A row of a batch.
pub(super) struct Placed {
    pub(super) line: u64,
    pub(super) from: u64,
    pub(super) to: u64,
    /// Where its cells end.
    pub(super) cells_end: usize,
    written_end: usize,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.cells = LoadCells::default();
        self.rows.clear();
        self.written.clear();
    }

    /// Whether the row fits beside those it holds. `rows_max`: at least 1.
    pub(super) fn takes(&self, row: &Row, rows_max: usize) -> bool {
        let room = self.rows.len() < rows_max && self.cells.len() < BYTES_MAX;
        self.rows.is_empty() || room && self.columns == row.names()
    }

    /// An empty cell of a number column is NULL, as spreadsheets mean it.
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

    /// The cells of some of the rows.
    pub(super) fn cells_of(&self, from: usize, to: usize) -> &[u8] {
        let end = |row: usize| match row.checked_sub(1) {
            None => 0,
            Some(before) => self.rows.get(before).map_or(0, |row| row.cells_end),
        };
        self.cells.between(end(from), end(to))
    }

    /// A row as it stands in the file.
    pub(super) fn written(&self, row: usize) -> &[u8] {
        let end = |row: usize| self.rows.get(row).map_or(0, |row| row.written_end);
        let start = row.checked_sub(1).map_or(0, end);
        self.written.get(start..end(row)).unwrap_or_default()
    }
}
