//! What stands for a stored value in conditions and in sorting, where its text alone would compare wrongly.

use super::column_type::ColumnType;
use super::{calendar, decimal};
use crate::value::Value;

impl ColumnType {
    /// Whether [`ColumnType::comparable`] or [`ColumnType::comparable_constant`] changes anything.
    pub(crate) fn has_comparable(&self) -> bool {
        matches!(
            self,
            ColumnType::Date
                | ColumnType::DateTime { .. }
                | ColumnType::Time { .. }
                | ColumnType::Decimal { .. }
        )
    }

    /// The value of a column of this type as expressions see it: a DECIMAL and a TIME are their number (exact to fifteen digits,
    /// whole ones to 128 bits), a DATETIME its text without zeros at the end; everything else is itself.
    #[must_use]
    pub fn comparable(&self, value: Value) -> Value {
        match (self, value) {
            (ColumnType::Decimal { .. }, Value::Str(text)) => decimal::number(&text),
            (ColumnType::Time { .. }, Value::Str(text)) => calendar::time_number(&text),
            (ColumnType::DateTime { .. }, Value::Str(text)) => {
                Value::Str(calendar::without_zeros(&text).to_owned())
            }
            (_, value) => value,
        }
    }

    /// The constant that a column of this type is compared with, in the form of [`ColumnType::comparable`]: `'2024-1-2'` beside a
    /// DATE is that day. What cannot be read so stays as it is.
    #[must_use]
    pub fn comparable_constant(&self, value: &Value) -> Value {
        let fraction_digits = calendar::FRACTION_MAX;
        let as_kind = match (self, value) {
            (ColumnType::Date | ColumnType::DateTime { .. }, _) => {
                ColumnType::DateTime { fraction_digits }
            }
            (ColumnType::Time { .. }, Value::Str(_) | Value::Bytes(_)) => {
                ColumnType::Time { fraction_digits }
            }
            _ => return value.clone(),
        };
        match as_kind.accept(value.clone()) {
            Ok(read) => as_kind.comparable(read),
            Err(_) => value.clone(),
        }
    }
}
