//! Tables: words at the left, numbers at the right, two spaces between columns.

use comfy_table::{
    Cell as Field, CellAlignment, ColumnConstraint, ContentArrangement, Table as Grid, presets,
};

use super::{Style, Terminal};
use crate::document::{Cell, Table, Unit};
use crate::number::{Grouping, shown};

/// Longest text of a cell, in columns, if the terminal is not wider. The whole text is in the other outputs.
const TEXT_MAX: usize = 200;

impl Table {
    /// The header and a line for each row. Long texts take more lines, so that the table fits.
    #[must_use]
    pub fn text(&self, terminal: &Terminal) -> String {
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(terminal.columns()).unwrap_or(u16::MAX));
        grid.set_header(
            self.columns
                .iter()
                .map(|column| field(terminal.clean(&column.title), column.unit)),
        );
        for row in &self.rows {
            let cells = self.columns.iter().enumerate().map(|(number, column)| {
                let text = shown(
                    row.get(number).unwrap_or(&Cell::Nothing),
                    column.unit,
                    Grouping::Comma,
                );
                field(
                    terminal.cut(&text, TEXT_MAX.max(terminal.columns())),
                    column.unit,
                )
            });
            grid.add_row(cells);
        }
        let last = self.columns.len().saturating_sub(1);
        for (number, column) in self.columns.iter().enumerate() {
            let Some(grid_column) = grid.column_mut(number) else {
                continue;
            };
            grid_column.set_padding((0, if number == last { 0 } else { 2 }));
            if column.unit != Unit::Text {
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
        out
    }
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
