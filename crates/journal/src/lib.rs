//! An ordered, checksummed, group-committed log of opaque records.

use std::fmt;

/// A record's number in the journal. Dense, from 1 up, never used twice; 0 means "before the first record".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
