//! Workbooks, read back: the archive by its directory, the sheets by a reader of XML.

use std::collections::HashMap;
use std::io::Read as _;

use flate2::CrcReader;
use flate2::read::DeflateDecoder;
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;

use super::sheet::name_of;
use super::{SHEET_ROWS_MAX, WorkbookError};
use crate::number::exact;
use crate::{Cell, Column, Document, Fact, Section, Table, Unit};

fn document(tables: Vec<Table>) -> Document {
    Document {
        title: "A report".to_owned(),
        notes: vec!["=a note".to_owned()],
        facts: vec![Fact::new("orders", "Orders", Unit::Whole, 12_u64)],
        sections: vec![Section {
            tables,
            ..Section::default()
        }],
    }
}

fn table(name: &str, columns: &[(&str, Unit)], rows: Vec<Vec<Cell>>) -> Table {
    let columns = columns
        .iter()
        .map(|(name, unit)| Column::new(*name, *name, *unit));
    Table {
        rows,
        ..Table::new(name, name, columns.collect())
    }
}

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
enum Read {
    Number(f64),
    Text(String),
}

fn text(words: &str) -> Option<Read> {
    Some(Read::Text(words.to_owned()))
}

/// The cells of a sheet by their names, as a reader of XML takes them. It knows no cell but those of numbers and texts.
fn cells(sheet: &str) -> HashMap<String, Read> {
    let mut reader = Reader::from_str(sheet);
    reader.config_mut().check_end_names = true;
    let (mut cells, mut name, mut is_text, mut value) =
        (HashMap::new(), String::new(), false, None);
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return cells,
            Event::Start(tag) if tag.name().as_ref() == "c" => {
                let attribute = |key| {
                    let found = tag.try_get_attribute(key).unwrap()?;
                    Some(found.value.into_owned())
                };
                name = attribute("r").unwrap();
                is_text = attribute("t").is_some_and(|kind| kind == "inlineStr");
            }
            Event::Start(tag) if matches!(tag.name().as_ref(), "v" | "t") => {
                assert_eq!(tag.name().as_ref() == "t", is_text, "{name}");
                value = Some(String::new());
            }
            Event::Text(words) => {
                value.as_mut().unwrap().push_str(&words);
            }
            Event::GeneralRef(reference) => {
                let entity = format!("&{};", &*reference);
                value
                    .as_mut()
                    .unwrap()
                    .push_str(&unescape(&entity).unwrap());
            }
            Event::End(tag) if matches!(tag.name().as_ref(), "v" | "t") => {
                let value = value.take().unwrap();
                let read = match is_text {
                    true => Read::Text(value),
                    false => Read::Number(value.parse().unwrap()),
                };
                assert_eq!(
                    cells.insert(name.clone(), read),
                    None,
                    "{name} is there twice"
                );
            }
            Event::Start(tag) => assert_ne!(tag.name().as_ref(), "f", "a formula"),
            Event::Decl(_) | Event::Empty(_) | Event::End(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// The names of the sheets, in order.
fn sheet_names(document: &Document) -> Vec<String> {
    let mut names = Vec::new();
    let workbook = part(document, "xl/workbook.xml");
    let mut reader = Reader::from_str(&workbook);
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return names,
            Event::Empty(tag) if tag.name().as_ref() == "sheet" => {
                let name = tag.try_get_attribute("name").unwrap().unwrap();
                names.push(unescape(&name.value).unwrap().into_owned());
            }
            _ => {}
        }
    }
}

/// The cells of the sheet with a name.
fn values(document: &Document, sheet: &str) -> HashMap<String, Read> {
    let at = sheet_names(document).iter().position(|name| name == sheet);
    let path = format!("xl/worksheets/sheet{}.xml", at.unwrap() + 1);
    cells(&part(document, &path))
}

