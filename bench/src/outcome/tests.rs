use std::time::Duration;

use super::{Cell, Outcome};
use crate::{batch::Batch, latency::Latencies, runs::Run};

fn outcome() -> Outcome {
    let run = |elements: u64| {
        let mut latencies = Latencies::default();
        latencies.add(Duration::from_micros(500));
        Run {
            elements,
            elapsed: Duration::from_secs(2),
            latencies,
            facts: vec![("matches/doc", 1.5)],
        }
    };
    let cell = Cell::new(2, Batch::Of(200), &[run(100), run(200), run(400)]);
    Outcome {
        name: "percolate/x".into(),
        element: "docs",
        notes: vec!["a note".into()],
        tag: None,
        cells: vec![cell],
    }
}

#[test]
fn the_median_run_is_told() {
    assert_eq!(outcome().cells[0].rate(), 100.0);
    assert_eq!(outcome().cells[0].rates, [50.0, 100.0, 200.0]);
}

#[test]
fn csv_has_the_columns_of_the_published_figures() {
    let csv = outcome().csv();
    let (about, figures) = csv.trim_end().split_once("\n# a note\n").unwrap();
    assert!(about.starts_with("# percolate/x, seine "), "{about}");
    let (header, row) = figures.split_once('\n').unwrap();
    assert!(header.starts_with("concurrency;batch size;total time;throughput;elements count;"));
    assert!(header.ends_with(
        "latencies count;avg latency, ms;median latency, ms;95p latency, ms;99p latency, ms"
    ));
    assert_eq!(header.split(';').count(), row.split(';').count());
    assert!(row.starts_with("2;200;2.000;100.0;200;1;0.5000;"), "{row}");
}

#[test]
fn the_table_names_each_column_above_its_figures() {
    let table = outcome().to_string();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[..2], ["percolate/x", "  a note"]);
    assert!(lines[2].contains("docs/s") && lines[2].ends_with("matches/doc"));
    assert!(lines[3].ends_with("1.50") && lines[3].len() == lines[2].len());
}

#[test]
fn json_holds_every_run() {
    let json: serde_json::Value = serde_json::from_str(&outcome().json()).unwrap();
    assert_eq!(json["cells"][0]["runs"].as_array().unwrap().len(), 3);
    assert_eq!(json["cells"][0]["facts"]["matches/doc"], 1.5);
}

#[test]
fn a_tag_is_the_last_column_of_each_line() {
    let tagged = Outcome {
        tag: Some("quiet".into()),
        ..outcome()
    };
    let csv = tagged.csv();
    let mut lines = csv.lines().filter(|line| !line.starts_with('#'));
    assert!(lines.next().unwrap().ends_with("99p latency, ms;tag"));
    assert!(lines.all(|line| line.ends_with(";quiet")));
}

#[test]
fn csv_of_named_cells_has_their_names_and_facts_before_the_tag() {
    let mut named = outcome();
    named.cells.push(named.cells[0].clone());
    named.cells[0].name = "store *".into();
    named.cells[1].name = "search".into();
    named.cells[1].facts = vec![("syncs", 2.0)];
    named.tag = Some("quiet".into());
    let csv = named.csv();
    let (about, figures) = csv.split_once("\n# a note\n").unwrap();
    assert_eq!(
        about,
        format!("# percolate/x, seine {}", env!("CARGO_PKG_VERSION"))
    );
    let lines: Vec<&str> = figures.lines().collect();
    assert_eq!(
        lines[0],
        "concurrency;batch size;total time;throughput;elements count;latencies count;avg latency, ms;median latency, ms;\
         95p latency, ms;99p latency, ms;what;matches/doc;syncs;tag"
    );
    assert!(lines[1].ends_with(";store *;1.50;;quiet"), "{}", lines[1]);
    assert!(lines[2].ends_with(";search;;2.00;quiet"), "{}", lines[2]);
    assert!(figures.ends_with('\n') && lines.len() == 3);
}
