use std::time::Duration;

use super::{aligned, csv};
use crate::{
    batch::Batch,
    latency::Latencies,
    outcome::{Cell, Outcome},
    runs::Run,
};

fn cell(concurrency: u32, batch: Batch, elements: u64) -> Cell {
    let run = Run {
        elements,
        elapsed: Duration::from_secs(1),
        latencies: Latencies::default(),
        facts: Vec::new(),
    };
    Cell::new(concurrency, batch, &[run])
}

fn outcome() -> Outcome {
    Outcome {
        name: "percolate/<x>".into(),
        element: "docs",
        notes: Vec::new(),
        tag: None,
        cells: vec![
            cell(1, Batch::Of(1), 1_000),
            cell(1, Batch::Of(100), 12_949),
            cell(2, Batch::Of(1), 2_000),
            cell(2, Batch::Of(100), 20_000),
            cell(2, Batch::Auto, 19_500),
        ],
    }
}

#[test]
fn a_picture_has_a_line_for_each_number_of_clients() {
    let svg = outcome().svg();
    let golden = include_str!("golden.svg");
    assert_eq!(svg, golden);
}

#[test]
fn names_cannot_break_the_picture() {
    assert!(outcome().svg().contains("percolate/&lt;x&gt;: docs/s over"));
}

#[test]
fn a_picture_of_nothing_is_a_picture() {
    let nothing = Outcome {
        cells: Vec::new(),
        ..outcome()
    };
    assert!(nothing.svg().ends_with("</svg>\n"));
}

#[test]
fn a_tenth_of_the_time_is_a_decade_lower_in_every_picture_of_the_axis() {
    let axis = super::seconds([0.004, 0.9].into_iter());
    assert_eq!(axis.range, Some((0.001, 1.0)));
    let svg = super::svg("x".to_owned(), "ids", axis, Vec::new());
    let height = |name: &str| -> f64 {
        let (before, _) = svg.split_once(&format!(">{name}</text>")).unwrap();
        let (_, y) = before.rsplit_once(" y=\"").unwrap();
        y.split('"').next().unwrap().parse().unwrap()
    };
    let heights = ["1\u{a0}ms", "10\u{a0}ms", "100\u{a0}ms", "1\u{a0}s"].map(height);
    let decade = heights[0] - heights[1];
    assert!(decade > 0.0);
    assert!((heights[1] - heights[2] - decade).abs() < 0.2);
    assert!((heights[2] - heights[3] - decade).abs() < 0.2);
}

#[test]
fn columns_are_aligned_at_the_right() {
    let rows = [vec!["a".to_owned(), "1000".to_owned()]];
    assert_eq!(aligned(&["name", "n"], &rows), "name     n\n   a  1000\n");
}

#[test]
fn a_tag_stands_behind_every_line() {
    let rows = [vec!["a".to_owned()]];
    let text = csv("x", &["noted".to_owned()], &["name"], &rows, Some("mine"));
    assert!(text.ends_with("# noted\nname;tag\na;mine\n"), "{text}");
}
