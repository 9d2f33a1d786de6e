use super::rows::{BadRow, Cell, Format, Reader, Row};

fn rows(format: Format, text: &'static str) -> Vec<Result<Row, BadRow>> {
    Reader::new(format, text.as_bytes()).unwrap().collect()
}

fn row(line: u64, cells: &[(&str, Cell)]) -> Result<Row, BadRow> {
    let cells = cells.iter();
    let cells = cells.map(|(name, cell)| ((*name).to_owned(), cell.clone()));
    Ok(Row {
        line,
        cells: cells.collect(),
    })
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

#[test]
fn ndjson_lines_are_rows_and_bad_ones_have_their_line() {
    let read = rows(
        Format::Ndjson,
        "{\"ID\":7,\"query\":\"a b\",\"tags\":[\"x\",\"y\"],\"n\":null,\"j\":{\"a\":[1]}}\n\n[1]\n{\"a\":\n{\"f\":-1.5,\"t\":true}",
    );
    let first = [
        ("id", Cell::Number("7".to_owned())),
        ("j", text("{\"a\":[1]}")),
        ("n", Cell::Null),
        ("query", text("a b")),
        ("tags", text("x,y")),
    ];
    assert_eq!(read[0], row(1, &first));
    let bad = |at: usize| read[at].as_ref().unwrap_err().line;
    assert_eq!((bad(1), bad(2)), (3, 4));
    let last = [
        ("f", Cell::Number("-1.5".to_owned())),
        ("t", Cell::Number("1".to_owned())),
    ];
    assert_eq!(read[3], row(5, &last));
}

#[test]
fn csv_quotes_may_hold_line_ends_and_a_short_row_is_told() {
    let read = rows(
        Format::Csv,
        "\u{feff}Id,Query\n1,\"a \"\"b\"\",\nc\"\n2\n3,'d'\n",
    );
    assert_eq!(
        read[0],
        row(2, &[("id", text("1")), ("query", text("a \"b\",\nc"))])
    );
    let bad = read[1].as_ref().unwrap_err();
    assert!(bad.line == 4 && bad.what.contains("1 field"), "{bad:?}");
    assert_eq!(
        read[2],
        row(5, &[("id", text("3")), ("query", text("'d'"))])
    );
}

#[test]
fn tsv_is_read_as_mysql_batch_writes_it() {
    let read = rows(
        Format::Tsv,
        "id\tquery\n1\ta\\tb\\\\c\\n\n2\tNULL\n3\t\"q\"\n",
    );
    assert_eq!(
        read[0],
        row(2, &[("id", text("1")), ("query", text("a\tb\\c\n"))])
    );
    assert_eq!(read[1], row(3, &[("id", text("2")), ("query", Cell::Null)]));
    assert_eq!(
        read[2],
        row(4, &[("id", text("3")), ("query", text("\"q\""))])
    );
}

#[test]
fn a_files_name_tells_its_format() {
    assert_eq!(Format::of("a.b/Q.NDJSON", None), Ok(Format::Ndjson));
    assert_eq!(Format::of("q.csv", Some("tsv")), Ok(Format::Csv));
    assert_eq!(Format::of("-", Some("tsv")), Ok(Format::Tsv));
    assert!(Format::of("-", None).is_err());
}
