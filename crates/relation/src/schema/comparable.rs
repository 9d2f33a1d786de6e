//! The comparable form of a stored value, for conditions and sorting, where its text alone would compare wrongly.
//!
//! Example: the DECIMAL texts `9.50` and `10.00` compare as the numbers 9.5 and 10.

use super::column_type::{ColumnType, FRACTION_MAX};
use super::family::TypeFamily;
use super::{calendar, decimal};
use crate::value::Value;

/// Digits of a decimal number, with its sign and point, that a double surely keeps.
const DOUBLE_DIGITS: usize = 15;

impl ColumnType {
    /// The value of a column of this type as expressions see it. A DECIMAL or TIME is its number (exact to fifteen
    /// digits, whole numbers to 128 bits), a DATETIME its text without trailing zeros. Every other value is
    /// unchanged.
    #[must_use]
    pub fn comparable(&self, value: Value) -> Value {
        let Value::Str(text) = &value else {
            return value;
        };
        match self.family() {
            TypeFamily::Decimal => decimal::number(text),
            TypeFamily::Time => calendar::time_number(text),
            TypeFamily::Date => Value::Str(calendar::without_zeros(text).to_owned()),
            TypeFamily::Text
            | TypeFamily::Bytes
            | TypeFamily::Whole
            | TypeFamily::Float
            | TypeFamily::Double
            | TypeFamily::Bool
            | TypeFamily::Timestamp
            | TypeFamily::Year
            | TypeFamily::Set
            | TypeFamily::Document => value,
        }
    }

    /// The number of the digits of a date, in the form of [`ColumnType::comparable`]. Any other value is unchanged.
    #[must_use]
    pub(crate) fn digits(&self, value: Value) -> Value {
        let Value::Str(text) = &value else {
            return value;
        };
        let (date, time) = text.split_once(' ').unwrap_or((text, "00:00:00"));
        let has_time = matches!(self, ColumnType::DateTime { .. });
        let parts = [date, if has_time { time } else { "" }];
        let digits = parts.concat().replace(['-', ':'], "");
        decimal::number(&digits)
    }

    /// The type whose values are shown as a text is: of `9.00` a DECIMAL, of `2024-01-02 00:00:00` a DATETIME. `None`: another.
    #[must_use]
    pub fn shown_like(value: &Value) -> Option<ColumnType> {
        let Value::Str(text) = value else {
            return None;
        };
        let number = text.strip_prefix('-').unwrap_or(text).split_once('.');
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        if number.is_some_and(|(whole, fraction)| is_digits(whole) && is_digits(fraction)) {
            return Some(ColumnType::WIDEST_DECIMAL);
        }
        let kind = ColumnType::DateTime { fraction_digits: 6 };
        let is_date = text.contains(' ') && kind.constant(value).is_ok();
        is_date.then_some(kind)
    }

    /// A stored value as it is equal to values of other types: a DECIMAL of up to fifteen digits is its number, a DATETIME at midnight
    /// its date. `None`: it is as it is.
    #[must_use]
    pub fn distinct(&self, value: &Value) -> Option<Value> {
        let Value::Str(text) = value else {
            return None;
        };
        match self.family() {
            TypeFamily::Decimal => {
                let text = calendar::without_zeros(text);
                let is_exact = !text.contains('.') || text.len() <= DOUBLE_DIGITS;
                Some(match is_exact {
                    true => decimal::number(text),
                    false => Value::Str(text.to_owned()),
                })
            }
            TypeFamily::Time | TypeFamily::Date => {
                let short = calendar::without_zeros(text);
                (short.len() < text.len()).then(|| Value::Str(short.to_owned()))
            }
            TypeFamily::Text
            | TypeFamily::Bytes
            | TypeFamily::Whole
            | TypeFamily::Float
            | TypeFamily::Double
            | TypeFamily::Bool
            | TypeFamily::Timestamp
            | TypeFamily::Year
            | TypeFamily::Set
            | TypeFamily::Document => None,
        }
    }

    /// The value of a column of this type, of its form as [`ColumnType::comparable`] gives it; NULL of one that no such column has.
    #[must_use]
    pub fn of_comparable(&self, value: Value) -> Value {
        let is_time = self.family() == TypeFamily::Time;
        let value = match value {
            Value::Int(number) if is_time => {
                calendar::time_text(number < 0, number.unsigned_abs(), "")
            }
            Value::Float(number) if is_time => {
                let written = number.abs().to_string();
                let fraction = written.find('.').map_or("", |point| &written[point..]);
                calendar::time_text(number < 0.0, number.abs() as u128, fraction)
            }
            value => value,
        };
        self.accept(value).unwrap_or(Value::Null)
    }

    /// A type that reads constants as this one, so that few types are left of the columns of a call.
    #[must_use]
    pub(crate) fn widest(self) -> ColumnType {
        let fraction_digits = FRACTION_MAX;
        match self.family() {
            TypeFamily::Date => ColumnType::DateTime { fraction_digits },
            TypeFamily::Time => ColumnType::Time { fraction_digits },
            TypeFamily::Whole | TypeFamily::Float | TypeFamily::Double | TypeFamily::Decimal => {
                ColumnType::Double
            }
            TypeFamily::Text => ColumnType::String,
            TypeFamily::Bytes
            | TypeFamily::Bool
            | TypeFamily::Timestamp
            | TypeFamily::Year
            | TypeFamily::Set
            | TypeFamily::Document => self,
        }
    }
}
