//! Small pictures: a line each, of columns of one character.

use unicode_width::UnicodeWidthStr;

use super::sample::sampled;
use super::{Style, Terminal, padded};
use crate::document::Multiples;
use crate::escape::put;
use crate::number::short;
use crate::ruler::{Ruler, Start};

/// Most lines; the others are counted.
const LINES_MAX: usize = 20;

/// Widest picture.
const COLUMNS_MAX: usize = 48;

pub(super) fn draw(multiples: &Multiples, terminal: &Terminal) -> String {
    let points = multiples.panels.iter().flat_map(|panel| &panel.points);
    let across = Ruler::new(&multiples.across, Start::Least, points.map(|point| point.0));
    let panels = &multiples.panels[..multiples.panels.len().min(LINES_MAX)];
    let titles: Vec<String> = panels
        .iter()
        .map(|panel| terminal.cut(&panel.title, terminal.columns() / 4))
        .collect();
    let left = titles.iter().map(|title| title.width()).max().unwrap_or(0) + 1;
    let room = terminal.columns() - left;
    let columns = (room * 3 / 5).min(COLUMNS_MAX);
    let rest = room - columns;
    let mut out = String::new();
    for (panel, title) in panels.iter().zip(&titles) {
        let values = panel.points.iter().map(|point| point.1);
        let upward = Ruler::new(&multiples.upward, Start::Zero, values);
        let heights = sampled(&panel.points, &across, &upward, columns);
        let steps: String = heights
            .into_iter()
            .map(|height| height.map_or(' ', |height| terminal.step(height)))
            .collect();
        out += &padded(title, left);
        out += &terminal.styled(Style::Series(0), &steps);
        if !panel.caption.is_empty() && rest > 2 {
            put(
                &mut out,
                format_args!("  {}", terminal.cut(&panel.caption, rest - 2)),
            );
        }
        out.push('\n');
    }
    let ends = [across.value(0.0), across.value(1.0)]
        .map(|end| terminal.clean(&short(end, multiples.across.unit)));
    let between = columns.saturating_sub(ends[0].width() + ends[1].width());
    if between > 0 {
        let ends = format!(
            "{}{}{}{}",
            " ".repeat(left),
            ends[0],
            " ".repeat(between),
            ends[1]
        );
        out += &(terminal.styled(Style::Quiet, &ends) + "\n");
    }
    if panels.len() < multiples.panels.len() {
        out += &terminal.paragraph(&format!("{} more", multiples.panels.len() - panels.len()));
    }
    out
}
