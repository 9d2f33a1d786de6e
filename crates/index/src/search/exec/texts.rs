//! What the places of words do not tell of a row: where its fields and sentences end.

use query::analysis::Words;
use query::expression::ColumnValues;
use query::text_ends::TextEnds;
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
    /// Where a row's fields and sentences end. Only of rows of old segments is the text analysed.
    /// Errors: `Io`, `Corrupt`.
    pub(super) fn ends(&self, doc: u32) -> Result<TextEnds> {
        if let Some(ends) = self.part.text_ends(doc)?.and_then(TextEnds::read) {
            return Ok(ends);
        }
        let mut bytes = Vec::new();
        TextEnds::write(&self.words(doc)?, &mut bytes);
        Ok(TextEnds::read(&bytes).unwrap_or_default())
    }

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
