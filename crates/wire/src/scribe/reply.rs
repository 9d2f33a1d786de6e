//! Replies: a server writes them, a client reads them.
//!
//! A result is a struct whose field 0 has the value; a method without a value has an empty struct:
//!
//! ```text
//! 08 00 00   00 00 00 01   00     Log: TRY_LATER
//! 00                              setOption
//! ```

use std::fmt;

use super::bytes::{DecodeError, Fault, Kind, Reader, put_count, put_field, put_string};
use super::header::{Dialect, Header, MessageKind, TooLong, Transport, put_message};
use super::service::{ExceptionKind, Method, ResultCode, Status};
use super::walk::skip;

/// What a call is answered with. Texts are bytes. A decoded reply borrows its message and takes at most eight times its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// Of `Log`.
    Log(ResultCode),
    /// Of `getStatus`.
    Status(Status),
    /// Of `getName`, `getVersion`, `getStatusDetails`, `getOption` and `getCpuProfile`.
    Text(&'a [u8]),
    /// Of `getCounter` and `aliveSince`.
    Number(i64),
    /// Of `getCounters`, in the order of the message.
    Counters(Vec<(&'a [u8], i64)>),
    /// Of `getOptions`, in the order of the message.
    Options(Vec<(&'a [u8], &'a [u8])>),
    /// Of `setOption`.
    Done,
    /// Of `getMapping`: the host of each bucket, in the order of the message.
    Mapping(Vec<(i32, HostPort<'a>)>),
    /// Of `getMapping`: its declared exception.
    NoMapping {
        /// The server's words.
        message: &'a [u8],
        /// The server's number.
        code: i32,
    },
    /// Of any method: Thrift's own exception.
    Exception(Exception),
}

/// Address of a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPort<'a> {
    /// Name or address.
    pub host: &'a [u8],
    /// As it was sent; a port has 16 bits.
    pub port: i32,
}

/// Thrift's TApplicationException.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// What went wrong.
    pub kind: ExceptionKind,
    /// The server's words.
    pub message: String,
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?})", self.message, self.kind)
    }
}

impl std::error::Error for Exception {}

/// The call that a reply answers, in the form in which it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyTo {
    /// Form of the call.
    pub dialect: Dialect,
    /// The method that was called.
    pub method: Method,
    /// Number of the call. The reply repeats it.
    pub sequence: i32,
    /// Whether the client reads a reply: false for a oneway call.
    pub is_wanted: bool,
}

impl ReplyTo {
    /// Appends the reply; nothing if none is wanted. The caller gives the variant that [`Reply`] names for the method. A reply
    /// above 2 GiB becomes an exception.
    pub fn put(&self, reply: &Reply<'_>, out: &mut Vec<u8>) {
        if !self.is_wanted {
            return;
        }
        let header = Header {
            protocol: self.dialect.protocol,
            kind: MessageKind::Reply,
            name: self.method.name().as_bytes(),
            sequence: self.sequence,
        };
        let transport = self.dialect.transport;
        if let Reply::Exception(exception) = reply {
            return put_exception(out, transport, header, exception);
        }
        if let Err(error) = put_message(out, transport, &header, |out| put_result(reply, out)) {
            let exception = Exception {
                kind: ExceptionKind::InternalError,
                message: error.to_string(),
            };
            put_exception(out, transport, header, &exception);
        }
    }
}

/// Appends an exception in answer to a message with this header. An exception above 2 GiB leaves its words out.
pub(super) fn put_exception(
    out: &mut Vec<u8>,
    transport: Transport,
    header: Header<'_>,
    exception: &Exception,
) {
    let header = Header {
        kind: MessageKind::Exception,
        ..header
    };
    let body = |message: &str, out: &mut Vec<u8>| {
        put_field(out, Kind::String, 1);
        put_string(out, message.as_bytes());
        put_field(out, Kind::I32, 2);
        out.extend_from_slice(&(exception.kind as i32).to_be_bytes());
    };
    let whole = put_message(out, transport, &header, |out| body(&exception.message, out));
    if let Err(TooLong) = whole {
        let _ = put_message(out, transport, &header, |out| body("", out));
    }
}

