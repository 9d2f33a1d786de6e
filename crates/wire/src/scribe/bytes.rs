//! Integers and strings of Thrift's binary protocol. Reading checks every length against the bytes that are left.
//!
//! Integers are big-endian. A string is its length in four bytes, then its bytes; a field is its type, its id in two bytes, then
//! its value; a type of 0 ends a struct:
//!
//! ```text
//! 0b 00 01   00 00 00 03 'web'     field 1, a string
//! 08 00 00   00 00 00 01           field 0, an i32: 1
//! 00                               the end of the struct
//! ```

use std::fmt;

use crate::limits::{METHOD_NAME_BYTES_MAX, THRIFT_DEPTH_MAX};

/// The type byte of a field, an element, a key or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool = 2,
    Byte = 3,
    Double = 4,
    I16 = 6,
    I32 = 8,
    I64 = 10,
    String = 11,
    Struct = 12,
    Map = 13,
    Set = 14,
    List = 15,
}

/// The type byte that ends a struct.
pub(super) const STOP: u8 = 0;

impl Kind {
    pub(super) fn of(byte: u8) -> Option<Kind> {
        Some(match byte {
            2 => Kind::Bool,
            3 => Kind::Byte,
            4 => Kind::Double,
            6 => Kind::I16,
            8 => Kind::I32,
            10 => Kind::I64,
            11 => Kind::String,
            12 => Kind::Struct,
            13 => Kind::Map,
            14 => Kind::Set,
            15 => Kind::List,
            _ => return None,
        })
    }

    /// Bytes of a value, if each value of the type has the same size.
    pub(super) fn fixed_bytes(self) -> Option<usize> {
        match self {
            Kind::Bool | Kind::Byte => Some(1),
            Kind::I16 => Some(2),
            Kind::I32 => Some(4),
            Kind::I64 | Kind::Double => Some(8),
            Kind::String | Kind::Struct | Kind::Map | Kind::Set | Kind::List => None,
        }
    }
}

