//! Framing: a packet is one or more frames of a 3-byte length, a sequence number and a payload.
//!
//! Limits: a packet holds at most [`PACKET_BYTES_MAX`] bytes (or what the reader was given); a header alone
//! reserves at most [`READ_AHEAD_BYTES`]. A longer packet is refused at its header, or, where the reader may
//! [pass it over](PacketReader::take_up_to), read to its last frame without being kept, up to 1 GiB: its client reads no
//! answer before it has sent the whole, and takes only one that is numbered behind the last frame.
//!
//! Layout of a frame: `length: u24 little-endian`, `sequence: u8`, `payload: length bytes`. A frame of exactly
//! [`FRAME_BYTES_MAX`] bytes is continued by the next one, which may be empty.

use std::fmt;
use std::ops::Range;

use crate::limits::{FLUSH_BYTES, FRAME_BYTES_MAX, PACKET_BYTES_MAX, READ_AHEAD_BYTES};

/// Bytes of a packet that is too long which the reader passes over to find its last frame: MySQL's longest packet.
const PASSED_BYTES_MAX: usize = 1 << 30;
/// Bytes of a frame's header.
const HEADER_BYTES: usize = 4;
/// Least room that [`PacketReader::spare`] gives.
const SPARE_BYTES: usize = 16 << 10;

const _: () = assert!(SPARE_BYTES < READ_AHEAD_BYTES);

/// A packet as it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Sequence number of its last frame; a reply goes on from the next one.
    pub sequence: u8,
    /// Its payload, frames joined.
    pub payload: &'a [u8],
}

/// Why no packet can be read any more. The connection is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketError {
    /// Longer than the limit: MySQL 1153.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
        /// Sequence number of the last frame read.
        sequence: u8,
    },
    /// A continuation frame that does not follow the one before: MySQL 1156.
    OutOfOrder {
        /// Sequence number of that frame.
        sequence: u8,
    },
}

impl PacketError {
    /// Sequence number of the last frame read; the error packet takes the next one.
    #[must_use]
    pub fn sequence(&self) -> u8 {
        match self {
            PacketError::TooLong { sequence, .. } | PacketError::OutOfOrder { sequence } => {
                *sequence
            }
        }
    }
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketError::TooLong { limit, .. } => write!(f, "packet longer than {limit} bytes"),
            PacketError::OutOfOrder { .. } => write!(f, "packets out of order"),
        }
    }
}

impl std::error::Error for PacketError {}

/// Turns a stream of bytes into packets: read from the socket into [`spare`](Self::spare), tell
/// [`filled`](Self::filled) how much came, then take packets until there is none.
#[derive(Debug)]
pub struct PacketReader {
    /// `buffer[start..end]` has arrived and is not used up; behind `end` is room.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Payload bytes of the packet at `start` that were joined so far; its frames' headers but the first are gone.
    joined: usize,
    /// Sequence number of the frame that was joined last, if any.
    joined_sequence: Option<u8>,
    /// Where the payload of the packet found last stands.
    found: Range<usize>,
    found_sequence: u8,
    /// Bytes known to be missing from the frame at hand.
    missing: usize,
    /// Whether that frame is known to be the packet's last.
    is_last: bool,
    packet_bytes_max: usize,
    /// Bytes of a packet that is not taken which may be passed over.
    passed_bytes_max: usize,
    /// Set while a packet that is not taken is passed over.
    passing: Option<Passing>,
}

/// A packet that is not taken, on its way out.
#[derive(Debug)]
struct Passing {
    /// Bytes of the frame at hand that have not arrived.
    frame_bytes: usize,
    /// Whether another frame follows.
    continues: bool,
    sequence: u8,
    /// Bytes that may still come.
    bytes_left: usize,
}

impl Default for PacketReader {
    fn default() -> Self {
        PacketReader::new(PACKET_BYTES_MAX)
    }
}

impl PacketReader {
    /// A reader that refuses packets longer than `packet_bytes_max` at their header. Allocates nothing yet.
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

    /// From now on packets of up to `packet_bytes_max` are taken, and longer ones are passed over: a client that has logged in
    /// may send more than one that has not.
    pub fn take_up_to(&mut self, packet_bytes_max: usize) {
        self.packet_bytes_max = packet_bytes_max;
        self.passed_bytes_max = PASSED_BYTES_MAX;
    }

    /// Takes no more of the packet that is on its way, nor any later one: it is passed over as one that is too long is.
    pub fn give_up(&mut self) {
        self.packet_bytes_max = 0;
        if self.passing.is_none() {
            self.pass(self.header_at(), self.joined_sequence.unwrap_or(0));
        }
    }