/// Appends the fields of a result.
fn put_result(reply: &Reply<'_>, out: &mut Vec<u8>) {
    match reply {
        Reply::Log(code) => put_i32(out, 0, *code as i32),
        Reply::Status(status) => put_i32(out, 0, *status as i32),
        Reply::Text(text) => {
            put_field(out, Kind::String, 0);
            put_string(out, text);
        }
        Reply::Number(number) => {
            put_field(out, Kind::I64, 0);
            out.extend_from_slice(&number.to_be_bytes());
        }
        Reply::Counters(counters) => {
            put_map(out, [Kind::String, Kind::I64], counters.len());
            for (name, value) in counters {
                put_string(out, name);
                out.extend_from_slice(&value.to_be_bytes());
            }
        }
        Reply::Options(options) => {
            put_map(out, [Kind::String, Kind::String], options.len());
            for (name, value) in options {
                put_string(out, name);
                put_string(out, value);
            }
        }
        Reply::Mapping(buckets) => {
            put_map(out, [Kind::I32, Kind::Struct], buckets.len());
            for (bucket, address) in buckets {
                out.extend_from_slice(&bucket.to_be_bytes());
                put_field(out, Kind::String, 2);
                put_string(out, address.host);
                put_i32(out, 3, address.port);
                out.push(super::bytes::STOP);
            }
        }
        Reply::NoMapping { message, code } => {
            put_field(out, Kind::Struct, 1);
            put_field(out, Kind::String, 1);
            put_string(out, message);
            put_i32(out, 2, *code);
            out.push(super::bytes::STOP);
        }
        Reply::Done | Reply::Exception(_) => {}
    }
}

fn put_i32(out: &mut Vec<u8>, id: i16, number: i32) {
    put_field(out, Kind::I32, id);
    out.extend_from_slice(&number.to_be_bytes());
}

fn put_map(out: &mut Vec<u8>, [key, value]: [Kind; 2], count: usize) {
    put_field(out, Kind::Map, 0);
    out.extend_from_slice(&[key as u8, value as u8]);
    put_count(out, count);
}

impl<'a> Reply<'a> {
    /// Reads a whole message: the reply to the call of `method` with this sequence id. An exception is a reply too.
    ///
    /// # Errors
    /// [`DecodeError`]. The client then closes the connection: it cannot tell what the server has done.
    pub fn decode(
        message: &'a [u8],
        method: Method,
        sequence: i32,
    ) -> Result<Reply<'a>, DecodeError> {
        let mut reader = Reader::new(message);
        let start = reader;
        let header = Header::read(&mut reader)?;
        let is_reply = match header.kind {
            MessageKind::Reply => true,
            MessageKind::Exception => false,
            kind @ (MessageKind::Call | MessageKind::Oneway) => {
                return Err(start.fail(Fault::MessageKind(kind as u8)));
            }
        };
        if header.name != method.name().as_bytes() {
            return Err(start.fail(Fault::OtherMethod));
        }
        if header.sequence != sequence {
            let (wanted, found) = (sequence, header.sequence);
            return Err(start.fail(Fault::Sequence { wanted, found }));
        }
        let reply = match is_reply {
            true => result(&mut reader, method)?,
            false => exception(&mut reader)?,
        };
        reader.end()?;
        Ok(reply)
    }
}

/// Reads the value of a result's field.
type Read<'a> = fn(&mut Reader<'a>) -> Result<Reply<'a>, DecodeError>;

/// Reads the struct of a result.
fn result<'a>(reader: &mut Reader<'a>, method: Method) -> Result<Reply<'a>, DecodeError> {
    let has_value = method != Method::SetOption && !method.is_oneway();
    let mut found = (!has_value).then_some(Reply::Done);
    while let Some(field) = reader.field()? {
        let (kind, read): (Kind, Read<'a>) = match (method, field.id) {
            (Method::Log, 0) => (Kind::I32, log),
            (Method::GetStatus, 0) => (Kind::I32, status),
            (
                Method::GetName
                | Method::GetVersion
                | Method::GetStatusDetails
                | Method::GetOption
                | Method::GetCpuProfile,
                0,
            ) => (Kind::String, |reader| {
                reader.string("result").map(Reply::Text)
            }),
            (Method::GetCounter | Method::AliveSince, 0) => {
                (Kind::I64, |reader| reader.i64("result").map(Reply::Number))
            }
            (Method::GetCounters, 0) => (Kind::Map, counters),
            (Method::GetOptions, 0) => (Kind::Map, options),
            (Method::GetMapping, 0) => (Kind::Map, mapping),
            (Method::GetMapping, 1) => (Kind::Struct, no_mapping),
            _ => {
                skip(reader, field.kind)?;
                continue;
            }
        };
        field.expect_once(&found, kind, "result")?;
        found = Some(read(reader)?);
    }
    found.ok_or_else(|| reader.fail(Fault::NoResult))
}

