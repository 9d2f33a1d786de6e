//! What a written constant means beside a column: one table, for every statement, filter and door.
//!
//! A constant is read by the grammar with which INSERT reads a value of the column's type, but it is not rounded: the exact value is
//! compared. Example, beside an integer column: `'12.7'` is the number 12.7, which no row equals, and `> '12.7'` begins at 13.
//!
//! | column | text | number |
//! |---|---|---|
//! | text, string, char | itself | a number: rows whose text is that number from end to end equal it |
//! | int, bigint, float, double, decimal, bit, multi | the number that it is from end to end | itself |
//! | bool | the same, or `true` and `false` | itself |
//! | timestamp | seconds, or a date with or without a time | seconds |
//! | date, datetime | a date with or without a time | as MySQL reads its digits: 20240102, 20240102030405 |
//! | time | a time of day | its digits: 101112 |
//! | year | a year of two or four digits | the same |
//! | json | itself | itself |
//!
//! A constant that its column's type cannot read is refused. None is cut to the digits that it begins with.

use super::column_type::{ColumnType, FRACTION_MAX};
use super::family::TypeFamily as F;
use super::timestamp;
use super::value_error::ValueError;
use crate::json::JsonNode;
use crate::value::{Number, Value};

impl ColumnType {
    /// A constant beside a column of this type, in the form of [`ColumnType::comparable`].
    ///
    /// # Errors
    /// The type does not read the constant.
    pub fn constant(&self, value: &Value) -> Result<Value, ValueError> {
        let fraction_digits = FRACTION_MAX;
        match (self.family(), value) {
            (_, Value::Null) => Ok(Value::Null),
            (F::Text | F::Bytes | F::Document, _) => Ok(value.clone()),
            (F::Whole | F::Float | F::Double | F::Decimal, _) => exact(value),
            (F::Set, Value::Set(_)) => Ok(value.clone()),
            (F::Set, _) => exact(value),
            (F::Bool, _) => match value.text_bytes() {
                Some(text) if text.eq_ignore_ascii_case(b"true") => Ok(Value::Int(1)),
                Some(text) if text.eq_ignore_ascii_case(b"false") => Ok(Value::Int(0)),
                _ => exact(value),
            },
            (F::Timestamp, _) => match (exact(value), value.text_bytes()) {
                (Ok(seconds), _) => Ok(seconds),
                (Err(_), Some(text)) => timestamp::parse_exact(text).ok_or(ValueError::Incorrect),
                (Err(error), None) => Err(error),
            },
            (F::Date, _) => {
                let kind = ColumnType::DateTime { fraction_digits };
                Ok(kind.comparable(kind.accept(value.clone())?))
            }
            (F::Time, Value::Str(_) | Value::Bytes(_)) => {
                let kind = ColumnType::Time { fraction_digits };
                Ok(kind.comparable(kind.accept(value.clone())?))
            }
            (F::Time, _) => exact(value),
            // A number with a fraction is no year, and lies between two.
            (F::Year, _) if is_broken(value) => exact(value),
            (F::Year, _) => match self.accept(value.clone()) {
                Err(ValueError::OutOfRange) => exact(value),
                read => read,
            },
        }
    }
}

/// Whether it is a number with a fraction.
fn is_broken(value: &Value) -> bool {
    matches!(exact(value), Ok(Value::Float(number)) if number.fract() != 0.0)
}

/// The number that a value is from end to end.
fn exact(value: &Value) -> Result<Value, ValueError> {
    match value {
        Value::Null | Value::Int(_) | Value::Float(_) => Ok(value.clone()),
        Value::Str(_) | Value::Bytes(_) => match value.spelled() {
            Some(Number::Whole(number)) => Ok(Value::Int(number)),
            Some(Number::Real(number)) => Ok(Value::Float(number)),
            None => Err(ValueError::Incorrect),
        },
        Value::Json(document) => match document.node_at(&[]) {
            Some(JsonNode::Whole(number)) => Ok(Value::Int(number)),
            Some(JsonNode::Real(number)) => Ok(Value::Float(number)),
            _ => Err(ValueError::Incorrect),
        },
        Value::Set(_) => Err(ValueError::Incorrect),
    }
}
