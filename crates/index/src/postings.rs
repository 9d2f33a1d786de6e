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
mod posting;
mod walk;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use code::{HITS_OPEN, Shares, class_of, code, hits_of, length_class, length_of_class};
pub(crate) use list::{List, Run};
pub(crate) use page::{Bitmap, Page, WORDS as PAGE_WORDS};
pub(crate) use places::Plain;
pub(crate) use posting::{PAGE_BITS, PAGE_ROWS};
pub(crate) use writer::ListWriter;
