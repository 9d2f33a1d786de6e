//! The result of a benchmark, and its output.

use std::fmt;

use report::Curve;
use serde_json::{Value, json};

use crate::{
    batch::Batch,
    printed::{self, aligned},
    runs::Run,
};

/// A cell of a grid: the median run at a concurrency and a batch size.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Name of the cell; empty if concurrency and batch tell it from the others.
    pub name: String,
    /// Count of threads or connections.
    pub concurrency: u32,
    /// Count of documents or rows in a call.
    pub batch: Batch,
    /// Length of the median run.
    pub seconds: f64,
    /// Documents or rows of the median run.
    pub elements: u64,
    /// Calls of the median run.
    pub latencies: u64,
    /// Mean time of a call.
    pub mean_ms: f64,
    /// Median time of a call.
    pub median_ms: f64,
    /// Time that 95 % of the calls did not exceed.
    pub p95_ms: f64,
    /// Time that 99 % of the calls did not exceed.
    pub p99_ms: f64,
    /// Elements per second of each run, rising.
    pub rates: Vec<f64>,
    /// Other measures of the median run, by name.
    pub facts: Vec<(&'static str, f64)>,
}

impl Cell {
    /// A cell from its runs, slowest first.
    pub(crate) fn new(concurrency: u32, batch: Batch, runs: &[Run]) -> Cell {
        let nothing = Run::default();
        let median = runs.get(runs.len() / 2).unwrap_or(&nothing);
        let latencies = &median.latencies;
        Cell {
            name: String::new(),
            concurrency,
            batch,
            seconds: median.elapsed.as_secs_f64(),
            elements: median.elements,
            latencies: latencies.count(),
            mean_ms: latencies.mean_ms(),
            median_ms: latencies.percentile_ms(0.5),
            p95_ms: latencies.percentile_ms(0.95),
            p99_ms: latencies.percentile_ms(0.99),
            rates: runs.iter().map(Run::rate).collect(),
            facts: median.facts.clone(),
        }
    }

    /// Elements per second of the median run.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.elements as f64 / self.seconds.max(1e-9)
    }

    /// (header, text) of each column of the table.
    fn columns(&self, element: &str) -> Vec<(String, String)> {
        let mut columns = Vec::new();
        if !self.name.is_empty() {
            columns.push(("what".to_owned(), self.name.clone()));
        }
        columns.extend([
            ("concurrency".to_owned(), self.concurrency.to_string()),
            ("batch".to_owned(), self.batch.to_string()),
            (format!("{element}/s"), format!("{:.0}", self.rate())),
            (
                "slowest".to_owned(),
                self.rates
                    .first()
                    .map_or(String::new(), |r| format!("{r:.0}")),
            ),
            (
                "fastest".to_owned(),
                self.rates
                    .last()
                    .map_or(String::new(), |r| format!("{r:.0}")),
            ),
            ("mean ms".to_owned(), format!("{:.3}", self.mean_ms)),
            ("median ms".to_owned(), format!("{:.3}", self.median_ms)),
            ("p95 ms".to_owned(), format!("{:.3}", self.p95_ms)),
            ("p99 ms".to_owned(), format!("{:.3}", self.p99_ms)),
        ]);
        columns.extend(self.fact_texts());
        columns
    }

    /// The texts below [`CSV_HEADERS`].
    fn csv_texts(&self) -> Vec<String> {
        vec![
            self.concurrency.to_string(),
            self.batch.to_string(),
            format!("{:.3}", self.seconds),
            format!("{:.1}", self.rate()),
            self.elements.to_string(),
            self.latencies.to_string(),
            format!("{:.4}", self.mean_ms),
            format!("{:.4}", self.median_ms),
            format!("{:.4}", self.p95_ms),
            format!("{:.4}", self.p99_ms),
        ]
    }

    /// (name, text) of each other measure.
    fn fact_texts(&self) -> Vec<(String, String)> {
        let facts = self.facts.iter();
        facts
            .map(|(name, value)| ((*name).to_owned(), format!("{value:.2}")))
            .collect()
    }
}

/// Columns of the tool that measured the published figures of W3, in its order.
const CSV_HEADERS: [&str; 10] = [
    "concurrency",
    "batch size",
    "total time",
    "throughput",
    "elements count",
    "latencies count",
    "avg latency, ms",
    "median latency, ms",
    "95p latency, ms",
    "99p latency, ms",
];

