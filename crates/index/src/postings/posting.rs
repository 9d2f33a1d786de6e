//! One row of a word, and the sizes of a list.

/// Rows of a page, as a power of two.
pub(crate) const PAGE_BITS: u32 = 16;
/// Rows of a page.
pub(crate) const PAGE_ROWS: u32 = 1 << PAGE_BITS;

/// Postings of a page from which on it is kept as a bitmap: then 8 KiB are as fast to read as the docs, and much faster to
/// unite, intersect and count.
pub(super) const DENSE: usize = 1024;

/// Postings from which on a list has pages; shorter ones are docs in a row.
pub(super) const LONG: usize = 128;

/// Postings whose places share a width.
pub(super) const BLOCK: usize = 128;

/// One row of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) doc: u32,
    /// See [`super::code`].
    pub(crate) code: u8,
    /// Times that the word stands in the row, exactly.
    pub(crate) hits: u32,
    /// A bit for each text column that it stands in; 1 where the table has one text column only.
    pub(crate) fields: u64,
}

/// What a [`super::ListWriter`] wrote.
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
