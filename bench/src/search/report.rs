//! The measured cells, and their output.

use std::{fmt, time::Duration};

use report::Curve;
use serde_json::json;

use crate::{
    latency::Latencies,
    printed::{self, aligned, csv},
};

/// The counts and times of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Taken {
    pub(super) requests: u64,
    pub(super) seconds: f64,
    pub(super) mean_ms: f64,
    pub(super) median_ms: f64,
    /// Time that 95 % of the requests did not exceed; `None` for peers that measure themselves.
    pub(super) p95_ms: Option<f64>,
    pub(super) p99_ms: f64,
}

impl Taken {
    pub(super) fn new(elapsed: Duration, latencies: &Latencies) -> Taken {
        Taken {
            requests: latencies.count(),
            seconds: elapsed.as_secs_f64(),
            mean_ms: latencies.mean_ms(),
            median_ms: latencies.percentile_ms(0.5),
            p95_ms: Some(latencies.percentile_ms(0.95)),
            p99_ms: latencies.percentile_ms(0.99),
        }
    }

    /// Requests per second.
    pub(super) fn rate(&self) -> f64 {
        self.requests as f64 / self.seconds.max(1e-9)
    }
}

/// One cell of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the test.
    pub test: String,
    /// `seine`, or a peer's name.
    pub engine: String,
    /// Count of shards; `auto`: the server chooses; empty for a peer.
    pub shards: String,
    /// Most threads of a query; `auto`: the server chooses; empty for a peer.
    pub threads: String,
    /// Count of connections or threads that search.
    pub clients: u32,
    /// The runs, in the order made. All cells of a test have the same count of runs, made in turns.
    pub(super) runs: Vec<Taken>,
}

impl Row {
    /// The median run.
    pub(super) fn median(&self) -> Taken {
        let mut runs = self.runs.clone();
        runs.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
        runs.get(runs.len() / 2).copied().unwrap_or_default()
    }

    /// Ratios of this cell's runs to another cell's runs of the same turn, rising.
    pub(super) fn ratios(&self, other: &Row) -> Vec<f64> {
        let pairs = self.runs.iter().zip(&other.runs);
        let mut ratios: Vec<f64> = pairs
            .map(|(own, other)| own.rate() / other.rate().max(1e-9))
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }

    /// Median of the [`ratios`](Self::ratios).
    pub(super) fn ratio(&self, other: &Row) -> f64 {
        let ratios = self.ratios(other);
        ratios.get(ratios.len() / 2).copied().unwrap_or_default()
    }

    /// Whether the server chooses shards and threads.
    pub(super) fn is_automatic(&self) -> bool {
        self.engine == OURS && self.shards == AUTO && self.threads == AUTO
    }

    fn texts(&self) -> Vec<String> {
        let median = self.median();
        let rates = || self.runs.iter().map(Taken::rate);
        let mark = if self.is_automatic() { " *" } else { "" };
        vec![
            self.test.clone(),
            format!("{}{mark}", self.engine),
            self.shards.clone(),
            self.clients.to_string(),
            self.threads.clone(),
            format!("{:.1}", median.rate()),
            format!("{:.1}", rates().fold(f64::INFINITY, f64::min)),
            format!("{:.1}", rates().fold(0.0, f64::max)),
            median.requests.to_string(),
            format!("{:.3}", median.mean_ms),
            format!("{:.3}", median.median_ms),
            median.p95_ms.map_or(String::new(), |ms| format!("{ms:.3}")),
            format!("{:.3}", median.p99_ms),
        ]
    }
}

/// Text for a setting that the server chooses.
pub(super) const AUTO: &str = "auto";

/// Name of Seine's tables in the figures.
pub(super) const OURS: &str = "seine";

/// Headers: the study's columns (parts, clients, dist_threads, requests per second), then further measures.
const HEADERS: [&str; 13] = [
    "test",
    "engine",
    "parts",
    "clients",
    "threads",
    "requests/s",
    "slowest",
    "fastest",
    "requests",
    "mean ms",
    "median ms",
    "p95 ms",
    "p99 ms",
];

/// The result of `seine bench search`. `Display` is the table; `*` marks the automatic setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Lines that a reader of the figures must know: records, checks, ratios.
    pub notes: Vec<String>,
    /// Text that is appended to each line of the CSV.
    pub tag: Option<String>,
    /// The cells, in the order measured.
    pub rows: Vec<Row>,
}

