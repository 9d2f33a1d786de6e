//! The messages of one call, in memory that the next call uses again.
//!
//! Example: a stream from 192.0.2.7 brings `<34>Oct 11 22:14:15 db su: no` and `<13>up`:
//!
//! ```text
//! bodies   Oct 11 22:14:15 db su: no␊ up␊
//! names    192.0.2.7 su db syslog
//! lines    body 0..26   category su       host db          22:14:15
//!          body 26..29  category syslog   host 192.0.2.7   the arrival
//! ```
//!
//! Invariants:
//! - Each body ends in one line feed. It is a whole message or a piece of one.
//! - A category is clean. A name that the line before has is not written again.
//! - The later pieces of a message have category, host and time of its first.

use collect::Incoming;
use wire::syslog::{Arrival, Frame, Header};

use crate::settings::CategoryBy;

/// Category of a message that names no usable program.
const FALLBACK: &str = "syslog";

/// A part of `bodies` or of `names`.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    from: u32,
    to: u32,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    body: Span,
    category: Span,
    host: Span,
    unix_s: i64,
}

/// What the later pieces of a message need of its first.
#[derive(Debug)]
struct Origin {
    category: String,
    host: String,
    unix_s: i64,
}

/// Messages on their way to [`crate::scribe::Scribe::take`].
#[derive(Debug, Default)]
pub(super) struct Batch {
    bodies: Vec<u8>,
    names: String,
    lines: Vec<Line>,
    /// The sender's address.
    sender: Span,
    /// Category, host and time of the message under way: the last frame was a piece of it, and more pieces follow.
    open: Option<Origin>,
    /// Bytes of bodies and categories.
    text_bytes: usize,
    /// Messages that begin here, and pieces.
    begun: u64,
    pieces: u64,
    /// Bytes of frames that fill it.
    frame_bytes_max: usize,
}

impl Batch {
    /// Bytes of buffers that a batch holds for frames of `frame_bytes`, and the frames' own: bodies and names are at most as
    /// long as their frames, and a line of 32 bytes stands for 64 bytes of frames.
    pub(super) fn held_bytes(frame_bytes: usize) -> usize {
        4 * frame_bytes
    }

    /// Empties the batch, for about `frame_bytes` of frames from this sender. Frees what it held for much more.
    pub(super) fn begin(&mut self, frame_bytes: usize, sender: &str) {
        if self.frame_bytes_max > frame_bytes {
            self.bodies = Vec::new();
            self.names = String::new();
            self.lines = Vec::new();
        }
        self.frame_bytes_max = frame_bytes;
        self.bodies.clear();
        self.names.clear();
        self.lines.clear();
        (self.text_bytes, self.begun, self.pieces) = (0, 0, 0);
        self.sender(sender);
    }

    /// Names the sender of the next frames.
    pub(super) fn sender(&mut self, sender: &str) {
        self.sender = put(&mut self.names, sender);
    }

    /// Whether the frames so far make a call.
    pub(super) fn is_full(&self) -> bool {
        self.lines.len() >= self.frame_bytes_max / 64 || self.bodies.len() >= self.frame_bytes_max
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// Messages that begin in this batch, and pieces of long ones.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.begun, self.pieces)
    }

    /// Adds a frame. An empty message is left out.
    pub(super) fn push(&mut self, frame: Frame<'_>, arrival: Arrival, by: &CategoryBy) {
        let (body, line) = match self.open.take().filter(|_| !frame.is_begin) {
            Some(origin) => {
                let line = Line {
                    body: Span::default(),
                    category: put(&mut self.names, &origin.category),
                    host: put(&mut self.names, &origin.host),
                    unix_s: origin.unix_s,
                };
                (frame.bytes, line)
            }
            None => {
                let header = Header::read(frame.bytes, arrival);
                let line = Line {
                    body: Span::default(),
                    category: self.category(&header, by),
                    host: self.host(&header),
                    unix_s: header.unix_s.unwrap_or(arrival.unix_s),
                };
                (header.body, line)
            }
        };
        if !frame.is_end {
            self.open = Some(Origin {
                category: part(&self.names, line.category).to_owned(),
                host: part(&self.names, line.host).to_owned(),
                unix_s: line.unix_s,
            });
        }
        let body = match frame.is_end {
            true => without_line_feeds(body),
            false => body,
        };
        if body.is_empty() {
            return;
        }
        let from = self.bodies.len();
        self.bodies.extend_from_slice(body);
        self.bodies.push(b'\n');
        let body = span(from, self.bodies.len());
        self.text_bytes += self.bodies.len() - from + part(&self.names, line.category).len();
        self.begun += u64::from(frame.is_begin);
        self.pieces += u64::from(!(frame.is_begin && frame.is_end));
        self.lines.push(Line { body, ..line });
    }

    fn category(&mut self, header: &Header<'_>, by: &CategoryBy) -> Span {
        let name = match by {
            CategoryBy::Program => {
                let program = header
                    .program
                    .and_then(|name| std::str::from_utf8(name).ok());
                let before = self.lines.last().map(|line| line.category);
                if let (Some(program), Some(before)) = (program, before)
                    && part(&self.names, before) == program
                {
                    return before;
                }
                program
                    .filter(|program| collect::is_clean(program.as_bytes()))
                    .unwrap_or(FALLBACK)
            }
            CategoryBy::Facility => header.facility.name(),
            CategoryBy::Name(name) => name,
        };
        let before = self.lines.last().map(|line| line.category);
        put_unless(&mut self.names, name, before)
    }

    fn host(&mut self, header: &Header<'_>) -> Span {
        match header.host {
            None => self.sender,
            Some(host) => {
                let before = self.lines.last().map(|line| line.host);
                put_unless(&mut self.names, host, before)
            }
        }
    }

    /// The messages, in the order of their frames.
    pub(super) fn messages(&self) -> impl Iterator<Item = Incoming<'_>> + Clone + Send {
        self.lines.iter().map(|line| Incoming {
            category: part(&self.names, line.category).as_bytes(),
            body: self
                .bodies
                .get(line.body.from as usize..line.body.to as usize)
                .unwrap_or_default(),
            host: part(&self.names, line.host),
            unix_s: line.unix_s,
            is_line: true,
        })
    }
}

fn without_line_feeds(mut body: &[u8]) -> &[u8] {
    while let Some(rest) = body.strip_suffix(b"\n") {
        body = rest;
    }
    body
}

/// A batch is far smaller than 4 GiB.
fn span(from: usize, to: usize) -> Span {
    Span {
        from: from as u32,
        to: to as u32,
    }
}

fn part(names: &str, span: Span) -> &str {
    names
        .get(span.from as usize..span.to as usize)
        .unwrap_or_default()
}

fn put(names: &mut String, name: &str) -> Span {
    let from = names.len();
    names.push_str(name);
    span(from, names.len())
}

/// As [`put`], unless `before` is the same name.
fn put_unless(names: &mut String, name: &str, before: Option<Span>) -> Span {
    match before.filter(|before| part(names, *before) == name) {
        Some(before) => before,
        None => put(names, name),
    }
}

#[cfg(test)]
mod tests;
