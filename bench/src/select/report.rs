//! The measured cells, and their output.

use std::fmt;

use report::Curve;
use serde_json::json;

use super::{OURS, Options, definition::Form, system::System};
use crate::{
    error::Result,
    printed::{self, aligned, csv},
};

const HEADERS: [&str; 10] = [
    "form", "ids", "system", "rows", "seconds", "us/row", "fastest", "slowest", "x seine", "told",
];

/// The sizes whose times per row a note compares.
const GROWTH: (u32, u32) = (10_000, 1_000_000);

/// A form with lists of one size in a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub(super) form: String,
    /// Whether the whole work is timed, and not the last step alone.
    is_whole: bool,
    pub(super) ids: u32,
    pub(super) system: String,
    /// Rows of the answer to the first list.
    pub(super) rows: u64,
    /// Seconds of a job in each run, in the order made.
    pub(super) seconds: Vec<f64>,
    /// Why there is no time.
    pub(super) told: Option<String>,
}

/// The measured cells. `Display` is the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Lines that a reader of the figures must know.
    pub notes: Vec<String>,
    /// Text that is appended to each line of the CSV.
    pub tag: Option<String>,
    /// The cells, by size, form and system.
    pub cells: Vec<Cell>,
    systems: Vec<String>,
}

impl Cell {
    pub(super) fn new(form: &Form, ids: u32, system: &str) -> Cell {
        Cell {
            form: form.name.clone(),
            is_whole: form.before.is_empty(),
            ids,
            system: system.to_owned(),
            rows: 0,
            seconds: Vec::new(),
            told: None,
        }
    }

    /// Median seconds of a job; `None`: the form has no time.
    fn median(&self) -> Option<f64> {
        match self.told {
            Some(_) => None,
            None => median(self.seconds.clone()),
        }
    }

    fn per_row(&self) -> Option<f64> {
        Some(self.median()? / self.rows.max(1) as f64)
    }

    /// Median of the ratios of this cell's time to another's in the same turn.
    fn times(&self, other: &Cell) -> Option<f64> {
        self.median().and(other.median())?;
        let pairs = self.seconds.iter().zip(&other.seconds);
        median(pairs.map(|(own, other)| own / other.max(1e-9)).collect())
    }

    fn texts(&self, ours: Option<&Cell>) -> Vec<String> {
        let number = |number: Option<f64>, digits: usize| {
            number.map_or("-".to_owned(), |number| format!("{number:.digits$}"))
        };
        let measured = self.median().is_some();
        let fastest = self.seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let slowest = self.seconds.iter().copied().fold(0.0, f64::max);
        let ids = self.ids.to_string();
        let rows = self.rows.to_string();
        vec![
            self.form.clone(),
            ids,
            self.system.clone(),
            if measured { rows } else { "-".to_owned() },
            number(self.median(), 6),
            number(self.per_row().map(|seconds| seconds * 1e6), 3),
            number(measured.then_some(fastest), 6),
            number(measured.then_some(slowest), 6),
            number(ours.and_then(|ours| self.times(ours)), 3),
            self.told
                .clone()
                .unwrap_or_default()
                .replace([';', '\n'], ","),
        ]
    }
}

fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

impl Report {
    pub(super) fn new(systems: &mut [System], options: &Options) -> Result<Report> {
        let mut notes = vec![format!(
            "a table of {} rows, all columns read; {} runs of {} s, in turns; a job may take {} s",
            options.rows,
            options.effort.runs,
            options.effort.seconds_min,
            options.timeout.as_secs_f64(),
        )];
        for system in &mut *systems {
            let about = system.about()?;
            notes.push(format!("{}: {about}", system.name));
        }
        let names: Vec<&str> = systems.iter().map(|system| system.name.as_str()).collect();
        Ok(Report {
            notes,
            tag: options.tag.clone(),
            ..Report::of(&names)
        })
    }

