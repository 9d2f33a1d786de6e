//! One record to one [`Entry`] and back.

mod counters;
mod cursor;
mod json;
mod lost;
mod plain;
mod request;
mod sphinxql;
mod statement;
mod write;

#[cfg(test)]
mod tests;

pub use lost::{parse_lost, write_lost};
pub use write::{write_json, write_plain, write_sphinxql};

use super::entry::{Entry, Form};

/// Parses a record: one line without its line end, or the lines of one statement. `None` is an unknown form.
///
/// Cost: one pass over the record; a plain or sphinxql line allocates only for escapes in its MATCH.
pub fn parse(record: &[u8]) -> Option<(Form, Entry<'_>)> {
    let mut entry = Entry::default();
    let form = parse_into(record, &mut entry)?;
    Some((form, entry))
}

/// As [`parse`], into an entry that is used again and again: it is half a kilobyte, and moving it costs as much as parsing a plain
/// line. After `None` the entry has some of the fields.
pub fn parse_into<'a>(record: &'a [u8], entry: &mut Entry<'a>) -> Option<Form> {
    *entry = Entry::default();
    match record.first()? {
        b'[' => plain::parse(record, entry).map(|()| Form::Plain),
        b'/' => sphinxql::parse(record, entry).map(|()| Form::Sphinxql),
        b'{' => json::parse(record, entry).map(|()| Form::Json),
        _ => None,
    }
}

/// Whether a line begins a record. A line that does not belongs to the statement above it, or is of unknown form.
pub(crate) fn begins_record(line: &[u8]) -> bool {
    match line.first() {
        Some(b'[') => begins_with_date(&line[1..]),
        Some(b'/') => line.strip_prefix(b"/* ").is_some_and(begins_with_date),
        Some(b'{') => line.get(1) == Some(&b'"'),
        Some(_) | None => false,
    }
}

/// Whether a statement is the body of a JSON request.
pub(crate) fn begins_object(statement: &[u8]) -> bool {
    statement.trim_ascii_start().first() == Some(&b'{')
}

/// Whether `text` begins like `Fri Jun `: two words of three letters.
fn begins_with_date(text: &[u8]) -> bool {
    let Some(date) = text.first_chunk::<8>() else {
        return false;
    };
    let letters = |range: std::ops::Range<usize>| date[range].iter().all(u8::is_ascii_alphabetic);
    letters(0..3) && letters(4..7) && date[3] == b' ' && date[7] == b' '
}
