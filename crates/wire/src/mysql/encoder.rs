//! Encodes a server's replies straight into a reusable buffer: it allocates neither for a cell nor for a row.

use crate::limits::FLUSH_BYTES;

use super::bytes::{put_integer, put_string};
use super::column::ColumnDefinition;
use super::constants::{self, Capabilities, STATUS_AUTOCOMMIT};
use super::packet::PacketWriter;

/// Result of a statement without rows: the content of an OK packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Count of rows inserted, replaced or deleted.
    pub affected: u64,
    /// Id of the last row inserted; 0 if none was.
    pub last_id: u64,
    /// Status flags. An [`Encoder`] adds the flags of [`Encoder::session_status`].
    pub status: u16,
    /// Count of warnings that SHOW WARNINGS has; the protocol has 16 bits for it.
    pub warnings: u16,
    /// Text for people; may be empty.
    pub info: String,
}

/// Encodes replies. The order of calls is the protocol's: first [`start`](Self::start), then one of
///
/// - [`ok`](Self::ok), [`error`](Self::error), [`field_list`](Self::field_list),
/// - [`columns`](Self::columns), the rows, [`end_rows`](Self::end_rows).
///
/// A further result set follows where the status before said [`STATUS_MORE_RESULTS`](super::STATUS_MORE_RESULTS).
///
/// A row is [`row_begin`](Self::row_begin), a `row_…` per column, [`row_end`](Self::row_end).
#[derive(Debug)]
pub struct Encoder {
    packets: PacketWriter,
    deprecate_eof: bool,
    /// Status flags of every OK and EOF packet.
    status: u16,
}

impl Encoder {
    /// An encoder for a client with these capabilities.
    #[must_use]
    pub fn new(capabilities: Capabilities) -> Self {
        Encoder {
            packets: PacketWriter::new(),
            deprecate_eof: capabilities.has(Capabilities::DEPRECATE_EOF),
            status: STATUS_AUTOCOMMIT,
        }
    }

    /// Sets the status flags that every OK and EOF packet carries from now on: [`STATUS_AUTOCOMMIT`],
    /// [`STATUS_IN_TRANSACTION`](super::STATUS_IN_TRANSACTION). A new encoder has the former.
    pub fn session_status(&mut self, flags: u16) {
        self.status = flags;
    }

    /// Begins a reply. Its first packet gets this number: one more than that of the command's last frame.
    pub fn start(&mut self, sequence: u8) {
        self.packets.start(sequence);
    }