    /// Bytes of the buffer once [`spare`](Self::spare) has made its room: what is to be allowed before.
    #[must_use]
    pub fn wanted_bytes(&self) -> usize {
        let held = self.end - self.start;
        let kept = match held {
            0 if self.buffer.len() > READ_AHEAD_BYTES => 0,
            _ => self.buffer.len(),
        };
        let wanted = held + self.missing.clamp(SPARE_BYTES, READ_AHEAD_BYTES);
        if wanted <= kept {
            return kept;
        }
        // Doubling: no more than twice of what has really arrived, nor than the packet's last frame needs.
        let needed = if self.is_last {
            held + self.missing
        } else {
            usize::MAX
        };
        wanted.max((held * 2).min(needed))
    }

    /// Bytes of the buffer.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Gives the buffer back once every packet in it is used up; the packet found last is gone.
    pub fn release(&mut self) {
        if self.start == self.end {
            *self = PacketReader {
                passed_bytes_max: self.passed_bytes_max,
                ..PacketReader::new(self.packet_bytes_max)
            };
        }
    }

    /// Room to read into, at least 16 KiB. May move what is left of the bytes to the front, so the packet found last
    /// is gone.
    pub fn spare(&mut self) -> &mut [u8] {
        self.found = 0..0;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.buffer.len() > READ_AHEAD_BYTES {
                self.buffer = Vec::new();
            }
        }
        let wanted = self.missing.clamp(SPARE_BYTES, READ_AHEAD_BYTES);
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

    /// Tells that the first `count` bytes of [`spare`](Self::spare) were filled.
    ///
    /// # Panics
    /// If that is more than `spare` was long.
    pub fn filled(&mut self, count: usize) {
        assert!(
            count <= self.buffer.len() - self.end,
            "more bytes than there was room for"
        );
        self.end += count;
    }

    /// Whether bytes of an unfinished packet wait: an end of the stream now is a broken connection.
    #[must_use]
    pub fn is_midway(&self) -> bool {
        self.start < self.end || self.passing.is_some()
    }

    /// The next whole packet, or `None` until more bytes arrive. Its payload is gone with the next call.
    ///
    /// # Errors
    /// [`PacketError`]; the reader is of no use after it.
    #[inline]
    pub fn next_packet(&mut self) -> Result<Option<Packet<'_>>, PacketError> {
        Ok(if self.advance()? {
            Some(self.packet())
        } else {
            None
        })
    }

    /// The packet that [`advance`](Self::advance) found; empty before the first.
    #[inline]
    #[must_use]
    pub fn packet(&self) -> Packet<'_> {
        let payload = self.buffer.get(self.found.clone()).unwrap_or_default();
        Packet {
            sequence: self.found_sequence,
            payload,
        }
    }

    /// Goes to the next whole packet; false until more bytes arrive. For loops that read in between: see
    /// [`packet`](Self::packet).
    ///
    /// # Errors
    /// [`PacketError`]; the reader is of no use after it.
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

    /// Where the header of the frame at hand stands, or will.
    #[inline]
    fn header_at(&self) -> usize {
        match self.joined_sequence {
            None => self.start,
            Some(_) => self.start + HEADER_BYTES + self.joined,
        }
    }

    /// Begins to pass over a packet, from the header of its frame at hand on. `sequence`: of the last frame known.
    #[cold]
    fn pass(&mut self, header_at: usize, sequence: u8) {
        self.start = header_at;
        self.passing = Some(Passing {
            frame_bytes: 0,
            continues: true,
            sequence,
            bytes_left: self.passed_bytes_max,
        });
    }

    /// Drops what has arrived of a packet that is not taken; its error comes with its last frame.
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

    /// Takes a whole frame into the packet: a later frame's header is closed up.
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

/// Builds packets one behind the other in one reusable buffer.
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

    /// Opens a packet and gives the buffer to append its payload to. What is in it already must stay.
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.open_at = self.out.len();
        self.out.extend_from_slice(&[0; HEADER_BYTES]);
        &mut self.out
    }

    /// The buffer, to append more to the open packet.
    #[inline]
    pub fn body(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Closes the open packet, in as many frames as it needs.
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

    /// Makes room for a header in front of every further frame, last frame first, then writes the headers.
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

    /// Every closed packet, ready for the socket.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Forgets the bytes, keeps the sequence number and a buffer that a large row has not grown. Not while a packet is open.
    pub fn clear(&mut self) {
        self.out.clear();
        if self.out.capacity() > 2 * FLUSH_BYTES {
            self.out = Vec::new();
        }
    }
}
