//! A row of a file, in buffers that are used again for the next.

/// A value as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Int(i128),
    Float(f64),
    Text(String),
}

/// A row: column names in lower case, in the file's order, each with its cell.
#[derive(Debug, Default)]
pub(super) struct Row {
    names: Vec<String>,
    cells: Vec<Cell>,
    /// How many of them are of this row; the others are kept for their memory.
    count: usize,
}

/// Why a row cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable(pub(super) String);

impl Row {
    /// Forgets the cells.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a column's name; its cell follows. Rows of one file mostly have the same columns in the same order.
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

    /// The cell of the column named last.
    pub(super) fn cell(&mut self, cell: Cell) {
        if let Some(place) = self.cells.get_mut(self.count) {
            *place = cell;
            self.count += 1;
        }
    }

    /// Likewise, a text.
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

    /// The text of a column, if it has one.
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
