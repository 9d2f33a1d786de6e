//! The measured cells, and their output.

use std::fmt;

use report::Curve;
use serde_json::json;

use crate::{
    printed::{self, aligned, csv},
    runs,
};

/// Text for a setting that the server chooses.
pub(super) const AUTO: &str = "auto";

/// A cell of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub(super) engine: String,
    /// Batch size as text; `auto`: the engine chooses.
    pub(super) batch: String,
    pub(super) shards: String,
    /// Count of documents that each load stores.
    pub(super) documents: usize,
    /// Documents per second of each load, in the order made.
    pub(super) rates: Vec<f64>,
}

/// The measured cells. `Display` is the table; `*` marks the automatic setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Lines that a reader of the figures must know.
    pub notes: Vec<String>,
    /// Text that is appended to each line of the CSV.
    pub tag: Option<String>,
    /// The cells, in the order measured.
    pub rows: Vec<Row>,
}

impl Row {
    fn median(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or_default()
    }

    fn texts(&self) -> Vec<String> {
        let rates = self.rates.iter().copied();
        let numbers = [
            self.median(),
            rates.clone().fold(f64::INFINITY, f64::min),
            rates.fold(0.0, f64::max),
        ];
        let documents = self.documents.to_string();
        let mut texts = vec![self.engine.clone(), self.batch.clone(), self.shards.clone()];
        texts.push(documents);
        texts.extend(numbers.map(|number| format!("{number:.0}")));
        texts
    }

    /// Ratios of this cell's loads to another cell's loads of the same turn, rising.
    fn ratios(&self, other: &Row) -> Vec<f64> {
        let pairs = self.rates.iter().zip(&other.rates);
        let mut ratios: Vec<f64> = pairs.map(|(own, other)| own / other.max(1e-9)).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }
}

const HEADERS: [&str; 7] = [
    "engine",
    "batch size",
    "shards",
    "documents",
    "docs/s",
    "slowest",
    "fastest",
];

/// Indexes of the automatic setting, which is the first, and of the best cell of each engine.
pub(super) fn automatic_and_bests(rows: &[Row]) -> Vec<usize> {
    let mut bests: Vec<usize> = (0..rows.len().min(1)).collect();
    for place in 1..rows.len() {
        let row = &rows[place];
        let of_engine = |best: &&mut usize| **best > 0 && rows[**best].engine == row.engine;
        match bests.iter_mut().find(of_engine) {
            Some(best) if row.median() > rows[*best].median() => *best = place,
            Some(_) => {}
            None => bests.push(place),
        }
    }
    bests
}

/// Notes with the ratio of the automatic setting, which is the first, to each of the others.
pub(super) fn compared(rows: &[Row]) -> Vec<String> {
    let Some((automatic, others)) = rows.split_first() else {
        return Vec::new();
    };
    let told = |other: &Row| {
        let Row {
            engine,
            batch,
            shards,
            ..
        } = other;
        let ratios = automatic.ratios(other);
        let middle = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
        let listed = runs::listed(&ratios);
        format!(
            "automatic {middle:.3} x the best cell of {engine}, batch {batch}, {shards} shards: {listed}"
        )
    };
    others.iter().map(told).collect()
}

impl Report {
    /// CSV, separated by `;`. Lines that begin with `#` have the version and the notes. A header and a line for each cell follow.
    #[must_use]
    pub fn csv(&self) -> String {
        csv(
            "index",
            &self.notes,
            &HEADERS,
            &self.cells(),
            self.tag.as_deref(),
        )
    }

    /// One JSON object, with the rate of every load.
    #[must_use]
    pub fn json(&self) -> String {
        let row = |row: &Row| {
            json!({
                "engine": row.engine,
                "batch": row.batch,
                "shards": row.shards,
                "documents": row.documents,
                "docs_per_second": row.median(),
                "runs": row.rates,
            })
        };
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        json!({"name": "index", "notes": self.notes, "rows": rows}).to_string()
    }

    /// An SVG picture: documents per second by batch size, with a curve for each engine and count of shards.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut curves: Vec<Curve> = Vec::new();
        for row in &self.rows {
            let name = format!("{}, {}", row.engine, row.shards);
            let place = curves.iter().position(|curve| curve.name == name);
            let place = place.unwrap_or_else(|| {
                curves.push(Curve {
                    name,
                    ..Curve::default()
                });
                curves.len() - 1
            });
            match row.batch.parse::<u32>() {
                Ok(batch) if batch > 0 => {
                    curves[place].points.push((f64::from(batch), row.median()));
                }
                _ => curves[place].level = Some(row.median()),
            }
        }
        let title = "index: documents/s over the batch, a curve for each number of shards";
        let upward = printed::rates("documents/s; dashes: automatic batch");
        printed::svg(title.to_owned(), "batch", upward, curves)
    }

    fn cells(&self) -> Vec<Vec<String>> {
        self.rows.iter().map(Row::texts).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "index, seine {}", env!("CARGO_PKG_VERSION"))?;
        for note in &self.notes {
            writeln!(f, "  {note}")?;
        }
        f.write_str(&aligned(&HEADERS, &self.cells()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, automatic_and_bests, compared};

    fn row(engine: &str, batch: &str, rates: &[f64]) -> Row {
        Row {
            engine: engine.to_owned(),
            batch: batch.to_owned(),
            shards: "1".to_owned(),
            documents: 100,
            rates: rates.to_vec(),
        }
    }

    #[test]
    fn the_automatic_setting_is_compared_with_the_best_cell_of_each() {
        let rows = vec![
            row("seine *", "auto", &[90.0, 110.0]),
            row("seine", "1", &[10.0, 10.0]),
            row("seine", "100", &[100.0, 100.0]),
            row("peer", "0", &[50.0, 55.0]),
        ];
        let places = automatic_and_bests(&rows);
        assert_eq!(places, [0, 2, 3]);
        let bests: Vec<Row> = places.iter().map(|place| rows[*place].clone()).collect();
        let told = compared(&bests);
        assert_eq!(
            told[0],
            "automatic 1.100 x the best cell of seine, batch 100, 1 shards: 0.900 1.100"
        );
        assert!(
            told[1].starts_with("automatic 2.000 x the best cell of peer"),
            "{told:?}"
        );
    }
}
