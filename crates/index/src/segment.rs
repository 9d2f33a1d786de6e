//! A segment: rows in files, written once by a seal or a merge, and never changed.
//!
//! `docs/formats/segment.md` has every byte. Rows are numbered by rising id; the number is the
//! row's *doc*. Words are numbered by their bytes. Example: rows 40 "black cat" and 12 "dog cat
//! cat" of the example in [`crate::tail`], one text column:
//!
//! ```text
//! rows         doc 0: id 12, columns, length, forward list: cat twice, dog once
//!              doc 1: id 40, columns, length, forward list: black once, cat once
//! dictionary   0 black    1 cat       2 dog
//! words        1 row      2 rows      1 row       and where each word's lists end
//! postings     [1]        [0, 1]      [0]         docs; with codes: see [`crate::postings`]
//! positions    1          2, 3 | 2    1           cat stands in doc 0 at 2 and 3, in doc 1 at 2
//! commit       2 rows, 3 words, 5 words in all; length and checksums of the files above
//! deleted-00000009    {0}: row 12 is deleted; added later, under a new name each time
//! ```
//!
//! Limits: 2³¹ − 2 rows, 64 text columns. No file stays open: each is mapped, and read where it
//! lies.
//!
//! Invariants:
//! - Ids rise with docs. Look-ups of ids, merges, ties of weights and `cutoff` rely on it.
//! - No byte is used before its block's checksum was verified ([`checked`]).
//! - `commit` is written and synced after all other files, and a manifest names the segment only
//!   after that. So a segment that a manifest names is whole.
//! - A file is never changed or written over: snapshots read it without a lock.
//! - The analysis that made the words is not newer than this program's: [`commit`] refuses it.
//!
//! Operations: [`write_segment`] from a tail, [`merge_segments`], [`Opened::open`], [`LookUp`] of a
//! word, [`Segment::list`], [`verify`] and [`saved_rows`] of a damaged one.

mod checked;
mod commit;
mod common_words;
mod deleted;
mod dictionary;
mod file_names;
mod forward;
mod forward_codes;
mod from_tail;
mod ids;
mod inspect;
mod keys;
mod lasts;
mod legacy;
mod look_up;
mod merge;
mod opened;
mod packed;
mod packed_rows;
mod packing;
mod pairs;
mod paths;
mod reader;
mod rising;
mod row_source;
mod rows;
mod sequences;
mod side_file;
pub mod strangers;
mod stretches;
mod text_list;
mod words;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use deleted::{read_deleted, write_deleted};
pub(crate) use file_names::FILES;
pub(crate) use from_tail::write_segment;
pub use inspect::{SavedRows, saved_rows, verify};
pub(crate) use lasts::Lasts;
pub(crate) use legacy::{LegacySegment, analyse};
pub(crate) use look_up::LookUp;
pub(crate) use merge::{GONE, MergeForm, Source, merge_segments};
pub(crate) use opened::Opened;
pub(crate) use packed_rows::StoredRow;
pub(crate) use pairs::{PairPage, PairRows, is_bare};
pub(crate) use paths::PathNumbers;
pub(crate) use reader::{Segment, SegmentNumber};
pub(crate) use side_file::SideFile;
pub(crate) use text_list::Listed;
pub(crate) use words::SegmentWord;
