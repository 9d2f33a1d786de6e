//! Framing: a packet is one or more frames of a 3-byte length, a sequence number and a payload.
//!
//! Limits:
//! - A packet has at most [`PACKET_BYTES_MAX`] bytes, or as the caller of [`PacketReader::new`] says.
//! - The word of a header reserves at most [`READ_AHEAD_BYTES`]. More memory follows only the bytes that arrive.
//! - A reader refuses a longer packet at its header. After [`PacketReader::take_up_to`] it passes the packet over instead: it
//!   reads up to 1 GiB to the last frame without keeping it. A client reads no answer before it has sent its whole packet, and
//!   accepts only an answer that is numbered behind its last frame.
//!
//! Layout of a frame: `length: u24 little-endian`, `sequence: u8`, `payload: length bytes`. A frame of exactly
//! [`FRAME_BYTES_MAX`] bytes is continued by the next frame, which may be empty. Three packets, the first two of one frame:
//!
//! ```text
//! 01 00 00 00   0e                           COM_PING, sequence 0
//! 09 00 00 00   03 53 45 4c 45 43 54 20 31   COM_QUERY "SELECT 1"; each command begins with sequence 0
//! ff ff ff 00   03 …                         16,777,218 bytes of a command: 16,777,215 …
//! 03 00 00 01   … … …                        … and 3 in the next frame, with the next sequence number
//! ```
//!
//! The reader's buffer while the last packet arrives:
//!
//! ```text
//!         start                                                                  end
//! … used up │ ff ff ff 00 │ 16,777,215 bytes (joined) │ 03 00 00 01 │ 2 of 3 bytes │ room …     missing = 1
//! ```
//!
//! When the third byte is there, `join` moves the bytes over the second header: the payload is one slice.
//!
//! Invariants of [`PacketReader`]:
//! - `buffer[start..end]` has arrived and belongs to no packet that was found before.
//! - The packet at `start` has `joined` payload bytes in place; the header of its next frame stands right behind them.
//! - `found` is the payload of the last packet found. It is valid until the next [`PacketReader::spare`].

use std::fmt;
use std::ops::Range;

use crate::limits::{FLUSH_BYTES, FRAME_BYTES_MAX, PACKET_BYTES_MAX, READ_AHEAD_BYTES};

/// Most bytes of a refused packet that the reader passes over to find its last frame: MySQL's longest packet.
const PASSED_BYTES_MAX: usize = 1 << 30;
/// Bytes of a frame's header.
const HEADER_BYTES: usize = 4;
/// Least room that [`PacketReader::spare`] gives, in bytes.
const SPARE_BYTES: usize = 16 << 10;

const _: () = assert!(SPARE_BYTES < READ_AHEAD_BYTES);

/// A packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Sequence number of its last frame. The reply begins with the next number.
    pub sequence: u8,
    /// The joined payloads of its frames.
    pub payload: &'a [u8],
}

/// Why there is no packet. The caller must close the connection, but behind [`PacketError::GivenUp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketError {
    /// The packet is longer than the limit: MySQL 1153.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
        /// Sequence number of the last frame read.
        sequence: u8,
    },
    /// The sequence number of a continued frame does not follow that of the frame before.
    OutOfOrder {
        /// Sequence number of that frame.
        sequence: u8,
    },
    /// The caller has given the packet up, and its bytes are passed over. The next packet can be read.
    GivenUp {
        /// Sequence number of its last frame.
        sequence: u8,
    },
}

impl PacketError {
    /// Sequence number of the last frame read. The error packet has the next number.
    #[must_use]
    pub fn sequence(&self) -> u8 {
        match self {
            PacketError::TooLong { sequence, .. }
            | PacketError::OutOfOrder { sequence }
            | PacketError::GivenUp { sequence } => *sequence,
        }
    }
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketError::TooLong { limit, .. } => write!(f, "packet longer than {limit} bytes"),
            PacketError::OutOfOrder { .. } => write!(f, "packets out of order"),
            PacketError::GivenUp { .. } => write!(f, "the packet was given up"),
        }
    }
}

impl std::error::Error for PacketError {}

