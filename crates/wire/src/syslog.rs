//! Syslog: where the messages of a stream end, and what their headers say, by RFC 6587, RFC 5424 and RFC 3164.
//!
//! A stream has two forms of messages, and each message chooses its own: its length, a blank and its bytes, or a line that
//! ends in a line feed. [`FrameReader`] finds them, [`Header::read`] reads one:
//!
//! ```
//! use wire::syslog::{Arrival, FrameReader, Header};
//!
//! let bytes = b"33 <13>Oct 11 22:14:15 db su: failed<165>1 2003-10-11T22:14:15Z web nginx 7 - - GET /\n";
//! let mut reader = FrameReader::default();
//! reader.spare()[..bytes.len()].copy_from_slice(bytes);
//! reader.filled(bytes.len());
//!
//! let arrival = Arrival { unix_s: 1_065_910_460, utc_offset_s: 0 };
//! let mut read = Vec::new();
//! while let Some(frame) = reader.advance()? {
//!     let header = Header::read(frame.bytes, arrival);
//!     read.push((header.facility.name(), header.program.unwrap_or(b"-").to_vec(), header.unix_s));
//! }
//! assert_eq!(read[0], ("user", b"su".to_vec(), Some(1_065_910_455)));
//! assert_eq!(read[1], ("local4", b"nginx".to_vec(), Some(1_065_910_455)));
//! # Ok::<(), wire::syslog::BadLength>(())
//! ```
//!
//! Nothing is refused but a length that cannot be one: a message whose header says nothing is a message all the same.

mod frame;
mod header;
mod time;

pub use frame::{BadLength, Frame, FrameReader};
pub use header::{Facility, Header};
pub use time::Arrival;

#[cfg(test)]
mod tests;
