//! Conversion of values to the type of their column, with range checks.

use std::ops::RangeInclusive;
use std::sync::Arc;

use language::meter::{Meter, Unmetered};

use super::column::Column;
use super::column_type::ColumnType;
use super::family::TypeFamily;
use super::names::TypeSystem;
use super::value_error::ValueError;
use super::{calendar, decimal, timestamp};
use crate::json::{Json, JsonError};
use crate::value::{Number, Value};

impl Column {
    /// The value as the column stores it; see [`ColumnType::accept`]. A NULL in a nullable column stays NULL in a
    /// queue; in a search table it stays NULL only in a column of MySQL's types ([`ColumnType::keeps_null`]).
    ///
    /// # Errors
    /// Those of [`ColumnType::accept`]; [`ValueError::Null`] for NULL in a NOT NULL column.
    pub fn accept(&self, value: Value, system: TypeSystem) -> Result<Value, ValueError> {
        match (value, system) {
            (Value::Null, _) if !self.nullable => Err(ValueError::Null),
            (Value::Null, TypeSystem::Search) if !self.kind.keeps_null() => Ok(self.kind.empty()),
            (Value::Null, TypeSystem::Search) => Ok(Value::Null),
            (Value::Null, TypeSystem::Queue) => Ok(Value::Null),
            (value, _) => self.kind.accept(value),
        }
    }
}

impl ColumnType {
    /// The value as a column of this type stores it. `'12'` becomes an integer, ISO 8601 text a timestamp, `'true'` a
    /// bool, a number a decimal text. Reals are rounded to integers, half away from zero, and floats to 32 bits.
    /// Dates, times and decimals come in every form that MySQL reads and are stored in one form, rounded to the
    /// declared digits.
    ///
    /// # Errors
    /// [`ValueError`], a variant for each cause. NULL is an error; see [`Column::accept`].
    pub fn accept(&self, value: Value) -> Result<Value, ValueError> {
        self.accept_within(value, &Unmetered)
    }

    /// As [`ColumnType::accept`]; what takes long is counted. If the meter has stopped, the answer is of no use.
    ///
    /// # Errors
    /// Those of [`ColumnType::accept`].
    pub fn accept_within(&self, value: Value, meter: &dyn Meter) -> Result<Value, ValueError> {
        if value == Value::Null {
            return Err(ValueError::Null);
        }
        let value = match self == &ColumnType::Json {
            true => value,
            false => value.without_truth(),
        };
        let range = || self.range().unwrap_or(i128::MIN..=i128::MAX);
        match *self {
            ColumnType::Text | ColumnType::String => text(value, |_| true),
            ColumnType::Char { chars_max, .. } => {
                text(value, |text| text.chars().count() <= chars_max as usize)
            }
            ColumnType::LongText { bytes_max } => {
                text(value, |text| text.len() <= bytes_max as usize)
            }
            ColumnType::Blob { bytes_max } => blob(value, bytes_max as usize),
            ColumnType::Bool => bool(&value, range()),
            ColumnType::Float => float(&value),
            ColumnType::Double => double(&value).map(Value::Float),
            ColumnType::Timestamp => timestamp(&value, range()),
            ColumnType::Int
            | ColumnType::Bigint
            | ColumnType::Integer { .. }
            | ColumnType::Bit { .. } => integer(&value, range()),
            ColumnType::Date => calendar::date(&value),
            ColumnType::DateTime { fraction_digits } => calendar::datetime(&value, fraction_digits),
            ColumnType::Time { fraction_digits } => calendar::time(&value, fraction_digits),
            ColumnType::Year => year(&value),
            ColumnType::Multi { wide: false } => set(value, 0..=u32::MAX.into()),
            ColumnType::Multi { wide: true } => set(value, i64::MIN.into()..=i64::MAX.into()),
            ColumnType::Json => json(value, meter),
            ColumnType::Decimal { digits, scale } => decimal::decimal(&value, digits, scale),
        }
    }

    /// The value that a search table stores for NULL where it keeps no NULL: the empty text or 0.
    #[must_use]
    pub fn empty(&self) -> Value {
        match self.family() {
            TypeFamily::Text | TypeFamily::Date | TypeFamily::Time | TypeFamily::Decimal => {
                Value::Str(String::new())
            }
            TypeFamily::Bytes => Value::Bytes(Vec::new()),
            TypeFamily::Float | TypeFamily::Double => Value::Float(0.0),
            TypeFamily::Whole | TypeFamily::Bool | TypeFamily::Timestamp | TypeFamily::Year => {
                Value::Int(0)
            }
            TypeFamily::Set => Value::Set(Arc::default()),
            TypeFamily::Document => Value::Null,
        }
    }
}

fn integer(value: &Value, range: RangeInclusive<i128>) -> Result<Value, ValueError> {
    let number = match number(value)? {
        Number::Whole(number) => number,
        Number::Real(number) if number.is_nan() => return Err(ValueError::Incorrect),
        Number::Real(number) => number.round() as i128, // saturates, and so stays out of range
    };
    if range.contains(&number) {
        Ok(Value::Int(number))
    } else {
        Err(ValueError::OutOfRange)
    }
}

