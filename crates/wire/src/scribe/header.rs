//! The header of a message in its two forms, and the transport around it.

use std::fmt;

use super::bytes::{DecodeError, Fault, Reader, put_string};
use crate::limits::METHOD_NAME_BYTES_MAX;

/// The high half of the first word of a strict message: version 1.
const VERSION: u32 = 0x8001_0000;
const VERSION_MASK: u32 = 0xffff_0000;

/// First byte of a message of Thrift's compact protocol.
const COMPACT: u8 = 0x82;

/// Bytes of the length before a frame.
pub(super) const FRAME_HEADER_BYTES: usize = 4;

/// Whether a length stands before each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Thrift's TFramedTransport: four bytes of length, big-endian, then the message.
    Framed,
    /// The messages follow each other directly.
    Unframed,
}

/// The form of a message's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The header begins with the version of the protocol.
    Strict,
    /// The header begins with the length of the method's name. Scribe's own clients send this form.
    Versionless,
}

/// What a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The same for all messages of a connection.
    pub transport: Transport,
    /// Each message may have another.
    pub protocol: Protocol,
}

impl Dialect {
    /// Framed and versionless, as Scribe's own clients and servers speak.
    pub const SCRIBE: Dialect = Dialect {
        transport: Transport::Framed,
        protocol: Protocol::Versionless,
    };

    /// Tells from the first bytes of a connection what it speaks; `None`: more bytes must arrive first. Five bytes are enough.
    /// The head of the module [`scribe`](super) has the table.
    ///
    /// # Errors
    /// [`TransportError::Compact`] and [`TransportError::NotThrift`].
    pub fn detect(first: &[u8]) -> Result<Option<Dialect>, TransportError> {
        let found = |transport, protocol| {
            Ok(Some(Dialect {
                transport,
                protocol,
            }))
        };
        let refused = || {
            let mut bytes = [0; 5];
            bytes
                .iter_mut()
                .zip(first)
                .for_each(|(to, from)| *to = *from);
            Err(TransportError::NotThrift(bytes))
        };
        match first {
            [] | [0x80] => Ok(None),
            [0x80, 0x01, ..] => found(Transport::Unframed, Protocol::Strict),
            [COMPACT, ..] => Err(TransportError::Compact),
            [0x80..=0xff, ..] | [0, 0, 0, 0, ..] => refused(),
            [_, _, _, _, 0x80, ..] => found(Transport::Framed, Protocol::Strict),
            [_, _, _, _, 0x00, ..] => found(Transport::Framed, Protocol::Versionless),
            [_, _, _, _, COMPACT, ..] => Err(TransportError::Compact),
            [a, b, c, d, letter, ..] => {
                let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
                let is_name = letter.is_ascii_alphabetic() || *letter == b'_';
                match is_name && length <= METHOD_NAME_BYTES_MAX {
                    true => found(Transport::Unframed, Protocol::Versionless),
                    false => refused(),
                }
            }
            _ => Ok(None),
        }
    }
}

/// Why no further message can be read. The caller must close the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportError {
    /// The connection begins with these bytes (missing ones are 0), as no binary protocol of Thrift does.
    NotThrift([u8; 5]),
    /// The connection begins as Thrift's compact protocol does.
    Compact,
    /// The message is longer than the limit.
    TooLong {
        /// Bytes that the message has at least.
        announced: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The end of an unframed message cannot be found.
    Malformed(DecodeError),
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransportError::NotThrift(bytes) => write!(
                f,
                "the first bytes {bytes:02x?} begin no message of Thrift's binary protocol"
            ),
            TransportError::Compact => {
                f.write_str("the client speaks Thrift's compact protocol; use the binary protocol")
            }
            TransportError::TooLong { announced, limit } => write!(
                f,
                "a message of at least {announced} bytes; the limit is {limit} bytes"
            ),
            TransportError::Malformed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TransportError {}

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// A call that has an answer.
    Call = 1,
    /// The answer to a call.
    Reply = 2,
    /// The answer to a call that could not be carried out.
    Exception = 3,
    /// A call without an answer.
    Oneway = 4,
}

