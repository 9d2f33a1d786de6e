//! Commands of a client that has logged in. A command is a packet: one byte with its number, then its data.

use super::bytes::{DecodeError, Reader};
use super::constants::Capabilities;
use super::handshake::{read_attributes, text};
use super::load::{LOAD, Load};
use super::packet::PacketWriter;

const QUIT: u8 = 0x01;
const INIT_DB: u8 = 0x02;
const QUERY: u8 = 0x03;
const FIELD_LIST: u8 = 0x04;
const STATISTICS: u8 = 0x09;
const PING: u8 = 0x0e;
const CHANGE_USER: u8 = 0x11;
const STMT_SEND_LONG_DATA: u8 = 0x18;
const STMT_CLOSE: u8 = 0x19;
const SET_OPTION: u8 = 0x1b;
const RESET_CONNECTION: u8 = 0x1f;

/// A command of the client: the first byte of its packet and what follows.
#[derive(Clone, Debug, PartialEq)]
pub enum Command<'a> {
    /// COM_QUIT: the client leaves; it gets no answer.
    Quit,
    /// COM_INIT_DB: USE in another form.
    InitDb(String),
    /// COM_QUERY: SQL text, of one or more statements.
    Query(&'a [u8]),
    /// COM_FIELD_LIST: columns of a table; the mysql client sends it to complete names.
    FieldList {
        /// The table, lower case.
        table: String,
        /// LIKE pattern on the column's name; empty means all.
        wildcard: String,
    },
    /// COM_STATISTICS: asks for a line of text about the server.
    Statistics,
    /// COM_PING: asks whether the server answers.
    Ping,
    /// COM_CHANGE_USER: another user on the same connection.
    ChangeUser(ChangeUser),
    /// COM_SET_OPTION. 0: COM_QUERY may hold several statements from now on; 1: no longer.
    SetOption(u16),
    /// COM_RESET_CONNECTION: the session becomes as new.
    ResetConnection,
    /// A step of a load: a command of our own.
    Load(Load),
    /// COM_STMT_CLOSE and COM_STMT_SEND_LONG_DATA. The client reads no answer to them: it would take any packet for the answer
    /// to its next command.
    Unanswered,
    /// The number of a command that is not offered, such as COM_STMT_PREPARE: MySQL 1047 or 1295.
    Unknown(u8),
}

/// Data of COM_CHANGE_USER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeUser {
    /// The new user.
    pub user: String,
    /// Authentication data, made with the nonce of the greeting.
    pub auth: Vec<u8>,
    /// The new database; `None`: none is named.
    pub database: Option<String>,
    /// The plugin that made `auth`.
    pub plugin: Option<String>,
    /// Connect attributes.
    pub attributes: Vec<(String, String)>,
}

impl<'a> Command<'a> {
    /// Reads a command's payload.
    ///
    /// # Errors
    /// [`DecodeError`]: the payload is empty or ends early.
    pub fn decode(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(payload);
        Ok(match reader.u8("command")? {
            QUIT => Command::Quit,
            INIT_DB => Command::InitDb(text(reader.rest())),
            QUERY => Command::Query(reader.rest()),
            FIELD_LIST => Command::FieldList {
                table: text(reader.terminated()).to_lowercase(),
                wildcard: text(reader.terminated()),
            },
            STATISTICS => Command::Statistics,
            PING => Command::Ping,
            CHANGE_USER => Command::ChangeUser(change_user(&mut reader, capabilities)?),
            SET_OPTION => Command::SetOption(reader.u16("option")?),
            RESET_CONNECTION => Command::ResetConnection,
            LOAD => Command::Load(Load::decode(&mut reader)?),
            STMT_SEND_LONG_DATA | STMT_CLOSE => Command::Unanswered,
            other => Command::Unknown(other),
        })
    }

    /// Writes COM_QUERY, as a client.
    pub fn query(text: &[u8], packets: &mut PacketWriter) {
        Self::simple(QUERY, text, packets);
    }

    /// Writes COM_PING, as a client.
    pub fn ping(packets: &mut PacketWriter) {
        Self::simple(PING, b"", packets);
    }

    /// Writes COM_QUIT, as a client.
    pub fn quit(packets: &mut PacketWriter) {
        Self::simple(QUIT, b"", packets);
    }

    fn simple(command: u8, data: &[u8], packets: &mut PacketWriter) {
        packets.start(0);
        let out = packets.begin();
        out.push(command);
        out.extend_from_slice(data);
        packets.end();
    }
}

fn change_user(
    reader: &mut Reader<'_>,
    capabilities: Capabilities,
) -> Result<ChangeUser, DecodeError> {
    let user = text(reader.terminated());
    let length = reader.u8("authentication data")?;
    let auth = reader
        .take(usize::from(length), "authentication data")?
        .to_vec();
    let database = Some(text(reader.terminated())).filter(|name| !name.is_empty());
    let mut plugin = None;
    let mut attributes = Vec::new();
    if !reader.is_empty() {
        reader.u16("charset")?;
        if capabilities.has(Capabilities::PLUGIN_AUTH) {
            plugin = Some(text(reader.terminated()));
        }
        if capabilities.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
            attributes = read_attributes(reader)?;
        }
    }
    Ok(ChangeUser {
        user,
        auth,
        database,
        plugin,
        attributes,
    })
}