/// A set: of numbers, of one number, or of a text such as `1,2` and `[1, 2]`.
fn set(value: Value, range: RangeInclusive<i128>) -> Result<Value, ValueError> {
    let mut numbers = match &value {
        Value::Set(numbers) => numbers.to_vec(),
        Value::Str(text) => {
            let inside = text.trim();
            let inside = inside
                .strip_prefix('[')
                .and_then(|inside| inside.strip_suffix(']'))
                .or_else(|| {
                    inside
                        .strip_prefix('(')
                        .and_then(|inside| inside.strip_suffix(')'))
                })
                .unwrap_or(inside)
                .trim();
            let parts = inside.split(',').filter(|_| !inside.is_empty());
            let number = |part: &str| part.trim().parse().map_err(|_| ValueError::Incorrect);
            parts.map(number).collect::<Result<Vec<i64>, _>>()?
        }
        other => match integer(other, i64::MIN.into()..=i64::MAX.into())? {
            Value::Int(number) => vec![number as i64],
            _ => return Err(ValueError::Incorrect),
        },
    };
    if numbers
        .iter()
        .any(|number| !range.contains(&i128::from(*number)))
    {
        return Err(ValueError::OutOfRange);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Value::Set(numbers.into()))
}

impl Value {
    /// Makes of a value that a request of JSON sends for a column of that type what the column stores. A text for a json column is
    /// the document of which it is the text, if it begins as an object or an array does, else a JSON string: `"5"` is no number. One that
    /// is no JSON, too deep or too long stays a text, for which the column refuses it.
    pub fn read_by(&mut self, kind: ColumnType) {
        let (Value::Str(text), ColumnType::Json) = (&*self, kind) else {
            return;
        };
        if !text.trim_start().starts_with(['{', '[']) {
            *self = std::mem::replace(self, Value::Null).inside();
        } else if let Ok(document) = Json::parse(text.as_bytes()) {
            *self = Value::Json(document);
        }
    }
}

/// A document: of a text that is JSON, or of a number.
fn json(value: Value, meter: &dyn Meter) -> Result<Value, ValueError> {
    let text = match value {
        Value::Json(document) => return Ok(Value::Json(document)),
        Value::Str(text) => text.into_bytes(),
        Value::Bytes(bytes) => bytes,
        number => number.to_string().into_bytes(),
    };
    match Json::parse_within(&text, meter) {
        Ok(document) => Ok(Value::Json(document)),
        Err(JsonError::Syntax { at }) => Err(ValueError::NotJson { at }),
        Err(JsonError::Stopped) => Err(ValueError::Incorrect),
        Err(JsonError::Depth) => Err(ValueError::TooDeep),
        Err(JsonError::Length) => Err(ValueError::TooLong),
    }
}

fn year(value: &Value) -> Result<Value, ValueError> {
    match integer(value, 0..=9999)? {
        Value::Int(number) => calendar::year(value, number),
        _ => Err(ValueError::Incorrect),
    }
}

/// A number, or a text that is a number from end to end.
fn number(value: &Value) -> Result<Number, ValueError> {
    match value.text_bytes() {
        Some(text) => Number::spelled(text),
        None => value.number(),
    }
    .ok_or(ValueError::Incorrect)
}

fn bool(value: &Value, range: RangeInclusive<i128>) -> Result<Value, ValueError> {
    match value.text_bytes() {
        Some(text) if text.eq_ignore_ascii_case(b"true") => Ok(Value::Int(1)),
        Some(text) if text.eq_ignore_ascii_case(b"false") => Ok(Value::Int(0)),
        _ => integer(value, range),
    }
}

fn double(value: &Value) -> Result<f64, ValueError> {
    let number = number(value)?.real();
    if number.is_finite() {
        Ok(number)
    } else {
        Err(ValueError::OutOfRange)
    }
}

fn float(value: &Value) -> Result<Value, ValueError> {
    let number = double(value)? as f32;
    if number.is_finite() {
        Ok(Value::Float(number.into()))
    } else {
        Err(ValueError::OutOfRange)
    }
}

/// Unix seconds up to the year 9999 as a number or text, or ISO 8601. A fraction of a second is dropped.
fn timestamp(value: &Value, range: RangeInclusive<i128>) -> Result<Value, ValueError> {
    let seconds = match (number(value), value.text_bytes()) {
        (Ok(Number::Real(seconds)), _) => seconds.floor() as i128,
        (Ok(Number::Whole(seconds)), _) => seconds,
        (Err(_), Some(text)) => timestamp::parse(text).ok_or(ValueError::Incorrect)?.into(),
        (Err(error), None) => return Err(error),
    };
    integer(&Value::Int(seconds), range)
}

fn text(value: Value, fits: impl Fn(&str) -> bool) -> Result<Value, ValueError> {
    let text = match value {
        Value::Str(text) => text,
        Value::Bytes(bytes) => String::from_utf8(bytes).map_err(|_| ValueError::Incorrect)?,
        number => number.to_string(),
    };
    if fits(&text) {
        Ok(Value::Str(text))
    } else {
        Err(ValueError::TooLong)
    }
}

fn blob(value: Value, bytes_max: usize) -> Result<Value, ValueError> {
    let bytes = match value {
        Value::Bytes(bytes) => bytes,
        Value::Str(text) => text.into_bytes(),
        number => number.to_string().into_bytes(),
    };
    if bytes.len() <= bytes_max {
        Ok(Value::Bytes(bytes))
    } else {
        Err(ValueError::TooLong)
    }
}
