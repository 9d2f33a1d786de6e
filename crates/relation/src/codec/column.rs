//! The bytes of a table's column: name, type with its size, flags, default.
//!
//! Example: `price decimal(12,2) NOT NULL` without a default.
//!
//! ```text
//! 05 70 72 69 63 65   name
//! 12                  tag 18, DECIMAL
//! 82 18               size 3074 = 12·256 + 2
//! 00 00               no flag (not nullable, no KEY), no default
//! ```

use super::{Read, Reader, put_number, put_text, put_value};
use crate::schema::{Column, ColumnType};

/// Flag of a column that may be NULL. Up to version 8 of the records it is the only one.
const NULLABLE: u8 = 1;

/// Flag of a column with a KEY.
const KEYED: u8 = 2;

/// Appends a column.
pub fn put_column(out: &mut Vec<u8>, column: &Column) {
    put_text(out, &column.name);
    let (tag, size) = match column.kind {
        ColumnType::Text => (0, 0),
        ColumnType::String => (1, 0),
        ColumnType::Int => (2, 0),
        ColumnType::Bigint => (3, 0),
        ColumnType::Float => (4, 0),
        ColumnType::Bool => (5, 0),
        ColumnType::Timestamp => (6, 0),
        ColumnType::Integer {
            bytes,
            unsigned: false,
        } => (7, bytes.into()),
        ColumnType::Integer {
            bytes,
            unsigned: true,
        } => (8, bytes.into()),
        ColumnType::Double => (9, 0),
        ColumnType::Char {
            variable: false,
            chars_max,
        } => (10, chars_max),
        ColumnType::Char {
            variable: true,
            chars_max,
        } => (11, chars_max),
        ColumnType::LongText { bytes_max } => (12, bytes_max),
        ColumnType::Blob { bytes_max } => (13, bytes_max),
        ColumnType::Date => (14, 0),
        ColumnType::DateTime { fraction_digits } => (15, fraction_digits.into()),
        ColumnType::Time { fraction_digits } => (16, fraction_digits.into()),
        ColumnType::Year => (17, 0),
        ColumnType::Bit { bits } => (19, bits.into()),
        ColumnType::Multi { wide } => (20, wide.into()),
        ColumnType::Json => (21, 0),
        ColumnType::Decimal { digits, scale } => (18, u32::from(digits) * 256 + u32::from(scale)),
    };
    out.push(tag);
    put_number(out, size.into());
    out.push(NULLABLE * u8::from(column.nullable) + KEYED * u8::from(column.keyed));
    out.push(u8::from(column.default.is_some()));
    if let Some(value) = &column.default {
        put_value(out, value);
    }
}

/// Reads a column, as [`put_column`] wrote it. Errors: an unknown tag, or a size that the type cannot have.
pub fn read_column(reader: &mut Reader<'_>) -> Read<Column> {
    let name = reader.string()?;
    let tag = reader.byte()?;
    let size = reader.small()?;
    let kind = column_type(reader, tag, size)?;
    let flags = reader.byte()?;
    if flags & !(NULLABLE | KEYED) != 0 {
        return Err(reader.damage("known flags of a column"));
    }
    let (nullable, keyed) = (flags & NULLABLE != 0, flags & KEYED != 0);
    let default = if reader.flag()? {
        Some(reader.value()?)
    } else {
        None
    };
    Ok(Column {
        name,
        kind,
        nullable,
        default,
        keyed,
    })
}

/// The type of a column, by its tag and size.
fn column_type(reader: &Reader<'_>, tag: u8, size: u32) -> Read<ColumnType> {
    let width = |reader: &Reader<'_>| match size {
        1 | 2 | 3 | 4 | 8 => Ok(size as u8),
        _ => Err(reader.damage("an integer's width")),
    };
    let fraction_digits = |reader: &Reader<'_>| match size {
        0..=6 => Ok(size as u8),
        _ => Err(reader.damage("digits of a second's fraction")),
    };
    Ok(match tag {
        0 => ColumnType::Text,
        1 => ColumnType::String,
        2 => ColumnType::Int,
        3 => ColumnType::Bigint,
        4 => ColumnType::Float,
        5 => ColumnType::Bool,
        6 => ColumnType::Timestamp,
        7 => ColumnType::Integer {
            bytes: width(reader)?,
            unsigned: false,
        },
        8 => ColumnType::Integer {
            bytes: width(reader)?,
            unsigned: true,
        },
        9 => ColumnType::Double,
        10 => ColumnType::Char {
            variable: false,
            chars_max: size,
        },
        11 => ColumnType::Char {
            variable: true,
            chars_max: size,
        },
        12 => ColumnType::LongText { bytes_max: size },
        13 => ColumnType::Blob { bytes_max: size },
        14 => ColumnType::Date,
        15 => ColumnType::DateTime {
            fraction_digits: fraction_digits(reader)?,
        },
        16 => ColumnType::Time {
            fraction_digits: fraction_digits(reader)?,
        },
        17 => ColumnType::Year,
        18 => decimal(size).ok_or_else(|| reader.damage("a decimal's digits"))?,
        19 => ColumnType::Bit {
            bits: size.clamp(1, 64) as u8,
        },
        20 => ColumnType::Multi { wide: size == 1 },
        21 => ColumnType::Json,
        _ => return Err(reader.damage("a known column type")),
    })
}

/// A DECIMAL's size: its digits times 256, plus the digits behind the point.
fn decimal(size: u32) -> Option<ColumnType> {
    let [_, _, digits, scale] = size.to_be_bytes();
    let is_valid = size >> 16 == 0 && (1..=65).contains(&digits) && scale <= digits.min(30);
    is_valid.then_some(ColumnType::Decimal { digits, scale })
}
