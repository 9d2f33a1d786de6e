//! The MySQL client/server protocol, both sides of it: what a server reads and writes, and what a client does.
//!
//! A server's connection:
//! 1. write [`Greeting::encode`]; read a packet, [`HandshakeResponse::decode`] it;
//! 2. [`Authenticator::begin`], then [`Authenticator::answer`] for each further packet while it says [`Step::Read`];
//! 3. for each packet: [`Command::decode`], then one reply through [`Encoder`], which is restarted with
//!    [`Encoder::start`] and emptied to the socket whenever [`Encoder::is_full`].
//!
//! TLS, compression and prepared statements are not offered. Packets are framed by [`PacketReader`] and
//! [`PacketWriter`]; the limits are those of [`crate::limits`].

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
