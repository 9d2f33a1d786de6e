//! The rows of a file.

use std::io::BufRead;

use serde_json::Value as Json;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Ndjson,
    Csv,
    Tsv,
}

impl Format {
    /// By the file's name, else as told.
    pub(super) fn of(file: &str, named: Option<&str>) -> Result<Format, String> {
        let end = file.rsplit_once('.').map(|(_, end)| end.to_lowercase());
        match end.as_deref().filter(|_| file != "-") {
            Some("ndjson" | "jsonl" | "json") => return Ok(Format::Ndjson),
            Some("csv") => return Ok(Format::Csv),
            Some("tsv") => return Ok(Format::Tsv),
            _ => {}
        }
        match named {
            Some("csv") => Ok(Format::Csv),
            Some("tsv") => Ok(Format::Tsv),
            Some(_) => Ok(Format::Ndjson),
            None => Err(format!("{file}: say --format ndjson, csv or tsv")),
        }
    }
}

/// A value as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    /// Digits, as SQL takes them.
    Number(String),
    Text(String),
}

/// A row, with the line it begins at.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) line: u64,
    /// By column, names in lower case.
    pub(super) cells: Vec<(String, Cell)>,
}

impl Row {
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.cells.iter().map(|(name, _)| name)
    }

    /// The text of a column, if it has one.
    pub(super) fn text(&self, column: &str) -> Option<&str> {
        match self.cells.iter().find(|(name, _)| name == column)? {
            (_, Cell::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// A row that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadRow {
    pub(super) line: u64,
    pub(super) what: String,
    /// Nothing behind it can be read either.
    pub(super) is_last: bool,
}

/// The rows of one file, one after the other.
pub(super) struct Reader(Box<dyn Iterator<Item = Result<Row, BadRow>>>);

impl Reader {
    /// Errors: the first line of a CSV file cannot be read.
    pub(super) fn new(format: Format, input: impl BufRead + 'static) -> Result<Reader, String> {
        Ok(match format {
            Format::Ndjson => Reader(Box::new(ndjson(input))),
            Format::Csv => Reader(Box::new(separated(b',', input)?)),
            Format::Tsv => Reader(Box::new(separated(b'\t', input)?)),
        })
    }
}

impl Iterator for Reader {
    type Item = Result<Row, BadRow>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

fn ndjson(input: impl BufRead) -> impl Iterator<Item = Result<Row, BadRow>> {
    (1..).zip(input.split(b'\n')).filter_map(|(line, bytes)| {
        let bad = |what: String, is_last| BadRow {
            line,
            what,
            is_last,
        };
        let bytes = match bytes {
            Ok(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => return None,
            Ok(bytes) => bytes,
            Err(error) => return Some(Err(bad(error.to_string(), true))),
        };
        Some(match serde_json::from_slice::<Json>(&bytes) {
            Ok(Json::Object(object)) => {
                let cells = object.into_iter();
                let cells = cells.map(|(name, value)| (name.to_lowercase(), cell(value)));
                Ok(Row {
                    line,
                    cells: cells.collect(),
                })
            }
            Ok(_) => Err(bad("not a JSON object".to_owned(), false)),
            Err(error) => Err(bad(format!("not JSON: {error}"), false)),
        })
    })
}

/// Lists and objects stay JSON; a list of texts is written with commas, as tags are.
fn cell(value: Json) -> Cell {
    match value {
        Json::Null => Cell::Null,
        Json::Bool(truth) => Cell::Number(u8::from(truth).to_string()),
        Json::Number(number) => Cell::Number(number.to_string()),
        Json::String(text) => Cell::Text(text),
        Json::Array(items) if items.iter().all(Json::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
            Cell::Text(items.join(","))
        }
        other => Cell::Text(other.to_string()),
    }
}

fn separated(
    separator: u8,
    input: impl BufRead,
) -> Result<impl Iterator<Item = Result<Row, BadRow>>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .quoting(separator == b',')
        .from_reader(input);
    let headers = reader.headers().map_err(|error| error.to_string())?;
    let names: Vec<String> = headers
        .iter()
        .map(|name| name.trim_start_matches('\u{feff}').trim().to_lowercase())
        .collect();
    let row = move |record: csv::Result<csv::StringRecord>| match record {
        Ok(record) => {
            let cells = names.iter().zip(&record);
            let cells = cells.map(|(name, text)| (name.clone(), separated_cell(separator, text)));
            Ok(Row {
                line: record.position().map_or(0, csv::Position::line),
                cells: cells.collect(),
            })
        }
        Err(error) => Err(BadRow {
            line: error.position().map_or(0, csv::Position::line),
            is_last: error.is_io_error(),
            what: error.to_string(),
        }),
    };
    Ok(reader.into_records().map(row))
}

/// In TSV, as `mysql --batch` writes it, NULL is the word, and backslashes stand before n, t, 0 and themselves.
fn separated_cell(separator: u8, text: &str) -> Cell {
    if separator != b'\t' {
        return Cell::Text(text.to_owned());
    }
    if matches!(text, "NULL" | "\\N") {
        return Cell::Null;
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => out.extend(letters.next().map(|letter| match letter {
                'n' => '\n',
                't' => '\t',
                '0' => '\0',
                other => other,
            })),
            (letter, false) => out.push(letter),
        }
    }
    Cell::Text(out)
}
