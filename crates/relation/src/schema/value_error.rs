//! The reasons for refusing a value.

/// The reason why a column refuses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueError {
    /// A number outside the type's range (MySQL 1264).
    OutOfRange,
    /// No value of the type at all (MySQL 1366).
    Incorrect,
    /// A text that is not JSON (MySQL 1366).
    NotJson {
        /// The byte, from 0, at which the text breaks.
        at: usize,
    },
    /// More characters or bytes than the type holds (MySQL 1406).
    TooLong,
    /// JSON nested deeper than [`crate::json::JSON_DEPTH_MAX`].
    TooDeep,
    /// NULL in a NOT NULL column (MySQL 1048).
    Null,
}