/// Why bytes are not a message of the service, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// What is wrong.
    pub fault: Fault,
    /// Byte offset in the message at which the wrong part begins. The length before a frame does not count.
    pub offset: usize,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The message ends inside this part.
    Cut(&'static str),
    /// The length or count of this part is negative, or more than the bytes left can hold.
    Length {
        /// Name of the part, such as `category`.
        what: &'static str,
        /// The length in bytes, or the count of items, that the message announces.
        announced: i32,
        /// Bytes that are left.
        left: usize,
    },
    /// The method name is empty or longer than [`METHOD_NAME_BYTES_MAX`].
    NameLength(i32),
    /// The first four bytes have bit 31, but are no version 1 of the binary protocol.
    Version(u32),
    /// No kind of message has this number.
    MessageKind(u8),
    /// No type of Thrift's binary protocol has this number.
    UnknownType(u8),
    /// A field that the service declares has another type.
    Type {
        /// Name of the field.
        what: &'static str,
        /// The type byte that was found.
        found: u8,
    },
    /// The field stands twice in its struct.
    Twice(&'static str),
    /// A field that the service does not declare is nested deeper than [`THRIFT_DEPTH_MAX`].
    Depth,
    /// This count of bytes follows the end of the message.
    Trailing(usize),
    /// A reply has neither a result nor an exception.
    NoResult,
    /// A number of this part that the service does not declare.
    Number {
        /// Name of the part, such as `category`.
        what: &'static str,
        /// The number that was found.
        found: i32,
    },
    /// A reply names another method than the call.
    OtherMethod,
    /// A reply has another sequence id than the call.
    Sequence {
        /// The sequence id of the call.
        wanted: i32,
        /// The sequence id of the reply.
        found: i32,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed Thrift message: ")?;
        match self.fault {
            Fault::Cut(what) => write!(f, "it ends inside the {what}"),
            Fault::Length {
                what,
                announced,
                left,
            } => write!(
                f,
                "the {what} announces {announced}, and {left} bytes are left"
            ),
            Fault::NameLength(length) => write!(
                f,
                "a method name of {length} bytes, 1 to {METHOD_NAME_BYTES_MAX} are allowed"
            ),
            Fault::Version(word) => write!(f, "no binary protocol has the version {word:08x}"),
            Fault::MessageKind(kind) => write!(f, "no kind of message has the number {kind}"),
            Fault::UnknownType(kind) => write!(f, "no type has the number {kind}"),
            Fault::Type { what, found } => write!(f, "the {what} has the type {found}"),
            Fault::Twice(what) => write!(f, "the {what} stands twice"),
            Fault::Depth => write!(f, "nested deeper than {THRIFT_DEPTH_MAX}"),
            Fault::Trailing(bytes) => write!(f, "{bytes} bytes follow its end"),
            Fault::NoResult => write!(f, "a reply without a result"),
            Fault::Number { what, found } => write!(f, "no {what} has the number {found}"),
            Fault::OtherMethod => write!(f, "the reply to another method"),
            Fault::Sequence { wanted, found } => {
                write!(
                    f,
                    "the reply to sequence id {found}, {wanted} was called last"
                )
            }
        }?;
        write!(f, ", at byte {}", self.offset)
    }
}

impl std::error::Error for DecodeError {}

/// Reads a message front to back. A failed read leaves the position where it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    /// Bytes that are not read yet.
    rest: &'a [u8],
    /// Length of the whole message.
    length: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader {
            rest: bytes,
            length: bytes.len(),
        }
    }

    /// The bytes that are not read yet.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes on at `rest`, which must be an end of [`rest`](Self::rest).
    #[inline]
    pub(super) fn go_on_at(&mut self, rest: &'a [u8]) {
        self.rest = rest;
    }

    /// Byte offset in the message.
    pub(super) fn offset(&self) -> usize {
        self.length - self.rest.len()
    }

    #[cold]
    pub(super) fn fail(&self, fault: Fault) -> DecodeError {
        DecodeError {
            fault,
            offset: self.offset(),
        }
    }

    #[inline]
    fn chunk<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let (chunk, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or_else(|| self.fail(Fault::Cut(what)))?;
        self.rest = rest;
        Ok(*chunk)
    }

    #[inline]
    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        self.chunk::<1>(what).map(|[byte]| byte)
    }

    #[inline]
    pub(super) fn i32(&mut self, what: &'static str) -> Result<i32, DecodeError> {
        self.chunk(what).map(i32::from_be_bytes)
    }

    #[inline]
    pub(super) fn i64(&mut self, what: &'static str) -> Result<i64, DecodeError> {
        self.chunk(what).map(i64::from_be_bytes)
    }

    /// `count` bytes.
    #[inline]
    pub(super) fn take(
        &mut self,
        count: usize,
        what: &'static str,
    ) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| self.fail(Fault::Cut(what)))?;
        self.rest = rest;
        Ok(taken)
    }

    /// A string's length and bytes.
    #[inline]
    pub(super) fn string(&mut self, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let before = *self;
        let announced = self.i32(what)?;
        let length = usize::try_from(announced).ok();
        let Some((taken, rest)) = length.and_then(|length| self.rest.split_at_checked(length))
        else {
            *self = before;
            return Err(self.too_long(what, announced));
        };
        self.rest = rest;
        Ok(taken)
    }

    /// The length or count that stands at the position is more than the bytes behind it can hold.
    #[cold]
    fn too_long(&self, what: &'static str, announced: i32) -> DecodeError {
        self.fail(Fault::Length {
            what,
            announced,
            left: self.rest.len().saturating_sub(4),
        })
    }

    /// A count of items that have at least `bytes_each` bytes each; an error if the bytes left cannot hold them.
    pub(super) fn count(
        &mut self,
        bytes_each: usize,
        what: &'static str,
    ) -> Result<usize, DecodeError> {
        let before = *self;
        let announced = self.i32(what)?;
        let held = self.rest.len() / bytes_each;
        match usize::try_from(announced) {
            Ok(count) if count <= held => Ok(count),
            _ => {
                *self = before;
                Err(self.too_long(what, announced))
            }
        }
    }

    /// The type and id of the next field; `None`: the end of the struct.
    #[inline]
    pub(super) fn field(&mut self) -> Result<Option<Field>, DecodeError> {
        let offset = self.offset();
        let byte = self.u8("type of a field")?;
        if byte == STOP {
            return Ok(None);
        }
        let kind = Kind::of(byte).ok_or(DecodeError {
            fault: Fault::UnknownType(byte),
            offset,
        })?;
        let id = self.chunk("id of a field").map(i16::from_be_bytes)?;
        Ok(Some(Field { id, kind, offset }))
    }

    /// Checks that the message ends here.
    pub(super) fn end(&self) -> Result<(), DecodeError> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(self.fail(Fault::Trailing(left))),
        }
    }
}

/// The head of a field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) id: i16,
    pub(super) kind: Kind,
    /// Byte offset of the field in the message.
    offset: usize,
}

impl Field {
    /// Checks that the field has the type that the service declares.
    #[inline]
    pub(super) fn expect(&self, kind: Kind, what: &'static str) -> Result<(), DecodeError> {
        if self.kind == kind {
            return Ok(());
        }
        Err(DecodeError {
            fault: Fault::Type {
                what,
                found: self.kind as u8,
            },
            offset: self.offset,
        })
    }

    /// Checks the type, and that `slot` is still free: the field stands once.
    #[inline]
    pub(super) fn expect_once<T>(
        &self,
        slot: &Option<T>,
        kind: Kind,
        what: &'static str,
    ) -> Result<(), DecodeError> {
        self.expect(kind, what)?;
        match slot {
            None => Ok(()),
            Some(_) => Err(DecodeError {
                fault: Fault::Twice(what),
                offset: self.offset,
            }),
        }
    }
}

/// Appends the head of a field.
#[inline]
pub(super) fn put_field(out: &mut Vec<u8>, kind: Kind, id: i16) {
    let [high, low] = id.to_be_bytes();
    out.extend_from_slice(&[kind as u8, high, low]);
}

/// Appends a string. The caller bounds the whole message to `i32::MAX` bytes, so a longer string never leaves.
#[inline]
pub(super) fn put_string(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends a count or length.
#[inline]
pub(super) fn put_count(out: &mut Vec<u8>, count: usize) {
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    out.extend_from_slice(&count.to_be_bytes());
}
