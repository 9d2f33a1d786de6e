//! The rows of one word as bytes: a pure codec, which knows no file.
//!
//! A list is written once, from postings by rising doc, into two stretches of bytes: `postings` (rows, codes, fields) and
//! `positions` (where the word stands in each row). Both are needed to read positions, the first alone for all else.

#![allow(
    unused_imports,
    dead_code,
    reason = "the files that hold these lists are about to come"
)]

mod code;
mod list;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use code::{HITS_OPEN, class_of, code, hits_of, length_class, length_of_class};
pub(crate) use list::List;
pub(crate) use writer::ListWriter;

/// One row of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) doc: u32,
    /// See [`code`].
    pub(crate) code: u8,
    /// Times that the word stands in the row, exactly.
    pub(crate) hits: u32,
    /// A bit for each text column that it stands in; 1 where the table has one text column only.
    pub(crate) fields: u64,
}

/// What a [`ListWriter`] wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListEntry {
    /// Rows.
    pub(crate) documents: u32,
    /// Occurrences in all of them.
    pub(crate) hits: u64,
    /// Bytes added to `postings`.
    pub(crate) postings_bytes: u64,
    /// Bytes added to `positions`.
    pub(crate) positions_bytes: u64,
}
