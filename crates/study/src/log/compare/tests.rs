use report::Cell;

use super::super::document::DocumentOptions;
use super::super::{Place, Summary, SummaryOptions};
use super::{Side, compare};

/// A log of `count` lines of each query, with its milliseconds.
fn summary(queries: &[(&str, u64, usize)]) -> Summary {
    let mut log = String::new();
    for (query, ms, count) in queries {
        let line =
            format!("[Fri Jun 29 21:17:58 2007] 0.{ms:03} sec [all/0/rel 5 (0,20)] [lj] {query}\n");
        log.push_str(&line.repeat(*count));
    }
    let mut summary = Summary::new(&SummaryOptions::default());
    summary.add_block("web", Place::default(), log.as_bytes());
    summary
}

#[test]
fn queries_that_got_slower_come_by_the_time_they_cost() {
    let before = summary(&[
        ("same", 10, 20),
        ("little", 10, 1_000),
        ("much", 10, 20),
        ("better", 50, 20),
        ("rare", 1, 5),
    ]);
    let after = summary(&[
        ("same", 10, 20),
        ("little", 11, 1_000),
        ("much", 40, 20),
        ("better", 20, 20),
        ("rare", 900, 5),
    ]);
    let sides = [("old", &before), ("new", &after)].map(|(name, summary)| Side { name, summary });
    let document = compare(sides[0], sides[1], &DocumentOptions::default());
    let queries = |table: &str| -> Vec<String> {
        let rows = document
            .table(table)
            .map(|table| table.rows.clone())
            .unwrap_or_default();
        rows.iter()
            .map(|row| format!("{:?}", row.last().unwrap()))
            .collect()
    };
    assert_eq!(queries("slower"), ["Text(\"little\")", "Text(\"much\")"]);
    assert_eq!(queries("faster"), ["Text(\"better\")"]);
    let times = document.table("times").unwrap();
    assert_eq!(
        times.rows[0][1..4],
        [
            Cell::Decimal(1_065.0),
            Cell::Decimal(1_065.0),
            Cell::Decimal(0.0)
        ]
    );
    let index = &document.table("indexes").unwrap().rows[0];
    assert_eq!(index[0], Cell::from("lj"));
}

#[test]
fn a_log_beside_itself_has_no_difference() {
    let log = summary(&[("a", 10, 20), ("b", 30, 20)]);
    let side = Side {
        name: "x",
        summary: &log,
    };
    let document = compare(side, side, &DocumentOptions::default());
    assert!(document.table("slower").is_none() && document.table("faster").is_none());
    for row in &document.table("times").unwrap().rows {
        assert_eq!(row[3], Cell::Decimal(0.0), "{row:?}");
    }
}

#[test]
fn each_side_tells_its_lines_of_unknown_form() {
    let known = summary(&[("a", 10, 20)]);
    let mut broken = known.clone();
    let first = Place { input: 0, line: 1 };
    broken.add_block("s", first, b"no line of a log\n");
    let sides = [("old", &known), ("new", &broken)].map(|(name, summary)| Side { name, summary });
    let document = compare(sides[0], sides[1], &DocumentOptions::default());
    assert_eq!(
        document.notes,
        [
            "Before: old. After: new.",
            "1 of 21 lines of new are of unknown form and are not counted as queries."
        ]
    );
}
