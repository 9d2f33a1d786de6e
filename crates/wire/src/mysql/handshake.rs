//! The first two packets of a connection: the server's greeting (handshake v10) and the client's response (4.1).

use crate::limits::ATTRIBUTES_MAX;

use super::auth::{NONCE_BYTES, Nonce, Plugin};
use super::bytes::{DecodeError, Reader, put_integer, put_string, put_terminated};
use super::constants::Capabilities;
use super::packet::PacketWriter;

/// The first packet of a server: greeting, or handshake v10.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Version text. Clients compare its first digits.
    pub version: String,
    /// Number of this connection, as CONNECTION_ID() and KILL use it.
    pub connection_id: u32,
    /// Random bytes for the scramble of the password.
    pub nonce: Nonce,
    /// Capabilities that the server offers.
    pub capabilities: Capabilities,
    /// The server's collation number.
    pub charset: u8,
    /// Status flags.
    pub status: u16,
    /// Authentication plugin that the server proposes.
    pub plugin: Plugin,
}

impl Greeting {
    /// Writes the packet.
    pub fn encode(&self, packets: &mut PacketWriter) {
        let (first, second) = self.nonce.bytes().split_at(8);
        let [low, high] = [
            self.capabilities.0 as u16,
            (self.capabilities.0 >> 16) as u16,
        ];
        let out = packets.begin();
        out.push(10);
        put_terminated(out, self.version.as_bytes());
        out.extend_from_slice(&self.connection_id.to_le_bytes());
        out.extend_from_slice(first);
        out.push(0);
        out.extend_from_slice(&low.to_le_bytes());
        out.push(self.charset);
        out.extend_from_slice(&self.status.to_le_bytes());
        out.extend_from_slice(&high.to_le_bytes());
        out.push(NONCE_BYTES as u8 + 1);
        out.extend_from_slice(&[0; 10]);
        out.extend_from_slice(second);
        out.push(0);
        put_terminated(out, self.plugin.name().as_bytes());
        packets.end();
    }

    /// Reads the packet, as a client. A plugin that is not known here reads as `caching_sha2_password`.
    ///
    /// # Errors
    /// [`DecodeError`]: not a greeting of protocol 4.1.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(payload);
        if reader.u8("protocol version")? != 10 {
            return Err(DecodeError {
                what: "protocol version",
                offset: 0,
            });
        }
        let version = String::from_utf8_lossy(reader.terminated()).into_owned();
        let connection_id = reader.u32("connection id")?;
        let mut nonce = [0u8; NONCE_BYTES];
        nonce[..8].copy_from_slice(reader.take(8, "nonce")?);
        reader.u8("filler")?;
        let low = reader.u16("capabilities")?;
        let charset = reader.u8("charset")?;
        let status = reader.u16("status")?;
        let high = reader.u16("capabilities")?;
        reader.take(11, "reserved")?;
        nonce[8..].copy_from_slice(reader.take(NONCE_BYTES - 8, "nonce")?);
        reader.u8("nonce")?;
        let plugin = Plugin::named(reader.terminated()).unwrap_or(Plugin::CachingSha2);
        Ok(Greeting {
            version,
            connection_id,
            nonce: Nonce::received(nonce),
            capabilities: Capabilities(u32::from(low) | u32::from(high) << 16),
            charset,
            status,
            plugin,
        })
    }
}

/// The client's answer to the greeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandshakeResponse {
    /// Capabilities that the client has and wants.
    pub capabilities: Capabilities,
    /// Longest packet that the client says it sends; not enforced.
    pub packet_bytes_max: u32,
    /// The client's collation number (its lower byte).
    pub charset: u8,
    /// User name; may be empty.
    pub user: String,
    /// Authentication data; empty without a password.
    pub auth: Vec<u8>,
    /// Database to use; `None`: none is named.
    pub database: Option<String>,
    /// Name of the authentication plugin that made `auth`.
    pub plugin: Option<String>,
    /// Connect attributes, at most [`ATTRIBUTES_MAX`]; more are dropped.
    pub attributes: Vec<(String, String)>,
}