    /// Encoded bytes that wait for the socket.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.packets.bytes()
    }

    /// Drops the bytes that were sent; the reply goes on.
    pub fn clear(&mut self) {
        self.packets.clear();
    }

    /// Whether at least [`FLUSH_BYTES`] wait: send them before the next row.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.packets.bytes().len() >= FLUSH_BYTES
    }

    /// The packets themselves, for the handshake.
    pub fn packets(&mut self) -> &mut PacketWriter {
        &mut self.packets
    }

    /// Answers a statement without rows by an OK packet.
    pub fn ok(&mut self, done: &Done) {
        self.put_ok(constants::OK, done);
    }

    /// Answers by an error packet. It may also end a result set early.
    pub fn error(&mut self, code: u16, sqlstate: &[u8; 5], message: &str) {
        let out = self.packets.begin();
        out.push(constants::ERR);
        out.extend_from_slice(&code.to_le_bytes());
        out.push(b'#');
        out.extend_from_slice(sqlstate);
        out.extend_from_slice(message.as_bytes());
        self.packets.end();
    }

    /// Plain text in one packet: the answer to COM_STATISTICS.
    pub fn text(&mut self, text: &str) {
        self.packets.begin().extend_from_slice(text.as_bytes());
        self.packets.end();
    }

    /// Begins a result set of at least one column: a count of 0 would read as an OK packet.
    pub fn columns(&mut self, columns: &[ColumnDefinition]) {
        put_integer(self.packets.begin(), columns.len() as u64);
        self.packets.end();
        for column in columns {
            column.encode(self.packets.begin());
            self.packets.end();
        }
        if !self.deprecate_eof {
            self.put_eof(0, 0);
        }
    }

    /// Ends a result set. `status` has flags beyond those of the session.
    pub fn end_rows(&mut self, status: u16, warnings: u16) {
        if self.deprecate_eof {
            self.put_ok(
                constants::EOF,
                &Done {
                    status,
                    warnings,
                    ..Done::default()
                },
            );
        } else {
            self.put_eof(status, warnings);
        }
    }

    /// The whole answer to COM_FIELD_LIST: definitions with NULL defaults.
    pub fn field_list(&mut self, columns: &[ColumnDefinition]) {
        for column in columns {
            let out = self.packets.begin();
            column.encode(out);
            out.push(constants::NULL_CELL);
            self.packets.end();
        }
        self.end_rows(0, 0);
    }

    /// Begins a row.
    #[inline]
    pub fn row_begin(&mut self) {
        self.packets.begin();
    }

    /// Ends a row.
    #[inline]
    pub fn row_end(&mut self) {
        self.packets.end();
    }

    /// A cell of bytes or text.
    #[inline]
    pub fn row_bytes(&mut self, bytes: &[u8]) {
        put_string(self.packets.body(), bytes);
    }

    /// A cell without a value.
    #[inline]
    pub fn row_null(&mut self) {
        self.packets.body().push(constants::NULL_CELL);
    }

    /// A cell with a number.
    #[inline]
    pub fn row_u64(&mut self, value: u64) {
        put_decimal(self.packets.body(), value, false);
    }

    /// A cell with a number of either sign.
    #[inline]
    pub fn row_i64(&mut self, value: i64) {
        put_decimal(self.packets.body(), value.unsigned_abs(), value < 0);
    }

    /// A cell with a number as the engine holds it.
    pub fn row_integer(&mut self, value: i128) {
        match (u64::try_from(value), i64::try_from(value)) {
            (Ok(value), _) => self.row_u64(value),
            (_, Ok(value)) => self.row_i64(value),
            _ => self.row_bytes(value.to_string().as_bytes()),
        }
    }

    /// A cell that is a list of numbers, as `1,2,3`. Costs no allocation.
    pub fn row_list(&mut self, values: impl Iterator<Item = u64>) {
        let out = self.packets.body();
        // The length stands before the list. Leave one byte for it, and move the list only if one byte is not enough.
        let length_at = out.len();
        out.push(0);
        for (index, value) in values.enumerate() {
            if index > 0 {
                out.push(b',');
            }
            let (digits, from) = decimal_digits(value);
            out.extend_from_slice(&digits[from..]);
        }
        let length = out.len() - length_at - 1;
        if length <= 0xfa {
            out[length_at] = length as u8;
        } else {
            let list = out.split_off(length_at + 1);
            out.truncate(length_at);
            put_string(out, &list);
        }
    }

    fn put_ok(&mut self, header: u8, done: &Done) {
        let status = self.status;
        let out = self.packets.begin();
        out.push(header);
        put_integer(out, done.affected);
        put_integer(out, done.last_id);
        out.extend_from_slice(&(status | done.status).to_le_bytes());
        out.extend_from_slice(&done.warnings.to_le_bytes());
        out.extend_from_slice(done.info.as_bytes());
        self.packets.end();
    }

    fn put_eof(&mut self, status: u16, warnings: u16) {
        let status = self.status | status;
        let out = self.packets.begin();
        out.push(constants::EOF);
        out.extend_from_slice(&warnings.to_le_bytes());
        out.extend_from_slice(&status.to_le_bytes());
        self.packets.end();
    }
}

/// Decimal digits of a number: the array's bytes from the index to the end.
#[inline]
fn decimal_digits(mut value: u64) -> ([u8; 20], usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return (digits, at);
        }
    }
}

/// Appends a cell's length, sign and digits. At most 21 characters, so one length byte is enough.
#[inline]
fn put_decimal(out: &mut Vec<u8>, value: u64, negative: bool) {
    let (digits, from) = decimal_digits(value);
    let digits = &digits[from..];
    out.push(digits.len() as u8 + u8::from(negative));
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(digits);
}
