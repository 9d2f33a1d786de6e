//! Curves over two axes.

use super::frame::Frame;
use super::legend::{self, Sample};
use super::look::{colour_class, line_class, mark};
use super::{Drawn, Place};
use crate::document::{Axis, Curve, CurveKind, Curves, Scale, Unit};
use crate::escape::{markup, put};
use crate::number::{Grouping, number_shown};
use crate::ruler::{Ruler, Start};
use crate::thin::{Placed, thinned};

/// Most different values across that are labelled themselves; above, round values are.
const PLACES_MAX: usize = 12;

/// Most points of a drawn line. A longer one is drawn by some of them, each with its exact values.
const POINTS_MAX: usize = 200;

/// Marks along a line of many points.
const MARKS: usize = 7;

pub(super) fn draw(curves: &Curves, place: Place) -> Drawn {
    let mut elements = String::new();
    let names: Vec<&str> = match curves.has_legend() {
        true => curves
            .curves
            .iter()
            .map(|curve| curve.name.as_str())
            .collect(),
        false => Vec::new(),
    };
    let top = legend::draw(&mut elements, &names, Sample::Line);
    let frame = Frame::new(
        (&curves.across, ruler_across(&curves.across, &curves.curves)),
        (&curves.upward, ruler_upward(&curves.upward, &curves.curves)),
        top,
    );
    frame.draw(&mut elements, places(curves));
    for (series, curve) in curves.curves.iter().enumerate() {
        line(&mut elements, &frame, curves, (series, curve), place);
    }
    Drawn {
        height: frame.height(),
        elements,
    }
}

fn ruler_across(axis: &Axis, curves: &[Curve]) -> Ruler {
    let values = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| point.0));
    Ruler::new(axis, Start::Least, values)
}

fn ruler_upward(axis: &Axis, curves: &[Curve]) -> Ruler {
    let values = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| point.1).chain(curve.level));
    Ruler::new(axis, Start::Zero, values)
}

/// The values across of a picture of few measured points.
fn places(curves: &Curves) -> Option<Vec<f64>> {
    if curves.kind != CurveKind::Points || curves.across.scale != Scale::Log10 {
        return None;
    }
    let points = curves.curves.iter().flat_map(|curve| &curve.points);
    let mut places: Vec<f64> = points
        .map(|point| point.0)
        .filter(|value| value.is_finite())
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    (places.len() <= PLACES_MAX).then_some(places)
}

fn line(
    out: &mut String,
    frame: &Frame<'_>,
    curves: &Curves,
    (series, curve): (usize, &Curve),
    place: Place,
) {
    let is_finite = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
    let placed = |point: &(f64, f64)| ((frame.x(point.0), frame.y(point.1)), *point);
    let all: Vec<Placed> = curve.points.iter().filter(is_finite).map(placed).collect();
    let kept = match all.len() <= POINTS_MAX {
        true => all,
        false => thinned(&all, 0.2, POINTS_MAX),
    };
    if let Some(value) = curve.level {
        level(out, frame, curves, (series, &curve.name), value);
    }
    let points: Vec<String> = kept
        .iter()
        .map(|((x, y), _)| format!("{x:.1},{y:.1}"))
        .collect();
    let points = points.join(" ");
    let is_tinted = curves.kind == CurveKind::Frequency && curves.curves.len() == 1;
    if let (true, Some(first), Some(last)) = (is_tinted, kept.first(), kept.last()) {
        let (left, right, bottom) = (first.0.0, last.0.0, frame.bottom());
        let class = colour_class(series);
        put(
            out,
            format_args!(
                "<polygon class=\"e {class}\" points=\"{left:.1},{bottom:.1} {points} {right:.1},{bottom:.1}\"/>\n"
            ),
        );
    }
    let tips: Vec<String> = kept.iter().map(|(_, point)| tip(curves, *point)).collect();
    let values = match place {
        Place::File => String::new(),
        Place::Page => {
            let name = markup(&curve.name);
            format!(" data-n=\"{name}\" data-v=\"{}\"", tips.join("|"))
        }
    };
    let class = line_class(series);
    put(
        out,
        format_args!("<polyline class=\"{class}\" points=\"{points}\"{values}/>\n"),
    );
    marks(out, curves, (series, &curve.name), (&kept, &tips), place);
}

fn level(
    out: &mut String,
    frame: &Frame<'_>,
    curves: &Curves,
    (series, name): (usize, &str),
    value: f64,
) {
    put(
        out,
        format_args!(
            "<path class=\"v {}\" d=\"M{:.1} {:.1}H{:.1}\"><title>{}: {}</title></path>\n",
            colour_class(series),
            frame.left(),
            frame.y(value),
            frame.right(),
            markup(name),
            told(value, curves.upward.unit),
        ),
    );
}

/// Marks on each point, or some along a line of many; none on a single line of many. In a file, each point has a tip.
fn marks(
    out: &mut String,
    curves: &Curves,
    (series, name): (usize, &str),
    (points, tips): (&[Placed], &[String]),
    place: Place,
) {
    let step = match curves.kind {
        CurveKind::Points => Some(1),
        CurveKind::Cumulative | CurveKind::Frequency => {
            (curves.curves.len() > 1).then(|| (points.len() / MARKS).max(1))
        }
    };
    // The marks of one curve stand between those of the others.
    let first = step.map_or(0, |step| series * step / curves.curves.len().max(1));
    let is_marked = |number: usize| {
        step.is_some_and(|step| number >= first && (number - first).is_multiple_of(step))
    };
    let of_curve = markup(&format!("{name}, {}", curves.across.title));
    for (number, (((x, y), _), tip)) in points.iter().zip(tips).enumerate() {
        let tip = format!("{of_curve} {}", tip.replace('\t', ": "));
        let tip = (place == Place::File).then_some(tip.as_str());
        if is_marked(number) {
            mark(out, series, (*x, *y), tip);
        } else if let Some(tip) = tip {
            put(
                out,
                format_args!(
                    "<circle class=\"p\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{tip}</title></circle>\n"
                ),
            );
        }
    }
}

/// Value across, a tab, value upward.
fn tip(curves: &Curves, (x, y): (f64, f64)) -> String {
    format!(
        "{}\t{}",
        told(x, curves.across.unit),
        told(y, curves.upward.unit)
    )
}

/// A value in words.
pub(super) fn told(value: f64, unit: Unit) -> String {
    markup(&number_shown(value, unit, Grouping::ThinSpace))
}
