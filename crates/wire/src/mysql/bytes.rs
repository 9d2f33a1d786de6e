//! Integers and strings of the protocol. Reading checks every length against the bytes that are left.
//!
//! A length-encoded integer has 1, 3, 4 or 9 bytes; a length-encoded string is its length, then its bytes:
//!
//! ```text
//! fa                    250
//! fc fb 00              251
//! fd 00 00 01           65,536
//! fe 00 00 00 01 …      16,777,216 and more, eight bytes behind the fe
//! 03 'abc'              a string; fb in place of a cell's length is NULL
//! ```

use std::fmt;

/// A payload that ends too early, or has a byte that its kind does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The part that could not be read, such as `user name`.
    pub what: &'static str,
    /// Byte offset of that part in the payload.
    pub offset: usize,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed packet: {} at byte {}", self.what, self.offset)
    }
}

impl std::error::Error for DecodeError {}

/// Reads a payload front to back. A failed read leaves the position where it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    pub(super) fn fail(&self, what: &'static str) -> DecodeError {
        DecodeError {
            what,
            offset: self.at,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(super) fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = self.bytes.len();
        rest
    }

    pub(super) fn take(
        &mut self,
        count: usize,
        what: &'static str,
    ) -> Result<&'a [u8], DecodeError> {
        let end = self.at.checked_add(count).ok_or(self.fail(what))?;
        let taken = self.bytes.get(self.at..end).ok_or(self.fail(what))?;
        self.at = end;
        Ok(taken)
    }

    /// A little-endian integer of `width` bytes, 1 to 8.
    fn little(&mut self, width: usize, what: &'static str) -> Result<u64, DecodeError> {
        let mut wide = [0u8; 8];
        for (to, from) in wide.iter_mut().zip(self.take(width, what)?) {
            *to = *from;
        }
        Ok(u64::from_le_bytes(wide))
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        self.little(1, what).map(|wide| wide as u8)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, DecodeError> {
        self.little(2, what).map(|wide| wide as u16)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        self.little(4, what).map(|wide| wide as u32)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        self.little(8, what)
    }

    /// Count of bytes that are not read yet.
    pub(super) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// A length-encoded integer.
    pub(super) fn integer(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        let before = self.at;
        let read = match self.u8(what)? {
            small @ 0..=0xfa => Ok(u64::from(small)),
            0xfc => self.little(2, what),
            0xfd => self.little(3, what),
            0xfe => self.little(8, what),
            _ => Err(self.fail(what)),
        };
        read.map_err(|_| {
            self.at = before;
            self.fail(what)
        })
    }

    /// A length-encoded string.
    pub(super) fn string(&mut self, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let length = self.integer(what)?;
        let length = usize::try_from(length).map_err(|_| self.fail(what))?;
        self.take(length, what)
    }

    /// A string that ends at a zero byte, or at the payload's end: some clients leave the last zero byte out.
    pub(super) fn terminated(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == 0);
        self.at += length.map_or(rest.len(), |length| length + 1);
        &rest[..length.unwrap_or(rest.len())]
    }
}

/// Appends a length-encoded integer.
#[inline]
pub(super) fn put_integer(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0xfa => out.push(value as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&value.to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Appends a length-encoded string.
#[inline]
pub(super) fn put_string(out: &mut Vec<u8>, bytes: &[u8]) {
    put_integer(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a string and a zero byte. Zero bytes inside are left out, as they would end it early.
pub(super) fn put_terminated(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(bytes.iter().copied().filter(|&byte| byte != 0));
    out.push(0);
}
