//! The row codec: the binary form of one row, every column in table order, without the id.
//!
//! Layout, little-endian: `count: u16`, then for each column `tag: u8, end: u32`, then the values. `end` counts from
//! the start of the values, so any column is found in one step, without reading the others. Tags:
//!
//! | tag | value | bytes |
//! |---|---|---|
//! | 0 | NULL | 0 |
//! | 1 | integer that fits an `i64` | 0 for 0, else the fewest of 1, 2, 4 and 8 that hold it, signed |
//! | 2 | integer that does not | 16 |
//! | 3 | float (`f64` bits) | 8 |
//! | 4 | text, UTF-8 | its length |
//! | 5 | bytes | their length |
//! | 6 | set of integers (`i64`s) | 8 each |
//! | 7 | JSON document, see [`crate::json`] | its length |
//! | 8 | text that is left out, see [`leave_out`]; only in packed rows of segments | 0 |
//!
//! Example: the row `'ab', 7, NULL` takes 20 bytes.
//!
//! ```text
//! offset  bytes
//! 0       03 00             three columns
//! 2       04 02 00 00 00    text, ends at 2
//! 7       01 03 00 00 00    short integer, ends at 3
//! 12      00 03 00 00 00    NULL, ends at 3
//! 17      61 62             ab
//! 19      07                7
//! ```
//!
//! To read column 1: its slot at 2 + 5·1 says tag 1 and end 3. The slot before says that it starts at 2, and values
//! start at 2 + 5·3. So the value is the byte at 19.
//!
//! Invariants:
//! - Ends never fall, and the last is the length of the values. A reader checks each offset against the bytes that it
//!   has.
//! - The tag and the bytes of an integer follow from its size, so equal rows have equal bytes. Rows that older builds wrote have 8
//!   bytes for each integer of tag 1; they are read, and equal to none of this build.

mod kept;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::codec::{self, Stored};
use crate::json::{self, Json, JsonStep};
use crate::limits::COLUMNS_MAX;
use crate::value::Value;

pub use kept::{KeptRow, leave_out};

const HEAD_BYTES: usize = 2;
const COLUMN_BYTES: usize = 5;

const NULL: u8 = 0;
const SHORT: u8 = 1;
const LONG: u8 = 2;
const FLOAT: u8 = 3;
const TEXT: u8 = 4;
const BINARY: u8 = 5;
const SET: u8 = 6;
const DOCUMENT: u8 = 7;

/// Encodes one row, for all who keep it to share. Panics above [`COLUMNS_MAX`] columns and from 4 GiB of values on. Cost: one
/// allocation.
#[inline]
#[must_use]
pub fn encode(values: &[Value]) -> Arc<[u8]> {
    assert!(values.len() <= COLUMNS_MAX);
    let head = HEAD_BYTES + COLUMN_BYTES * values.len();
    let bytes = head + values.iter().map(value_bytes).sum::<usize>();
    let mut row: Arc<[u8]> = std::iter::repeat_n(0, bytes).collect();
    let (slots, out) = Arc::make_mut(&mut row).split_at_mut(head);
    slots[..HEAD_BYTES].copy_from_slice(&(values.len() as u16).to_le_bytes());
    let (slots, mut end) = (slots[HEAD_BYTES..].chunks_exact_mut(COLUMN_BYTES), 0);
    for (value, slot) in values.iter().zip(slots) {
        let start = end;
        end += value_bytes(value);
        assert!(u32::try_from(end).is_ok(), "a row is smaller than 4 GiB");
        slot[0] = tag(value);
        slot[1..].copy_from_slice(&(end as u32).to_le_bytes());
        put(value, &mut out[start..end]);
    }
    row
}

/// All columns of an encoded row. `None` where the bytes are no encoded row.
#[inline]
#[must_use]
pub fn decode(row: &[u8]) -> Option<Vec<Value>> {
    (0..column_count(row)?)
        .map(|column| decode_column(row, column))
        .collect()
}

/// Number of columns of an encoded row. `None` below two bytes; the rest of the row is not read.
#[inline]
#[must_use]
pub fn column_count(row: &[u8]) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(*row.first_chunk()?)))
}

/// One column of an encoded row, from 0. `None` beyond the last column, or where the bytes are no encoded row. Cost:
/// one step, whatever the number of columns.
#[inline]
#[must_use]
pub fn decode_column(row: &[u8], column: usize) -> Option<Value> {
    let (tag, bytes) = stored(row, column)?;
    value(tag, bytes)
}

