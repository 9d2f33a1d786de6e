//! Tables: columns with units, rows of cells.

/// Rows of cells below named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Key in JSON, name in CSV; unique in its document.
    pub name: String,
    /// Words for a reader.
    pub title: String,
    /// Columns from the left.
    pub columns: Vec<Column>,
    /// A cell for each column. A missing cell is [`Cell::Nothing`]; cells behind the last column are not shown.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Key in JSON, header in CSV; unique in its table.
    pub name: String,
    /// Header for a reader.
    pub title: String,
    /// Unit of the numbers below. A column of text is aligned at the left, others at the right.
    pub unit: Unit,
}

/// What a number counts, and so how it is shown to a reader. CSV and JSON hold the number itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Words, shown as they are.
    Text,
    /// A count: `1,234,567`.
    Whole,
    /// A number with this count of digits behind the point.
    Decimal {
        /// 0 to 9.
        places: u8,
    },
    /// A part of a whole, 0 to 1: `98.60 %`.
    Share,
    /// A time in seconds: `12.3 ms`.
    Seconds,
    /// A size in bytes, by powers of 1000: `12.3 kB`.
    Bytes,
}

/// A value of a table. Each kind may stand below each unit: `auto` may stand in a column of counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// No value: empty in CSV, `null` in JSON.
    #[default]
    Nothing,
    /// Words. They may come from strangers: each output escapes them.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// Any number. One that is not finite is shown as [`Nothing`](Self::Nothing).
    Decimal(f64),
}

impl Table {
    /// A table without rows.
    pub fn new(name: impl Into<String>, title: impl Into<String>, columns: Vec<Column>) -> Table {
        Table {
            name: name.into(),
            title: title.into(),
            columns,
            rows: Vec::new(),
        }
    }
}

impl Column {
    /// A column from its parts.
    pub fn new(name: impl Into<String>, title: impl Into<String>, unit: Unit) -> Column {
        Column {
            name: name.into(),
            title: title.into(),
            unit,
        }
    }
}

impl Cell {
    /// The number in it; `None` for words, for nothing and for a number that is not finite.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Nothing | Cell::Text(_) => None,
            Cell::Whole(number) => Some(*number as f64),
            Cell::Decimal(number) => Some(*number).filter(|number| number.is_finite()),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Whole(number)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Cell {
        Cell::Whole(i64::from(number))
    }
}

/// A count above `i64::MAX` becomes a [`Cell::Decimal`].
impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        i64::try_from(number).map_or(Cell::Decimal(number as f64), Cell::Whole)
    }
}

/// As of `u64`.
impl From<usize> for Cell {
    fn from(number: usize) -> Cell {
        Cell::from(number as u64)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Decimal(number)
    }
}

impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(value: Option<C>) -> Cell {
        value.map_or(Cell::Nothing, Into::into)
    }
}
