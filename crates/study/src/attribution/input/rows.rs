//! Records of CSV with their lines.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::Source;
use crate::attribution::limits::RECORD_BYTES_MAX;
use crate::decode::decoded;

/// Bytes in which the end of the header must be.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// Bytes that the reader of CSV takes at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// Characters that may part fields.
const SEPARATORS: [u8; 3] = *b",;\t";

/// The records of a file.
pub(super) struct Rows {
    reader: Reader<Guarded>,
    record: ByteRecord,
    since: Rc<Cell<usize>>,
    names: Vec<String>,
    separator: u8,
}

/// What the next record is.
pub(super) enum Row<'a> {
    /// Fields, and the line on which they begin.
    Record(&'a ByteRecord, u64),
    /// The file cannot be read further.
    Cut(String),
    /// The file has ended.
    End,
}

/// Ends the reading if a record has no end: a quote that is not closed would otherwise take the rest of the file into memory.
struct Guarded {
    read: Box<dyn Read>,
    since: Rc<Cell<usize>>,
}

impl Read for Guarded {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.since.get() > RECORD_BYTES_MAX + BUFFER_BYTES {
            return Err(io::Error::other(
                "a record is longer than 1 MiB: a quote may not be closed",
            ));
        }
        let count = self.read.read(room)?;
        self.since.set(self.since.get() + count);
        Ok(count)
    }
}

impl Rows {
    /// Reads the header: names in lower case. The separator is the one of comma, semicolon and tab that it has most often.
    ///
    /// # Errors
    /// The file cannot be read, or has no header.
    pub(super) fn open(source: Source) -> Result<Rows, String> {
        let failed = |error: io::Error| format!("{}: {error}", source.name);
        let mut read = decoded(source.read).map_err(failed)?;
        let mut head = Vec::new();
        let mut byte = [0; 4_096];
        while !head.contains(&b'\n') && head.len() < HEADER_BYTES_MAX {
            match read.read(&mut byte) {
                Ok(0) => break,
                Ok(count) => head.extend_from_slice(&byte[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        let head = head
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&head)
            .to_owned();
        let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let number = |separator: &u8| first.iter().filter(|byte| *byte == separator).count();
        let most = SEPARATORS.iter().map(number).max().unwrap_or_default();
        let separator = SEPARATORS
            .iter()
            .find(|separator| number(separator) == most);
        let separator = separator.copied().unwrap_or(b',');
        let since = Rc::new(Cell::new(0));
        let guarded = Guarded {
            read: Box::new(Cursor::new(head).chain(read)),
            since: Rc::clone(&since),
        };
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .flexible(true)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(guarded);
        let names = match reader.byte_headers() {
            Ok(names) => names
                .iter()
                .map(|name| String::from_utf8_lossy(name).trim().to_lowercase())
                .collect(),
            Err(error) => return Err(format!("{}: {error}", source.name)),
        };
        Ok(Rows {
            reader,
            record: ByteRecord::new(),
            since,
            names,
            separator,
        })
    }

    /// The column that has one of these names.
    pub(super) fn column(&self, names: &[&str]) -> Option<usize> {
        self.names
            .iter()
            .position(|name| names.contains(&name.as_str()))
    }

    /// The names of the columns, for a message.
    pub(super) fn names(&self) -> String {
        self.names.join(", ")
    }

    /// The separator of the fields.
    pub(super) fn separator(&self) -> u8 {
        self.separator
    }

    /// Reads the next record.
    pub(super) fn next(&mut self) -> Row<'_> {
        self.since.set(0);
        match self.reader.read_byte_record(&mut self.record) {
            Ok(true) => {
                let line = self.record.position().map_or(0, csv::Position::line);
                Row::Record(&self.record, line)
            }
            Ok(false) => Row::End,
            Err(error) => Row::Cut(error.to_string()),
        }
    }
}

/// A record as text, for an example.
pub(super) fn text_of(record: &ByteRecord, separator: u8) -> String {
    let fields: Vec<String> = record
        .iter()
        .map(|field| String::from_utf8_lossy(field).into_owned())
        .collect();
    fields.join(&char::from(separator).to_string())
}

/// A field without blanks around it; empty where it is missing.
pub(super) fn field(record: &ByteRecord, column: Option<usize>) -> &[u8] {
    column
        .and_then(|column| record.get(column))
        .unwrap_or_default()
        .trim_ascii()
}
