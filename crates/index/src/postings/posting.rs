//! A posting, and the thresholds between the forms of a list.

/// Binary logarithm of [`PAGE_ROWS`].
pub(crate) const PAGE_BITS: u32 = 16;
/// Rows of a page: the low 16 bits of a doc are its row in the page, the high 16 bits the page.
pub(crate) const PAGE_ROWS: u32 = 1 << PAGE_BITS;

/// Least postings of a list that has pages; a shorter list is written as whole docs.
pub(super) const LONG: usize = 128;

/// Postings of a block of places: they share one width in bits.
pub(crate) const BLOCK: usize = 128;

/// The form of the lists of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListForm {
    /// Before version 5: docs of short lists take whole bytes, 8 bytes tell where a block of places starts, and pages of one row in
    /// 64 are bitmaps.
    Wide,
    /// As they are written.
    Narrow,
}

impl ListForm {
    /// Least postings of a page that a file keeps as a bitmap. It takes 10 KiB whatever its rows are. From here on it is about as
    /// fast to read as the array, and much faster to unite, intersect and count.
    pub(super) fn dense(self) -> usize {
        match self {
            ListForm::Wide => 1024,
            ListForm::Narrow => 1344,
        }
    }
}

/// One row that holds a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) doc: u32,
    /// Occurrences and class of length of the row, as [`super::code()`] packs them.
    pub(crate) code: u8,
    /// Occurrences of the word in the row; at least 1.
    pub(crate) hits: u32,
    /// Set of the text columns that the word stands in, bit 0 the first column. 1 where the table
    /// has one text column only.
    pub(crate) fields: u64,
}

/// Counts and sizes of a list that a [`super::ListWriter`] wrote, for the file `words`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListEntry {
    /// Rows that hold the word.
    pub(crate) documents: u32,
    /// Occurrences of the word in these rows.
    pub(crate) hits: u64,
    /// Bytes added to `postings`.
    pub(crate) postings_bytes: u64,
    /// Bytes added to `positions`.
    pub(crate) positions_bytes: u64,
}
