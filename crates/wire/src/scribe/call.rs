//! Calls: a server reads them, a client writes them.

use std::fmt;

use super::bytes::{DecodeError, Field, Kind, Reader, put_field, put_string};
use super::entries::{ARE_LINES, Entries, put_are_lines, put_entries};
use super::header::{Dialect, Header, MessageKind, TooLong, Transport, put_message};
use super::reply::{Exception, ReplyTo, put_exception};
use super::service::{ExceptionKind, Method};
use super::walk::skip;

/// A method and its arguments. Texts are bytes and borrow the message; a missing argument is empty or 0, as in Thrift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call<'a> {
    /// Takes messages.
    Log(Entries<'a>),
    /// Name of the service.
    GetName,
    /// Version of the service.
    GetVersion,
    /// State of the service.
    GetStatus,
    /// State of the service, in words.
    GetStatusDetails,
    /// Names and values of all counters.
    GetCounters,
    /// The counter of this name.
    GetCounter(&'a [u8]),
    /// Sets an option.
    SetOption {
        /// Name of the option.
        key: &'a [u8],
        /// The value it gets.
        value: &'a [u8],
    },
    /// The option of this name.
    GetOption(&'a [u8]),
    /// Names and values of all options.
    GetOptions,
    /// A profile of the processor over this time.
    GetCpuProfile {
        /// Seconds. Negative numbers arrive as they were sent.
        seconds: i32,
    },
    /// Start of the service, in seconds since 1970.
    AliveSince,
    /// Reads the configuration again.
    Reinitialize,
    /// Stops the service.
    Shutdown,
    /// The hosts of a category's buckets.
    GetMapping(&'a [u8]),
}

impl Call<'_> {
    /// The method that is called.
    #[must_use]
    pub const fn method(&self) -> Method {
        match self {
            Call::Log(_) => Method::Log,
            Call::GetName => Method::GetName,
            Call::GetVersion => Method::GetVersion,
            Call::GetStatus => Method::GetStatus,
            Call::GetStatusDetails => Method::GetStatusDetails,
            Call::GetCounters => Method::GetCounters,
            Call::GetCounter(_) => Method::GetCounter,
            Call::SetOption { .. } => Method::SetOption,
            Call::GetOption(_) => Method::GetOption,
            Call::GetOptions => Method::GetOptions,
            Call::GetCpuProfile { .. } => Method::GetCpuProfile,
            Call::AliveSince => Method::AliveSince,
            Call::Reinitialize => Method::Reinitialize,
            Call::Shutdown => Method::Shutdown,
            Call::GetMapping(_) => Method::GetMapping,
        }
    }

    /// Appends the arguments that the call has.
    fn put_arguments(&self, out: &mut Vec<u8>) {
        match *self {
            Call::Log(entries) => {
                put_log_arguments(out, entries, entries.are_lines());
            }
            Call::GetCounter(text) | Call::GetOption(text) | Call::GetMapping(text) => {
                put_field(out, Kind::String, 1);
                put_string(out, text);
            }
            Call::SetOption { key, value } => {
                put_field(out, Kind::String, 1);
                put_string(out, key);
                put_field(out, Kind::String, 2);
                put_string(out, value);
            }
            Call::GetCpuProfile { seconds } => {
                put_field(out, Kind::I32, 1);
                out.extend_from_slice(&seconds.to_be_bytes());
            }
            Call::GetName
            | Call::GetVersion
            | Call::GetStatus
            | Call::GetStatusDetails
            | Call::GetCounters
            | Call::GetOptions
            | Call::AliveSince
            | Call::Reinitialize
            | Call::Shutdown => {}
        }
    }
}

fn put_log_arguments<'m>(
    out: &mut Vec<u8>,
    messages: impl IntoIterator<Item = (&'m [u8], &'m [u8])>,
    are_lines: bool,
) {
    put_entries(out, messages);
    if are_lines {
        put_are_lines(out);
    }
}

impl Dialect {
    /// Appends a call of `Log` with these categories and messages, in order.
    ///
    /// # Errors
    /// [`TooLong`]; `out` is then as it was before.
    pub fn put_log<'m>(
        self,
        sequence: i32,
        messages: impl IntoIterator<Item = (&'m [u8], &'m [u8])>,
        out: &mut Vec<u8>,
    ) -> Result<(), TooLong> {
        self.put_messages(sequence, messages, false, out)
    }

    /// As [`Dialect::put_log`], of messages that are lines: a last line feed is the end of its line. A store that ends each message
    /// with a line feed gives it no second one.
    ///
    /// # Errors
    /// [`TooLong`]; `out` is then as it was before.
    pub fn put_lines<'m>(
        self,
        sequence: i32,
        messages: impl IntoIterator<Item = (&'m [u8], &'m [u8])>,
        out: &mut Vec<u8>,
    ) -> Result<(), TooLong> {
        self.put_messages(sequence, messages, true, out)
    }

    fn put_messages<'m>(
        self,
        sequence: i32,
        messages: impl IntoIterator<Item = (&'m [u8], &'m [u8])>,
        are_lines: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), TooLong> {
        let header = self.call(Method::Log, sequence);
        put_message(out, self.transport, &header, |out| {
            put_log_arguments(out, messages, are_lines);
        })
    }

    /// Appends a call. The kind of a oneway call is `CALL` too, as Thrift's generators wrote it in Scribe's time.
    ///
    /// # Errors
    /// [`TooLong`]; `out` is then as it was before.
    pub fn put_call(
        self,
        sequence: i32,
        call: &Call<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), TooLong> {
        let header = self.call(call.method(), sequence);
        put_message(out, self.transport, &header, |out| call.put_arguments(out))
    }

    fn call(self, method: Method, sequence: i32) -> Header<'static> {
        Header {
            protocol: self.protocol,
            kind: MessageKind::Call,
            name: method.name().as_bytes(),
            sequence,
        }
    }
}

