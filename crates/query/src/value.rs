//! One value of a row, an expression or a reply.

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
