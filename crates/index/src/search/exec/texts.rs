//! What only the text of a row tells.

use query::analysis::Words;
use query::expression::ColumnValues;
use query::value::Value;

use super::super::values::RowValues;
use crate::error::Result;
use crate::part::Part;
use crate::shape::TableShape;

/// The texts of a part's rows.
#[derive(Clone, Copy)]
pub(super) struct Texts<'p> {
    pub(super) part: &'p Part,
    pub(super) shape: &'p TableShape,
}

impl Texts<'_> {
    /// Analyses a row's text columns. Errors: `Io`, `Corrupt`.
    pub(super) fn words(&self, doc: u32) -> Result<Words> {
        let row = RowValues::new(self.part, doc);
        let mut words = Words::new();
        for (field, column) in self.shape.texts().enumerate() {
            if let Value::Str(text) = row.value(column + 1) {
                words.push_field(&self.shape.analyzer, field as u8, &text);
            }
        }
        row.check()?;
        Ok(words)
    }
}

/// Last position of a field; 0 of an empty one.
pub(super) fn last_position(words: &Words, field: u8) -> u32 {
    let of_field = words.iter().filter(|(_, other, _)| *other == field);
    of_field.map(|(_, _, position)| position).max().unwrap_or(0)
}