impl Report {
    /// CSV, separated by `;`. Lines that begin with `#` say what was measured and by which version. A header and a line for
    /// each cell follow. The column `runs` has the rates of all runs; the tag, if there is one, is the last column.
    #[must_use]
    pub fn csv(&self) -> String {
        let with_runs = |row: &Row| {
            let runs = row.runs.iter().map(|run| format!("{:.1}", run.rate()));
            let mut texts = row.texts();
            texts.push(runs.collect::<Vec<_>>().join(" "));
            texts
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(with_runs).collect();
        let headers = [&HEADERS[..], &["runs"]].concat();
        csv("search", &self.notes, &headers, &rows, self.tag.as_deref())
    }

    /// One JSON object, with the rate of every run.
    #[must_use]
    pub fn json(&self) -> String {
        let row = |row: &Row| {
            let median = row.median();
            json!({
                "test": row.test,
                "engine": row.engine,
                "parts": row.shards,
                "threads": row.threads,
                "clients": row.clients,
                "requests_per_second": median.rate(),
                "runs": row.runs.iter().map(Taken::rate).collect::<Vec<_>>(),
                "latency_ms": {
                    "mean": median.mean_ms,
                    "median": median.median_ms,
                    "p95": median.p95_ms,
                    "p99": median.p99_ms,
                },
            })
        };
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        json!({"name": "search", "notes": self.notes, "rows": rows}).to_string()
    }

    /// An SVG picture of the first test: requests per second by count of clients. It has a curve for each count of shards at its
    /// best count of threads, for the automatic setting, and for each peer.
    #[must_use]
    pub fn svg(&self) -> String {
        let test = self.rows.first().map_or("", |row| &row.test);
        let mut curves: Vec<Curve> = Vec::new();
        for row in self.rows.iter().filter(|row| row.test == test) {
            let name = match row.shards.as_str() {
                "" => row.engine.clone(),
                _ if row.is_automatic() => format!("{}, automatic", row.engine),
                shards => format!("{}, {shards} parts", row.engine),
            };
            let place = curves.iter().position(|curve| curve.name == name);
            let place = place.unwrap_or_else(|| {
                curves.push(Curve {
                    name,
                    ..Curve::default()
                });
                curves.len() - 1
            });
            let (points, rate) = (&mut curves[place].points, row.median().rate());
            let clients = f64::from(row.clients);
            match points.iter_mut().find(|point| point.0 == clients) {
                Some((_, best)) => *best = best.max(rate),
                None => points.push((clients, rate)),
            }
        }
        let title = format!("search/{test}: requests/s over clients");
        printed::svg(title, "clients", printed::rates("requests/s"), curves)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "search, seine {}", env!("CARGO_PKG_VERSION"))?;
        for note in &self.notes {
            writeln!(f, "  {note}")?;
        }
        let rows: Vec<Vec<String>> = self.rows.iter().map(Row::texts).collect();
        f.write_str(&aligned(&HEADERS, &rows))
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, Row, Taken};

    fn row(engine: &str, shards: &str, rates: &[u64]) -> Row {
        let run = |requests: &u64| Taken {
            requests: *requests,
            seconds: 1.0,
            ..Taken::default()
        };
        Row {
            test: "any".to_owned(),
            engine: engine.to_owned(),
            shards: shards.to_owned(),
            threads: shards.to_owned(),
            clients: 1,
            runs: rates.iter().map(run).collect(),
        }
    }

    #[test]
    fn ratios_are_of_runs_of_the_same_turn() {
        let (ours, peer) = (
            row("seine", "auto", &[20, 40, 90]),
            row("peer", "", &[10, 10, 30]),
        );
        assert_eq!(ours.ratio(&peer), 3.0);
        assert_eq!(ours.median().requests, 40);
    }

    #[test]
    fn the_automatic_setting_is_marked() {
        let rows = vec![row("seine", "auto", &[20]), row("seine", "4", &[10])];
        let report = Report {
            notes: vec!["of a test".to_owned()],
            tag: None,
            rows,
        };
        let text = report.to_string();
        assert!(text.contains("seine *   auto"), "{text}");
        assert_eq!(text.matches('*').count(), 1);
        assert!(report.csv().contains(";20.0\n"), "{}", report.csv());
    }
}