/// The value with a tag and bytes.
#[inline]
fn value(tag: u8, bytes: &[u8]) -> Option<Value> {
    Some(match tag {
        NULL => Value::Null,
        SHORT => Value::Int(short(bytes)?.into()),
        LONG => Value::Int(i128::from_le_bytes(bytes.try_into().ok()?)),
        FLOAT => Value::Float(f64::from_le_bytes(bytes.try_into().ok()?)),
        TEXT => Value::Str(std::str::from_utf8(bytes).ok()?.to_owned()),
        BINARY => Value::Bytes(bytes.to_vec()),
        SET => Value::Set(numbers(bytes)?),
        DOCUMENT => Value::Json(Json::of_bytes(bytes)),
        _ => return None,
    })
}

/// The integer in the bytes of a value with tag 1.
#[inline]
fn short(bytes: &[u8]) -> Option<i64> {
    Some(match *bytes {
        [] => 0,
        [a] => i64::from(a.cast_signed()),
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => i64::from_le_bytes(bytes.try_into().ok()?),
    })
}

/// How many bytes [`short`] reads it from.
#[inline]
fn short_bytes(number: i64) -> usize {
    match number {
        0 => 0,
        _ if i8::try_from(number).is_ok() => 1,
        _ if i16::try_from(number).is_ok() => 2,
        _ if i32::try_from(number).is_ok() => 4,
        _ => 8,
    }
}

/// What stands at a path in a column's document, as [`Value::at_path`] of [`decode_column`]. The document is not copied.
#[inline]
#[must_use]
pub fn decode_path(row: &[u8], column: usize, path: &[JsonStep]) -> Option<Value> {
    let document = document(row, column)?;
    Some(Value::of_node(
        document.and_then(|document| json::node_at(document, path)),
    ))
}

/// The bytes of a column's text, in UTF-8. `Some(None)`: the column has another value.
#[inline]
#[must_use]
pub fn text(row: &[u8], column: usize) -> Option<Option<&[u8]>> {
    let (tag, bytes) = stored(row, column)?;
    Some((tag == TEXT).then_some(bytes))
}

/// The bytes of a column's document, [`Json::bytes`]. `Some(None)`: the column has another value.
#[inline]
#[must_use]
pub fn document(row: &[u8], column: usize) -> Option<Option<&[u8]>> {
    let (tag, bytes) = stored(row, column)?;
    Some((tag == DOCUMENT).then_some(bytes))
}

/// Tag and bytes of a column's value. `None` beyond the last column, or where the bytes are no encoded row.
#[inline]
fn stored(row: &[u8], column: usize) -> Option<(u8, &[u8])> {
    let count = column_count(row)?;
    if column >= count {
        return None;
    }
    let (tag, end) = slot(row, column)?;
    let start = if column == 0 {
        0
    } else {
        slot(row, column - 1)?.1
    };
    let values = HEAD_BYTES + COLUMN_BYTES * count;
    Some((tag, row.get(values + start..values + end)?))
}

/// As [`decode_column`], for numbers only: `None` also for text, bytes and NULL. Never allocates.
#[inline]
#[must_use]
pub fn decode_number(row: &[u8], column: usize) -> Option<Value> {
    match slot(row, column)? {
        (SHORT | LONG | FLOAT, _) => decode_column(row, column),
        _ => None,
    }
}

/// The numbers of a set. `None` where the bytes are no whole numbers of 64 bits.
pub(crate) fn numbers(bytes: &[u8]) -> Option<Arc<[i64]>> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    let numbers = numbers.iter().map(|number| i64::from_le_bytes(*number));
    rest.is_empty().then(|| numbers.collect())
}

