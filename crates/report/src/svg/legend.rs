//! Names of series, in rows above a picture.

use super::look::{line_class, mark};
use super::{Anchor, WIDTH, fitted, label, text, text_width};
use crate::escape::put;

/// Height of a row.
const ROW: f64 = 20.0;

/// Widest name.
const NAME_MAX: f64 = 280.0;

/// How the series look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sample {
    /// Dashes and a mark.
    Line,
    /// A filled square.
    Bar,
}

/// Draws the names from the top; gives the height that they take.
pub(super) fn draw(out: &mut String, names: &[&str], sample: Sample) -> f64 {
    if names.is_empty() {
        return 0.0;
    }
    let room = match sample {
        Sample::Line => 30.0,
        Sample::Bar => 12.0,
    };
    let (mut x, mut y) = (0.0, 14.0);
    for (series, name) in names.iter().enumerate() {
        let width = room + 10.0 + text_width(&fitted(name, NAME_MAX)) + 18.0;
        if x > 0.0 && x + width > WIDTH {
            (x, y) = (0.0, y + ROW);
        }
        match sample {
            Sample::Bar => put(
                out,
                format_args!(
                    "<rect class=\"f s{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\"/>\n",
                    series % 6,
                    x,
                    y - 10.0
                ),
            ),
            Sample::Line => {
                put(
                    out,
                    format_args!(
                        "<path class=\"{}\" d=\"M{x:.1} {:.1}h30\"/>\n",
                        line_class(series),
                        y - 4.0
                    ),
                );
                mark(out, series, (x + 15.0, y - 4.0), None);
            }
        }
        text(
            out,
            (x + room + 8.0, y),
            "",
            Anchor::Start,
            &label(name, NAME_MAX),
        );
        x += width;
    }
    y + 14.0
}
