//! The client's side: login, replies and text rows. No cell is copied.

use std::fmt;

use super::auth::{Plugin, read_switch};
use super::bytes::{DecodeError, Reader};
use super::constants::{
    self, AUTH_MORE, CHARSET_UTF8MB4, Capabilities, FAST_AUTH_SUCCESS, FULL_AUTH,
};
use super::encoder::Done;
use super::handshake::{Greeting, HandshakeResponse};
use super::packet::PacketWriter;
use crate::limits::{FRAME_BYTES_MAX, PACKET_BYTES_MAX};

/// An error packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// MySQL's error number.
    pub code: u16,
    /// SQLSTATE, five characters; `HY000` if the server sent none.
    pub sqlstate: String,
    /// The message, for people.
    pub message: String,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ERROR {} ({}): {}",
            self.code, self.sqlstate, self.message
        )
    }
}

impl std::error::Error for ServerError {}

impl ServerError {
    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(payload);
        reader.u8("header")?;
        let code = reader.u16("error code")?;
        let rest = reader.rest();
        let (sqlstate, message) = match rest {
            [b'#', state @ ..] if state.len() >= 5 => state.split_at(5),
            plain => (&b"HY000"[..], plain),
        };
        Ok(ServerError {
            code,
            sqlstate: String::from_utf8_lossy(sqlstate).into_owned(),
            message: String::from_utf8_lossy(message).into_owned(),
        })
    }
}

/// The first packet of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The command is done and has no rows.
    Ok(Done),
    /// The command failed.
    Error(ServerError),
    /// A result set follows: this many column definitions, then rows.
    Columns(u64),
}

impl Reply {
    /// Reads a reply's first packet.
    ///
    /// # Errors
    /// [`DecodeError`]: the packet ends early, or asks for a local file, which this client never sends.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        match payload.first() {
            Some(&constants::OK) => read_ok(payload).map(Reply::Ok),
            Some(&constants::ERR) => ServerError::decode(payload).map(Reply::Error),
            Some(&constants::NULL_CELL) => Err(DecodeError {
                what: "request for a local file",
                offset: 0,
            }),
            _ => Reader::new(payload)
                .integer("column count")
                .map(Reply::Columns),
        }
    }
}

fn read_ok(payload: &[u8]) -> Result<Done, DecodeError> {
    let mut reader = Reader::new(payload);
    reader.u8("header")?;
    Ok(Done {
        affected: reader.integer("affected rows")?,
        last_id: reader.integer("last id")?,
        status: reader.u16("status")?,
        warnings: reader.u16("warning count")?,
        info: String::from_utf8_lossy(reader.rest()).into_owned(),
    })
}

/// A packet behind the column definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowPacket<'a> {
    /// A row; its cells borrow from the packet.
    Row(Cells<'a>),
    /// No more rows.
    End {
        /// Status flags; [`STATUS_MORE_RESULTS`](super::STATUS_MORE_RESULTS) says that another reply follows.
        status: u16,
        /// Count of warnings.
        warnings: u16,
    },
    /// The statement failed midway.
    Error(ServerError),
}

