//! The rows that a segment is written from.

use std::borrow::Cow;

use crate::error::Result;
use crate::removed::WordCount;

/// The rows of a new segment, by their doc there. Implemented by a tail's rows and by a merge's.
pub(super) trait RowSource {
    /// Id of a row; ids rise with docs.
    fn id(&self, doc: u32) -> Result<u64>;
    /// All columns of a row, encoded; see [`query::row`].
    fn columns(&self, doc: u32) -> Result<Cow<'_, [u8]>>;
    /// Length class of a row; see [`crate::postings::length_class`].
    fn length_class(&self, doc: u32) -> Result<u8>;
    /// Appends where the row's fields and sentences end; see [`query::text_ends::TextEnds`]. `false`: nobody knows.
    fn text_ends(&self, doc: u32, out: &mut Vec<u8>) -> Result<bool>;
    /// Appends the row's forward list: its distinct words by rising number in the new segment.
    fn forward(&self, doc: u32, out: &mut Vec<WordCount>) -> Result<()>;
}
