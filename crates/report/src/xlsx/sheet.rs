//! A sheet: a bold line of names that stays in sight, then the rows.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::document::{Cell, Table, Unit};
use crate::escape::{cut, markup};
use crate::number::exact;

/// The namespace of workbooks and sheets.
pub(super) const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

/// Formats of our own have numbers above this one; the number of digits behind the point is added.
pub(super) const DECIMAL_FORMAT: usize = 164;

/// Built-in formats: as typed, `1,234`, `12.34%`.
const GENERAL: usize = 0;
const GROUPED: usize = 3;
const PERCENT: usize = 10;

/// Digits behind the point that have a format.
const PLACES_MAX: u8 = 9;

/// Characters of a cell.
const TEXT_CHARS_MAX: usize = 32_767;

/// Whole numbers up to this one, and down to its negative, are exact as a `double`.
const WHOLE_MAX: i64 = 1 << 53;

/// Rows that say how wide a column is, and the widest one in characters.
const MEASURED_ROWS: usize = 1_000;
const WIDTH_MAX: usize = 60;

/// Whether a text of the table is longer than a cell.
pub(super) fn has_long_text(table: &Table) -> bool {
    let is_long = |cell: &Cell| match cell {
        Cell::Text(text) => fitting(text).1,
        Cell::Nothing | Cell::Whole(_) | Cell::Decimal(_) => false,
    };
    table.rows.iter().flatten().any(is_long)
}

/// A text that fits into a cell, and whether it was cut.
fn fitting(text: &str) -> (Cow<'_, str>, bool) {
    // A unit of UTF-16 is a character here.
    if text.len() <= TEXT_CHARS_MAX || text.encode_utf16().count() <= TEXT_CHARS_MAX {
        return (Cow::Borrowed(text), false);
    }
    let mut room = TEXT_CHARS_MAX;
    let chars = text.chars().take_while(|c| {
        let left = room.checked_sub(c.len_utf16());
        room = left.unwrap_or(0);
        left.is_some()
    });
    (Cow::Owned(cut(text, chars.count())), true)
}

/// The formats of cells, by style.
pub(super) fn formats() -> Vec<usize> {
    let decimals = (1..=PLACES_MAX).map(|places| DECIMAL_FORMAT + usize::from(places));
    [GENERAL, GROUPED, PERCENT]
        .into_iter()
        .chain(decimals)
        .collect()
}

/// The style of a number below a unit: its place among [`formats`].
pub(super) fn format_of(unit: Unit) -> usize {
    match unit {
        Unit::Whole | Unit::Bytes | Unit::Decimal { places: 0 } => 1,
        Unit::Share => 2,
        Unit::Decimal { places } => 2 + usize::from(places.min(PLACES_MAX)),
        // A time has too many sizes for one number of digits.
        Unit::Text | Unit::Seconds => 0,
    }
}

/// Writes a table as a sheet.
pub(super) fn sheet(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">"#
    )?;
    out.write_all(
        concat!(
            r#"<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>"#,
            r#"</sheetView></sheetViews>"#,
        )
        .as_bytes(),
    )?;
    widths(table, out)?;
    out.write_all(br#"<sheetData><row r="1">"#)?;
    for (at, column) in table.columns.iter().enumerate() {
        text(&column.name, (at, 1), Some(formats().len()), out)?;
    }
    out.write_all(b"</row>")?;
    for (row, cells) in table.rows.iter().enumerate() {
        let number = row + 2;
        write!(out, r#"<row r="{number}">"#)?;
        for (at, (cell, column)) in cells.iter().zip(&table.columns).enumerate() {
            match cell {
                Cell::Text(words) => text(words, (at, number), None, out)?,
                Cell::Whole(whole) if whole.unsigned_abs() > WHOLE_MAX.unsigned_abs() => {
                    text(&whole.to_string(), (at, number), None, out)?;
                }
                Cell::Nothing | Cell::Whole(_) | Cell::Decimal(_) => {
                    let digits = exact(cell);
                    if !digits.is_empty() {
                        let (name, style) = (name_of(at), format_of(column.unit));
                        write!(
                            out,
                            r#"<c r="{name}{number}" s="{style}"><v>{digits}</v></c>"#
                        )?;
                    }
                }
            }
        }
        out.write_all(b"</row>")?;
    }
    out.write_all(b"</sheetData></worksheet>")
}

/// A cell of words.
fn text(
    words: &str,
    (column, row): (usize, usize),
    style: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (words, _) = fitting(words);
    let style = style.map_or(String::new(), |style| format!(r#" s="{style}""#));
    write!(
        out,
        r#"<c r="{}{row}"{style} t="inlineStr"><is><t xml:space="preserve">{}</t></is></c>"#,
        name_of(column),
        escaped(&words)
    )
}

/// Markup whose text a program shows as it is. A program reads `_x0041_` as `A`, and XML lacks two characters.
fn escaped(words: &str) -> String {
    let markup = markup(words)
        .replace('\u{fffe}', "\\u{fffe}")
        .replace('\u{ffff}', "\\u{ffff}");
    let mut out = String::with_capacity(markup.len());
    let mut rest = markup.as_str();
    while let Some(at) = rest.find("_x") {
        let (before, behind) = rest.split_at(at);
        out += before;
        let digits = behind.as_bytes().get(2..6);
        let is_code = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            && behind.as_bytes().get(6) == Some(&b'_');
        out += if is_code { "_x005F_x" } else { "_x" };
        rest = &behind[2..];
    }
    out + rest
}

fn widths(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    if table.columns.is_empty() {
        return Ok(());
    }
    out.write_all(b"<cols>")?;
    for (at, column) in table.columns.iter().enumerate() {
        let rows = table.rows.iter().take(MEASURED_ROWS);
        let cells = rows.filter_map(|row| row.get(at));
        let chars = cells.map(|cell| exact(cell).chars().take(WIDTH_MAX).count());
        let name = column.name.chars().take(WIDTH_MAX).count();
        let (number, width) = (at + 1, chars.max().unwrap_or(0).max(name) + 2);
        write!(
            out,
            r#"<col min="{number}" max="{number}" width="{width}" customWidth="1"/>"#
        )?;
    }
    out.write_all(b"</cols>")
}

/// The letters of a column, from 0: `A`, `Z`, `AA`.
pub(super) fn name_of(mut column: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'A' + (column % 26) as u8));
        if column < 26 {
            break;
        }
        column = column / 26 - 1;
    }
    letters.iter().rev().collect()
}
