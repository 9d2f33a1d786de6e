//! Turns the bytes of a connection into messages.
//!
//! Example, a stream that arrives in two reads, `5 <1>ab<2>c` and `d\n7 <3>`:
//!
//! | bytes that arrived | frames |
//! |---|---|
//! | `5 <1>ab` | `<1>ab`: a digit begins a length |
//! | `<2>c` | none: the line has no end yet |
//! | `<2>cd\n` | `<2>cd`: anything else begins a line |
//! | `7 <3>` | none: three of seven bytes |
//!
//! Invariants:
//! - `buffer[start..end]` has arrived and belongs to no frame that was given out.
//! - A frame has at most [`SYSLOG_PIECE_BYTES_MAX`] bytes. A longer message comes in pieces of that size; the last may be shorter.
//! - The buffer grows only when a read has filled it, to [`SYSLOG_BUFFER_BYTES_MAX`]: an announced length reserves nothing.
//! - No byte of a line is searched for its end twice.

use std::fmt;

use crate::limits::{SYSLOG_BUFFER_BYTES_MAX, SYSLOG_PIECE_BYTES_MAX, SYSLOG_READ_BYTES_MIN};

/// Most digits of a length.
const DIGITS_MAX: usize = 10;

const _: () =
    assert!(SYSLOG_PIECE_BYTES_MAX + DIGITS_MAX + SYSLOG_READ_BYTES_MIN < SYSLOG_BUFFER_BYTES_MAX);

/// A message, or a piece of one that is longer than [`SYSLOG_PIECE_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The bytes, without the length before them or the line feed behind them. May be empty.
    pub bytes: &'a [u8],
    /// Whether these bytes begin the message.
    pub is_begin: bool,
    /// Whether the message ends here.
    pub is_end: bool,
}

/// A message began with a digit, but not with a length: zero, more than 10 digits, or no blank behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadLength;

impl fmt::Display for BadLength {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "a message that begins with a digit begins with its length, 1 to {DIGITS_MAX} digits and a blank"
        )
    }
}

impl std::error::Error for BadLength {}

/// The message that begins at `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its first bytes have not arrived.
    Begin,
    /// A message of which `left` bytes, at least 1, belong to no frame yet.
    Counted { left: u64, is_begin: bool },
    /// A line. Its next `searched` bytes hold no line feed.
    Line { searched: usize, is_begin: bool },
}

/// Turns a stream of bytes into frames: read from the socket into [`spare`](Self::spare), report the count to
/// [`filled`](Self::filled), then [`advance`](Self::advance) until it gives none.
#[derive(Debug)]
pub struct FrameReader {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    state: State,
    /// The last read left no room.
    is_full: bool,
}

impl Default for FrameReader {
    /// Allocates nothing yet.
    fn default() -> Self {
        FrameReader {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            state: State::Begin,
            is_full: false,
        }
    }
}

impl FrameReader {
    /// Size of the buffer now, in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Size of the buffer once [`spare`](Self::spare) has made its room, in bytes. A caller that budgets memory asks before.
    #[must_use]
    pub fn wanted_bytes(&self) -> usize {
        let kept = self.buffer.len().max(SYSLOG_READ_BYTES_MIN);
        match self.is_full || self.must_grow() {
            true => (kept * 2).min(SYSLOG_BUFFER_BYTES_MAX),
            false => kept,
        }
    }

    /// Whether the buffer has no room for the least read, even once its bytes are moved to the front.
    #[must_use]
    pub fn must_grow(&self) -> bool {
        self.buffer.len().max(SYSLOG_READ_BYTES_MIN)
            < (self.end - self.start) + SYSLOG_READ_BYTES_MIN
    }

    /// Keeps the buffer as it is though the last read filled it. Without effect where it must grow.
    pub fn stay_small(&mut self) {
        self.is_full = false;
    }

    /// Whether a message has begun and is not whole.
    #[must_use]
    pub fn is_midway(&self) -> bool {
        self.start < self.end || self.state != State::Begin
    }

    /// Frees a buffer whose bytes are used up.
    pub fn release(&mut self) {
        if self.start == self.end {
            (self.start, self.end, self.is_full) = (0, 0, false);
            self.buffer = Vec::new();
        }
    }

