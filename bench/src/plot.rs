//! Curves as SVG: a rate or a time by a varied number, with a line for each setting of another.

use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 52.0;

/// Okabe and Ito's palette: people who cannot tell red from green can tell these colours.
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];

/// Of the curves that share a colour, each has other dashes.
const DASHES: [&str; 3] = ["", " stroke-dasharray=\"8 3\"", " stroke-dasharray=\"2 3\""];

/// Lines across the picture.
const STEPS: u32 = 5;

/// Room between the names of two curves.
const NAME_HEIGHT: f64 = 14.0;

/// A picture with two axes and its lines.
pub(crate) struct Plot {
    pub(crate) title: String,
    /// Name of the horizontal axis, in the tip of a point.
    pub(crate) across: &'static str,
    pub(crate) upward: Upward,
    pub(crate) curves: Vec<Curve>,
}

/// The vertical axis.
#[derive(Clone, Copy)]
pub(crate) enum Upward {
    /// Rates by the second, from 0.
    Rate,
    /// Seconds, by their logarithm, between two powers of ten. Pictures with equal powers compare by eye.
    Seconds {
        /// Power of ten at the bottom.
        least: i32,
        /// Power of ten at the top, above `least`.
        most: i32,
    },
}

impl Upward {
    /// The axis on which all of these times have their place.
    pub(crate) fn seconds(times: impl Iterator<Item = f64>) -> Upward {
        let powers = times.map(|time| time.max(1e-9).log10());
        let (low, high) = powers.fold((0.0_f64, f64::MIN), |(low, high), power| {
            (low.min(power), high.max(power))
        });
        let least = low.floor() as i32;
        Upward::Seconds {
            least,
            most: (high.ceil() as i32).max(least + 1),
        }
    }

    fn told(self, value: f64) -> String {
        match self {
            Upward::Rate => format!("{} a second", grouped(value as u64)),
            Upward::Seconds { .. } => format!("{value:.6} s"),
        }
    }
}

/// A line of a picture, with its name behind its end.
#[derive(Default)]
pub(crate) struct Curve {
    pub(crate) name: String,
    /// Points (value on the horizontal axis, rate or seconds), by rising value; the axis is logarithmic.
    pub(crate) points: Vec<(u32, f64)>,
    /// Rate of the automatic setting, drawn as a dashed line; `None`: no such line.
    pub(crate) automatic: Option<f64>,
}

impl Curve {
    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.points
            .iter()
            .map(|(_, rate)| *rate)
            .chain(self.automatic)
    }

    /// Rate at its end, where its name is drawn.
    fn last(&self) -> f64 {
        let last = self.points.last().map(|(_, rate)| *rate);
        last.or(self.automatic).unwrap_or_default()
    }
}

impl Plot {
    /// The picture as text.
    pub(crate) fn svg(&self) -> String {
        let highest = self
            .curves
            .iter()
            .flat_map(Curve::values)
            .fold(1.0, f64::max);
        let scale = Scale::new(&self.curves, self.upward, highest);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n<text x=\"{LEFT}\" y=\"24\" \
             font-size=\"15\">{}</text>\n",
            escaped(&self.title),
        );
        axes(&mut svg, &scale, &self.curves);
        let places = names(&self.curves, &scale);
        for (number, (curve, y)) in self.curves.iter().zip(places).enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let dashes = DASHES[number / COLOURS.len() % DASHES.len()];
            line(&mut svg, &scale, curve, (colour, dashes), self.across);
            put(
                &mut svg,
                format_args!(
                    "<text x=\"{:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{}</text>\n",
                    WIDTH - RIGHT + 10.0,
                    escaped(&curve.name),
                ),
            );
        }
        svg += "</svg>\n";
        svg
    }
}

/// Heights of the curves' names: beside their ends, moved down if two would overlap, and up again if they would leave the
/// picture.
fn names(curves: &[Curve], scale: &Scale) -> Vec<f64> {
    let mut places: Vec<f64> = curves
        .iter()
        .map(|curve| scale.y(curve.last()) + 4.0)
        .collect();
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
    for pair in order.windows(2) {
        places[pair[1]] = places[pair[1]].max(places[pair[0]] + NAME_HEIGHT);
    }
    let mut lowest = HEIGHT - NAME_HEIGHT;
    for place in order.iter().rev() {
        places[*place] = places[*place].min(lowest);
        lowest = places[*place] - NAME_HEIGHT;
    }
    places
}

