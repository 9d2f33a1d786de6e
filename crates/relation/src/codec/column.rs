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
    let (tag, size) = column.kind.code();
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
    let kind = ColumnType::of_code(tag, size);
    let kind =
        kind.ok_or_else(|| reader.damage("a known column type of a size that it can have"))?;
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
