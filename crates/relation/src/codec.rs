//! The bytes of records, manifest and files: unsigned LEB128 numbers, length-prefixed bytes, tagged values, columns.
//!
//! Examples:
//!
//! ```text
//! number 300                        ac 02
//! text "ab"                         02 61 62
//! list of the numbers 1 and 300     02 01 ac 02
//! value 300                         01 ac 02              tag INT
//! value -1                          02 00                 tag NEGATIVE, -1 - n
//! value NULL                        00
//! ids 100, 103, 101 as differences  64 03 fe ff ff ff ff ff ff ff ff 01
//! ```
//!
//! Writing cannot fail. Reading never panics and never allocates by a length that the input cannot hold.

mod column;

pub use column::{put_column, read_column};

use crate::json::Json;
use crate::row::numbers;
use crate::value::Value;

/// Bytes that could not be read: where, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Byte offset from the start of the reader's input.
    pub offset: usize,
    /// What should stand there.
    pub why: &'static str,
}

/// The value read, or the damage.
pub type Read<T> = Result<T, Damage>;

/// Appends a number in LEB128, the low seven bits first: one to ten bytes.
#[inline]
pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads the LEB128 number at `at` and moves `at` behind it. `None` where no number below 2^64 stands; `at` is then
/// anywhere. Cost: a step for each byte, ten at most.
#[inline]
pub fn number_at(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            break; // the tenth byte has room for one bit
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Takes a number below 2^32 off the front of `bytes`. `None` where there is none.
#[inline]
pub fn cut_small(bytes: &mut &[u8]) -> Option<u32> {
    let mut at = 0;
    let number = number_at(bytes, &mut at)?;
    *bytes = bytes.get(at..)?;
    u32::try_from(number).ok()
}

/// Appends the length of `bytes` and the bytes.
#[inline]
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a text as [`put_bytes`] does.
#[inline]
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// Appends the number of items, then each item with `put`.
#[inline]
pub fn put_list<T>(out: &mut Vec<u8>, items: &[T], mut put: impl FnMut(&mut Vec<u8>, &T)) {
    put_number(out, items.len() as u64);
    items.iter().for_each(|item| put(out, item));
}

/// Writes or reads ids as wrapping differences from the id before: short for rising ids, right in any order.
#[derive(Debug, Default)]
pub struct Differences {
    before: u64,
}

impl Differences {
    /// Appends the next id.
    #[inline]
    pub fn put(&mut self, out: &mut Vec<u8>, id: u64) {
        put_number(out, id.wrapping_sub(self.before));
        self.before = id;
    }

    /// Reads the next id. Error: no number stands there.
    #[inline]
    pub fn read(&mut self, reader: &mut Reader<'_>) -> Read<u64> {
        self.before = self.before.wrapping_add(reader.number()?);
        Ok(self.before)
    }
}

const NULL: u8 = 0;
const INT: u8 = 1;
const NEGATIVE: u8 = 2;
const WIDE: u8 = 3;
const FLOAT: u8 = 4;
const STR: u8 = 5;
const BYTES: u8 = 6;
const SET: u8 = 7;
const DOCUMENT: u8 = 8;

/// Appends a value: a tag, then the bytes that the tag demands.
#[inline]
pub fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(NULL),
        Value::Int(number) => put_int(out, *number),
        Value::Float(number) => {
            out.push(FLOAT);
            out.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        Value::Str(text) => {
            out.push(STR);
            put_bytes(out, text.as_bytes());
        }
        Value::Bytes(bytes) => {
            out.push(BYTES);
            put_bytes(out, bytes);
        }
        Value::Set(numbers) => {
            out.push(SET);
            put_number(out, 8 * numbers.len() as u64);
            numbers
                .iter()
                .for_each(|number| out.extend(number.to_le_bytes()));
        }
        Value::Json(document) => {
            out.push(DOCUMENT);
            put_bytes(out, document.bytes());
        }
    }
}

