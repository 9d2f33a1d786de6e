//! Where a record stands.

/// A record's first line. Places order records as they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    /// Number of the input, from 0.
    pub input: u32,
    /// Number of the line in its input, from 1.
    pub line: u64,
}
