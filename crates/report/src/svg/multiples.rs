//! Small pictures with the same axes. Grid and labels are drawn once; each picture refers to them, so that it takes at most 2 kB.

use super::curves::told;
use super::{Anchor, Drawn, WIDTH, label, text};
use crate::document::{CurveKind, Multiples, Panel};
use crate::escape::{markup, put};
use crate::number::short;
use crate::ruler::{Ruler, Start};
use crate::thin::{Placed, thinned};

/// Size of the area of a small picture.
const SMALL_WIDTH: f64 = 180.0;
const SMALL_HEIGHT: f64 = 72.0;

/// Height of the labels below.
const LABELS: f64 = 16.0;

/// Most points of a small line.
const POINTS_MAX: usize = 28;

/// Widest heading of a small picture, in a file and in a page, where it may take three lines.
const TITLE_MAX: f64 = SMALL_WIDTH;
const PAGE_TITLE_MAX: f64 = 3.0 * SMALL_WIDTH;

/// Small pictures in a row of a file.
const IN_A_ROW: usize = 4;

/// Small pictures side by side, as elements of a page.
pub(super) fn draw_page(multiples: &Multiples, id: &str) -> String {
    let across = ruler_across(multiples);
    let height = SMALL_HEIGHT + LABELS;
    let mut out = format!(
        "<svg class=\"defs\" aria-hidden=\"true\"><defs><g id=\"{id}-grid\">{}</g></defs></svg>\n<div class=\"many\">\n",
        grid(multiples, &across)
    );
    for panel in &multiples.panels {
        let title = label(&panel.title, PAGE_TITLE_MAX);
        let caption = label(&panel.caption, PAGE_TITLE_MAX);
        put(
            &mut out,
            format_args!(
                "<figure><figcaption>{title} <small>{caption}</small></figcaption><svg viewBox=\"-4 -2 {:.0} {height:.0}\" role=\"img\" \
                 aria-label=\"{title}\"><use href=\"#{id}-grid\"/>{}</svg></figure>\n",
                SMALL_WIDTH + 8.0,
                line(multiples, panel, &across, Values::Listed)
            ),
        );
    }
    out += "</div>\n";
    out
}

/// Small pictures in rows, in a file of their own.
pub(super) fn draw_file(multiples: &Multiples) -> Drawn {
    let across = ruler_across(multiples);
    let grid = grid(multiples, &across);
    let (wide, high) = (WIDTH / IN_A_ROW as f64, SMALL_HEIGHT + LABELS + 44.0);
    let mut elements = format!("<defs><g id=\"grid\">{grid}</g></defs>\n");
    for (number, panel) in multiples.panels.iter().enumerate() {
        let (x, y) = (
            (number % IN_A_ROW) as f64 * wide,
            (number / IN_A_ROW) as f64 * high,
        );
        put(
            &mut elements,
            format_args!("<g transform=\"translate({:.0} {y:.0})\">\n", x + 5.0),
        );
        let title = label(&panel.title, TITLE_MAX);
        text(&mut elements, (0.0, 14.0), "", Anchor::Start, &title);
        let caption = label(&panel.caption, TITLE_MAX * 1.2);
        text(&mut elements, (0.0, 28.0), "q k", Anchor::Start, &caption);
        put(
            &mut elements,
            format_args!(
                "<g transform=\"translate(0 34)\"><use href=\"#grid\"/>{}</g></g>\n",
                line(multiples, panel, &across, Values::Tips)
            ),
        );
    }
    let rows = multiples.panels.len().div_ceil(IN_A_ROW);
    Drawn {
        elements,
        height: rows as f64 * high + 8.0,
    }
}

fn ruler_across(multiples: &Multiples) -> Ruler {
    let points = multiples.panels.iter().flat_map(|panel| &panel.points);
    Ruler::new(&multiples.across, Start::Least, points.map(|point| point.0))
}

/// The lines and labels that all small pictures share.
fn grid(multiples: &Multiples, across: &Ruler) -> String {
    let mut out = String::new();
    let mut path = String::new();
    let ticks = across.ticks();
    // At most four labels fit.
    let step = ticks.len().div_ceil(4).max(1);
    for (number, tick) in ticks.iter().enumerate() {
        let x = across.part(*tick) * SMALL_WIDTH;
        put(&mut path, format_args!("M{x:.0} 0V{SMALL_HEIGHT}"));
        let anchor = match x {
            _ if x < 12.0 => Anchor::Start,
            _ if x > SMALL_WIDTH - 12.0 => Anchor::End,
            _ => Anchor::Middle,
        };
        if number.is_multiple_of(step) {
            let name = markup(&short(*tick, multiples.across.unit));
            text(&mut out, (x, SMALL_HEIGHT + 12.0), "q k", anchor, &name);
        }
    }
    for part in [0.0, 0.5, 1.0] {
        put(
            &mut path,
            format_args!("M0 {:.0}H{SMALL_WIDTH}", part * SMALL_HEIGHT),
        );
    }
    put(&mut out, format_args!("<path class=\"g\" d=\"{path}\"/>"));
    out
}

/// How the values of a line are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    /// In an attribute, for the script of a page.
    Listed,
    /// As a tip of each point.
    Tips,
}

fn line(multiples: &Multiples, panel: &Panel, across: &Ruler, values: Values) -> String {
    let upward = Ruler::new(
        &multiples.upward,
        Start::Zero,
        panel.points.iter().map(|point| point.1),
    );
    let is_finite = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
    let placed = |point: &(f64, f64)| {
        let x = across.part(point.0) * SMALL_WIDTH;
        ((x, (1.0 - upward.part(point.1)) * SMALL_HEIGHT), *point)
    };
    let all: Vec<Placed> = panel.points.iter().filter(is_finite).map(placed).collect();
    let kept = thinned(&all, 0.4, POINTS_MAX);
    let points: Vec<String> = kept
        .iter()
        .map(|((x, y), _)| format!("{x:.0},{y:.1}"))
        .collect();
    let points = points.join(" ");
    let mut out = String::new();
    let ends = (kept.first(), kept.last());
    if let (CurveKind::Frequency, (Some(first), Some(last))) = (multiples.kind, ends) {
        let (left, right) = (first.0.0, last.0.0);
        put(
            &mut out,
            format_args!(
                "<polygon class=\"e s0\" points=\"{left:.0},{SMALL_HEIGHT} {points} {right:.0},{SMALL_HEIGHT}\"/>"
            ),
        );
    }
    put(
        &mut out,
        format_args!("<polyline class=\"l s0\" points=\"{points}\""),
    );
    let told = |(x, y): (f64, f64), between: &str| {
        let x = told(x, multiples.across.unit);
        format!("{x}{between}{}", told(y, multiples.upward.unit))
    };
    match values {
        Values::Listed => {
            let tips: Vec<String> = kept.iter().map(|(_, point)| told(*point, "\t")).collect();
            put(&mut out, format_args!(" data-v=\"{}\"/>", tips.join("|")));
        }
        Values::Tips => {
            out += "/>";
            for ((x, y), point) in &kept {
                put(
                    &mut out,
                    format_args!(
                        "<circle class=\"p\" cx=\"{x:.0}\" cy=\"{y:.1}\" r=\"3\"><title>{}</title></circle>",
                        told(*point, ": ")
                    ),
                );
            }
        }
    }
    // The end of the vertical axis, over the line.
    let name = markup(&short(upward.value(1.0), multiples.upward.unit));
    text(&mut out, (3.0, 11.0), "q k o", Anchor::Start, &name);
    out
}