    /// Room to read into, at least 16 KiB. Call it only once [`advance`](Self::advance) gives no more frames.
    pub fn spare(&mut self) -> &mut [u8] {
        let bytes = self.wanted_bytes();
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.buffer.len() < bytes {
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
        self.is_full = self.end == self.buffer.len();
    }

    /// The next frame; `None`: more bytes must arrive first.
    ///
    /// # Errors
    /// [`BadLength`]. Do not use the reader after it.
    #[inline]
    pub fn advance(&mut self) -> Result<Option<Frame<'_>>, BadLength> {
        let arrived = self.buffer.get(self.start..self.end).unwrap_or_default();
        if self.state == State::Begin {
            match begin(arrived)? {
                None => return Ok(None),
                Some((state, used)) => {
                    self.state = state;
                    self.start += used;
                }
            }
        }
        match self.state {
            State::Begin => Ok(None),
            State::Counted { left, is_begin } => Ok(self.counted(left, is_begin)),
            State::Line { searched, is_begin } => Ok(self.line(searched, is_begin)),
        }
    }

    /// At the end of the stream: the line whose line feed is missing. The bytes of a message that is shorter than its length
    /// are no frame; the sender sends it again.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        match self.state {
            State::Line { is_begin, .. } if self.start < self.end => {
                Some(self.give(self.end - self.start, 0, is_begin, true))
            }
            _ => None,
        }
    }

    fn counted(&mut self, left: u64, is_begin: bool) -> Option<Frame<'_>> {
        let wanted = usize::try_from(left).map_or(SYSLOG_PIECE_BYTES_MAX, |left| {
            left.min(SYSLOG_PIECE_BYTES_MAX)
        });
        if self.end - self.start < wanted {
            return None;
        }
        let left = left - wanted as u64;
        let is_end = left == 0;
        if !is_end {
            self.state = State::Counted {
                left,
                is_begin: false,
            };
        }
        Some(self.give(wanted, 0, is_begin, is_end))
    }

    fn line(&mut self, searched: usize, is_begin: bool) -> Option<Frame<'_>> {
        let arrived = self.buffer.get(self.start..self.end).unwrap_or_default();
        // One byte more than a piece: a line of exactly that length has no second piece.
        let arrived = arrived.get(..=SYSLOG_PIECE_BYTES_MAX).unwrap_or(arrived);
        let found = arrived
            .get(searched..)
            .and_then(|rest| rest.iter().position(|byte| *byte == b'\n'));
        match found {
            Some(more) => Some(self.give(searched + more, 1, is_begin, true)),
            None if arrived.len() > SYSLOG_PIECE_BYTES_MAX => {
                self.state = State::Line {
                    searched: 0,
                    is_begin: false,
                };
                Some(self.give(SYSLOG_PIECE_BYTES_MAX, 0, is_begin, false))
            }
            None => {
                self.state = State::Line {
                    searched: arrived.len(),
                    is_begin,
                };
                None
            }
        }
    }

    /// Uses up a frame's bytes and `behind` bytes after them.
    fn give(&mut self, length: usize, behind: usize, is_begin: bool, is_end: bool) -> Frame<'_> {
        let from = self.start;
        self.start += length + behind;
        if is_end {
            self.state = State::Begin;
        }
        Frame {
            bytes: self.buffer.get(from..from + length).unwrap_or_default(),
            is_begin,
            is_end,
        }
    }
}

/// The form of a message, and the bytes of its length; `None`: they have not all arrived.
#[inline]
fn begin(arrived: &[u8]) -> Result<Option<(State, usize)>, BadLength> {
    match arrived.first() {
        None => return Ok(None),
        Some(byte) if byte.is_ascii_digit() => {}
        Some(_) => {
            let line = State::Line {
                searched: 0,
                is_begin: true,
            };
            return Ok(Some((line, 0)));
        }
    }
    let mut left = 0;
    for (place, byte) in arrived.iter().take(DIGITS_MAX + 1).enumerate() {
        match byte {
            b'0'..=b'9' if place < DIGITS_MAX => left = left * 10 + u64::from(byte - b'0'),
            b' ' if left > 0 => {
                let counted = State::Counted {
                    left,
                    is_begin: true,
                };
                return Ok(Some((counted, place + 1)));
            }
            _ => return Err(BadLength),
        }
    }
    match arrived.first() {
        // A length of zero is told by its first digit.
        Some(b'0') => Err(BadLength),
        _ => Ok(None),
    }
}
