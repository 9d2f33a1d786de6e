use super::{Framed, Records};
use crate::log::limits::RECORD_BYTES_MAX;

fn texts(block: &str) -> Vec<(u64, u64, String)> {
    Records::new(block.as_bytes())
        .map(|record| match record.framed {
            Framed::Text(text) => (
                record.lines_before,
                record.lines,
                String::from_utf8_lossy(text).into_owned(),
            ),
            Framed::TooLong => (record.lines_before, record.lines, "too long".to_owned()),
        })
        .collect()
}

#[test]
fn a_statement_over_lines_is_one_record_and_the_next_record_ends_an_open_one() {
    let block = "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 */ UPDATE rt\r\nSET a=1;\r\nrubbish\n\
                 /* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 */ SELECT half\n[Fri Jun 29 21:17:58 2007] x\nlast";
    let wanted = [
        (
            0,
            2,
            "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 */ UPDATE rt\r\nSET a=1;",
        ),
        (2, 1, "rubbish"),
        (
            3,
            1,
            "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 */ SELECT half",
        ),
        (4, 1, "[Fri Jun 29 21:17:58 2007] x"),
        (5, 1, "last"),
    ];
    assert_eq!(
        texts(block),
        wanted.map(|(before, lines, text)| (before, lines, text.to_owned()))
    );
}

#[test]
fn a_line_cut_inside_its_facts_takes_no_other_line() {
    let block = "/* Sun Apr 28 12:38:02.808 2024 conn\nrubbish\n";
    assert_eq!(texts(block).len(), 2);
}

#[test]
fn a_line_above_the_bound_is_one_record_without_text() {
    let block = format!("{}\nlast\n", "x".repeat(RECORD_BYTES_MAX + 1));
    assert_eq!(
        texts(&block),
        [(0, 1, "too long".to_owned()), (1, 1, "last".to_owned())]
    );
}

#[test]
fn an_open_statement_stops_at_the_bound() {
    let first = "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 */ UPDATE rt";
    let filler = "x".repeat(RECORD_BYTES_MAX - first.len() - 10);
    let block = format!("{first}\n{filler}\nSET a=1 WHERE id=1;\n");
    let records = texts(&block);
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].1, 2);
    assert_eq!(records[1].2, "SET a=1 WHERE id=1;");
}
