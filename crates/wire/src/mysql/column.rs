//! Column definitions, and the MySQL type of each of our column types.

use relation::schema::ColumnType;

use super::bytes::{DecodeError, Reader, put_integer, put_string};
use super::constants::{CHARSET_BINARY, CHARSET_UTF8MB4};

/// A MySQL field type, by its number on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldType(pub u8);

impl FieldType {
    /// TINYINT
    pub const TINY: Self = Self(1);
    /// SMALLINT
    pub const SHORT: Self = Self(2);
    /// INT
    pub const LONG: Self = Self(3);
    /// FLOAT
    pub const FLOAT: Self = Self(4);
    /// DOUBLE
    pub const DOUBLE: Self = Self(5);
    /// A column of NULL
    pub const NULL: Self = Self(6);
    /// BIGINT
    pub const LONGLONG: Self = Self(8);
    /// MEDIUMINT
    pub const INT24: Self = Self(9);
    /// DATE
    pub const DATE: Self = Self(10);
    /// TIME
    pub const TIME: Self = Self(11);
    /// DATETIME
    pub const DATETIME: Self = Self(12);
    /// YEAR
    pub const YEAR: Self = Self(13);
    /// DECIMAL
    pub const NEWDECIMAL: Self = Self(246);
    /// TEXT and BLOB of every length
    pub const BLOB: Self = Self(252);
    /// VARCHAR, VARBINARY
    pub const VAR_STRING: Self = Self(253);
    /// CHAR, BINARY
    pub const STRING: Self = Self(254);
}

const NOT_NULL: u16 = 1;
const BLOB: u16 = 16;
const UNSIGNED: u16 = 32;
const ZEROFILL: u16 = 64;
const BINARY: u16 = 128;
/// Value of `decimals` for numbers without a fixed count of decimals.
const DECIMALS_OPEN: u8 = 31;

/// One column of a result set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Table of the column; empty for an expression.
    pub table: String,
    /// Header of the column.
    pub name: String,
    /// MySQL type of the column.
    pub kind: FieldType,
    /// Collation number; [`CHARSET_BINARY`] for numbers and bytes.
    pub charset: u16,
    /// Length of the widest value, in bytes.
    pub length: u32,
    /// MySQL's column flags: 1 NOT NULL, 16 BLOB, 32 UNSIGNED, 64 ZEROFILL, 128 BINARY.
    pub flags: u16,
    /// Digits behind the point; 31: their count is not fixed.
    pub decimals: u8,
}

impl ColumnDefinition {
    fn number(name: &str, kind: FieldType, length: u32, flags: u16, decimals: u8) -> Self {
        ColumnDefinition {
            table: String::new(),
            name: name.to_owned(),
            kind,
            charset: CHARSET_BINARY,
            length,
            flags: flags | BINARY,
            decimals,
        }
    }

    fn characters(name: &str, kind: FieldType, length: u32, flags: u16) -> Self {
        ColumnDefinition {
            table: String::new(),
            name: name.to_owned(),
            kind,
            charset: CHARSET_UTF8MB4,
            length,
            flags,
            decimals: 0,
        }
    }

    /// A column of short text, as in every SHOW.
    #[must_use]
    pub fn text(name: &str) -> Self {
        Self::characters(name, FieldType::VAR_STRING, 1024, 0)
    }

    /// A column of signed 64-bit integers: counts, weights, results of functions.
    #[must_use]
    pub fn bigint(name: &str) -> Self {
        Self::number(name, FieldType::LONGLONG, 20, 0, 0)
    }

    /// A document id: BIGINT UNSIGNED NOT NULL.
    #[must_use]
    pub fn id(name: &str) -> Self {
        Self::number(name, FieldType::LONGLONG, 20, UNSIGNED | NOT_NULL, 0)
    }

    /// A column of floating-point results.
    #[must_use]
    pub fn double(name: &str) -> Self {
        Self::number(name, FieldType::DOUBLE, 22, 0, DECIMALS_OPEN)
    }

