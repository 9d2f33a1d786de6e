//! The bytes of an input, cut into records: lines, CSV records with line ends in quotes, documents of XML.
//!
//! Limits: a record has at most [`RECORD_BYTES_MAX`] bytes; reading is 1 MiB at a time.

use std::io::{self, Read};
use std::ops::Range;

use super::xmlpipe;

/// Longest record, in bytes: no larger row could be sent.
const RECORD_BYTES_MAX: usize = wire::limits::PACKET_BYTES_MAX / 2;

const READ_BYTES: usize = 1 << 20;

/// Where records end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// At line ends.
    Lines,
    /// At line ends that are not in quotes; a quote opens at the beginning of a field.
    Quoted,
    /// Behind `</sphinx:document>`.
    Documents,
}

/// A record: where it stands in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Its bytes in the buffer, without the line end.
    within: Range<usize>,
    /// The line it begins at, from 1.
    pub(super) line: u64,
    /// The byte it begins at.
    pub(super) from: u64,
    /// The byte that the next record begins at.
    pub(super) to: u64,
}

/// An input on its way.
pub(super) struct Records {
    input: Box<dyn Read>,
    cut: Cut,
    buffer: Vec<u8>,
    /// `buffer[start..end]` was read and is not cut yet.
    start: usize,
    end: usize,
    /// Offset of `buffer[start]` in the input.
    at: u64,
    /// Number of its line, from 1.
    line: u64,
    is_over: bool,
}

/// What a look for the end of a record found.
pub(super) enum RecordEnd {
    /// It ends at this byte (a line end, or behind its last one), and the next begins at that.
    End(usize, usize),
    /// Nothing that is a record before this byte.
    Nothing(usize),
    /// It goes on behind what was read.
    More,
}

impl Records {
    pub(super) fn new(input: Box<dyn Read>, cut: Cut) -> Records {
        Records {
            input,
            cut,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            at: 0,
            line: 1,
            is_over: false,
        }
    }

    /// The byte that the next record begins at.
    pub(super) fn place(&self) -> u64 {
        self.at
    }

    /// The record's bytes; until the next call of [`Records::next`].
    pub(super) fn bytes(&self, span: &Span) -> &[u8] {
        self.buffer.get(span.within.clone()).unwrap_or_default()
    }

    /// The next record. Errors: the input's, and one for a record that is too long.
    pub(super) fn next(&mut self) -> io::Result<Option<Span>> {
        let mut seen = 0;
        loop {
            let unread = &self.buffer[self.start..self.end];
            let found = match self.cut {
                Cut::Lines => line_end(unread, seen),
                Cut::Quoted => quoted_end(unread),
                Cut::Documents => xmlpipe::document_end(unread),
            };
            match found {
                RecordEnd::End(end, next) => return Ok(Some(self.taken(end, next))),
                RecordEnd::Nothing(until) => {
                    self.pass_counting(until);
                    continue;
                }
                RecordEnd::More if self.is_over => {
                    let rest = unread.len();
                    let is_nothing = match self.cut {
                        Cut::Lines | Cut::Quoted => rest == 0,
                        Cut::Documents => !xmlpipe::is_open(unread),
                    };
                    return Ok((!is_nothing).then(|| self.taken(rest, rest)));
                }
                RecordEnd::More => {}
            }
            seen = self.end - self.start;
            self.fill()?;
        }
    }

    /// Goes to a byte that a record begins at; false where the input ends before.
    pub(super) fn skip_to(&mut self, place: u64) -> io::Result<bool> {
        while self.at < place {
            if self.start == self.end {
                self.fill()?;
                if self.start == self.end {
                    return Ok(false);
                }
            }
            let wanted = usize::try_from(place - self.at).unwrap_or(usize::MAX);
            self.pass_counting(wanted.min(self.end - self.start));
        }
        Ok(true)
    }

    fn taken(&mut self, end: usize, next: usize) -> Span {
        let within = self.start..self.start + end;
        let (line, from) = (self.line, self.at);
        match self.cut {
            Cut::Lines => self.pass(next, 1),
            Cut::Quoted | Cut::Documents => self.pass_counting(next),
        }
        Span {
            within,
            line,
            from,
            to: self.at,
        }
    }

    /// So many bytes are done.
    fn pass_counting(&mut self, bytes: usize) {
        let done = &self.buffer[self.start..self.start + bytes];
        let lines = done.iter().filter(|byte| **byte == b'\n').count();
        self.pass(bytes, lines as u64);
    }

    fn pass(&mut self, bytes: usize, lines: u64) {
        self.line += lines;
        self.start += bytes;
        self.at += bytes as u64;
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end > RECORD_BYTES_MAX {
            let what = format!(
                "the record that begins at line {} is longer than {RECORD_BYTES_MAX} bytes: is a quote not closed?",
                self.line
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        if self.buffer.len() < self.end + READ_BYTES {
            self.buffer
                .resize((self.end + READ_BYTES).max(self.end * 2), 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_over = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

/// `seen`: bytes that were looked at before.
fn line_end(bytes: &[u8], seen: usize) -> RecordEnd {
    let rest = bytes.get(seen..).unwrap_or_default();
    match rest.iter().position(|byte| *byte == b'\n') {
        Some(end) => RecordEnd::End(without_return(bytes, seen + end), seen + end + 1),
        None => RecordEnd::More,
    }
}

fn without_return(bytes: &[u8], end: usize) -> usize {
    match end.checked_sub(1).and_then(|last| bytes.get(last)) {
        Some(b'\r') => end - 1,
        _ => end,
    }
}

fn quoted_end(bytes: &[u8]) -> RecordEnd {
    /// Where in a field a byte stands.
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Begin,
        Bare,
        Inside,
        /// Behind a quote within quotes: the field's end, or the first of two.
        Quote,
    }
    let mut state = At::Begin;
    for (at, byte) in bytes.iter().enumerate() {
        state = match (state, byte) {
            (At::Inside, b'"') => At::Quote,
            (At::Inside, _) => At::Inside,
            (_, b'\n') => return RecordEnd::End(without_return(bytes, at), at + 1),
            (_, b',') => At::Begin,
            (At::Begin | At::Quote, b'"') => At::Inside,
            _ => At::Bare,
        };
    }
    RecordEnd::More
}