/// Turns a stream of bytes into packets: read from the socket into [`spare`](Self::spare), report the count to
/// [`filled`](Self::filled), then take packets until there is none.
#[derive(Debug)]
pub struct PacketReader {
    /// `buffer[start..end]` has arrived and is not used up; behind `end` is room.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Payload bytes of the packet at `start` that are joined. Only the first frame's header is still there.
    joined: usize,
    /// Sequence number of the last joined frame; `None`: no frame is joined yet.
    joined_sequence: Option<u8>,
    /// Place of the last found packet's payload in the buffer.
    found: Range<usize>,
    found_sequence: u8,
    /// Bytes known to be missing from the current frame.
    missing: usize,
    /// Whether the current frame is known to be the packet's last.
    is_last: bool,
    packet_bytes_max: usize,
    /// Most bytes of a refused packet that may be passed over.
    passed_bytes_max: usize,
    /// The refused packet that is being passed over.
    passing: Option<Passing>,
}

/// A refused packet whose bytes are read and dropped.
#[derive(Debug)]
struct Passing {
    /// Bytes of the current frame that have not arrived.
    frame_bytes: usize,
    /// Whether another frame follows.
    continues: bool,
    sequence: u8,
    /// Bytes that may still be dropped.
    bytes_left: usize,
    /// Whether the packet may be as long as it is, see [`PacketReader::give_up`].
    is_given_up: bool,
}

impl Default for PacketReader {
    fn default() -> Self {
        PacketReader::new(PACKET_BYTES_MAX)
    }
}

impl PacketReader {
    /// A reader that refuses packets longer than `packet_bytes_max`, at their header. Allocates nothing yet.
    #[must_use]
    pub fn new(packet_bytes_max: usize) -> Self {
        PacketReader {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            joined: 0,
            joined_sequence: None,
            found: 0..0,
            found_sequence: 0,
            missing: 0,
            is_last: false,
            packet_bytes_max,
            passed_bytes_max: 0,
            passing: None,
        }
    }

    /// From now on takes packets of up to `packet_bytes_max`, and passes longer ones over. For a client that has logged in: it
    /// may send more than a stranger.
    pub fn take_up_to(&mut self, packet_bytes_max: usize) {
        self.packet_bytes_max = packet_bytes_max;
        self.passed_bytes_max = PASSED_BYTES_MAX;
    }

    /// Drops what has arrived of the packet, and passes the rest over: [`PacketError::GivenUp`] comes behind it.
    pub fn give_up(&mut self) {
        if self.passing.is_some() {
            return;
        }
        // With more it is too long after all.
        let bytes_left = self.packet_bytes_max.saturating_sub(self.joined) + 1;
        self.start = self.header_at();
        self.passing = Some(Passing {
            frame_bytes: 0,
            continues: true,
            sequence: self.joined_sequence.unwrap_or(0),
            bytes_left,
            is_given_up: true,
        });
    }

    /// Size of the buffer once [`spare`](Self::spare) has made its room, in bytes. A caller that budgets memory asks before.
    #[must_use]
    pub fn wanted_bytes(&self) -> usize {
        let held = self.end - self.start;
        let kept = match held {
            0 if self.buffer.len() > self.ahead_max() => 0,
            _ => self.buffer.len(),
        };
        let wanted = held + self.ahead();
        if wanted <= kept {
            return kept;
        }
        // Double, but to no more than twice the bytes that have arrived, nor than the packet's last frame needs.
        let needed = if self.is_last {
            held + self.missing
        } else {
            usize::MAX
        };
        wanted.max((held * 2).min(needed))
    }

    /// Bytes of room for what comes next.
    fn ahead(&self) -> usize {
        self.missing.clamp(SPARE_BYTES, self.ahead_max())
    }

    /// Most bytes that are read ahead, and of a buffer that stays. What is passed over is read in small pieces: others want the memory.
    fn ahead_max(&self) -> usize {
        match self.passing {
            Some(_) => SPARE_BYTES,
            None => READ_AHEAD_BYTES,
        }
    }

    /// Size of the buffer now, in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Frees the buffer if every byte in it is used up. The last found packet is then gone.
    pub fn release(&mut self) {
        if self.start == self.end {
            *self = PacketReader {
                passed_bytes_max: self.passed_bytes_max,
                ..PacketReader::new(self.packet_bytes_max)
            };
        }
    }