impl HandshakeResponse {
    /// Reads the packet, as a server.
    ///
    /// # Errors
    /// [`DecodeError`]: the packet ends early, is of a protocol before 4.1, or asks for TLS, which is not offered.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(payload);
        let capabilities = Capabilities(reader.u32("capabilities")?);
        if !capabilities.has(Capabilities::PROTOCOL_41) {
            return Err(DecodeError {
                what: "client older than protocol 4.1",
                offset: 0,
            });
        }
        let packet_bytes_max = reader.u32("packet limit")?;
        let charset = reader.u8("charset")?;
        reader.take(23, "reserved")?;
        if reader.is_empty() && capabilities.has(Capabilities::SSL) {
            return Err(DecodeError {
                what: "TLS was asked for but not offered",
                offset: 0,
            });
        }
        let user = text(reader.terminated());
        let auth = read_auth(&mut reader, capabilities)?;
        let with_db = capabilities.has(Capabilities::CONNECT_WITH_DB);
        let database = with_db.then(|| text(reader.terminated()));
        let with_plugin = capabilities.has(Capabilities::PLUGIN_AUTH);
        let plugin = with_plugin.then(|| text(reader.terminated()));
        let mut attributes = Vec::new();
        if capabilities.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
            attributes = read_attributes(&mut reader)?;
        }
        Ok(HandshakeResponse {
            capabilities,
            packet_bytes_max,
            charset,
            user,
            auth,
            database: database.filter(|name| !name.is_empty()),
            plugin,
            attributes,
        })
    }

    /// Writes the packet, as a client.
    pub fn encode(&self, packets: &mut PacketWriter) {
        let out = packets.begin();
        out.extend_from_slice(&self.capabilities.0.to_le_bytes());
        out.extend_from_slice(&self.packet_bytes_max.to_le_bytes());
        out.push(self.charset);
        out.extend_from_slice(&[0; 23]);
        put_terminated(out, self.user.as_bytes());
        if self.capabilities.has(Capabilities::PLUGIN_AUTH_LENENC) {
            put_string(out, &self.auth);
        } else {
            out.push(self.auth.len() as u8);
            out.extend_from_slice(&self.auth);
        }
        if self.capabilities.has(Capabilities::CONNECT_WITH_DB) {
            put_terminated(out, self.database.as_deref().unwrap_or_default().as_bytes());
        }
        if self.capabilities.has(Capabilities::PLUGIN_AUTH) {
            put_terminated(out, self.plugin.as_deref().unwrap_or_default().as_bytes());
        }
        if self.capabilities.has(Capabilities::CONNECT_ATTRS) {
            let mut pairs = Vec::new();
            for (name, value) in &self.attributes {
                put_string(&mut pairs, name.as_bytes());
                put_string(&mut pairs, value.as_bytes());
            }
            put_integer(out, pairs.len() as u64);
            out.extend_from_slice(&pairs);
        }
        packets.end();
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read_auth(reader: &mut Reader<'_>, capabilities: Capabilities) -> Result<Vec<u8>, DecodeError> {
    let auth = if capabilities.has(Capabilities::PLUGIN_AUTH_LENENC) {
        reader.string("authentication data")?
    } else if capabilities.has(Capabilities::SECURE_CONNECTION) {
        let length = reader.u8("authentication data")?;
        reader.take(usize::from(length), "authentication data")?
    } else {
        reader.terminated()
    };
    Ok(auth.to_vec())
}

/// Reads connect attributes: their length in bytes, then pairs of name and value.
pub(super) fn read_attributes(
    reader: &mut Reader<'_>,
) -> Result<Vec<(String, String)>, DecodeError> {
    let mut pairs = Reader::new(reader.string("connect attributes")?);
    let mut attributes = Vec::new();
    while !pairs.is_empty() {
        let name = pairs.string("connect attribute")?;
        let value = pairs.string("connect attribute")?;
        if attributes.len() < ATTRIBUTES_MAX {
            attributes.push((text(name), text(value)));
        }
    }
    Ok(attributes)
}
