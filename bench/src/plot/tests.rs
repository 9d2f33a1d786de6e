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
    let scale = super::Scale::new(&curves, super::Upward::Rate, 5.0);
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

#[test]
fn a_tenth_of_the_time_is_a_decade_lower_in_every_picture_of_the_axis() {
    let upward = super::Upward::seconds([0.004, 0.9].into_iter());
    let scale = super::Scale::new(&[], upward, 1.0);
    let steps = scale.steps();
    let names: Vec<_> = steps.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["0.001 s", "0.01 s", "0.1 s", "1 s"]);
    let heights: Vec<f64> = steps.iter().map(|(time, _)| scale.y(*time)).collect();
    let decade = heights[0] - heights[1];
    assert!((heights[2] - heights[3] - decade).abs() < 0.01 && decade > 0.0);
    assert_eq!(scale.y(1.0), super::TOP);
}
