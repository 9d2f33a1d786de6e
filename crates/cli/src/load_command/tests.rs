use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::format::{Format, Reader};
use super::input::Input;
use super::row::{Cell, Row};

/// A row as the reader gave it: its line, the range of its bytes in the input, and its cells or the error.
type Told = (u64, (u64, u64), Result<Vec<(String, Cell)>, String>);

/// Gives at most 3 bytes per read, so that reads end in the middle of records.
struct Trickle(&'static [u8]);

impl Read for Trickle {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.len().min(room.len()).min(3);
        let (now, later) = self.0.split_at(count);
        room[..count].copy_from_slice(now);
        self.0 = later;
        Ok(count)
    }
}

fn reader(
    format: Format,
    text: &'static str,
    columns: Option<&[String]>,
) -> Result<Reader, String> {
    let input = Input {
        bytes: Box::new(Trickle(text.as_bytes())),
        total: None,
        read: Arc::new(AtomicU64::new(0)),
        identity: None,
    };
    Reader::new(format, input, columns)
}

fn told(reader: &mut Reader) -> Vec<Told> {
    let mut row = Row::default();
    let mut all = Vec::new();
    while let Some((span, read)) = reader.next(&mut row).unwrap() {
        let cells = row.names().iter().cloned().zip(row.cells().iter().cloned());
        let read = read.map(|()| cells.collect()).map_err(|error| error.0);
        all.push((span.line, (span.from, span.to), read));
    }
    all
}