/// The parts of an archive by its directory, unpacked, each with the sum and size that the directory tells.
fn parts(bytes: &[u8]) -> Vec<(String, String)> {
    let number = |at: usize, length: usize| {
        let digits = bytes[at..at + length].iter().rev();
        digits.fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    let end = bytes.len() - 22;
    assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
    let (count, mut at) = (number(end + 10, 2), number(end + 16, 4));
    assert_eq!(at + number(end + 12, 4), end);
    let mut parts = Vec::new();
    for _ in 0..count {
        assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
        let (packed, name_bytes, place) =
            (number(at + 20, 4), number(at + 28, 2), number(at + 42, 4));
        let name = &bytes[at + 46..at + 46 + name_bytes];
        assert_eq!(&bytes[place..place + 4], b"PK\x03\x04");
        assert_eq!(
            bytes[place + 4..place + 30],
            bytes[at + 6..at + 32],
            "both headers"
        );
        let begin = place + 30 + name_bytes;
        assert_eq!(&bytes[place + 30..begin], name);
        let mut unpacked = CrcReader::new(DeflateDecoder::new(&bytes[begin..begin + packed]));
        let mut text = String::new();
        unpacked.read_to_string(&mut text).unwrap();
        assert_eq!(number(at + 16, 4), unpacked.crc().sum() as usize);
        assert_eq!(number(at + 24, 4), text.len());
        parts.push((String::from_utf8(name.into()).unwrap(), text));
        at += 46 + name_bytes;
    }
    assert_eq!(at, end);
    parts
}

fn part(document: &Document, path: &str) -> String {
    let parts = parts(&document.xlsx().unwrap());
    parts.into_iter().find(|(name, _)| name == path).unwrap().1
}

#[test]
fn a_text_that_begins_as_a_formula_is_a_text() {
    let words = [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "=HYPERLINK(\"http://x\")",
        "12",
        "<f>1</f>",
        " a ",
    ];
    let rows = words.iter().map(|word| vec![(*word).into()]).collect();
    let document = document(vec![table("channels", &[("=channel", Unit::Text)], rows)]);
    let sheet = values(&document, "channels");
    assert_eq!(sheet.get("A1").cloned(), text("=channel"));
    for (at, word) in words.iter().enumerate() {
        assert_eq!(sheet.get(&format!("A{}", at + 2)).cloned(), text(word));
    }
    assert_eq!(sheet.len(), words.len() + 1);
}

#[test]
fn numbers_are_numbers_with_all_their_digits() {
    let row = vec![
        "Search".into(),
        0.1_f64.into(),
        64.950_000_000_000_1.into(),
        1_234_567_u32.into(),
        f64::NAN.into(),
        Cell::Nothing,
        Cell::Whole(1 << 53),
        Cell::Whole((1 << 53) + 1),
        1e300.into(),
    ];
    let units = [
        ("channel", Unit::Text),
        ("share", Unit::Share),
        ("revenue", Unit::Decimal { places: 2 }),
        ("orders", Unit::Whole),
        ("none", Unit::Seconds),
        ("nothing", Unit::Bytes),
        ("exact", Unit::Whole),
        ("id", Unit::Whole),
        ("large", Unit::Decimal { places: 9 }),
    ];
    let sheet = values(&document(vec![table("t", &units, vec![row])]), "t");
    let expected = [
        ("B2", Some(Read::Number(0.1))),
        ("C2", Some(Read::Number(64.950_000_000_000_1))),
        ("D2", Some(Read::Number(1_234_567.0))),
        ("E2", None),
        ("F2", None),
        ("G2", Some(Read::Number(9_007_199_254_740_992.0))),
        ("H2", text("9007199254740993")),
        ("I2", Some(Read::Number(1e300))),
    ];
    for (name, value) in expected {
        assert_eq!(sheet.get(name).cloned(), value, "{name}");
    }
}

#[test]
fn the_first_sheet_has_title_notes_and_facts() {
    let sheet = values(&document(Vec::new()), "about");
    let row =
        |row: u32| ["A", "B", "C"].map(|letter| sheet.get(&format!("{letter}{row}")).cloned());
    assert_eq!(row(2), [text("title"), text("A report"), text("")]);
    assert_eq!(row(3), [text("note"), text("=a note"), text("")]);
    assert_eq!(
        row(4),
        [text("orders"), Some(Read::Number(12.0)), text("Orders")]
    );
}

#[test]
fn each_table_and_picture_of_the_example_is_a_sheet() {
    let document = Document::example();
    let count = document.tables().count() + document.pictures().count();
    assert_eq!(sheet_names(&document).len(), 1 + count);
    for table in document.tables() {
        let sheet = values(&document, &table.name);
        let is_there = |cell: &&Cell| !exact(cell).is_empty();
        let cells = table.rows.iter().flatten().filter(is_there).count();
        assert_eq!(sheet.len(), table.columns.len() + cells, "{}", table.name);
    }
    assert_eq!(document.xlsx(), document.xlsx());
}

#[test]
fn names_of_sheets_are_legal_and_each_there_once() {
    let long = "n".repeat(40);
    let wide = "🚒".repeat(16);
    let names = [
        "a/b*c", "A", "a", "History", "", "''", &long, &long, "about", &wide,
    ];
    let tables = names.map(|name| table(name, &[("c", Unit::Text)], Vec::new()));
    let (cut, numbered) = (&long[..31], format!("{}_2", &long[..29]));
    let expected = [
        "about",
        "abc",
        "A",
        "a_2",
        "History_2",
        "table",
        "table_2",
        cut,
        &numbered,
        "about_2",
        &wide[..60],
    ];
    assert_eq!(sheet_names(&document(tables.into())), expected);
}

#[test]
fn a_text_that_no_cell_holds_is_cut_and_said() {
    let long = "a > ".repeat(10_000);
    let document = document(vec![table(
        "paths",
        &[("path", Unit::Text)],
        vec![vec![long.into()]],
    )]);
    let paths = values(&document, "paths");
    let Some(Read::Text(shown)) = paths.get("A2") else {
        panic!("no text");
    };
    assert_eq!(shown.chars().count(), 32_767);
    assert!(shown.ends_with('…'));
    let about = values(&document, "about");
    let is_said = |read: &Read| matches!(read, Read::Text(note) if note.contains("32,767"));
    assert!(about.values().any(is_said), "{about:?}");
}

#[test]
fn a_table_that_no_sheet_holds_is_refused_by_name() {
    let rows = vec![Vec::new(); SHEET_ROWS_MAX];
    let document = document(vec![table("paths", &[("path", Unit::Text)], rows)]);
    let error = document.xlsx().unwrap_err();
    assert!(matches!(&error, WorkbookError::Table { name, .. } if name == "paths"));
    assert_eq!(
        error.to_string(),
        "the table paths has 1048576 rows and 1 columns, and a sheet holds 1048575 and 16384"
    );
}

#[test]
fn columns_are_named_by_letters() {
    let names = [0, 25, 26, 701, 702, 16_383].map(name_of);
    assert_eq!(names, ["A", "Z", "AA", "ZZ", "AAA", "XFD"]);
}

#[test]
fn a_code_in_a_text_is_shown_as_it_is() {
    let rows = vec![vec!["_x0041_ _x _x41_ \u{ffff}\u{1}".into()]];
    let document = document(vec![table("t", &[("c", Unit::Text)], rows)]);
    let sheet = part(&document, "xl/worksheets/sheet2.xml");
    assert!(
        sheet.contains(">_x005F_x0041_ _x _x41_ \\u{ffff}\\u{1}</t>"),
        "{sheet}"
    );
}

proptest! {
    #[test]
    fn any_text_is_read_back_as_it_is_shown(words in "\\PC{0,40}", name in ".{0,40}") {
        let rows = vec![vec![words.as_str().into()]];
        let document = document(vec![table(&name, &[("c", Unit::Text)], rows)]);
        let sheet = cells(&part(&document, "xl/worksheets/sheet2.xml"));
        prop_assert_eq!(sheet.get("A2").cloned(), text(&crate::visible(&words)));
        prop_assert_eq!(sheet_names(&document).len(), 2);
    }
}