/// What stands before the arguments or the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header<'a> {
    pub(super) protocol: Protocol,
    pub(super) kind: MessageKind,
    /// Name of the method.
    pub(super) name: &'a [u8],
    /// Number that a client gives to its call. The answer repeats it.
    pub(super) sequence: i32,
}

impl<'a> Header<'a> {
    /// Reads a header. Bytes that are only not there yet give [`Fault::Cut`].
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Header<'a>, DecodeError> {
        let start = *reader;
        let first = reader.i32("version or length of the method name")?;
        if first >= 0 {
            let name = Header::name(reader, first, &start)?;
            let kind = Header::kind(reader)?;
            return Ok(Header {
                protocol: Protocol::Versionless,
                kind,
                name,
                sequence: reader.i32("sequence id")?,
            });
        }
        let word = first.cast_unsigned();
        if word & VERSION_MASK != VERSION {
            return Err(start.fail(Fault::Version(word)));
        }
        let [.., kind] = word.to_be_bytes();
        let kind = MessageKind::of(kind).ok_or_else(|| start.fail(Fault::MessageKind(kind)))?;
        let before = *reader;
        let length = reader.i32("length of the method name")?;
        let name = Header::name(reader, length, &before)?;
        Ok(Header {
            protocol: Protocol::Strict,
            kind,
            name,
            sequence: reader.i32("sequence id")?,
        })
    }

    fn name(
        reader: &mut Reader<'a>,
        length: i32,
        before: &Reader<'a>,
    ) -> Result<&'a [u8], DecodeError> {
        let fits = usize::try_from(length)
            .ok()
            .filter(|length| (1..=METHOD_NAME_BYTES_MAX).contains(length));
        let length = fits.ok_or_else(|| before.fail(Fault::NameLength(length)))?;
        reader.take(length, "method name")
    }

    fn kind(reader: &mut Reader<'a>) -> Result<MessageKind, DecodeError> {
        let before = *reader;
        let kind = reader.u8("kind of message")?;
        MessageKind::of(kind).ok_or_else(|| before.fail(Fault::MessageKind(kind)))
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        match self.protocol {
            Protocol::Strict => {
                let word = VERSION | self.kind as u32;
                out.extend_from_slice(&word.to_be_bytes());
                put_string(out, self.name);
            }
            Protocol::Versionless => {
                put_string(out, self.name);
                out.push(self.kind as u8);
            }
        }
        out.extend_from_slice(&self.sequence.to_be_bytes());
    }
}

impl MessageKind {
    fn of(number: u8) -> Option<MessageKind> {
        Some(match number {
            1 => MessageKind::Call,
            2 => MessageKind::Reply,
            3 => MessageKind::Exception,
            4 => MessageKind::Oneway,
            _ => return None,
        })
    }
}

/// A message would be longer than `i32::MAX` bytes, which no length of the protocol can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a Thrift message has at most {} bytes; send fewer messages a call",
            i32::MAX
        )
    }
}

impl std::error::Error for TooLong {}

/// Appends a whole message: the frame's length if there is one, the header, and the struct that `body` appends, with its end.
/// A message that is too long is taken out again.
pub(super) fn put_message(
    out: &mut Vec<u8>,
    transport: Transport,
    header: &Header<'_>,
    body: impl FnOnce(&mut Vec<u8>),
) -> Result<(), TooLong> {
    let start = out.len();
    let header_bytes = match transport {
        Transport::Framed => FRAME_HEADER_BYTES,
        Transport::Unframed => 0,
    };
    out.resize(start + header_bytes, 0);
    header.put(out);
    body(out);
    out.push(super::bytes::STOP);
    let Ok(length) = i32::try_from(out.len() - start - header_bytes) else {
        out.truncate(start);
        return Err(TooLong);
    };
    if let Some(place) = out.get_mut(start..start + header_bytes) {
        place
            .iter_mut()
            .zip(length.to_be_bytes())
            .for_each(|(to, from)| *to = from);
    }
    Ok(())
}
