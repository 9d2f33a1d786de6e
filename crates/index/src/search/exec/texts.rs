//! What the places of words do not tell of a row: where its fields and sentences end.

use language::analysis::Words;
use relation::expression::ColumnValues;
use relation::value::Value;

use super::super::values::RowValues;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::part::Part;
use crate::segment::Lasts;
use crate::shape::TableShape;
use crate::text_ends::TextEnds;

/// The texts of a part's rows.
#[derive(Clone, Copy)]
pub(super) struct Texts<'p> {
    pub(super) part: &'p Part,
    pub(super) shape: &'p TableShape,
}

impl Texts<'_> {
    /// The last position of a row's field; `None` if it has no words. Errors: as [`Texts::ends`].
    #[inline]
    pub(super) fn last(&self, doc: u32, field: u8) -> Result<Option<u32>> {
        match self.part.text_ends(doc)? {
            Some(bytes) => Ok(TextEnds::last_in(bytes, field)),
            None => {
                let mut ends = TextEnds::default();
                self.ends(doc, &mut ends)?;
                Ok(ends.last(field))
            }
        }
    }

    /// As [`Part::lasts`].
    pub(super) fn lasts(&self, page: usize, asked: usize) -> Result<Option<Lasts<'_>>> {
        self.part.lasts(page, asked, self.shape.texts().count())
    }

    /// Reads where a row's fields and sentences end. It analyses the text only where the row comes from an old segment.
    /// Errors: `Io`, `Corrupt`.
    pub(super) fn ends(&self, doc: u32, ends: &mut TextEnds) -> Result<()> {
        if let Some(bytes) = self.part.text_ends(doc)?
            && ends.read(bytes).is_some()
        {
            return Ok(());
        }
        let mut bytes = Vec::new();
        TextEnds::write(&self.words(doc)?, &mut bytes);
        let not_read = || Error::Internal {
            what: "the ends of a text are not read back".to_owned(),
        };
        ends.read(&bytes).ok_or_else(not_read)
    }

    /// Analyses a row's text columns. Errors: `Io`, `Corrupt`.
    pub(super) fn words(&self, doc: u32) -> Result<Words> {
        // Columns are read as they are, so nothing is counted.
        let interrupt = Interrupt::default();
        let row = RowValues::new(self.part, doc, &interrupt);
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
