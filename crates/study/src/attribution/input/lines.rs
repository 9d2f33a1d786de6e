//! Lines of a file, of a bounded length.

use std::io::{self, BufRead, BufReader, Read};

use crate::attribution::limits::RECORD_BYTES_MAX;

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// The lines of a file.
pub(super) struct LineReader {
    read: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    number: u64,
}

/// What the next line is.
pub(super) enum Line<'a> {
    /// Its bytes without blanks at its ends, and its number.
    Text(&'a [u8], u64),
    /// A line above the bound, with its number. Its bytes are skipped.
    TooLong(u64),
    /// The file cannot be read further.
    Cut(String),
    /// The file has ended.
    End,
}

impl LineReader {
    pub(super) fn new(read: Box<dyn Read>) -> LineReader {
        LineReader {
            read: BufReader::with_capacity(BUFFER_BYTES, read),
            line: Vec::new(),
            number: 0,
        }
    }

    /// Reads the next line that is not empty.
    pub(super) fn next(&mut self) -> Line<'_> {
        loop {
            self.line.clear();
            let most = RECORD_BYTES_MAX as u64 + 1;
            let read = self
                .read
                .by_ref()
                .take(most)
                .read_until(b'\n', &mut self.line);
            match read {
                Ok(0) => return Line::End,
                Ok(_) => self.number += 1,
                Err(error) => return Line::Cut(error.to_string()),
            }
            if self.line.len() > RECORD_BYTES_MAX && !self.line.ends_with(b"\n") {
                return match self.skip() {
                    Ok(()) => Line::TooLong(self.number),
                    Err(error) => Line::Cut(error.to_string()),
                };
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        Line::Text(self.line.trim_ascii(), self.number)
    }

    /// Skips the rest of a line.
    fn skip(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.read.fill_buf()?;
            let end = memchr::memchr(b'\n', buffer);
            let count = end.map_or(buffer.len(), |end| end + 1);
            self.read.consume(count);
            if end.is_some() || count == 0 {
                return Ok(());
            }
        }
    }
}
