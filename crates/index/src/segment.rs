//! Rows in files: a directory written once, by a seal or a merge, and never changed.
//!
//! Limits: at most `i32::MAX` rows; a file of deleted rows is the only thing added later.
//!
//! - `rows`: ids, encoded rows, numeric columns, forward lists; see [`commit::Kind`].
//! - `dictionary`, `words`: the sorted words, and for each where its lists are.
//! - `postings`, `positions`: the lists, in the form of [`crate::postings`]; a word's place is `field << 24 | position`.
//! - `commit`: what the segment is, with the checksums of the others; written last.
//!
//! Rows are numbered by rising id; the number is the row's *doc*. No file stays open: each is mapped, and a list is read where
//! it lies, after the blocks under it were verified.

mod checked;
mod commit;
mod common_words;
mod deleted;
mod dictionary;
mod file_names;
mod forward;
mod from_tail;
mod inspect;
mod legacy;
mod look_up;
mod merge;
mod opened;
mod reader;
mod rows;
mod words;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use deleted::{read_deleted, write_deleted};
pub(crate) use file_names::FILES;
pub(crate) use from_tail::write_segment;
pub use inspect::{SavedRows, saved_rows, verify};
pub(crate) use legacy::LegacySegment;
pub(crate) use look_up::LookUp;
pub(crate) use merge::{Source, merge_segments};
pub(crate) use opened::Opened;
pub(crate) use reader::{Segment, SegmentNumber};
pub(crate) use words::SegmentWord;
