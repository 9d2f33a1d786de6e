//! The MySQL client/server protocol, for a server and for a client.
//!
//! `SELECT 1` and its answer, as bytes (the module `packet` describes the frames):
//!
//! ```text
//! client  09 00 00 00   03 'SELECT 1'                        length 9, sequence 0: COM_QUERY
//! server  01 00 00 01   01                                   one column follows
//!         17 00 00 02   03 'def' 00 00 00 01 '1' 00 0c …     its definition: name 1, BIGINT
//!         02 00 00 03   01 '1'                               a row: a cell of one byte
//!         07 00 00 04   fe 00 00 02 00 00 00                 the end: autocommit, no warnings
//! ```
//!
//! A server's connection:
//! 1. write [`Greeting::encode`]; read a packet, [`HandshakeResponse::decode`] it;
//! 2. [`Authenticator::begin`], then [`Authenticator::answer`] for each further packet while it says [`Step::Read`];
//! 3. for each packet: [`Command::decode`], then one reply through [`Encoder`], which is restarted with
//!    [`Encoder::start`] and emptied to the socket whenever [`Encoder::is_full`].
//!
//! TLS, compression and prepared statements are not offered. [`PacketReader`] and [`PacketWriter`] do the framing.
//! [`crate::limits`] has the limits.

mod auth;
mod bytes;
mod client;
mod column;
mod command;
mod constants;
mod encoder;
mod handshake;
pub mod load;
mod packet;

#[cfg(test)]
mod tests;

pub use auth::{Authenticator, Credential, Nonce, Plugin, Step};
pub use bytes::DecodeError;
pub use client::{Cells, ClientLogin, LoginStep, Reply, RowPacket, ServerError};
pub use column::{ColumnDefinition, FieldType};
pub use command::{ChangeUser, Command};
pub use constants::{
    CHARSET_BINARY, CHARSET_UTF8MB4, Capabilities, STATUS_AUTOCOMMIT, STATUS_IN_TRANSACTION,
    STATUS_MORE_RESULTS,
};
pub use encoder::{Done, Encoder};
pub use handshake::{Greeting, HandshakeResponse};
pub use packet::{Packet, PacketError, PacketReader, PacketWriter};
