use wire::json::Cell;

use super::{TableReply, TextReply};

fn reply(rows: &[[&str; 2]]) -> TextReply {
    let mut reply = TextReply::default();
    reply.begin(&[("id", "long"), ("a long name", "string")]);
    for row in rows {
        reply.row();
        for cell in row {
            reply.cell("", Cell::Str(cell));
        }
        reply.row_end();
    }
    reply
}

#[test]
fn the_bytes_of_a_table_are_counted_before_it_is_written() {
    let wide = "x".repeat(1_000);
    let mut rows = vec![["1", wide.as_str()]];
    rows.resize(200, ["2", "Kürze\n"]);
    for count in [1, 2, 200] {
        let mut reply = reply(&rows[..count]);
        let counted = reply.byte_count();
        reply.end(count as u64, "", "");
        assert!(
            counted + 64 > reply.out.len(),
            "{counted} for {}",
            reply.out.len()
        );
    }
}

#[test]
fn control_characters_stay_on_their_line() {
    let mut reply = reply(&[["1", "a\nb\u{1b}[2J"]]);
    reply.end(1, "", "");
    let shown = "+----+---------------+\n\
                 | id | a long name   |\n\
                 +----+---------------+\n\
                 | 1  | a\\nb\\u{1b}[2J |\n\
                 +----+---------------+\n\
                 1 row in set\n";
    assert_eq!(reply.out, shown);
}