fn log<'a>(reader: &mut Reader<'a>) -> Result<Reply<'a>, DecodeError> {
    number(reader, "result code", ResultCode::numbered).map(Reply::Log)
}

fn status<'a>(reader: &mut Reader<'a>) -> Result<Reply<'a>, DecodeError> {
    number(reader, "status", Status::numbered).map(Reply::Status)
}

/// A number that must be one of an enum.
fn number<T>(
    reader: &mut Reader<'_>,
    what: &'static str,
    of: fn(i32) -> Option<T>,
) -> Result<T, DecodeError> {
    let before = *reader;
    let found = reader.i32(what)?;
    of(found).ok_or_else(|| before.fail(Fault::Number { what, found }))
}

/// The pairs of a map whose pairs have at least `bytes_each` bytes.
fn map<'a, T>(
    reader: &mut Reader<'a>,
    wanted: [Kind; 2],
    bytes_each: usize,
    pair: impl Fn(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let before = *reader;
    let kinds = [reader.u8("map's key type")?, reader.u8("map's value type")?];
    let count = reader.count(bytes_each, "count of the map's pairs")?;
    // An empty map may name any types.
    let wrong = kinds
        .iter()
        .zip(wanted)
        .find(|(found, wanted)| **found != *wanted as u8);
    if let (Some((&found, _)), 1..) = (wrong, count) {
        let what = "map of the result";
        return Err(before.fail(Fault::Type { what, found }));
    }
    let mut pairs = Vec::with_capacity(count);
    for _ in 0..count {
        pairs.push(pair(reader)?);
    }
    Ok(pairs)
}

fn counters<'a>(reader: &mut Reader<'a>) -> Result<Reply<'a>, DecodeError> {
    map(reader, [Kind::String, Kind::I64], 12, |reader| {
        Ok((reader.string("name of a counter")?, reader.i64("counter")?))
    })
    .map(Reply::Counters)
}

fn options<'a>(reader: &mut Reader<'a>) -> Result<Reply<'a>, DecodeError> {
    map(reader, [Kind::String, Kind::String], 8, |reader| {
        Ok((
            reader.string("name of an option")?,
            reader.string("option")?,
        ))
    })
    .map(Reply::Options)
}

fn mapping<'a>(reader: &mut Reader<'a>) -> Result<Reply<'a>, DecodeError> {
    map(reader, [Kind::I32, Kind::Struct], 5, |reader| {
        let bucket = reader.i32("number of a bucket")?;
        let (host, port) = text_and_number(reader, [2, 3], ["host", "port"])?;
        Ok((bucket, HostPort { host, port }))
    })
    .map(Reply::Mapping)
}

fn no_mapping<'a>(reader: &mut Reader<'a>) -> Result<Reply<'a>, DecodeError> {
    let (message, code) = text_and_number(reader, [1, 2], ["message", "code"])?;
    Ok(Reply::NoMapping { message, code })
}

fn exception<'a>(reader: &mut Reader<'a>) -> Result<Reply<'a>, DecodeError> {
    let (message, kind) = text_and_number(reader, [1, 2], ["message", "type"])?;
    Ok(Reply::Exception(Exception {
        kind: ExceptionKind::numbered(kind),
        message: String::from_utf8_lossy(message).into_owned(),
    }))
}

/// A struct of a string and an i32 with these ids. A missing field is empty or 0.
fn text_and_number<'a>(
    reader: &mut Reader<'a>,
    [text_id, number_id]: [i16; 2],
    [text_what, number_what]: [&'static str; 2],
) -> Result<(&'a [u8], i32), DecodeError> {
    let (mut text, mut number) = (None, None);
    while let Some(field) = reader.field()? {
        if field.id == text_id {
            field.expect_once(&text, Kind::String, text_what)?;
            text = Some(reader.string(text_what)?);
        } else if field.id == number_id {
            field.expect_once(&number, Kind::I32, number_what)?;
            number = Some(reader.i32(number_what)?);
        } else {
            skip(reader, field.kind)?;
        }
    }
    Ok((text.unwrap_or_default(), number.unwrap_or_default()))
}
