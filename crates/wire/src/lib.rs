//! Pure codecs: MySQL packets, the SQL dialect, JSON bodies, Elasticsearch's bodies, the compact answer of a percolation.
//!
//! Bytes go in, values come out, and the other way round. Nothing here does I/O, waits, or reads a clock. Nothing panics on a
//! stranger's bytes, or allocates by a length that is not checked against the bytes that have arrived.
//!
//! - [`sql`]: a statement's bytes → [`sql::Statement`].
//! - [`mysql`]: the client/server protocol: packets, login, commands, result sets. Both sides.
//! - [`json`]: bodies and replies of our own HTTP routes. [`es`]: those of the Elasticsearch routes.
//! - [`pq`]: the compact answer of a percolation.
//! - [`scribe`]: the Thrift messages of Scribe and fb303. Both sides.
//! - [`syslog`]: the messages of a syslog stream, and their headers.
//!
//! A client sends `SELECT 1` as one packet. The server finds the packet in its bytes and parses the statement:
//!
//! ```
//! use wire::mysql::{Capabilities, Command, PacketReader, PacketWriter};
//! use wire::sql::{Statement, parse};
//!
//! let mut packets = PacketWriter::new();
//! Command::query(b"SELECT 1", &mut packets);
//! // Length 9 in three bytes, sequence number 0, COM_QUERY, the text.
//! assert_eq!(packets.bytes(), b"\x09\0\0\x00\x03SELECT 1");
//!
//! let mut reader = PacketReader::new(1 << 20);
//! reader.spare()[..13].copy_from_slice(packets.bytes());
//! reader.filled(13);
//! let packet = reader.next_packet()?.ok_or("the packet is whole")?;
//! let Command::Query(text) = Command::decode(packet.payload, Capabilities::SERVER)? else {
//!     return Err("another command".into());
//! };
//! assert!(matches!(parse(text)?, Statement::SelectConstants(items) if items.len() == 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod es;
pub mod fragment;
pub mod json;
pub mod limits;
pub mod mysql;
pub mod pq;
pub mod scribe;
pub mod sql;
pub mod syslog;
