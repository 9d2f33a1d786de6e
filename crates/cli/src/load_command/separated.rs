//! CSV by RFC 4180, TSV as `mysql --batch` writes it, and plain lines.
//!
//! The crate `csv` takes a quote that is not closed and text behind a closing quote as they come. Here they are refused, with the record
//! as it was read, and TSV has escapes and NULL, which that crate does not know.

use super::row::{Cell, Row, Unreadable};

/// The column names of a first line.
pub(super) fn names(record: &[u8], is_csv: bool) -> Result<Vec<String>, Unreadable> {
    let record = record.strip_prefix(b"\xef\xbb\xbf").unwrap_or(record);
    let mut row = Row::default();
    let read = match is_csv {
        true => csv(record, None, &mut row),
        false => tsv(record, None, &mut row),
    };
    read?;
    let names = row.cells().iter().map(|cell| match cell {
        Cell::Text(name) => name.trim().to_lowercase(),
        _ => String::new(),
    });
    let names: Vec<String> = names.collect();
    match names.iter().position(String::is_empty) {
        None => Ok(names),
        Some(place) => Err(Unreadable(format!("column {} has no name", place + 1))),
    }
}

/// Adds cells to a row, each under the next name.
struct Cells<'r> {
    row: &'r mut Row,
    names: Option<&'r [String]>,
    count: usize,
}

impl Cells<'_> {
    fn put(&mut self, cell: Option<&str>) {
        let name = match self.names {
            None => "",
            Some(names) => match names.get(self.count) {
                Some(name) => name,
                None => {
                    self.count += 1; // the end reports a wrong count
                    return;
                }
            },
        };
        self.count += 1;
        self.row.name(name);
        match cell {
            Some(text) => self.row.text_cell(text),
            None => self.row.cell(Cell::Null),
        }
    }

    fn end(self) -> Result<(), Unreadable> {
        match self.names {
            Some(names) if names.len() != self.count => Err(Unreadable(format!(
                "{} fields, {} columns",
                self.count,
                names.len()
            ))),
            _ => Ok(()),
        }
    }
}

fn text(bytes: &[u8]) -> Result<&str, Unreadable> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Unreadable(format!("not UTF-8 at byte {at}"))
    })
}

/// Parses a record of CSV.
pub(super) fn csv(
    record: &[u8],
    names: Option<&[String]>,
    row: &mut Row,
) -> Result<(), Unreadable> {
    let mut rest = text(record)?;
    let mut cells = Cells {
        row,
        names,
        count: 0,
    };
    let mut unquoted = String::new();
    loop {
        let Some(quoted) = rest.strip_prefix('"') else {
            let end = rest.find(',').unwrap_or(rest.len());
            cells.put(rest.get(..end));
            match rest.get(end + 1..) {
                Some(next) => rest = next,
                None => return cells.end(),
            }
            continue;
        };
        unquoted.clear();
        rest = quoted;
        loop {
            let end = rest.find('"');
            let end = end.ok_or_else(|| Unreadable("a quote is not closed".to_owned()))?;
            unquoted.push_str(rest.get(..end).unwrap_or_default());
            rest = rest.get(end + 1..).unwrap_or_default();
            match rest.strip_prefix('"') {
                Some(next) => {
                    unquoted.push('"');
                    rest = next;
                }
                None => break,
            }
        }
        cells.put(Some(&unquoted));
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None if rest.is_empty() => return cells.end(),
            None => return Err(Unreadable("text behind a closing quote".to_owned())),
        }
    }
}

/// Parses a line of TSV. The word NULL is NULL. `\n`, `\t`, `\0` and `\\` are escapes.
pub(super) fn tsv(
    record: &[u8],
    names: Option<&[String]>,
    row: &mut Row,
) -> Result<(), Unreadable> {
    let mut cells = Cells {
        row,
        names,
        count: 0,
    };
    let mut out = String::new();
    for field in text(record)?.split('\t') {
        if matches!(field, "NULL" | "\\N") {
            cells.put(None);
        } else if field.contains('\\') {
            unescape(field, &mut out);
            cells.put(Some(&out));
        } else {
            cells.put(Some(field));
        }
    }
    cells.end()
}

fn unescape(field: &str, out: &mut String) {
    out.clear();
    let mut letters = field.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next().map(|letter| match letter {
                'n' => '\n',
                't' => '\t',
                '0' => '\0',
                other => other,
            })),
            letter => out.push(letter),
        }
    }
}

/// Makes a row with one column, which is the line.
pub(super) fn line(record: &[u8], column: &str, row: &mut Row) -> Result<(), Unreadable> {
    let text = text(record)?;
    row.name(column);
    row.text_cell(text);
    Ok(())
}
