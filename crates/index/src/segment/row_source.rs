//! The rows that a segment is written from.

use std::borrow::Cow;

use relation::json::JsonStep;
use relation::value::Value;

use super::packed_rows::StoredRow;
use crate::changes::Changes;
use crate::error::Result;
use crate::removed::WordCount;

/// The rows of a new segment, by their doc there. Implemented by a tail's rows and by a merge's.
pub(super) trait RowSource {
    /// Id of a row; ids rise with docs.
    fn id(&self, doc: u32) -> Result<u64>;
    /// All columns of a row.
    fn columns(&self, doc: u32) -> Result<SourceRow<'_>>;
    /// Appends the row as its source has packed it. `false`, and nothing is appended: it must be packed here.
    fn copy_packed(&self, doc: u32, out: &mut Vec<u8>) -> Result<bool>;
    /// Length class of a row; see [`crate::postings::length_class`].
    fn length_class(&self, doc: u32) -> Result<u8>;
    /// Appends where the row's fields and sentences end; see [`crate::text_ends::TextEnds`]. `false`: nobody knows.
    fn text_ends(&self, doc: u32, out: &mut Vec<u8>) -> Result<bool>;
    /// Appends the row's forward list: its distinct words by rising number in the new segment.
    fn forward(&self, doc: u32, out: &mut Vec<WordCount>) -> Result<()>;
}

/// A row as its source has it, and the values set since.
pub(super) struct SourceRow<'s> {
    row: StoredRow<'s>,
    /// The changes of its part, and its doc there; `None` if no value of the row was set.
    changes: Option<(&'s Changes, u32)>,
}

impl<'s> SourceRow<'s> {
    /// A row of a part with these changes.
    pub(super) fn new(row: StoredRow<'s>, changes: &'s Changes, doc: u32) -> SourceRow<'s> {
        SourceRow {
            row,
            changes: changes.has(doc).then_some((changes, doc)),
        }
    }

    /// An encoded row, with all values set.
    pub(super) fn whole(encoded: &'s [u8]) -> SourceRow<'s> {
        SourceRow {
            row: StoredRow::whole_row(encoded),
            changes: None,
        }
    }

    fn changed(&self, column: usize) -> Option<Value> {
        let (changes, doc) = self.changes?;
        changes.value(column, doc)
    }

    /// The row as its source has it; `None` if values were set since.
    pub(super) fn unchanged(&self) -> Option<&StoredRow<'s>> {
        self.changes.is_none().then_some(&self.row)
    }

    /// Number of columns; 0 where the row is none.
    pub(super) fn column_count(&self) -> u16 {
        self.row.column_count().unwrap_or(0) as u16 // at most `relation::limits::COLUMNS_MAX`
    }

    /// One column; `None` beyond the last. Errors: `Corrupt`, as all below.
    pub(super) fn column(&self, column: usize) -> Result<Option<Value>> {
        match self.changed(column) {
            Some(value) => Ok(Some(value)),
            None => self.row.column(column),
        }
    }

    /// A column's number, as [`relation::row::decode_number`].
    pub(super) fn number(&self, column: usize) -> Option<Value> {
        match self.changed(column) {
            Some(number @ (Value::Int(_) | Value::Float(_))) => Some(number),
            Some(_) => None,
            None => self.row.number(column),
        }
    }

    /// The bytes of a column's text; `Some(None)`: NULL; `None`: any other value.
    pub(super) fn text_or_null(&self, column: usize) -> Result<Option<Option<Cow<'s, [u8]>>>> {
        if let Some(value) = self.changed(column) {
            return Ok(match value {
                Value::Str(text) => Some(Some(Cow::Owned(text.into_bytes()))),
                Value::Null => Some(None),
                _ => None,
            });
        }
        Ok(match self.row.text(column)? {
            Some(Some(text)) => Some(Some(text)),
            _ => (self.row.column(column)? == Some(Value::Null)).then_some(None),
        })
    }

    /// The bytes of a column's document; `None`: it has another value.
    pub(super) fn document(&self, column: usize) -> Option<Cow<'s, [u8]>> {
        match self.changed(column) {
            Some(Value::Json(document)) => Some(Cow::Owned(document.bytes().to_vec())),
            Some(_) => None,
            None => self.row.document(column).flatten().map(Cow::Borrowed),
        }
    }

    /// What stands at a path in a column's document; `None` beyond the last column.
    pub(super) fn at_path(&self, column: usize, path: &[JsonStep]) -> Option<Value> {
        match self.changed(column) {
            Some(value) => Some(value.at_path(path)),
            None => self.row.at_path(column, path),
        }
    }

    /// All columns, encoded.
    pub(super) fn encoded(&self) -> Result<Cow<'s, [u8]>> {
        let written = self.row.encoded()?;
        let Some((changes, doc)) = self.changes else {
            return Ok(written);
        };
        Ok(match changes.encode(doc, &written)? {
            None => written,
            Some(row) => Cow::Owned(row.to_vec()),
        })
    }
}