    /// A column of a table.
    ///
    /// A search table's `int` holds both signs and 2^32-1, more than MySQL's INT. It is sent as BIGINT, so that clients that
    /// trust the type read every value.
    #[must_use]
    pub fn of(name: &str, kind: ColumnType) -> Self {
        match kind {
            ColumnType::Text => Self::characters(name, FieldType::BLOB, u32::MAX, BLOB),
            ColumnType::String => Self::characters(name, FieldType::VAR_STRING, 65_535, 0),
            ColumnType::Int => Self::number(name, FieldType::LONGLONG, 11, 0, 0),
            ColumnType::Bigint | ColumnType::Timestamp => Self::bigint(name),
            ColumnType::Float => Self::number(name, FieldType::FLOAT, 12, 0, DECIMALS_OPEN),
            ColumnType::Bool => Self::number(name, FieldType::TINY, 1, 0, 0),
            ColumnType::Integer { bytes, unsigned } => Self::integer(name, bytes, unsigned),
            ColumnType::Double => Self::double(name),
            ColumnType::Char {
                variable,
                chars_max,
            } => {
                let kind = if variable {
                    FieldType::VAR_STRING
                } else {
                    FieldType::STRING
                };
                Self::characters(name, kind, chars_max.saturating_mul(4), 0)
            }
            ColumnType::LongText { bytes_max } => {
                Self::characters(name, FieldType::BLOB, bytes_max, BLOB)
            }
            ColumnType::Blob { bytes_max } => ColumnDefinition {
                charset: CHARSET_BINARY,
                ..Self::characters(name, FieldType::BLOB, bytes_max, BLOB | BINARY)
            },
            ColumnType::Date => Self::number(name, FieldType::DATE, 10, 0, 0),
            ColumnType::DateTime { fraction_digits } => {
                Self::clock(name, FieldType::DATETIME, 19, fraction_digits)
            }
            ColumnType::Time { fraction_digits } => {
                Self::clock(name, FieldType::TIME, 10, fraction_digits)
            }
            ColumnType::Bit { .. } => Self::number(name, FieldType::LONGLONG, 20, UNSIGNED, 0),
            ColumnType::Multi { .. } => Self::characters(name, FieldType::VAR_STRING, 65_535, 0),
            ColumnType::Json => Self::characters(name, FieldType::BLOB, u32::MAX, BLOB),
            ColumnType::Year => Self::number(name, FieldType::YEAR, 4, UNSIGNED | ZEROFILL, 0),
            ColumnType::Decimal { digits, scale } => {
                let sign_and_point = 1 + u32::from(scale > 0);
                let length = u32::from(digits) + sign_and_point;
                Self::number(name, FieldType::NEWDECIMAL, length, 0, scale)
            }
        }
    }

    /// A time type. `length` leaves out the point and the fraction of a second.
    fn clock(name: &str, kind: FieldType, length: u32, fraction_digits: u8) -> Self {
        let fraction = match fraction_digits {
            0 => 0,
            digits => 1 + u32::from(digits),
        };
        Self::number(name, kind, length + fraction, 0, fraction_digits)
    }

    fn integer(name: &str, bytes: u8, unsigned: bool) -> Self {
        let (kind, length) = match bytes {
            1 => (FieldType::TINY, 4),
            2 => (FieldType::SHORT, 6),
            3 => (FieldType::INT24, 9),
            4 => (FieldType::LONG, 11),
            _ => (FieldType::LONGLONG, 20),
        };
        let flags = if unsigned { UNSIGNED } else { 0 };
        Self::number(name, kind, length, flags, 0)
    }

    /// Sets the table.
    #[must_use]
    pub fn from_table(mut self, table: &str) -> Self {
        table.clone_into(&mut self.table);
        self
    }

    /// Appends the packet's payload.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_string(out, b"def");
        put_string(out, b"");
        put_string(out, self.table.as_bytes());
        put_string(out, self.table.as_bytes());
        put_string(out, self.name.as_bytes());
        let original = if self.table.is_empty() {
            ""
        } else {
            self.name.as_str()
        };
        put_string(out, original.as_bytes());
        put_integer(out, 12);
        out.extend_from_slice(&self.charset.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.push(self.kind.0);
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.push(self.decimals);
        out.extend_from_slice(&[0, 0]);
    }

    /// Reads the packet's payload. Ignores the default value that COM_FIELD_LIST adds.
    ///
    /// # Errors
    /// [`DecodeError`]: the payload ends early.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(payload);
        reader.string("catalog")?;
        reader.string("schema")?;
        let table = reader.string("table")?;
        reader.string("original table")?;
        let name = reader.string("column name")?;
        reader.string("original column name")?;
        reader.integer("length of fixed fields")?;
        Ok(ColumnDefinition {
            table: String::from_utf8_lossy(table).into_owned(),
            name: String::from_utf8_lossy(name).into_owned(),
            charset: reader.u16("charset")?,
            length: reader.u32("column length")?,
            kind: FieldType(reader.u8("column type")?),
            flags: reader.u16("column flags")?,
            decimals: reader.u8("decimals")?,
        })
    }
}
