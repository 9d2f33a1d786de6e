//! A row of a file. The next row uses its buffers again.

/// A value of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Int(i128),
    Float(f64),
    Text(String),
}

/// A row: lower-case column names in the file's order, each with its cell.
#[derive(Debug, Default)]
pub(super) struct Row {
    names: Vec<String>,
    cells: Vec<Cell>,
    /// Count of cells of this row. The cells behind are kept for their memory.
    count: usize,
}

/// Reason why a row cannot be parsed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable(pub(super) String);

impl Row {
    /// Removes all cells.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a column's name; its cell must follow. Most rows of a file have the same columns in the same order, so it usually
    /// finds the name in place.
    pub(super) fn name(&mut self, name: &str) {
        match self.names.get_mut(self.count) {
            Some(same) if same == name => {}
            Some(other) => {
                other.clear();
                push_lower(other, name);
            }
            None => {
                let mut new = String::new();
                push_lower(&mut new, name);
                self.names.push(new);
                self.cells.push(Cell::Null);
            }
        }
    }

    /// Sets the cell of the column that was named last.
    pub(super) fn cell(&mut self, cell: Cell) {
        if let Some(place) = self.cells.get_mut(self.count) {
            *place = cell;
            self.count += 1;
        }
    }

    /// Sets the cell of the column that was named last to a text.
    pub(super) fn text_cell(&mut self, text: &str) {
        match self.cells.get_mut(self.count) {
            Some(Cell::Text(old)) => {
                old.clear();
                old.push_str(text);
                self.count += 1;
            }
            _ => self.cell(Cell::Text(text.to_owned())),
        }
    }

    pub(super) fn names(&self) -> &[String] {
        self.names.get(..self.count).unwrap_or_default()
    }

    pub(super) fn cells(&self) -> &[Cell] {
        self.cells.get(..self.count).unwrap_or_default()
    }

    /// The text of a column; `None`: no such column, or no text.
    pub(super) fn text(&self, column: &str) -> Option<&str> {
        let place = self.names().iter().position(|name| name == column)?;
        match self.cells().get(place)? {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn push_lower(out: &mut String, name: &str) {
    if name.is_ascii() {
        out.push_str(name);
        out.make_ascii_lowercase();
    } else {
        out.push_str(&name.to_lowercase());
    }
}
