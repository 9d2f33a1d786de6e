//! Posting lists: for each word, the rows that hold it and where it stands in them. A pure codec:
//! it reads and writes slices and opens no file. `docs/formats/postings.md` has every byte, ADR 027
//! the reasons.
//!
//! Example: the list of `cat` in a segment of 150,000 rows. It has 3,002 *postings* (a posting is
//! one row that holds the word), numbered from 0 by rising doc. Rows are cut into *pages* of
//! 65,536.
//!
//! ```text
//! page  docs                 postings        kept in `docs` as       bytes of `docs`
//!  0          0 ..  65,535      0 .. 1,999   bitmap and ranks             0 .. 10,239
//!  1     65,536 .. 131,071  2,000 .. 2,999   array of 1,000 u16      10,240 .. 12,239
//!  2    131,072 .. 149,999  3,000 .. 3,001   array [7, 300]          12,240 .. 12,243
//!
//! posting 3,001:  doc   131,072 + 300 = 131,372
//!                 code  `codes[3,001]` = 101, that is 3 occurrences in a row of 7 or 8 words
//!                 places  3, in block 23 (postings 2,944 .. 3,001), behind the places of
//!                         postings 2,944 .. 3,000; the sum of their occurrences says where
//! ```
//!
//! Invariants:
//! - Docs rise strictly, and each has one posting: readers search pages and merge lists by it.
//! - A page in a file is a bitmap if and only if it has at least 1,344 postings. No byte says which
//!   form a page has; the reader derives it, and every later page's start, from the page ends.
//! - A list has one code for each posting, in the order of the docs. So a row's code is found by
//!   the number of its posting.
//! - A row has one place for each occurrence. A reader finds a row's places by adding up the
//!   occurrences before it, so one wrong count moves all later places of the block.
//!
//! Operations: [`ListWriter`] writes a list, [`List::open`] reads its header, [`List::page`] gives
//! a page, [`List::positions`] a row's places, [`List::walk`] all postings in order. Nothing is
//! decoded in advance: pages are compared, counted and searched as they lie in the mapped file.

mod bits;
mod code;
mod list;
mod page;
mod places;
mod posting;
mod walk;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use bits::{pack, packed_bytes, unpack};
pub(crate) use code::{
    HITS_OPEN, Shares, SharesCache, class_of, code, hits_of, length_class, length_of_class,
};
pub(crate) use list::{List, PlaceWalk, Run};
pub(crate) use page::{Bitmap, Page, WORDS as PAGE_WORDS};
pub(crate) use places::{Plain, RowPlaces};
pub(crate) use posting::{BLOCK, ListForm, PAGE_BITS, PAGE_ROWS};
pub(crate) use writer::ListWriter;