    /// Room to read into, at least 16 KiB. May move the remaining bytes to the front, so the last found packet is gone.
    pub fn spare(&mut self) -> &mut [u8] {
        self.found = 0..0;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.buffer.len() > self.ahead_max() {
                self.buffer = Vec::new();
            }
        }
        let wanted = self.ahead();
        if self.buffer.len() - self.end < wanted && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.end < wanted {
            self.buffer.resize(self.wanted_bytes(), 0);
        }
        &mut self.buffer[self.end..]
    }

    /// Records that the first `count` bytes of [`spare`](Self::spare) are filled.
    ///
    /// # Panics
    /// If `count` is more than the length of `spare`.
    pub fn filled(&mut self, count: usize) {
        assert!(
            count <= self.buffer.len() - self.end,
            "more bytes than there was room for"
        );
        self.end += count;
    }

    /// Whether a packet has begun and is not whole. An end of the stream now is a broken connection.
    #[must_use]
    pub fn is_midway(&self) -> bool {
        self.start < self.end || self.passing.is_some()
    }

    /// The next whole packet; `None`: more bytes must arrive first. The packet is valid until the next call.
    ///
    /// # Errors
    /// As [`PacketReader::advance`].
    #[inline]
    pub fn next_packet(&mut self) -> Result<Option<Packet<'_>>, PacketError> {
        Ok(if self.advance()? {
            Some(self.packet())
        } else {
            None
        })
    }

    /// The packet that [`advance`](Self::advance) has found; empty before the first.
    #[inline]
    #[must_use]
    pub fn packet(&self) -> Packet<'_> {
        let payload = self.buffer.get(self.found.clone()).unwrap_or_default();
        Packet {
            sequence: self.found_sequence,
            payload,
        }
    }

    /// Finds the next whole packet; false: more bytes must arrive first. [`packet`](Self::packet) gives it, so that a loop may
    /// read in between.
    ///
    /// # Errors
    /// [`PacketError`]. Do not use the reader after it, but after [`PacketError::GivenUp`].
    #[inline]
    pub fn advance(&mut self) -> Result<bool, PacketError> {
        if self.passing.is_some() {
            return self.pass_over();
        }
        loop {
            let header_at = self.header_at();
            let Some(&[low, middle, high, sequence]) =
                self.buffer[..self.end].get(header_at..header_at + HEADER_BYTES)
            else {
                self.missing = HEADER_BYTES;
                self.is_last = false;
                return Ok(false);
            };
            let length = usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16;
            if self.joined + length > self.packet_bytes_max {
                self.pass(header_at, sequence);
                return self.pass_over();
            }
            let body_at = header_at + HEADER_BYTES;
            if self.end - body_at < length {
                self.missing = length - (self.end - body_at);
                self.is_last = length < FRAME_BYTES_MAX;
                return Ok(false);
            }
            self.join(header_at, length, sequence)?;
            if length < FRAME_BYTES_MAX {
                let from = self.start + HEADER_BYTES;
                self.start = from + self.joined;
                self.found = from..self.start;
                self.found_sequence = sequence;
                self.joined = 0;
                self.joined_sequence = None;
                self.missing = 0;
                return Ok(true);
            }
        }
    }

    /// Offset of the current frame's header, which may not have arrived.
    #[inline]
    fn header_at(&self) -> usize {
        match self.joined_sequence {
            None => self.start,
            Some(_) => self.start + HEADER_BYTES + self.joined,
        }
    }

    /// Begins to pass a packet that is too long over, from the header of its current frame on. `sequence` is that of the last known frame.
    #[cold]
    fn pass(&mut self, header_at: usize, sequence: u8) {
        self.start = header_at;
        self.passing = Some(Passing {
            frame_bytes: 0,
            continues: true,
            sequence,
            bytes_left: self.passed_bytes_max,
            is_given_up: false,
        });
    }

    /// Drops the bytes of a refused packet that have arrived. The error comes with its last frame.
    #[cold]
    fn pass_over(&mut self) -> Result<bool, PacketError> {
        while let Some(passing) = &mut self.passing {
            let arrived = (self.end - self.start).min(passing.frame_bytes);
            self.start += arrived;
            passing.frame_bytes -= arrived;
            passing.bytes_left = passing.bytes_left.saturating_sub(arrived);
            if passing.frame_bytes > 0 && passing.bytes_left > 0 {
                self.missing = passing.frame_bytes;
                return Ok(false);
            }
            if passing.frame_bytes == 0 && !passing.continues && passing.is_given_up {
                let sequence = passing.sequence;
                self.passing = None;
                self.joined = 0;
                self.joined_sequence = None;
                self.missing = 0;
                return Err(PacketError::GivenUp { sequence });
            }
            if !passing.continues || passing.bytes_left == 0 {
                return Err(PacketError::TooLong {
                    limit: self.packet_bytes_max,
                    sequence: passing.sequence,
                });
            }
            let header = self.buffer[self.start..self.end].first_chunk::<HEADER_BYTES>();
            let Some(&[low, middle, high, sequence]) = header else {
                self.missing = HEADER_BYTES;
                return Ok(false);
            };
            self.start += HEADER_BYTES;
            passing.frame_bytes =
                usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16;
            passing.continues = passing.frame_bytes == FRAME_BYTES_MAX;
            passing.sequence = sequence;
        }
        Ok(false)
    }

    /// Joins a whole frame to the packet. For a frame behind the first it moves the bytes over the frame's header.
    #[inline]
    fn join(&mut self, header_at: usize, length: usize, sequence: u8) -> Result<(), PacketError> {
        if let Some(before) = self.joined_sequence {
            if sequence != before.wrapping_add(1) {
                return Err(PacketError::OutOfOrder { sequence });
            }
            self.buffer
                .copy_within(header_at + HEADER_BYTES..self.end, header_at);
            self.end -= HEADER_BYTES;
        }
        self.joined += length;
        self.joined_sequence = Some(sequence);
        Ok(())
    }
}

