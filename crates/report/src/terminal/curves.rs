//! Curves: a single one as an area, several by the marks of their series.

use unicode_width::UnicodeWidthStr;

use super::sample::sampled;
use super::{Style, Terminal, right};
use crate::document::{CurveKind, Curves};
use crate::escape::put;
use crate::number::short;
use crate::ruler::{Ruler, Start};

/// Lines between the axes.
const ROWS: usize = 12;

/// What stands in a place of the picture.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Empty,
    /// Dashes of a level.
    Level(usize),
    /// A character of a series.
    Ink(usize, char),
}

pub(super) fn draw(curves: &Curves, terminal: &Terminal) -> String {
    let all = &curves.curves;
    let across = Ruler::new(
        &curves.across,
        Start::Least,
        all.iter()
            .flat_map(|curve| curve.points.iter().map(|point| point.0)),
    );
    let values = all
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| point.1).chain(curve.level));
    let upward = Ruler::new(&curves.upward, Start::Zero, values);
    let labels: Vec<(usize, String)> = (upward.ticks().into_iter())
        .map(|tick| {
            (
                row_of(upward.part(tick)),
                terminal.cut(&short(tick, curves.upward.unit), terminal.columns() / 3),
            )
        })
        .collect();
    let label_width = labels
        .iter()
        .map(|(_, label)| label.width())
        .max()
        .unwrap_or(0);
    let columns = terminal.columns() - label_width - 2;
    let mut out = terminal.styled(
        Style::Quiet,
        &terminal.cut(&curves.upward.title, terminal.columns()),
    ) + "\n";
    let places = places(curves, (&across, &upward), columns, terminal);
    for (row, places) in places.iter().enumerate() {
        let label = labels
            .iter()
            .find(|(at, _)| *at == row)
            .map_or("", |(_, label)| label);
        let edge = match (label.is_empty(), terminal.ascii) {
            (true, true) => " |",
            (true, false) => " │",
            (false, true) => " +",
            (false, false) => " ┤",
        };
        out += &terminal.styled(Style::Quiet, &(right(label, label_width) + edge));
        out += &line(places, terminal);
        out.push('\n');
    }
    out += &axis(&across, curves, (label_width + 1, columns), terminal);
    if curves.has_legend() {
        let names: Vec<&str> = all.iter().map(|curve| curve.name.as_str()).collect();
        out += &terminal.legend(&names);
    }
    out
}

/// The row of a height, from the top.
fn row_of(part: f64) -> usize {
    ROWS - 1 - ((part * ROWS as f64) as usize).min(ROWS - 1)
}

fn places(
    curves: &Curves,
    (across, upward): (&Ruler, &Ruler),
    columns: usize,
    terminal: &Terminal,
) -> Vec<Vec<Place>> {
    let mut places = vec![vec![Place::Empty; columns]; ROWS];
    for (series, curve) in curves.curves.iter().enumerate() {
        if let Some(level) = curve.level {
            let row = &mut places[row_of(upward.part(level))];
            row.iter_mut()
                .step_by(2)
                .for_each(|place| *place = Place::Level(series));
        }
    }
    let is_area = curves.curves.len() == 1 && curves.kind != CurveKind::Points;
    for (series, curve) in curves.curves.iter().enumerate() {
        let mut before: Option<usize> = None;
        for (column, height) in sampled(&curve.points, across, upward, columns)
            .into_iter()
            .enumerate()
        {
            let Some(height) = height else {
                before = None;
                continue;
            };
            if is_area {
                for (row, places) in places.iter_mut().enumerate() {
                    let filled = height * ROWS as f64 - (ROWS - 1 - row) as f64;
                    if filled > 0.0 {
                        places[column] = Place::Ink(series, terminal.step(filled.min(1.0)));
                    }
                }
                continue;
            }
            let row = row_of(height);
            // A steep line has no gaps.
            let from = match before {
                Some(before) if before > row + 1 => before - 1,
                Some(before) if before + 1 < row => before + 1,
                Some(_) | None => row,
            };
            for places in &mut places[row.min(from)..=row.max(from)] {
                places[column] = Place::Ink(series, terminal.mark(series));
            }
            before = Some(row);
        }
    }
    places
}

/// A row, without spaces at its end. Neighbours of one colour share their escapes.
fn line(places: &[Place], terminal: &Terminal) -> String {
    let end = places
        .iter()
        .rposition(|place| *place != Place::Empty)
        .map_or(0, |last| last + 1);
    let mut out = String::new();
    let mut run: (Option<usize>, String) = (None, String::new());
    for place in &places[..end] {
        let (series, c) = match place {
            Place::Empty => (None, ' '),
            Place::Level(series) => (Some(*series), if terminal.ascii { '-' } else { '╌' }),
            Place::Ink(series, c) => (Some(*series), *c),
        };
        if series != run.0 {
            out += &inked(&run, terminal);
            run = (series, String::new());
        }
        run.1.push(c);
    }
    out + &inked(&run, terminal)
}

fn inked((series, text): &(Option<usize>, String), terminal: &Terminal) -> String {
    match series {
        Some(series) => terminal.styled(Style::Series(*series), text),
        None => text.clone(),
    }
}

/// The horizontal axis, its labels and its title.
fn axis(
    across: &Ruler,
    curves: &Curves,
    (left, columns): (usize, usize),
    terminal: &Terminal,
) -> String {
    let (corner, dash, cross) = if terminal.ascii {
        ('+', '-', '+')
    } else {
        ('└', '─', '┴')
    };
    let mut dashes = vec![dash; columns];
    let mut labels = String::new();
    for tick in across.ticks() {
        let column = ((across.part(tick) * columns as f64) as usize).min(columns - 1);
        let label = terminal.clean(&short(tick, curves.across.unit));
        // In the middle below its place, but inside of the picture.
        let begin = (left + 1 + column).saturating_sub(label.width() / 2);
        let begin = begin.min((left + 1 + columns).saturating_sub(label.width()));
        if labels.is_empty() || begin > labels.width() + 1 {
            labels = super::padded(&labels, begin) + &label;
            dashes[column] = cross;
        }
    }
    let dashes: String = dashes.into_iter().collect();
    let mut out = terminal.styled(
        Style::Quiet,
        &format!("{}{corner}{dashes}", " ".repeat(left)),
    );
    put(
        &mut out,
        format_args!("\n{}\n", terminal.styled(Style::Quiet, &labels)),
    );
    let title = terminal.cut(&curves.across.title, terminal.columns() - left);
    let title = right(&title, (terminal.columns() + left + title.width()) / 2);
    out + &terminal.styled(Style::Quiet, &title) + "\n"
}
