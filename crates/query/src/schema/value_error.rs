//! Why a value is refused.

/// Why a column does not take a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueError {
    /// A number outside the type's range (MySQL 1264).
    OutOfRange,
    /// Not a value of the type at all (MySQL 1366).
    Incorrect,
    /// More characters or bytes than the type holds (MySQL 1406).
    TooLong,
    /// NULL where none may stand (MySQL 1048).
    Null,
}
