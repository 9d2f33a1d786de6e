//! The Thrift messages of Scribe 2.2, fb303 and the mapping of buckets, for a server and for a client.
//!
//! A call of `Log` with one message and its answer, as Scribe's own clients and servers speak: framed, and without a version.
//!
//! ```text
//! client  00 00 00 2c                            length of the frame
//!         00 00 00 03 'Log'   01   00 00 00 00   name, CALL, sequence id 0
//!         0f 00 01   0c 00 00 00 01              field 1, a list of one struct
//!         0b 00 01   00 00 00 03 'web'           field 1 of the entry: category
//!         0b 00 02   00 00 00 05 'GET /'         field 2 of the entry: message
//!         00   00                                end of the entry, end of the arguments
//! server  00 00 00 14
//!         00 00 00 03 'Log'   02   00 00 00 00   name, REPLY, the same sequence id
//!         08 00 00   00 00 00 00   00            field 0, an i32: OK; end of the result
//! ```
//!
//! # What a connection speaks
//! A client does not say whether it frames its messages, nor which form of the header it sends. A strict header begins with the
//! version, `80 01 00`, and the kind; a versionless one with the length of the method's name. [`Dialect::detect`] tells the four
//! apart by five bytes. The first calls of `Log` and `getName`:
//!
//! ```text
//! first bytes               form                    the rule that decides
//! 80 01 00 01 00 00 00 03   unframed, strict        bytes 0 and 1 are 80 01; no frame below 2 GiB begins so
//! 00 00 00 2f 80 01 00 01   framed, strict          byte 4 is 80, of the version
//! 00 00 00 2c 00 00 00 03   framed, versionless     byte 4 is 00, of the length of a name below 16 MiB
//! 00 00 00 03 4c 6f 67 01   unframed, versionless   byte 4 is a letter or _, of the name; bytes 0 to 3 are 1 to 128
//! 00 00 00 07 67 65 74 4e   unframed, versionless
//! 04 00 00 00 00 00 00 03   framed, versionless     a frame of 64 MiB: byte 0 alone decides nothing
//! 82 21 …                   refused                 the compact protocol, unframed; framed: byte 4 is 82
//! 00 00 00 00               refused                 neither a frame nor a name is empty
//! 47 45 54 20 2f            refused                 'GET /': byte 4 is no letter
//! 47 45 54 20 66            refused                 'GET f': a name of more than 128 bytes
//! ```
//!
//! Ambiguous are only names that no Thrift compiler takes: one that begins with the byte 00 or 80 looks framed. The shortest call
//! has more than five bytes, so no client waits for an answer while the server waits for the fifth byte. The transport holds for the whole connection; the form of the
//! header is told by bit 31 of each message, and each message is answered in its own form.
//!
//! # Use
//! - A server: [`MessageReader::new`] finds messages, [`Request::decode`] reads one, [`ReplyTo::put`] or
//!   [`Refusal::put_answer`] writes the reply. [`Entries`] hands out messages as slices of the frame.
//! - A client: [`Dialect::put_log`] or [`Dialect::put_call`] writes a call, [`MessageReader::of`] finds the reply,
//!   [`Reply::decode`] reads it.
//!
//! ```
//! use wire::scribe::{Call, Dialect, MessageReader, Method, Reply, Request, ResultCode, Transport};
//!
//! let mut sent = Vec::new();
//! Dialect::SCRIBE.put_log(0, [(&b"web"[..], &b"GET /"[..])], &mut sent)?;
//!
//! let mut reader = MessageReader::new(1 << 20);
//! reader.spare()[..sent.len()].copy_from_slice(&sent);
//! reader.filled(sent.len());
//! assert!(reader.advance()?);
//! let frame = reader.take();
//! let request = Request::decode(frame.bytes(), Transport::Framed).map_err(|refused| refused.to_string())?;
//! let Call::Log(entries) = request.call else { return Err("another call".into()) };
//! assert!(entries.iter().eq([(&b"web"[..], &b"GET /"[..])]));
//!
//! let mut answer = Vec::new();
//! request.to.put(&Reply::Log(ResultCode::Ok), &mut answer);
//! assert_eq!(Reply::decode(&answer[4..], Method::Log, 0)?, Reply::Log(ResultCode::Ok));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Decoding a call allocates nothing, except a few bytes for each field that the service does not declare. [`crate::limits`] has
//! the limits.

mod bytes;
mod call;
mod entries;
mod header;
mod reader;
mod reply;
mod service;
mod walk;

#[cfg(test)]
mod tests;

pub use bytes::{DecodeError, Fault};
pub use call::{Call, Refusal, Request, RequestFault};
pub use entries::{Entries, EntriesIter};
pub use header::{Dialect, MessageKind, Protocol, TooLong, Transport, TransportError};
pub use reader::{Frame, MessageReader};
pub use reply::{Exception, HostPort, Reply, ReplyTo};
pub use service::{ExceptionKind, Method, ResultCode, Status};