/// The result of a benchmark. `Display` is the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Name of the benchmark.
    pub name: String,
    /// Unit of the elements: `docs` or `rows`.
    pub element: &'static str,
    /// Lines that a reader of the figures must know: the workload, the disk, the checks.
    pub notes: Vec<String>,
    /// A text of the user's, appended to each line of the CSV.
    pub tag: Option<String>,
    /// The cells, in the order measured.
    pub cells: Vec<Cell>,
}

impl Outcome {
    /// CSV, separated by `;`. Lines that begin with `#` have the version and the notes. A header and a line for each cell follow.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut headers: Vec<String> = CSV_HEADERS.map(str::to_owned).into();
        let mut rows: Vec<Vec<String>> = self.cells.iter().map(Cell::csv_texts).collect();
        if self.cells.iter().any(|cell| !cell.name.is_empty()) {
            let facts: Vec<_> = self.cells.iter().map(Cell::fact_texts).collect();
            let names = all_names(facts.iter().flatten().map(|(name, _)| name));
            for ((row, cell), facts) in rows.iter_mut().zip(&self.cells).zip(&facts) {
                row.push(cell.name.clone());
                row.extend(in_order(facts, &names));
            }
            headers.push("what".to_owned());
            headers.extend(names);
        }
        printed::csv(
            &self.name,
            &self.notes,
            &headers,
            &rows,
            self.tag.as_deref(),
        )
    }

    /// An SVG picture: throughput by batch size, with a curve for each concurrency.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut curves: Vec<(u32, Curve)> = Vec::new();
        for cell in &self.cells {
            let known = curves
                .iter()
                .position(|(clients, _)| *clients == cell.concurrency);
            let place = known.unwrap_or_else(|| {
                let plural = if cell.concurrency == 1 { "" } else { "s" };
                let name = format!("{} client{plural}", cell.concurrency);
                let curve = Curve {
                    name,
                    ..Curve::default()
                };
                curves.push((cell.concurrency, curve));
                curves.len() - 1
            });
            let curve = &mut curves[place].1;
            match cell.batch {
                Batch::Of(count) => curve.points.push((f64::from(count), cell.rate())),
                Batch::Auto => curve.level = Some(cell.rate()),
            }
        }
        for (_, curve) in &mut curves {
            curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let title = format!("{}: {}/s over documents in a call", self.name, self.element);
        let upward = printed::rates(format!("{}/s; dashes: automatic batch", self.element));
        let curves = curves.into_iter().map(|(_, curve)| curve).collect();
        printed::svg(title, "batch", upward, curves)
    }

    /// One JSON object, with the rate of every run.
    #[must_use]
    pub fn json(&self) -> String {
        let cell = |cell: &Cell| {
            let facts: serde_json::Map<String, Value> = cell
                .facts
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json!(value)))
                .collect();
            json!({
                "what": cell.name,
                "concurrency": cell.concurrency,
                "batch": match cell.batch {
                    Batch::Of(count) => json!(count),
                    Batch::Auto => json!("auto"),
                },
                "seconds": cell.seconds,
                "elements": cell.elements,
                "elements_per_second": cell.rate(),
                "runs": cell.rates,
                "latencies": cell.latencies,
                "latency_ms": {
                    "mean": cell.mean_ms,
                    "median": cell.median_ms,
                    "p95": cell.p95_ms,
                    "p99": cell.p99_ms,
                },
                "facts": facts,
            })
        };
        json!({
            "name": self.name,
            "element": self.element,
            "notes": self.notes,
            "cells": self.cells.iter().map(cell).collect::<Vec<_>>(),
        })
        .to_string()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        for note in &self.notes {
            writeln!(f, "  {note}")?;
        }
        let rows: Vec<Vec<(String, String)>> = self
            .cells
            .iter()
            .map(|cell| cell.columns(self.element))
            .collect();
        let headers = all_names(rows.iter().flatten().map(|(header, _)| header));
        let rows: Vec<Vec<String>> = rows.iter().map(|row| in_order(row, &headers)).collect();
        match headers.is_empty() {
            true => Ok(()),
            false => f.write_str(&aligned(&headers, &rows)),
        }
    }
}

/// Each name once, in the order of their first use.
fn all_names<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    all
}

/// The texts in the order of the headers; empty for a header that the row lacks.
fn in_order(row: &[(String, String)], headers: &[String]) -> Vec<String> {
    let text = |header: &String| {
        let found = row.iter().find(|(name, _)| name == header);
        found.map_or(String::new(), |(_, text)| text.clone())
    };
    headers.iter().map(text).collect()
}

#[cfg(test)]
mod tests;
