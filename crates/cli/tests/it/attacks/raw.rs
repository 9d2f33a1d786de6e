//! A MySQL connection of bytes: it asks for no more than it must, and reads only when it is told to.

use std::io::{Read, Write};
use std::net::TcpStream;

use wire::mysql::{PacketReader, PacketWriter};

/// CLIENT_LONG_PASSWORD, CLIENT_PROTOCOL_41, CLIENT_SECURE_CONNECTION: not CLIENT_MULTI_STATEMENTS.
const CAPABILITIES: u32 = 0x8201;
const MULTI_STATEMENTS: u32 = 1 << 16;
/// The server asks for another way to prove the password.
const AUTH_SWITCH: u8 = 0xfe;

pub(super) struct Raw {
    stream: TcpStream,
    reader: PacketReader,
}

impl Raw {
    /// Logs in, with or without several statements in a text.
    pub(super) fn connect(address: &str, several: bool) -> Raw {
        let mut raw = Raw {
            stream: TcpStream::connect(address).unwrap(),
            reader: PacketReader::default(),
        };
        raw.packet();
        let capabilities = CAPABILITIES | if several { MULTI_STATEMENTS } else { 0 };
        let mut packets = PacketWriter::new();
        packets.start(1);
        let out = packets.begin();
        out.extend_from_slice(&capabilities.to_le_bytes());
        out.extend_from_slice(&[0xff, 0xff, 0xff, 0, 45]);
        out.extend_from_slice(&[0; 23]);
        out.extend_from_slice(b"raw\0\0");
        packets.end();
        raw.stream.write_all(packets.bytes()).unwrap();
        let mut answer = raw.packet();
        if answer.first() == Some(&AUTH_SWITCH) {
            // There is no password: an empty packet answers.
            raw.stream.write_all(&[0, 0, 0, 3]).unwrap();
            answer = raw.packet();
        }
        assert_eq!(answer.first(), Some(&0), "the login passes");
        raw
    }

    /// Sends a statement. A server that refuses it early may close the connection meanwhile.
    pub(super) fn send(&mut self, text: &[u8]) {
        let mut packets = PacketWriter::new();
        let out = packets.begin();
        out.push(3);
        out.extend_from_slice(text);
        packets.end();
        let _ = self.stream.write_all(packets.bytes());
    }

    /// The next packet; empty where the connection has ended.
    pub(super) fn packet(&mut self) -> Vec<u8> {
        loop {
            if let Some(packet) = self.reader.next_packet().unwrap() {
                return packet.payload.to_vec();
            }
            match self.stream.read(self.reader.spare()) {
                Ok(count) if count > 0 => self.reader.filled(count),
                _ => return Vec::new(),
            }
        }
    }

    /// Reads replies without rows until one is an error or says that no other follows: the error's number.
    pub(super) fn last_reply(&mut self) -> Option<u16> {
        const MORE_RESULTS: u8 = 8;
        loop {
            match self.packet()[..] {
                [] => return None,
                [0xff, low, high, ..] => return Some(u16::from_le_bytes([low, high])),
                // An OK without rows and id: its header, two zeros, the status.
                [0, _, _, status, ..] if status & MORE_RESULTS != 0 => {}
                _ => return None,
            }
        }
    }
}
