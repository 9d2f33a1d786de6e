//! Turns the bytes of a connection into messages.
//!
//! Limits:
//! - A message has at most the bytes that the caller of [`MessageReader::new`] says. A longer frame is refused at its header, a
//!   longer unframed message as soon as its known parts are longer.
//! - A length reserves at most [`READ_AHEAD_BYTES`]. More memory follows only the bytes that arrive.
//!
//! The buffer while the second frame arrives:
//!
//! ```text
//!         start                                          end
//! … found │ 00 00 56 b8 │ 9,000 of 22,200 bytes          │ room …     missing = 13,200
//! ```
//!
//! Invariants:
//! - `buffer[start..end]` has arrived and belongs to no message that was found before.
//! - `found` is the place of the last message found. It is valid until the next [`MessageReader::spare`].
//! - `walk` has looked at the unframed message at `start`, and only at that.

use std::ops::Range;

use super::bytes::{DecodeError, Fault, Reader};
use super::header::{Dialect, FRAME_HEADER_BYTES, Header, Transport, TransportError};
use super::walk::{Progress, Walk};
use crate::limits::{READ_AHEAD_BYTES, THRIFT_MESSAGE_BYTES_MAX};

/// Least room that [`MessageReader::spare`] gives, in bytes.
const SPARE_BYTES: usize = 16 << 10;

const _: () = assert!(SPARE_BYTES < READ_AHEAD_BYTES);

/// A message that has left its reader, in a buffer of its own.
#[derive(Debug, Default)]
pub struct Frame {
    buffer: Vec<u8>,
    place: Range<usize>,
}

impl Frame {
    /// The message, without the length before it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(self.place.clone()).unwrap_or_default()
    }

    /// Memory that the frame holds, in bytes: at most twice the message's length and 4 bytes more.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.buffer.capacity()
    }
}

/// Turns a stream of bytes into messages: read from the socket into [`spare`](Self::spare), report the count to
/// [`filled`](Self::filled), then [`advance`](Self::advance) until it finds none.
#[derive(Debug)]
pub struct MessageReader {
    /// `buffer[start..end]` has arrived and is not used up; behind `end` is room.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Place of the last found message in the buffer.
    found: Range<usize>,
    /// Bytes known to be missing from the current message.
    missing: usize,
    /// `None`: the first bytes have not told it yet.
    transport: Option<Transport>,
    /// The search for the end of the current unframed message; `None`: its header is not whole.
    walk: Option<Walk>,
    message_bytes_max: usize,
}

impl Default for MessageReader {
    fn default() -> Self {
        MessageReader::new(THRIFT_MESSAGE_BYTES_MAX)
    }
}

impl MessageReader {
    /// A reader that finds out what the connection speaks, and refuses messages longer than `message_bytes_max`. Allocates
    /// nothing yet.
    #[must_use]
    pub fn new(message_bytes_max: usize) -> Self {
        MessageReader {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            found: 0..0,
            missing: 0,
            transport: None,
            walk: None,
            message_bytes_max,
        }
    }

    /// A reader of a connection that is known to speak `transport`: a client's.
    #[must_use]
    pub fn of(transport: Transport, message_bytes_max: usize) -> Self {
        MessageReader {
            transport: Some(transport),
            ..MessageReader::new(message_bytes_max)
        }
    }

    /// The transport of the connection; `None` before its first five bytes.
    #[must_use]
    pub fn transport(&self) -> Option<Transport> {
        self.transport
    }

    /// Bytes that the arriving message takes at least, as far as [`advance`](Self::advance) knows; 0 between messages. Exact for
    /// a frame, with its length's 4 bytes, once these have arrived.
    #[must_use]
    pub fn announced_bytes(&self) -> usize {
        match self.end - self.start {
            0 => 0,
            arrived => arrived.saturating_add(self.missing),
        }
    }

    /// Size of the buffer once [`spare`](Self::spare) has made its room, in bytes. A caller that budgets memory asks before.
    #[must_use]
    pub fn wanted_bytes(&self) -> usize {
        let held = self.end - self.start;
        let kept = match held {
            0 if self.buffer.len() > READ_AHEAD_BYTES => 0,
            _ => self.buffer.len(),
        };
        let wanted = held + self.wanted_room();
        if wanted <= kept {
            return kept;
        }
        // Double, but to no more than twice the bytes that have arrived, nor than the frame needs.
        let needed = match self.transport {
            Some(Transport::Framed) => held + self.missing,
            Some(Transport::Unframed) | None => usize::MAX,
        };
        wanted.max((held * 2).min(needed))
    }

    fn wanted_room(&self) -> usize {
        self.missing.clamp(SPARE_BYTES, READ_AHEAD_BYTES)
    }

    /// Size of the buffer now, in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Whether a message has begun and is not whole. An end of the stream now is a broken connection.
    #[must_use]
    pub fn is_midway(&self) -> bool {
        self.start < self.end
    }

