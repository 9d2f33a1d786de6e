//! Tables: words at the left, numbers at the right, two spaces between columns.

use comfy_table::{
    Cell as Field, CellAlignment, ColumnConstraint, ContentArrangement, Table as Grid, presets,
};

use unicode_width::UnicodeWidthStr;

use super::{Style, Terminal};
use crate::document::{Cell, Column, Table, Unit};
use crate::number::{Grouping, shown};

/// Longest text of a cell, in columns, if the terminal is not wider. The whole text is in the other outputs.
const TEXT_MAX: usize = 200;

/// Columns that a column of texts gets before numbers do, if its texts are as long.
const TEXT_MIN: usize = 16;

/// Columns that are left out and named; further ones are only counted.
const TITLES_MAX: usize = 5;

/// Spaces between two columns.
const BETWEEN: usize = 2;

impl Table {
    /// The header and a line for each row. Long texts take more lines. Columns of numbers that do not fit are left out, the last
    /// first, and rows above the terminal's bound; a line below the table counts both.
    #[must_use]
    pub fn text(&self, terminal: &Terminal) -> String {
        let rows = &self.rows[..self.rows.len().min(terminal.rows_max)];
        let texts: Vec<Vec<String>> = self
            .columns
            .iter()
            .enumerate()
            .map(|(number, column)| column_texts(column, number, rows, terminal))
            .collect();
        let (kept, left_out) = self.fitting(&texts, terminal);
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(terminal.columns()).unwrap_or(u16::MAX));
        let line = |line: usize| {
            let fields = kept.iter();
            fields.map(move |column| (*column, line))
        };
        let field_of = |(column, line): (usize, usize)| {
            field(texts[column][line].clone(), self.columns[column].unit)
        };
        grid.set_header(line(0).map(field_of));
        for number in 1..=rows.len() {
            grid.add_row(line(number).map(field_of));
        }
        for (place, column) in kept.iter().enumerate() {
            let Some(grid_column) = grid.column_mut(place) else {
                continue;
            };
            let is_last = place + 1 == kept.len();
            grid_column.set_padding((0, if is_last { 0 } else { BETWEEN as u16 }));
            if self.columns[*column].unit != Unit::Text {
                grid_column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        let mut out = String::new();
        for (number, line) in grid.lines().enumerate() {
            match number {
                0 => out += &terminal.styled(Style::Heading, line.trim_end()),
                _ => out += line.trim_end(),
            }
            out.push('\n');
        }
        out + &self.rest(rows.len(), &left_out, terminal)
    }

    /// The columns that the terminal has room for, and those that it has not. Columns of texts stay, and one of numbers.
    fn fitting(&self, texts: &[Vec<String>], terminal: &Terminal) -> (Vec<usize>, Vec<usize>) {
        let is_text = |column: usize| self.columns[column].unit == Unit::Text;
        let width = |column: usize| {
            let widths = texts[column].iter().map(|text| text.width());
            let widest = widths.max().unwrap_or(0);
            BETWEEN
                + match is_text(column) {
                    true => widest.min(TEXT_MIN),
                    false => widest,
                }
        };
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let mut left_out = Vec::new();
        let mut wanted: usize = kept.iter().map(|column| width(*column)).sum();
        while wanted > terminal.columns() + BETWEEN {
            let mut numbers = (0..kept.len()).filter(|place| !is_text(kept[*place]));
            let (first, last) = (numbers.next(), numbers.next_back());
            let Some(place) = last.filter(|last| Some(*last) != first) else {
                break;
            };
            let column = kept.remove(place);
            wanted -= width(column);
            left_out.insert(0, column);
        }
        (kept, left_out)
    }

    /// A line that counts what is left out.
    fn rest(&self, rows: usize, left_out: &[usize], terminal: &Terminal) -> String {
        let mut parts = Vec::new();
        if rows < self.rows.len() {
            parts.push(counted(self.rows.len() - rows, "row"));
        }
        if !left_out.is_empty() {
            let titles = left_out.iter().map(|column| &*self.columns[*column].title);
            let titles: Vec<&str> = titles.take(TITLES_MAX).collect();
            let more = if left_out.len() > TITLES_MAX {
                ", …"
            } else {
                ""
            };
            let count = counted(left_out.len(), "column");
            parts.push(format!("{count}: {}{more}", titles.join(", ")));
        }
        match parts.is_empty() {
            true => String::new(),
            false => terminal.paragraph(&format!("… {}", parts.join("; "))),
        }
    }
}

/// `1 more row`, `2,650 more rows`.
fn counted(count: usize, thing: &str) -> String {
    let number = shown(&Cell::from(count as u64), Unit::Whole, Grouping::Comma);
    let end = if count == 1 { "" } else { "s" };
    format!("{number} more {thing}{end}")
}

/// The title of a column, then its text in each row.
fn column_texts(
    column: &Column,
    number: usize,
    rows: &[Vec<Cell>],
    terminal: &Terminal,
) -> Vec<String> {
    let cells = rows.iter().map(|row| {
        let cell = row.get(number).unwrap_or(&Cell::Nothing);
        let text = shown(cell, column.unit, Grouping::Comma);
        terminal.cut(&text, TEXT_MAX.max(terminal.columns()))
    });
    std::iter::once(terminal.clean(&column.title))
        .chain(cells)
        .collect()
}

fn field(text: String, unit: Unit) -> Field {
    let alignment = match unit {
        Unit::Text => CellAlignment::Left,
        Unit::Whole | Unit::Decimal { .. } | Unit::Share | Unit::Seconds | Unit::Bytes => {
            CellAlignment::Right
        }
    };
    Field::new(text).set_alignment(alignment)
}