/// A call that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Where the reply goes. It does not borrow the message, so the call may wait for its reply elsewhere.
    pub to: ReplyTo,
    /// The method and its arguments.
    pub call: Call<'a>,
}

impl<'a> Request<'a> {
    /// Reads a whole message that came over `transport`. Cost: linear in the bytes, without a copy of them.
    ///
    /// Unlike Thrift's own code it refuses a declared field of another type, and one that stands twice: Thrift drops it without
    /// a word, and the sender would be told OK for messages that nobody has read.
    ///
    /// # Errors
    /// [`Refusal`], which knows its answer.
    pub fn decode(message: &'a [u8], transport: Transport) -> Result<Request<'a>, Refusal<'a>> {
        let mut reader = Reader::new(message);
        let refuse = |header, fault| Refusal {
            header,
            transport,
            fault,
        };
        let header = Header::read(&mut reader)
            .map_err(|error| refuse(None, RequestFault::Malformed(error)))?;
        if !matches!(header.kind, MessageKind::Call | MessageKind::Oneway) {
            return Err(refuse(Some(header), RequestFault::NotACall(header.kind)));
        }
        let method = Method::of(header.name)
            .ok_or_else(|| refuse(Some(header), RequestFault::UnknownMethod))?;
        let call = arguments(method, &mut reader)
            .and_then(|call| reader.end().map(|()| call))
            .map_err(|error| refuse(Some(header), RequestFault::Malformed(error)))?;
        let dialect = Dialect {
            transport,
            protocol: header.protocol,
        };
        Ok(Request {
            to: ReplyTo {
                dialect,
                method,
                sequence: header.sequence,
                is_wanted: header.kind == MessageKind::Call && !method.is_oneway(),
            },
            call,
        })
    }
}