    /// A report without cells.
    pub(super) fn of(systems: &[&str]) -> Report {
        Report {
            notes: Vec::new(),
            tag: None,
            cells: Vec::new(),
            systems: systems.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// Adds the cells of a size, and notes on our forms beside the best form of each peer.
    pub(super) fn add(&mut self, size: u32, cells: Vec<Cell>) {
        let first = self.cells.len();
        self.cells.extend(cells);
        let cells = &self.cells[first..];
        for peer in self.systems.iter().filter(|name| *name != OURS) {
            let whole = cells
                .iter()
                .filter(|cell| cell.system == *peer && cell.is_whole);
            let timed = whole.filter_map(|cell| Some((cell.median()?, cell)));
            let Some((seconds, best)) = timed.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                continue;
            };
            let ours = cells
                .iter()
                .filter(|cell| cell.system == OURS && cell.is_whole);
            let told = ours.filter_map(|cell| Some((&cell.form, best.times(cell)?)));
            self.notes.push(format!(
                "{size} ids: {peer}'s best form is {} with {seconds:.6} s; it takes this many times as long as ours: {}",
                best.form,
                listed(told),
            ));
        }
        let of = |form: &str| {
            let ours = |cell: &&Cell| cell.system == OURS && cell.form == form;
            cells.iter().find(ours)
        };
        if let (Some(or), Some(list)) = (of("or"), of("in"))
            && let Some(times) = or.times(list)
        {
            self.notes
                .push(format!("{size} ids: OR takes {times:.3} x the time of IN"));
        }
    }

    /// Adds the notes on growth, behind the last size.
    pub(super) fn close(&mut self) {
        let (few, many) = GROWTH;
        for system in &self.systems {
            let of = |ids: u32| {
                let of = move |cell: &&Cell| cell.system == *system && cell.ids == ids;
                self.cells.iter().filter(of)
            };
            let grown = of(many).filter_map(|cell| {
                let small = of(few).find(|small| small.form == cell.form)?;
                Some((&cell.form, cell.per_row()? / small.per_row()?))
            });
            let grown = listed(grown);
            if !grown.is_empty() {
                self.notes.push(format!(
                    "{system}: time per row with {many} ids over that with {few}: {grown}"
                ));
            }
        }
    }

    /// Forms without a time, with their reasons.
    pub fn untimed(&self) -> impl Iterator<Item = (&str, &str)> {
        let cells = self.cells.iter();
        cells.filter_map(|cell| Some((cell.form.as_str(), cell.told.as_deref()?)))
    }

    /// CSV, separated by `;`. Lines that begin with `#` have the version and the notes. A header and a line for each cell follow.
    #[must_use]
    pub fn csv(&self) -> String {
        csv(
            "select",
            &self.notes,
            &HEADERS,
            &self.texts(),
            self.tag.as_deref(),
        )
    }

    /// One JSON object, with the seconds of every run.
    #[must_use]
    pub fn json(&self) -> String {
        let cell = |cell: &Cell| {
            json!({
                "form": cell.form,
                "ids": cell.ids,
                "system": cell.system,
                "rows": cell.rows,
                "seconds": cell.median(),
                "runs": cell.seconds,
                "told": cell.told,
            })
        };
        let cells: Vec<_> = self.cells.iter().map(cell).collect();
        json!({"name": "select", "notes": self.notes, "cells": cells}).to_string()
    }

    /// An SVG picture for each system, by its name: seconds over ids, both logarithmic, with a curve for each form. All have the
    /// same axis of seconds.
    #[must_use]
    pub fn svgs(&self) -> Vec<(&str, String)> {
        let upward = printed::seconds(self.cells.iter().filter_map(Cell::median));
        let picture = |system: &String| {
            let mut curves: Vec<Curve> = Vec::new();
            for cell in self.cells.iter().filter(|cell| cell.system == *system) {
                let Some(seconds) = cell.median() else {
                    continue;
                };
                let point = (f64::from(cell.ids), seconds);
                match curves.iter_mut().find(|curve| curve.name == cell.form) {
                    Some(curve) => curve.points.push(point),
                    None => curves.push(Curve::new(&cell.form, vec![point])),
                }
            }
            let title = format!("{system}: seconds over ids, a curve for each form");
            printed::svg(title, "ids", upward.clone(), curves)
        };
        let systems = self.systems.iter();
        systems
            .map(|system| (system.as_str(), picture(system)))
            .collect()
    }

    fn texts(&self) -> Vec<Vec<String>> {
        let ours = |cell: &Cell| {
            let same = |other: &&Cell| {
                other.system == OURS && other.form == cell.form && other.ids == cell.ids
            };
            self.cells.iter().find(same)
        };
        self.cells
            .iter()
            .map(|cell| cell.texts(ours(cell)))
            .collect()
    }
}

/// `in 1.023, or 1.100`.
fn listed<'f>(forms: impl Iterator<Item = (&'f String, f64)>) -> String {
    let texts: Vec<String> = forms
        .map(|(form, ratio)| format!("{form} {ratio:.3}"))
        .collect();
    texts.join(", ")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "select, seine {}", env!("CARGO_PKG_VERSION"))?;
        for note in &self.notes {
            writeln!(f, "  {note}")?;
        }
        f.write_str(&aligned(&HEADERS, &self.texts()))
    }
}
