use client::QueryResult;
use wire::mysql::ColumnDefinition;

use super::{json, table};

fn answer() -> QueryResult {
    QueryResult {
        columns: vec![ColumnDefinition::id("id"), ColumnDefinition::text("body")],
        rows: vec![
            vec![
                Some(b"7".to_vec()),
                Some("naïve\n\u{1b}[2J".as_bytes().to_vec()),
            ],
            vec![Some(b"1200".to_vec()), None],
        ],
        ..QueryResult::default()
    }
}

#[test]
fn a_table_aligns_numbers_and_shows_control_characters() {
    let wanted =
        "  id  body\n----  ----------------\n   7  naïve\\n\\u{1b}[2J\n1200  NULL\n(2 rows)\n";
    assert_eq!(table(&answer()), wanted);
}

#[test]
fn json_keeps_numbers_numbers_and_null_null() {
    let wanted = "{\"body\":\"naïve\\n\\u001b[2J\",\"id\":7}\n{\"body\":null,\"id\":1200}\n";
    assert_eq!(json(&answer()), wanted);
}

#[test]
fn a_write_says_how_many_rows() {
    let result = QueryResult {
        affected: 1,
        ..QueryResult::default()
    };
    assert_eq!(table(&result), "OK, 1 row affected\n");
}