/// Reads the arguments of a call.
fn arguments<'a>(method: Method, reader: &mut Reader<'a>) -> Result<Call<'a>, DecodeError> {
    let (mut messages, mut key, mut value, mut seconds) = (None, None, None, None);
    let mut are_lines = false;
    while let Some(field) = reader.field()? {
        match (method, field.id) {
            (Method::Log, 1) => {
                field.expect_once(&messages, Kind::List, "list of messages")?;
                messages = Some(Entries::read(reader)?);
            }
            (
                Method::GetCounter | Method::SetOption | Method::GetOption | Method::GetMapping,
                1,
            ) => {
                text(field, reader, &mut key, "first argument")?;
            }
            (Method::SetOption, 2) => {
                text(field, reader, &mut value, "second argument")?;
            }
            (Method::GetCpuProfile, 1) => {
                field.expect_once(&seconds, Kind::I32, "first argument")?;
                seconds = Some(reader.i32("first argument")?);
            }
            // Scribe declares no such field: one of another type is somebody else's.
            (Method::Log, ARE_LINES) if field.kind == Kind::Bool => {
                are_lines = reader.u8("whether messages are lines")? != 0;
            }
            _ => skip(reader, field.kind)?,
        }
    }
    let (key, value) = (key.unwrap_or_default(), value.unwrap_or_default());
    Ok(match method {
        Method::Log => Call::Log(messages.unwrap_or_default().as_lines(are_lines)),
        Method::GetName => Call::GetName,
        Method::GetVersion => Call::GetVersion,
        Method::GetStatus => Call::GetStatus,
        Method::GetStatusDetails => Call::GetStatusDetails,
        Method::GetCounters => Call::GetCounters,
        Method::GetCounter => Call::GetCounter(key),
        Method::SetOption => Call::SetOption { key, value },
        Method::GetOption => Call::GetOption(key),
        Method::GetOptions => Call::GetOptions,
        Method::GetCpuProfile => Call::GetCpuProfile {
            seconds: seconds.unwrap_or_default(),
        },
        Method::AliveSince => Call::AliveSince,
        Method::Reinitialize => Call::Reinitialize,
        Method::Shutdown => Call::Shutdown,
        Method::GetMapping => Call::GetMapping(key),
    })
}

/// Reads an argument that is a text, and stands once.
fn text<'a>(
    field: Field,
    reader: &mut Reader<'a>,
    argument: &mut Option<&'a [u8]>,
    what: &'static str,
) -> Result<(), DecodeError> {
    field.expect_once(argument, Kind::String, what)?;
    *argument = Some(reader.string(what)?);
    Ok(())
}

/// A message that is no call of the services. The end of the message is known, so the connection can go on unless its header
/// is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal<'a> {
    /// `None`: the header is malformed.
    header: Option<Header<'a>>,
    transport: Transport,
    /// What is wrong.
    pub fault: RequestFault,
}

/// What is wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFault {
    /// The services have no method of this name.
    UnknownMethod,
    /// The message is a reply or an exception.
    NotACall(MessageKind),
    /// The bytes break the protocol.
    Malformed(DecodeError),
}

impl Refusal<'_> {
    /// Whether the caller must close the connection: nothing of the message can be answered.
    #[must_use]
    pub fn must_close(&self) -> bool {
        self.header.is_none()
    }

    /// Appends the exception that answers the message, in the form of the message. Nothing if its header is malformed or it is
    /// a oneway call.
    pub fn put_answer(&self, out: &mut Vec<u8>) {
        let Some(header) = self.header else { return };
        if header.kind == MessageKind::Oneway {
            return;
        }
        let exception = Exception {
            kind: match self.fault {
                RequestFault::UnknownMethod => ExceptionKind::UnknownMethod,
                RequestFault::NotACall(_) => ExceptionKind::InvalidMessageType,
                RequestFault::Malformed(_) => ExceptionKind::ProtocolError,
            },
            message: self.to_string(),
        };
        put_exception(out, self.transport, header, &exception);
    }
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.header.map_or(&b""[..], |header| header.name);
        match &self.fault {
            RequestFault::UnknownMethod => {
                write!(f, "Invalid method name: '{}'", name.escape_ascii())
            }
            RequestFault::NotACall(kind) => write!(f, "a message of the kind {kind:?} is no call"),
            RequestFault::Malformed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refusal<'_> {}
