//! Curves as SVG: throughput over the batch, a line for each number of clients.

use std::fmt::Write;

use crate::{
    batch::Batch,
    outcome::{Cell, Outcome},
};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 52.0;

/// Told apart by eyes that see red and green alike (Okabe and Ito's palette).
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];

/// Lines across the picture.
const STEPS: u32 = 5;

/// One number of clients.
struct Curve<'o> {
    concurrency: u32,
    cells: Vec<(u32, &'o Cell)>,
    automatic: Option<&'o Cell>,
}

/// The picture of a grid. Batches are on a logarithmic axis; what the automatic batch reached is a dashed line.
pub(crate) fn draw(outcome: &Outcome) -> String {
    let curves = curves(&outcome.cells);
    let highest = outcome.cells.iter().map(Cell::rate).fold(1.0, f64::max);
    let scale = Scale::new(&curves, highest);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n<text x=\"{LEFT}\" y=\"24\" \
         font-size=\"15\">{}: {}/s over documents in a call</text>\n",
        escaped(&outcome.name),
        outcome.element,
    );
    axes(&mut svg, &scale, &curves);
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        line(&mut svg, &scale, curve, colour);
    }
    svg += "</svg>\n";
    svg
}

fn curves(cells: &[Cell]) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for cell in cells {
        let place = curves
            .iter()
            .position(|curve| curve.concurrency == cell.concurrency);
        let place = place.unwrap_or_else(|| {
            curves.push(Curve {
                concurrency: cell.concurrency,
                cells: Vec::new(),
                automatic: None,
            });
            curves.len() - 1
        });
        match cell.batch {
            Batch::Of(count) => curves[place].cells.push((count, cell)),
            Batch::Auto => curves[place].automatic = Some(cell),
        }
    }
    for curve in &mut curves {
        curve.cells.sort_by_key(|(batch, _)| *batch);
    }
    curves
}

/// From values to places in the picture.
struct Scale {
    least: f64,
    most: f64,
    /// The top of the picture: a round number.
    top: f64,
}

impl Scale {
    fn new(curves: &[Curve<'_>], highest: f64) -> Scale {
        let batches = || curves.iter().flat_map(|curve| &curve.cells);
        let least = batches().map(|(batch, _)| *batch).min().unwrap_or(1);
        let most = batches().map(|(batch, _)| *batch).max().unwrap_or(1);
        let magnitude = 10_f64.powf(highest.log10().floor());
        let rounds = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
        let top = rounds
            .iter()
            .map(|round| round * magnitude)
            .find(|top| *top >= highest);
        Scale {
            least: f64::from(least).ln(),
            most: f64::from(most.max(least + 1)).ln(),
            top: top.unwrap_or(highest),
        }
    }

    fn x(&self, batch: u32) -> f64 {
        let part = (f64::from(batch).ln() - self.least) / (self.most - self.least);
        LEFT + part * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, rate: f64) -> f64 {
        HEIGHT - BOTTOM - rate / self.top * (HEIGHT - TOP - BOTTOM)
    }
}

fn axes(svg: &mut String, scale: &Scale, curves: &[Curve<'_>]) {
    for step in 0..=STEPS {
        let rate = scale.top * f64::from(step) / f64::from(STEPS);
        let y = scale.y(rate);
        put(
            svg,
            format_args!(
                "<path d=\"M{LEFT} {y:.1}H{:.1}\" stroke=\"#ddd\"/>\n<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                WIDTH - RIGHT,
                LEFT - 8.0,
                y + 4.0,
                grouped(rate as u64),
            ),
        );
    }
    let mut batches: Vec<u32> = curves
        .iter()
        .flat_map(|curve| curve.cells.iter().map(|(batch, _)| *batch))
        .collect();
    batches.sort_unstable();
    batches.dedup();
    let mut free = f64::MIN;
    for batch in batches {
        let x = scale.x(batch);
        if x < free {
            continue;
        }
        free = x + 22.0;
        put(
            svg,
            format_args!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{batch}</text>\n",
                HEIGHT - BOTTOM + 20.0
            ),
        );
    }
}

fn line(svg: &mut String, scale: &Scale, curve: &Curve<'_>, colour: &str) {
    let points: Vec<String> = curve
        .cells
        .iter()
        .map(|(batch, cell)| format!("{:.1},{:.1}", scale.x(*batch), scale.y(cell.rate())))
        .collect();
    put(
        svg,
        format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n",
            points.join(" ")
        ),
    );
    for (batch, cell) in &curve.cells {
        put(
            svg,
            format_args!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"><title>batch {batch}: {} a second</title></circle>\n",
                scale.x(*batch),
                scale.y(cell.rate()),
                grouped(cell.rate() as u64),
            ),
        );
    }
    if let Some(cell) = curve.automatic {
        put(
            svg,
            format_args!(
                "<path d=\"M{LEFT} {0:.1}H{1:.1}\" stroke=\"{colour}\" stroke-dasharray=\"5 4\"><title>automatic: {2} a second</title></path>\n",
                scale.y(cell.rate()),
                WIDTH - RIGHT,
                grouped(cell.rate() as u64),
            ),
        );
    }
    let last = curve.cells.last().map(|(_, cell)| cell.rate());
    let rate = last.or(curve.automatic.map(Cell::rate)).unwrap_or_default();
    put(
        svg,
        format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{} client{}</text>\n",
            WIDTH - RIGHT + 10.0,
            scale.y(rate) + 4.0,
            curve.concurrency,
            if curve.concurrency == 1 { "" } else { "s" },
        ),
    );
}

/// Writing into a string cannot fail.
fn put(svg: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = svg.write_fmt(text);
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests;