/// Maps values to places in the picture.
struct Scale {
    least: f64,
    most: f64,
    upward: Upward,
    /// The top of a picture of rates: a round number.
    top: f64,
}

impl Scale {
    fn new(curves: &[Curve], upward: Upward, highest: f64) -> Scale {
        let places = || curves.iter().flat_map(|curve| &curve.points);
        let least = places().map(|(place, _)| *place).min().unwrap_or(1);
        let most = places().map(|(place, _)| *place).max().unwrap_or(1);
        let magnitude = 10_f64.powf(highest.log10().floor());
        let rounds = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
        let top = rounds
            .iter()
            .map(|round| round * magnitude)
            .find(|top| *top >= highest);
        Scale {
            least: f64::from(least).ln(),
            most: f64::from(most.max(least + 1)).ln(),
            upward,
            top: top.unwrap_or(highest),
        }
    }

    fn x(&self, place: u32) -> f64 {
        let part = (f64::from(place).ln() - self.least) / (self.most - self.least);
        LEFT + part * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let part = match self.upward {
            Upward::Rate => value / self.top,
            Upward::Seconds { least, most } => {
                (value.max(1e-9).log10() - f64::from(least)) / f64::from(most - least)
            }
        };
        HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)
    }

    /// The values of the lines across the picture, with their names.
    fn steps(&self) -> Vec<(f64, String)> {
        match self.upward {
            Upward::Rate => {
                let rate = |step| self.top * f64::from(step) / f64::from(STEPS);
                let steps = (0..=STEPS).map(|step| (rate(step), grouped(rate(step) as u64)));
                steps.collect()
            }
            Upward::Seconds { least, most } => {
                let steps = (least..=most).map(|power| 10_f64.powi(power));
                steps.map(|time| (time, format!("{time} s"))).collect()
            }
        }
    }
}

fn axes(svg: &mut String, scale: &Scale, curves: &[Curve]) {
    for (value, name) in scale.steps() {
        let y = scale.y(value);
        put(
            svg,
            format_args!(
                "<path d=\"M{LEFT} {y:.1}H{:.1}\" stroke=\"#ddd\"/>\n<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\n",
                WIDTH - RIGHT,
                LEFT - 8.0,
                y + 4.0,
            ),
        );
    }
    let places = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|(place, _)| *place));
    let mut places: Vec<u32> = places.collect();
    places.sort_unstable();
    places.dedup();
    let mut free = f64::MIN;
    for place in places {
        let x = scale.x(place);
        if x < free {
            continue;
        }
        free = x + 22.0;
        put(
            svg,
            format_args!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{place}</text>\n",
                HEIGHT - BOTTOM + 20.0
            ),
        );
    }
}

fn line(svg: &mut String, scale: &Scale, curve: &Curve, look: (&str, &str), across: &str) {
    let (colour, dashes) = look;
    let points = curve.points.iter();
    let points =
        points.map(|(place, rate)| format!("{:.1},{:.1}", scale.x(*place), scale.y(*rate)));
    put(
        svg,
        format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\n",
            points.collect::<Vec<_>>().join(" ")
        ),
    );
    for (place, rate) in &curve.points {
        put(
            svg,
            format_args!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"><title>{across} {place}: {}</title></circle>\n",
                scale.x(*place),
                scale.y(*rate),
                scale.upward.told(*rate),
            ),
        );
    }
    if let Some(rate) = curve.automatic {
        put(
            svg,
            format_args!(
                "<path d=\"M{LEFT} {0:.1}H{1:.1}\" stroke=\"{colour}\" stroke-dasharray=\"5 4\"><title>automatic: {2}</title></path>\n",
                scale.y(rate),
                WIDTH - RIGHT,
                scale.upward.told(rate),
            ),
        );
    }
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
