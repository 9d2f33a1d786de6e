use std::time::Duration;

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
    assert!(outcome().svg().contains("percolate/&lt;x>: docs/s over"));
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
fn names_of_many_curves_do_not_lie_over_each_other() {
    let curve = |number: u32| crate::plot::Curve {
        name: number.to_string(),
        points: vec![(1, 5.0)],
        automatic: None,
    };
    let curves: Vec<_> = (0..20).map(curve).collect();
    let scale = super::Scale::new(&curves, 5.0);
    let mut places = super::names(&curves, &scale);
    places.sort_by(f64::total_cmp);
    assert!(
        places.windows(2).all(|pair| pair[1] - pair[0] > 13.9),
        "{places:?}"
    );
    assert!(
        places.last().is_some_and(|lowest| *lowest <= super::HEIGHT),
        "{places:?}"
    );
}