    /// Frees the buffer if every byte in it is used up. The last found message is then gone.
    pub fn release(&mut self) {
        if !self.is_midway() {
            (self.start, self.end, self.found) = (0, 0, 0..0);
            self.buffer = Vec::new();
        }
    }

    /// Room to read into, at least 16 KiB. May move the remaining bytes to the front, so the last found message is gone.
    pub fn spare(&mut self) -> &mut [u8] {
        self.found = 0..0;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > READ_AHEAD_BYTES {
                self.buffer = Vec::new();
            }
        }
        let wanted = self.wanted_room();
        if self.buffer.len() - self.end < wanted && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.end < wanted {
            let bytes = self.wanted_bytes();
            self.buffer.reserve_exact(bytes - self.buffer.len());
            self.buffer.resize(bytes, 0);
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

    /// Finds the next whole message; false: more bytes must arrive first. [`message`](Self::message) or [`take`](Self::take)
    /// gives it.
    ///
    /// # Errors
    /// [`TransportError`]. Do not use the reader after it.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, TransportError> {
        self.found = 0..0;
        let arrived = self.buffer.get(self.start..self.end).unwrap_or_default();
        if self.transport.is_none() {
            self.transport = Dialect::detect(arrived)?.map(|dialect| dialect.transport);
        }
        let (header_bytes, progress) = match self.transport {
            None => (0, Progress::Missing(1)),
            Some(Transport::Framed) => (FRAME_HEADER_BYTES, frame(arrived)),
            Some(Transport::Unframed) => (0, unframed(&mut self.walk, arrived)?),
        };
        let (Progress::Missing(bytes) | Progress::End(bytes)) = progress;
        let announced = match progress {
            Progress::Missing(missing) => arrived.len().saturating_add(missing),
            Progress::End(length) => length,
        } - header_bytes;
        if announced > self.message_bytes_max {
            return Err(TransportError::TooLong {
                announced,
                limit: self.message_bytes_max,
            });
        }
        match progress {
            Progress::Missing(_) => {
                self.missing = bytes;
                Ok(false)
            }
            Progress::End(_) => {
                self.found = self.start + header_bytes..self.start + bytes;
                self.start += bytes;
                self.missing = 0;
                self.walk = None;
                Ok(true)
            }
        }
    }

    /// The message that [`advance`](Self::advance) has found, without the length before it; empty before the first.
    #[inline]
    #[must_use]
    pub fn message(&self) -> &[u8] {
        self.buffer.get(self.found.clone()).unwrap_or_default()
    }

    /// Hands out the message that [`advance`](Self::advance) has found, once, with the buffer that it arrived in. A message of
    /// less than half the buffer, or shorter than the bytes behind it, is copied, and the reader keeps its buffer. The cost is a
    /// copy of the shorter part.
    #[must_use]
    pub fn take(&mut self) -> Frame {
        let found = std::mem::take(&mut self.found);
        let behind = self.buffer.get(self.start..self.end).unwrap_or_default();
        if found.len() < behind.len() || found.len() + FRAME_HEADER_BYTES < self.buffer.len() / 2 {
            let buffer = self.buffer.get(found).unwrap_or_default().to_vec();
            let place = 0..buffer.len();
            return Frame { buffer, place };
        }
        let behind = behind.to_vec();
        (self.start, self.end) = (0, behind.len());
        Frame {
            buffer: std::mem::replace(&mut self.buffer, behind),
            place: found,
        }
    }
}

/// Progress of the frame that `arrived` begins, with its header.
#[inline]
fn frame(arrived: &[u8]) -> Progress {
    let Some((length, body)) = arrived.split_first_chunk::<FRAME_HEADER_BYTES>() else {
        return Progress::Missing(FRAME_HEADER_BYTES - arrived.len());
    };
    // A negative length is more than any limit.
    let length = u32::from_be_bytes(*length) as usize;
    match length.checked_sub(body.len()) {
        Some(missing @ 1..) => Progress::Missing(missing),
        _ => Progress::End(FRAME_HEADER_BYTES + length),
    }
}

/// Progress of the unframed message that `arrived` begins.
fn unframed(walk: &mut Option<Walk>, arrived: &[u8]) -> Result<Progress, TransportError> {
    let walk = match walk {
        Some(walk) => walk,
        None => {
            let mut reader = Reader::new(arrived);
            match Header::read(&mut reader) {
                Ok(_) => walk.insert(Walk::message(reader.offset())),
                Err(DecodeError {
                    fault: Fault::Cut(_),
                    ..
                }) => return Ok(Progress::Missing(1)),
                Err(error) => return Err(TransportError::Malformed(error)),
            }
        }
    };
    walk.go_on(arrived).map_err(TransportError::Malformed)
}
