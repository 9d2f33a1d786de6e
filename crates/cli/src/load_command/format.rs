//! The format of a file, and the reader of its rows.

use std::io;

use super::input::{Input, unpacked};
use super::records::{Cut, Records, Span};
use super::row::{Row, Unreadable};
use super::{ndjson, separated, xmlpipe};

/// Format of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Ndjson,
    Csv,
    Tsv,
    /// Each line is a value of this column.
    Lines(String),
    Xmlpipe2,
}

/// Values of `--format`.
pub(super) const FORMATS: [&str; 5] = ["ndjson", "csv", "tsv", "lines", "xmlpipe2"];

impl Format {
    /// The format that `--format` names, else that of the file's name. `column` is the column of plain lines.
    pub(super) fn of(
        file: &str,
        named: Option<&str>,
        column: Option<&str>,
    ) -> Result<Format, String> {
        if let Some(column) = column {
            return Ok(Format::Lines(column.to_lowercase()));
        }
        let end = unpacked(file)
            .rsplit_once('.')
            .map(|(_, end)| end.to_lowercase());
        let end = end.as_deref().filter(|_| file != "-");
        match named.or(end) {
            Some("ndjson" | "jsonl" | "json") => Ok(Format::Ndjson),
            Some("csv") => Ok(Format::Csv),
            Some("tsv") => Ok(Format::Tsv),
            Some("xml" | "xmlpipe2") => Ok(Format::Xmlpipe2),
            Some("lines" | "txt") => Err(format!(
                "{file}: --lines COLUMN names the column of plain lines"
            )),
            _ => Err(format!("{file}: say --format {}", FORMATS.join(", "))),
        }
    }

    fn cut(&self) -> Cut {
        match self {
            Format::Csv => Cut::Quoted,
            Format::Xmlpipe2 => Cut::Documents,
            Format::Ndjson | Format::Tsv | Format::Lines(_) => Cut::Lines,
        }
    }
}

/// Reads the rows of a file.
pub(super) struct Reader {
    format: Format,
    records: Records,
    names: Vec<String>,
    /// The first line, which names the columns; empty without one.
    head: Vec<u8>,
}

impl Reader {
    /// Opens a reader. `columns` are the column names, if the file does not begin with them.
    pub(super) fn new(
        format: Format,
        input: Input,
        columns: Option<&[String]>,
    ) -> Result<Reader, String> {
        let mut records = Records::new(input.bytes, format.cut());
        let (mut names, mut head) = (Vec::new(), Vec::new());
        let is_csv = format == Format::Csv;
        if let (true, Some(columns)) = (is_csv || format == Format::Tsv, columns) {
            names = columns.to_vec();
        } else if is_csv || format == Format::Tsv {
            let first = records.next().map_err(|error| error.to_string())?;
            if let Some(first) = first {
                head = records.bytes(&first).to_vec();
                let read = separated::names(&head, is_csv);
                names = read.map_err(|Unreadable(what)| format!("the columns' names: {what}"))?;
            }
        }
        Ok(Reader {
            format,
            records,
            names,
            head,
        })
    }

    /// The line that names the columns; empty without one.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Skips to the byte at which a row begins; false: the input ends before it.
    pub(super) fn skip_to(&mut self, place: u64) -> io::Result<bool> {
        self.records.skip_to(place)
    }

    /// Byte offset of the next row.
    pub(super) fn place(&self) -> u64 {
        self.records.place()
    }

    /// Reads the next row, or its error. Skips empty lines of NDJSON and CSV.
    pub(super) fn next(
        &mut self,
        row: &mut Row,
    ) -> io::Result<Option<(Span, Result<(), Unreadable>)>> {
        loop {
            let Some(span) = self.records.next()? else {
                return Ok(None);
            };
            let bytes = self.records.bytes(&span);
            let skips_empty = matches!(self.format, Format::Ndjson | Format::Csv);
            if skips_empty && bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            row.clear();
            let read = match &self.format {
                Format::Ndjson => ndjson::read(bytes, row),
                Format::Csv => separated::csv(bytes, Some(&self.names), row),
                Format::Tsv => separated::tsv(bytes, Some(&self.names), row),
                Format::Lines(column) => separated::line(bytes, column, row),
                Format::Xmlpipe2 => xmlpipe::read(bytes, row),
            };
            return Ok(Some((span, read)));
        }
    }

    /// The row as written in the file.
    pub(super) fn bytes(&self, span: &Span) -> &[u8] {
        self.records.bytes(span)
    }
}
