//! CSV (RFC 4180, with `\n` between lines), and lines that begin with `#`, as docs/report.md says.
//!
//! Numbers have all their digits and no unit. A field is quoted if it holds the separator, a quote or the end of a line, or begins
//! with `#`. Texts are as they came.

use crate::document::{Cell, Document, Table};
use crate::escape::{put, visible};
use crate::number::exact;

impl Document {
    /// The title and the notes as lines of comment, then facts, the values of pictures and tables, each with its name.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut out = format!("# {}\n", visible(&self.title));
        for note in &self.notes {
            put(&mut out, format_args!("# {}\n", visible(note)));
        }
        if !self.facts.is_empty() {
            out += "\n# facts\nname,value\n";
            for fact in &self.facts {
                line(
                    &mut out,
                    [fact.name.clone(), exact(&fact.value)].into_iter(),
                    ',',
                );
            }
        }
        for section in &self.sections {
            let pictures = section.pictures.iter().map(|picture| picture.values());
            for table in pictures.chain(section.tables.iter().cloned()) {
                put(
                    &mut out,
                    format_args!("\n# {}\n{}", visible(&table.name), table.csv(',')),
                );
            }
        }
        out
    }
}

impl Table {
    /// The names of the columns, then a line for each row.
    #[must_use]
    pub fn csv(&self, separator: char) -> String {
        let mut out = String::new();
        line(
            &mut out,
            self.columns.iter().map(|column| column.name.clone()),
            separator,
        );
        for row in &self.rows {
            let cells = (0..self.columns.len())
                .map(|column| exact(row.get(column).unwrap_or(&Cell::Nothing)));
            line(&mut out, cells, separator);
        }
        out
    }
}

fn line(out: &mut String, fields: impl Iterator<Item = String>, separator: char) {
    let begin = out.len();
    for (number, field) in fields.enumerate() {
        if number > 0 {
            out.push(separator);
        }
        if field.contains([separator, '"', '\n', '\r']) || field.starts_with('#') {
            put(out, format_args!("\"{}\"", field.replace('"', "\"\"")));
        } else {
            *out += &field;
        }
    }
    // A line without a letter would be skipped by readers.
    if out.len() == begin {
        *out += "\"\"";
    }
    out.push('\n');
}
