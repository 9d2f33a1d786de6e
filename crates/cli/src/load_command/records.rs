//! Cuts the bytes of an input into records: lines, CSV records with line ends in quotes, XML documents.
//!
//! Limits: a record has at most [`RECORD_BYTES_MAX`] bytes; reading is 1 MiB at a time.

use std::io::{self, Read};
use std::ops::Range;

use super::xmlpipe;

/// Longest record, in bytes: a larger row could not be sent.
const RECORD_BYTES_MAX: usize = wire::limits::PACKET_BYTES_MAX / 2;

const READ_BYTES: usize = 1 << 20;

/// Mark at which records end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// A line end.
    Lines,
    /// A line end outside quotes; a quote opens only at the beginning of a field.
    Quoted,
    /// `</sphinx:document>`.
    Documents,
}

/// Place of a record in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Range of its bytes in the buffer, without the line end.
    within: Range<usize>,
    /// Line at which it begins, from 1.
    pub(super) line: u64,
    /// Byte at which it begins, from 0.
    pub(super) from: u64,
    /// Byte at which the next record begins.
    pub(super) to: u64,
}

/// An input that is being cut.
pub(super) struct Records {
    input: Box<dyn Read>,
    cut: Cut,
    buffer: Vec<u8>,
    /// `buffer[start..end]` has been read and is not cut yet.
    start: usize,
    end: usize,
    /// Offset of `buffer[start]` in the input.
    at: u64,
    /// Line of `buffer[start]`, from 1.
    line: u64,
    is_over: bool,
}

/// Result of a search for the end of a record.
pub(super) enum RecordEnd {
    /// The record ends before the first offset; the next record begins at the second.
    End(usize, usize),
    /// No record begins before this offset: skip the bytes.
    Nothing(usize),
    /// The record does not end in the bytes read so far.
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

    /// Byte at which the next record begins.
    pub(super) fn place(&self) -> u64 {
        self.at
    }

    /// The record's bytes. Valid until the next call of [`Records::next`].
    pub(super) fn bytes(&self, span: &Span) -> &[u8] {
        self.buffer.get(span.within.clone()).unwrap_or_default()
    }

    /// The next record; `None`: the input has ended. Errors: the input's, and a record above [`RECORD_BYTES_MAX`].
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

    /// Skips to the byte at which a record begins; false: the input ends before it.
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

    /// Moves past `bytes` bytes and counts their lines.
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

/// Searches a line end. `seen` bytes were searched before.
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
    /// State of the search within a field.
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Begin,
        Bare,
        Inside,
        /// Behind a quote within quotes: it ends the field, or is the first of two.
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
