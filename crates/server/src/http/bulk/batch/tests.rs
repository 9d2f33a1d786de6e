use engine::{Error, Write};
use relation::request::Insert;

use super::Batch;

const LINES: &str = r#"{"insert":{"table":"t","id":1,"doc":{"n":1}}}
{"insert":{"table":"t","id":2,"doc":{"n":2}}}
{"insert":{"table":"t","id":3,"doc":{"m":3}}}
{"replace":{"table":"t","id":4,"doc":{"m":4}}}
{"delete":{"table":"t","id":1}}
"#;

#[test]
fn neighbours_with_the_same_columns_become_one_insert() {
    let (writes, _) = Batch::read(LINES.as_bytes(), 1).unwrap().into_writes();
    let rows = |write: &Write| match write {
        Write::Insert(Insert { rows, replace, .. }) => (rows.len(), *replace),
        _ => (0, false),
    };
    let shape: Vec<(usize, bool)> = writes.iter().map(rows).collect();
    assert_eq!(shape, [(2, false), (1, false), (1, true), (0, false)]);
}

#[test]
fn a_refusal_is_told_by_line() {
    let (_, counted) = Batch::read(LINES.as_bytes(), 11).unwrap().into_writes();
    let told = |index, error| {
        counted
            .failure(Error::InMany {
                index,
                error: Box::new(error),
            })
            .message
    };
    let out_of_range = Error::OutOfRange {
        column: "n".to_owned(),
        row: 2,
        value: None,
    };
    assert!(told(0, out_of_range).starts_with("line 12: "));
    assert!(told(0, Error::DuplicateId { id: 1 }).starts_with("lines 11 to 12: "));
    assert!(told(3, Error::NoSuchTable("t".to_owned())).starts_with("line 15: "));
    assert!(!counted.failure(Error::DiskFull).message.contains("line"));
}

#[test]
fn a_line_that_cannot_be_read_is_named() {
    let failure = Batch::read(
        b"{\"insert\":{\"table\":\"t\",\"id\":1,\"doc\":{}}}\nnot json\n",
        5,
    )
    .unwrap_err();
    assert!(
        failure.message.starts_with("line 6: "),
        "{}",
        failure.message
    );
}