impl<'a> RowPacket<'a> {
    /// Reads a packet behind the column definitions. `capabilities` are those both sides agreed on.
    ///
    /// # Errors
    /// [`DecodeError`]: it ends early.
    #[inline]
    pub fn decode(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, DecodeError> {
        match payload.first() {
            Some(&constants::EOF) => Self::decode_end(payload, capabilities),
            Some(&constants::ERR) => ServerError::decode(payload).map(RowPacket::Error),
            _ => Ok(RowPacket::Row(Cells { rest: payload })),
        }
    }

    /// 0xfe begins both an end of rows and a row whose first cell is longer than 16 MiB.
    #[cold]
    fn decode_end(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, DecodeError> {
        if capabilities.has(Capabilities::DEPRECATE_EOF) {
            if payload.len() < FRAME_BYTES_MAX {
                let ok = read_ok(payload)?;
                return Ok(RowPacket::End {
                    status: ok.status,
                    warnings: ok.warnings,
                });
            }
        } else if payload.len() < 9 {
            let mut reader = Reader::new(payload);
            reader.u8("header")?;
            let warnings = reader.u16("warning count")?;
            return Ok(RowPacket::End {
                status: reader.u16("status")?,
                warnings,
            });
        }
        Ok(RowPacket::Row(Cells { rest: payload }))
    }
}

/// The cells of a text row, in order. `None` is NULL. After an error the iterator ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Cells<'a> {
    type Item = Result<Option<&'a [u8]>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (&first, behind) = self.rest.split_first()?;
        if first <= 0xfa {
            // The common case by far: a cell of up to 250 bytes.
            if let Some((cell, rest)) = behind.split_at_checked(usize::from(first)) {
                self.rest = rest;
                return Some(Ok(Some(cell)));
            }
        } else if first == constants::NULL_CELL {
            self.rest = behind;
            return Some(Ok(None));
        }
        let mut reader = Reader::new(self.rest);
        let cell = reader.string("cell");
        self.rest = if cell.is_ok() { reader.rest() } else { &[] };
        Some(cell.map(Some))
    }
}

/// The client's side of a login.
#[derive(Clone, Debug)]
pub struct ClientLogin {
    password: String,
    /// Capabilities that both sides have.
    pub capabilities: Capabilities,
}

/// Next step of a client's login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// Send the written packets, if any, and read the next packet.
    Read,
    /// The client is logged in.
    Done,
    /// The server has refused the login.
    Refused(ServerError),
    /// The server wants a plugin or an exchange that is not supported here.
    Unsupported,
}

impl ClientLogin {
    /// Answers a greeting: writes the handshake response to `packets`.
    ///
    /// # Errors
    /// [`DecodeError`]: not a greeting.
    pub fn begin(
        greeting: &[u8],
        user: &str,
        password: &str,
        packets: &mut PacketWriter,
    ) -> Result<Self, DecodeError> {
        let greeting = Greeting::decode(greeting)?;
        let capabilities = Capabilities::CLIENT.common(greeting.capabilities);
        let response = HandshakeResponse {
            capabilities,
            packet_bytes_max: PACKET_BYTES_MAX as u32,
            charset: CHARSET_UTF8MB4 as u8,
            user: user.to_owned(),
            auth: greeting
                .plugin
                .scramble(password.as_bytes(), &greeting.nonce),
            database: None,
            plugin: Some(greeting.plugin.name().to_owned()),
            attributes: Vec::new(),
        };
        packets.start(1);
        response.encode(packets);
        Ok(ClientLogin {
            password: password.to_owned(),
            capabilities,
        })
    }

    /// Takes the server's next packet.
    ///
    /// # Errors
    /// [`DecodeError`]: it ends early.
    pub fn answer(
        &self,
        payload: &[u8],
        sequence: u8,
        packets: &mut PacketWriter,
    ) -> Result<LoginStep, DecodeError> {
        Ok(match payload {
            [constants::OK, ..] => LoginStep::Done,
            [constants::ERR, ..] => LoginStep::Refused(ServerError::decode(payload)?),
            [constants::EOF, ..] => self.switch(payload, sequence, packets),
            [AUTH_MORE, FAST_AUTH_SUCCESS] => LoginStep::Read,
            [AUTH_MORE, FULL_AUTH] => LoginStep::Unsupported,
            _ => {
                return Err(DecodeError {
                    what: "reply to the handshake",
                    offset: 0,
                });
            }
        })
    }

    fn switch(&self, payload: &[u8], sequence: u8, packets: &mut PacketWriter) -> LoginStep {
        let Some((plugin, nonce)) = read_switch(payload) else {
            return LoginStep::Unsupported;
        };
        packets.start(sequence.wrapping_add(1));
        let scramble = plugin.scramble(self.password.as_bytes(), &nonce);
        let out = packets.begin();
        out.extend_from_slice(&scramble);
        if scramble.is_empty() && plugin == Plugin::CachingSha2 {
            out.push(0);
        }
        packets.end();
        LoginStep::Read
    }
}
