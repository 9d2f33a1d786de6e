//! A block of bytes to records.
//!
//! A record is one line, or a sphinxql statement that goes over several lines:
//!
//! ```text
//! [Fri Jun 29 21:17:58 2007] 0.004 sec [all/0/rel 35254 (0,20)] [lj] test      record 1
//! /* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 */ UPDATE rt               record 2, 2 lines
//! SET a=1 WHERE id=1;
//! rubbish                                                                      record 3: of unknown form
//! ```
//!
//! - A line belongs to the statement above it if that statement has no end yet and the line begins no record itself.
//! - A statement ends with a line that ends in `;` or `*/`, or that has the mark of an error.
//! - A record has at most [`RECORD_BYTES_MAX`] bytes. A longer line is [`Framed::TooLong`].
//!
//! Whether a line begins a record depends on that line alone. So a block may be cut before any such line, and the records are the
//! same however a log is cut into blocks.

use super::limits::RECORD_BYTES_MAX;
use super::line::begins_record;

/// A record and its place in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Lines of the block before this record.
    pub lines_before: u64,
    /// Lines of the record, at least 1.
    pub lines: u64,
    /// Its bytes, or that it has too many.
    pub framed: Framed<'a>,
}

/// The text of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framed<'a> {
    /// The bytes without the last line end.
    Text(&'a [u8]),
    /// A line above the bound; its bytes are skipped.
    TooLong,
}

/// The records of a block. A last line without a line end is a record too.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    rest: &'a [u8],
    lines: u64,
}

impl<'a> Records<'a> {
    /// The records of `block`, which begins with a line.
    pub fn new(block: &'a [u8]) -> Records<'a> {
        Records {
            rest: block,
            lines: 0,
        }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let block = self.rest;
        let lines_before = self.lines;
        let mut end = line_end(block, 0);
        let mut lines = 1;
        let framed = if end > RECORD_BYTES_MAX {
            Framed::TooLong
        } else {
            let first = &block[..end];
            if first.first() == Some(&b'/') && is_open(first) {
                (end, lines) = statement_end(block, end);
            }
            Framed::Text(without_return(&block[..end]))
        };
        self.rest = block.get(end + 1..).unwrap_or_default();
        self.lines += lines;
        Some(Record {
            lines_before,
            lines,
            framed,
        })
    }
}

/// The place of the line end at or after `from`, or the end of the block.
fn line_end(block: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &block[from..]).map_or(block.len(), |length| from + length)
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether a first line has the whole comment of a sphinxql record and the statement behind it has no end.
fn is_open(first: &[u8]) -> bool {
    !ends_statement(first) && begins_record(first) && memchr::memmem::find(first, b"*/").is_some()
}

fn ends_statement(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.ends_with(b";")
        || line.ends_with(b"*/")
        || memchr::memmem::find(line, b" # error=").is_some()
}

/// The end of an open statement whose first line ends at `first_end`, and the number of its lines.
fn statement_end(block: &[u8], first_end: usize) -> (usize, u64) {
    let (mut end, mut lines) = (first_end, 1);
    while end + 1 < block.len() {
        let next_end = line_end(block, end + 1);
        let next = &block[end + 1..next_end];
        if begins_record(next) || next_end > RECORD_BYTES_MAX {
            break;
        }
        (end, lines) = (next_end, lines + 1);
        if ends_statement(next) {
            break;
        }
    }
    (end, lines)
}

#[cfg(test)]
mod tests;
