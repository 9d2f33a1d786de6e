//! Names of a segment's files.

/// Rows, without their words.
pub(super) const ROWS: &str = "rows";
/// Written last: a directory without it is no segment.
pub(super) const COMMIT: &str = "commit";
/// The sorted words.
pub(super) const DICTIONARY: &str = "dictionary";
/// Counts of each word, and where its lists end.
pub(super) const WORDS: &str = "words";
/// The rows of each word.
pub(super) const POSTINGS: &str = "postings";
/// The places of each word in its rows.
pub(super) const POSITIONS: &str = "positions";
/// Every file of a segment but those of deleted rows.
pub(crate) const FILES: [&str; 6] = [COMMIT, ROWS, DICTIONARY, WORDS, POSTINGS, POSITIONS];