/// The row that a test expects: its line, and its cells or the error.
type Wanted<'a> = (u64, Result<&'a [(&'a str, Cell)], &'a str>);

#[track_caller]
fn check(format: Format, text: &'static str, wanted: &[Wanted<'_>]) {
    let told = told(&mut reader(format, text, None).unwrap());
    let told: Vec<_> = told
        .into_iter()
        .map(|(line, _, read)| (line, read))
        .collect();
    let wanted = wanted.iter().map(|(line, row)| {
        let cells = |row: &&[(&str, Cell)]| {
            let cells = row.iter();
            cells
                .map(|(name, cell)| ((*name).to_owned(), cell.clone()))
                .collect()
        };
        (
            *line,
            row.as_ref().map(cells).map_err(|what| (*what).to_owned()),
        )
    });
    assert_eq!(told, wanted.collect::<Vec<_>>());
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

#[test]
fn ndjson_lines_are_rows_and_bad_ones_have_their_line() {
    check(
        Format::Ndjson,
        "{\"ID\":7,\"query\":\"a \\u00e9\",\"tags\":[\"x\",\"y\"],\"n\":null,\"j\":{\"a\":[1]}}\r\n\n[1]\n{\"a\":\n{\"f\":-1.5,\"t\":true,\"u\":18446744073709551615}",
        &[
            (
                1,
                Ok(&[
                    ("id", Cell::Int(7)),
                    ("query", text("a é")),
                    ("tags", text("x,y")),
                    ("n", Cell::Null),
                    ("j", text("{\"a\":[1]}")),
                ]),
            ),
            (
                3,
                Err("not a JSON object: invalid type: sequence, expected an object at byte 0"),
            ),
            (
                4,
                Err("not a JSON object: EOF while parsing a value at byte 5"),
            ),
            (
                5,
                Ok(&[
                    ("f", Cell::Float(-1.5)),
                    ("t", Cell::Int(1)),
                    ("u", Cell::Int(u64::MAX.into())),
                ]),
            ),
        ],
    );
}

#[test]
fn csv_quotes_may_hold_line_ends_and_a_short_row_is_told() {
    check(
        Format::Csv,
        "\u{feff}Id,Query\r\n1,\"a \"\"b\"\",\nc\"\n2\n3,'d'\"\"\n4,\"\"\n5,\"x\"y\n6,\"open\n",
        &[
            (2, Ok(&[("id", text("1")), ("query", text("a \"b\",\nc"))])),
            (4, Err("1 fields, 2 columns")),
            (5, Ok(&[("id", text("3")), ("query", text("'d'\"\""))])),
            (6, Ok(&[("id", text("4")), ("query", text(""))])),
            (7, Err("text behind a closing quote")),
            (8, Err("a quote is not closed")),
        ],
    );
}

#[test]
fn columns_may_be_named_for_a_csv_without_a_first_line() {
    let columns = ["a".to_owned(), "b".to_owned()];
    let mut reader = reader(Format::Csv, "1,2\n3,4\n", Some(&columns)).unwrap();
    assert_eq!(told(&mut reader).len(), 2);
}

#[test]
fn tsv_is_read_as_mysql_batch_writes_it() {
    check(
        Format::Tsv,
        "id\tquery\n1\ta\\tb\\\\c\\n\\0\n2\tNULL\n3\t\"q\"\n4\n",
        &[
            (2, Ok(&[("id", text("1")), ("query", text("a\tb\\c\n\0"))])),
            (3, Ok(&[("id", text("2")), ("query", Cell::Null)])),
            (4, Ok(&[("id", text("3")), ("query", text("\"q\""))])),
            (5, Err("1 fields, 2 columns")),
        ],
    );
}

#[test]
fn plain_lines_are_one_column_empty_ones_too() {
    check(
        Format::Lines("body".to_owned()),
        "one\n\nthree, \"x\"\r\n",
        &[
            (1, Ok(&[("body", text("one"))])),
            (2, Ok(&[("body", text(""))])),
            (3, Ok(&[("body", text("three, \"x\""))])),
        ],
    );
}

#[test]
fn xmlpipe2_documents_are_rows_whatever_stands_around_them() {
    check(
        Format::Xmlpipe2,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<sphinx:docset>\n<sphinx:schema>\n\
         <sphinx:field name=\"title\"/>\n</sphinx:schema>\n<!-- <sphinx:document id=\"9\"> -->\n\
         <sphinx:document id=\"1\">\n<title lang=\"en\">a &amp; b &#x41;&#66; <![CDATA[</sphinx:document> <b>]]></title>\n\
         <Year>1999</Year><empty/>\n</sphinx:document><sphinx:document id='2'/>\n\
         <sphinx:document id=\"3\"><title>a <b>c</b></title></sphinx:document>\n\
         <sphinx:document><title>a</title></sphinx:document>\n\
         <sphinx:killlist><id>4</id></sphinx:killlist>\n</sphinx:docset>\n",
        &[
            (
                7,
                Ok(&[
                    ("id", Cell::Int(1)),
                    ("title", text("a & b AB </sphinx:document> <b>")),
                    ("year", text("1999")),
                    ("empty", text("")),
                ]),
            ),
            (10, Ok(&[("id", Cell::Int(2))])),
            (11, Err("an element within <title>: put it into CDATA")),
            (12, Err("the document has no id= that is a number")),
        ],
    );
    check(
        Format::Xmlpipe2,
        "<sphinx:docset><sphinx:document id=\"1\"><t>cut off",
        &[(1, Err("<t> is not closed"))],
    );
}

#[test]
fn a_bad_xmlpipe2_document_has_its_line_and_leaves_the_next_one_whole() {
    check(
        Format::Xmlpipe2,
        "<sphinx:docset>\n<sphinx:document id=\"1\"><t>a&nbsp;b</t></sphinx:document>\n\
         <sphinx:document id=\"2\">loose<t>a</t></sphinx:document>\n\
         <sphinx:document id=\"-3\"><t>a</t></sphinx:document>\n\
         <sphinx:document id=\"4\"><t>a</t>\n<!-- b --></sphinx:document>\n</sphinx:docset>",
        &[
            (2, Err("unknown entity &nbsp;")),
            (3, Err("text between the fields")),
            (4, Err("the document has no id= that is a number")),
            (5, Ok(&[("id", Cell::Int(4)), ("t", text("a"))])),
        ],
    );
}

/// A load that goes on skips to the end of its last stored row. The rows behind must read as in a whole read.
#[test]
fn from_behind_any_row_the_rest_reads_the_same() {
    let inputs = [
        (Format::Ndjson, "{\"a\":1}\n\n{\"a\":2}\r\n{\"b\":3}"),
        (Format::Csv, "a,b\n1,\"x\ny\"\n2,z\n\n3,\"\"\n"),
        (Format::Tsv, "a\tb\n1\tx\n2\ty\n"),
        (Format::Lines("a".to_owned()), "x\n\ny"),
        (
            Format::Xmlpipe2,
            "<d>\n<sphinx:document id=\"1\"/>\n\n<sphinx:document id=\"2\">\n<a>b</a></sphinx:document>\n</d>",
        ),
    ];
    for (format, text) in inputs {
        let whole = told(&mut reader(format.clone(), text, None).unwrap());
        for (at, (_, (_, to), _)) in whole.iter().enumerate() {
            let mut again = reader(format.clone(), text, None).unwrap();
            assert!(again.skip_to(*to).unwrap());
            assert_eq!(told(&mut again), whole[at + 1..], "{format:?} behind {at}");
        }
        let mut beyond = reader(format, text, None).unwrap();
        assert!(!beyond.skip_to(10_000).unwrap());
    }
}

#[test]
fn a_files_name_tells_its_format_and_the_option_wins() {
    let of = |file, named| Format::of(file, named, None);
    assert_eq!(of("a.b/Q.NDJSON", None), Ok(Format::Ndjson));
    assert_eq!(of("q.csv.gz", None), Ok(Format::Csv));
    assert_eq!(of("q.xml.zst", None), Ok(Format::Xmlpipe2));
    assert_eq!(of("q.csv", Some("tsv")), Ok(Format::Tsv));
    assert!(of("-", None).is_err());
    assert!(of("a.txt", None).unwrap_err().contains("--lines"));
    let lines = Format::of("a.txt", None, Some("Body"));
    assert_eq!(lines, Ok(Format::Lines("body".to_owned())));
}