#[inline]
pub(crate) fn put_int(out: &mut Vec<u8>, number: i128) {
    if let Ok(small @ 0..0x80) = u8::try_from(number) {
        out.extend_from_slice(&[INT, small]); // what the next case appends, at once
    } else if let Ok(number) = u64::try_from(number) {
        out.push(INT);
        put_number(out, number);
    } else if let Ok(rest) = u64::try_from(-1 - number) {
        out.push(NEGATIVE); // -1 - n, so that the smallest bigint fits
        put_number(out, rest);
    } else {
        out.push(WIDE);
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// The kinds of values in an encoded row but that of integers which fit an `i64`, see [`crate::row`].
#[derive(Clone, Copy)]
pub(crate) enum Stored {
    Null,
    /// 16 bytes.
    Long,
    /// 8 bytes.
    Float,
    Text,
    Binary,
    Set,
    Document,
}

/// Appends a value of an encoded row as [`put_value`] does. `None`: its bytes are not of that kind.
#[inline]
pub(crate) fn put_stored(out: &mut Vec<u8>, kind: Stored, bytes: &[u8]) -> Option<()> {
    let tag = match kind {
        Stored::Null => {
            out.push(NULL);
            return Some(());
        }
        Stored::Long => {
            put_int(out, i128::from_le_bytes(bytes.try_into().ok()?));
            return Some(());
        }
        Stored::Float => {
            out.push(FLOAT);
            out.extend_from_slice(bytes);
            return (bytes.len() == 8).then_some(());
        }
        Stored::Text => STR,
        Stored::Binary => BYTES,
        Stored::Set => SET,
        Stored::Document => DOCUMENT,
    };
    out.push(tag);
    put_bytes(out, bytes);
    Some(())
}

/// Appends the values of one row without their number, which the reader must know.
#[inline]
pub fn put_row(out: &mut Vec<u8>, row: &[Value]) {
    for value in row {
        put_value(out, value);
    }
}

/// Reads the output of the functions above, front to back.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the first byte.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, offset: 0 }
    }

    /// Byte offset of the next read.
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Damage at the reader's offset.
    #[must_use]
    pub fn damage(&self, why: &'static str) -> Damage {
        Damage {
            offset: self.offset,
            why,
        }
    }

    /// Ok at the end of the input, else damage.
    #[inline]
    pub fn end(&self) -> Read<()> {
        if self.offset == self.bytes.len() {
            Ok(())
        } else {
            Err(self.damage("bytes after the end"))
        }
    }

    /// Reads one byte.
    #[inline]
    pub fn byte(&mut self) -> Read<u8> {
        let byte = *self.bytes.get(self.offset).ok_or(self.damage("a byte"))?;
        self.offset += 1;
        Ok(byte)
    }

    /// Reads a byte that must be 0 or 1.
    #[inline]
    pub fn flag(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.damage("a flag of 0 or 1")),
        }
    }

    /// Reads a number, as [`put_number`] wrote it.
    #[inline]
    pub fn number(&mut self) -> Read<u64> {
        let number = number_at(self.bytes, &mut self.offset);
        number.ok_or(self.damage("a number below 2^64"))
    }

    /// As [`Reader::number`]; the number must be below 2^32.
    #[inline]
    pub fn small(&mut self) -> Read<u32> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.damage("a number below 2^32"))
    }

    /// Reads a count of items that take at least one byte each. A count above the bytes left is damage, so a wrong
    /// one cannot make the reader allocate much.
    #[inline]
    pub fn count(&mut self) -> Read<usize> {
        let count = self.number()?;
        let left = self.bytes.len() - self.offset;
        match usize::try_from(count) {
            Ok(count) if count <= left => Ok(count),
            _ => Err(self.damage("a count that the rest can hold")),
        }
    }

    /// Reads a list, as [`put_list`] wrote it; `read` reads one item.
    #[inline]
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.count()?;
        (0..count).map(|_| read(self)).collect()
    }

    /// Reads `length` bytes.
    #[inline]
    pub fn fixed(&mut self, length: usize) -> Read<&'a [u8]> {
        let end = self.offset.checked_add(length);
        let slice = end.and_then(|end| self.bytes.get(self.offset..end));
        let slice = slice.ok_or(self.damage("more bytes"))?;
        self.offset += length;
        Ok(slice)
    }

    /// Reads bytes behind their length, as [`put_bytes`] wrote them.
    #[inline]
    pub fn bytes(&mut self) -> Read<&'a [u8]> {
        let length = self.count()?;
        self.fixed(length)
    }

    /// As [`Reader::bytes`]; the bytes must be UTF-8.
    #[inline]
    pub fn text(&mut self) -> Read<&'a str> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.damage("text in UTF-8"))
    }

    /// As [`Reader::text`], copied.
    #[inline]
    pub fn string(&mut self) -> Read<String> {
        Ok(self.text()?.to_owned())
    }

    /// Reads `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let slice = self.fixed(N)?;
        slice.try_into().map_err(|_| self.damage("more bytes"))
    }

    /// Reads a value, as [`put_value`] wrote it.
    #[inline]
    pub fn value(&mut self) -> Read<Value> {
        match self.byte()? {
            NULL => Ok(Value::Null),
            INT => Ok(Value::Int(i128::from(self.number()?))),
            NEGATIVE => Ok(Value::Int(-1 - i128::from(self.number()?))),
            WIDE => Ok(Value::Int(i128::from_le_bytes(self.array()?))),
            FLOAT => Ok(Value::Float(f64::from_bits(u64::from_le_bytes(
                self.array()?,
            )))),
            STR => Ok(Value::Str(self.text()?.to_owned())),
            BYTES => Ok(Value::Bytes(self.bytes()?.to_vec())),
            SET => {
                let numbers = numbers(self.bytes()?);
                Ok(Value::Set(
                    numbers.ok_or(self.damage("numbers of 8 bytes"))?,
                ))
            }
            DOCUMENT => Ok(Value::Json(Json::of_bytes(self.bytes()?))),
            _ => Err(self.damage("a known tag of a value")),
        }
    }

    /// Reads `columns` values, as [`put_row`] wrote them.
    #[inline]
    pub fn row(&mut self, columns: usize) -> Read<Vec<Value>> {
        (0..columns).map(|_| self.value()).collect()
    }
}