/// Builds packets, one behind the other, in a reusable buffer.
#[derive(Debug, Default)]
pub struct PacketWriter {
    out: Vec<u8>,
    open_at: usize,
    sequence: u8,
}

impl PacketWriter {
    /// An empty writer whose first packet has sequence number 0.
    #[must_use]
    pub fn new() -> Self {
        PacketWriter::default()
    }

    /// Sets the next packet's sequence number.
    pub fn start(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Opens a packet and gives the buffer to append its payload to. The caller must leave the bytes in it as they are.
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.open_at = self.out.len();
        self.out.extend_from_slice(&[0; HEADER_BYTES]);
        &mut self.out
    }

    /// The buffer, to append to the open packet.
    #[inline]
    pub fn body(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Closes the open packet: writes its header, and splits it into frames if it is too long for one.
    #[inline]
    pub fn end(&mut self) {
        let length = self.out.len() - self.open_at - HEADER_BYTES;
        if length < FRAME_BYTES_MAX {
            self.put_header(self.open_at, length);
        } else {
            self.split(length);
        }
    }

    fn put_header(&mut self, at: usize, length: usize) {
        let [low, middle, high, ..] = length.to_le_bytes();
        self.out[at..at + HEADER_BYTES].copy_from_slice(&[low, middle, high, self.sequence]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Makes room for a header before every frame but the first, last frame first, then writes all headers.
    fn split(&mut self, length: usize) {
        let more = length / FRAME_BYTES_MAX;
        let body_at = self.open_at + HEADER_BYTES;
        self.out.resize(self.out.len() + more * HEADER_BYTES, 0);
        for frame in (1..=more).rev() {
            let from = body_at + frame * FRAME_BYTES_MAX;
            let until = (from + FRAME_BYTES_MAX).min(body_at + length);
            self.out
                .copy_within(from..until, from + frame * HEADER_BYTES);
        }
        for frame in 0..=more {
            let at = self.open_at + frame * (FRAME_BYTES_MAX + HEADER_BYTES);
            self.put_header(at, (length - frame * FRAME_BYTES_MAX).min(FRAME_BYTES_MAX));
        }
    }

    /// The bytes of all closed packets, for the socket.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Drops the bytes and keeps the sequence number. Frees a buffer that a large row has grown. Not while a packet is open.
    pub fn clear(&mut self) {
        self.out.clear();
        if self.out.capacity() > 2 * FLUSH_BYTES {
            self.out = Vec::new();
        }
    }
}