/// Appends an encoded row as [`put_row`](crate::codec::put_row) appends its values. Returns whether the bytes are an encoded row;
/// if not, what was appended means nothing. Cost: no allocation but that of `out`.
#[inline]
pub fn put_encoded(out: &mut Vec<u8>, row: &[u8]) -> bool {
    let Some(columns) = column_count(row) else {
        return false;
    };
    let values = HEAD_BYTES + COLUMN_BYTES * columns;
    let (Some(slots), Some(values)) = (row.get(HEAD_BYTES..values), row.get(values..)) else {
        return false;
    };
    let mut start = 0;
    for slot in slots.chunks_exact(COLUMN_BYTES) {
        let &[tag, a, b, c, d] = slot else {
            return false;
        };
        let end = u32::from_le_bytes([a, b, c, d]) as usize;
        let Some(bytes) = values.get(start..end) else {
            return false;
        };
        start = end;
        let is_stored = match tag {
            SHORT => short(bytes).map(|number| codec::put_int(out, number.into())),
            tag => kind(tag).and_then(|kind| codec::put_stored(out, kind, bytes)),
        };
        if is_stored.is_none() {
            return false;
        }
    }
    true
}

/// What a tag but that of short integers says of its bytes; `None`: no value of an encoded row has the tag.
#[inline]
fn kind(tag: u8) -> Option<Stored> {
    Some(match tag {
        NULL => Stored::Null,
        LONG => Stored::Long,
        FLOAT => Stored::Float,
        TEXT => Stored::Text,
        BINARY => Stored::Binary,
        SET => Stored::Set,
        DOCUMENT => Stored::Document,
        _ => return None,
    })
}

/// As [`counted_bytes`], of an encoded row. 0 where the bytes are no encoded row.
#[must_use]
pub fn counted_bytes_of(row: &[u8]) -> u64 {
    let head = HEAD_BYTES + COLUMN_BYTES * column_count(row).unwrap_or(0);
    let (mut bytes, mut start) = (0, 0);
    for slot in row.get(HEAD_BYTES..head).unwrap_or_default().as_chunks().0 {
        let &[tag, ref end @ ..]: &[u8; COLUMN_BYTES] = slot;
        let end = u32::from_le_bytes(*end);
        bytes += match tag {
            TEXT | BINARY | SET | DOCUMENT => end.saturating_sub(start).into(),
            _ => 8,
        };
        start = end;
    }
    bytes
}

/// Bytes that a row counts as: the length of each text, set and document, and 8 for every other value.
#[must_use]
pub fn counted_bytes(row: &[Value]) -> u64 {
    let bytes = |value: &Value| match value {
        Value::Set(_) | Value::Json(_) => value_bytes(value),
        other => other.text_bytes().map_or(8, <[u8]>::len),
    };
    row.iter().map(bytes).sum::<usize>() as u64
}

/// Tag and end of a column's value. `None` beyond the bytes.
#[inline]
fn slot(row: &[u8], column: usize) -> Option<(u8, usize)> {
    let at = HEAD_BYTES + COLUMN_BYTES * column;
    let tag = *row.get(at)?;
    let end = u32::from_le_bytes(*row.get(at + 1..)?.first_chunk()?);
    Some((tag, end as usize))
}

fn tag(value: &Value) -> u8 {
    match value {
        Value::Null => NULL,
        Value::Int(number) if i64::try_from(*number).is_ok() => SHORT,
        Value::Int(_) => LONG,
        Value::Float(_) => FLOAT,
        Value::Str(_) => TEXT,
        Value::Bytes(_) => BINARY,
        Value::Set(_) => SET,
        Value::Json(_) => DOCUMENT,
    }
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Int(number) => i64::try_from(*number).map_or(16, short_bytes),
        Value::Float(_) => 8,
        Value::Str(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Set(numbers) => size_of_val::<[i64]>(numbers),
        Value::Json(document) => document.bytes().len(),
    }
}

/// Fills `out`, which has [`value_bytes`] bytes.
fn put(value: &Value, out: &mut [u8]) {
    match value {
        Value::Null => {}
        Value::Int(number) => match i64::try_from(*number) {
            Ok(short) => out.copy_from_slice(&short.to_le_bytes()[..out.len()]),
            Err(_) => out.copy_from_slice(&number.to_le_bytes()),
        },
        Value::Float(number) => out.copy_from_slice(&number.to_le_bytes()),
        Value::Str(text) => out.copy_from_slice(text.as_bytes()),
        Value::Bytes(bytes) => out.copy_from_slice(bytes),
        Value::Set(numbers) => {
            for (slot, number) in out.chunks_exact_mut(8).zip(numbers.iter()) {
                slot.copy_from_slice(&number.to_le_bytes());
            }
        }
        Value::Json(document) => out.copy_from_slice(document.bytes()),
    }
}
