//! Bytes of records, manifest and folded files: unsigned LEB128 numbers, length-prefixed bytes, tagged values.
//!
//! Writing cannot fail. Reading never panics and never allocates by a length that the input does not hold.

use query::value::Value;

/// What could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Byte offset from the start of what was read.
    pub(crate) offset: usize,
    /// What was expected there.
    pub(crate) why: &'static str,
}

pub(crate) type Read<T> = Result<T, Damage>;

/// Appends a number, low seven bits first.
pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a length and the bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

const NULL: u8 = 0;
const INT: u8 = 1;
const NEGATIVE: u8 = 2;
const WIDE: u8 = 3;
const FLOAT: u8 = 4;
const STR: u8 = 5;
const BYTES: u8 = 6;

/// Appends one value: a tag, then what the tag says.
pub(crate) fn put_value(out: &mut Vec<u8>, value: &Value) {
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
    }
}

fn put_int(out: &mut Vec<u8>, number: i128) {
    if let Ok(number) = u64::try_from(number) {
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

/// Appends the values of one row, without their count: the reader knows it.
pub(crate) fn put_row(out: &mut Vec<u8>, row: &[Value]) {
    for value in row {
        put_value(out, value);
    }
}

/// Reads what the functions above wrote.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, offset: 0 }
    }

    /// Where the reader stands.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// What is wrong where the reader stands.
    pub(crate) fn damage(&self, why: &'static str) -> Damage {
        Damage {
            offset: self.offset,
            why,
        }
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Read<()> {
        if self.offset == self.bytes.len() {
            Ok(())
        } else {
            Err(self.damage("bytes after the end"))
        }
    }

    pub(crate) fn byte(&mut self) -> Read<u8> {
        let byte = *self.bytes.get(self.offset).ok_or(self.damage("a byte"))?;
        self.offset += 1;
        Ok(byte)
    }

    pub(crate) fn flag(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.damage("a flag of 0 or 1")),
        }
    }

    pub(crate) fn number(&mut self) -> Read<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.damage("a number below 2^64"))
    }

    pub(crate) fn small(&mut self) -> Read<u32> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.damage("a number below 2^32"))
    }

    /// A count of things that take at least one byte each, so a wrong one cannot make the reader allocate much.
    pub(crate) fn count(&mut self) -> Read<usize> {
        let count = self.number()?;
        let left = self.bytes.len() - self.offset;
        match usize::try_from(count) {
            Ok(count) if count <= left => Ok(count),
            _ => Err(self.damage("a count that the rest can hold")),
        }
    }

    pub(crate) fn fixed(&mut self, length: usize) -> Read<&'a [u8]> {
        let end = self.offset.checked_add(length);
        let slice = end.and_then(|end| self.bytes.get(self.offset..end));
        let slice = slice.ok_or(self.damage("more bytes"))?;
        self.offset += length;
        Ok(slice)
    }

    pub(crate) fn bytes(&mut self) -> Read<&'a [u8]> {
        let length = self.count()?;
        self.fixed(length)
    }

    pub(crate) fn text(&mut self) -> Read<&'a str> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.damage("text in UTF-8"))
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let slice = self.fixed(N)?;
        slice.try_into().map_err(|_| self.damage("more bytes"))
    }

    pub(crate) fn value(&mut self) -> Read<Value> {
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
            _ => Err(self.damage("a known tag of a value")),
        }
    }

    pub(crate) fn row(&mut self, columns: usize) -> Read<Vec<Value>> {
        (0..columns).map(|_| self.value()).collect()
    }
}
