//! Names of a segment's files.

/// Rows, without their words.
pub(super) const ROWS: &str = "rows";
/// Name of the file that makes the others a segment.
pub(super) const COMMIT: &str = "commit";
pub(super) const DICTIONARY: &str = "dictionary";
pub(super) const WORDS: &str = "words";
pub(super) const POSTINGS: &str = "postings";
pub(super) const POSITIONS: &str = "positions";
/// Every file of a segment but those of deleted rows.
pub(crate) const FILES: [&str; 6] = [COMMIT, ROWS, DICTIONARY, WORDS, POSTINGS, POSITIONS];
