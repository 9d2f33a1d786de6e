//! The rows of one word as bytes: a pure codec, which knows no file. ADR 027 has the reasons, `docs/formats/postings.md` the bytes.
//!
//! A list is written once, from postings by rising doc, into two stretches of bytes: `postings` (rows, codes, fields) and
//! `positions` (where the word stands in each row). Rows are cut into *pages* of 65,536; in each, a list holds either the low
//! halves of its docs or, where it is dense, a bitmap: nothing is decoded before it can be compared, counted or looked up.

mod bits;
mod code;
mod list;
mod page;
mod places;
mod walk;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use code::{HITS_OPEN, class_of, code, hits_of, length_class, length_of_class};
pub(crate) use list::{List, Run};
pub(crate) use page::{Bitmap, Page, WORDS as PAGE_WORDS};
pub(crate) use places::Plain;
pub(crate) use writer::ListWriter;

/// Rows of a page, as a power of two.
pub(crate) const PAGE_BITS: u32 = 16;
/// Rows of a page.
pub(crate) const PAGE_ROWS: u32 = 1 << PAGE_BITS;

/// Postings of a page from which on it is kept as a bitmap: then 8 KiB are as fast to read as the docs, and much faster to
/// unite, intersect and count.
const DENSE: usize = 1024;

/// Postings from which on a list has pages; shorter ones are docs in a row.
const LONG: usize = 128;

/// Postings whose places share a width.
const BLOCK: usize = 128;

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
