//! Pictures as SVG, 760 wide without margins, without scripts and without addresses.
//!
//! A picture is drawn for a file of its own, with its title, its style and a tip for each point, or for a page, which has these
//! itself. Colours are classes, so both follow the reader's light or dark scheme.

mod bars;
mod curves;
mod frame;
mod legend;
mod look;
mod matrix;
mod multiples;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::document::{Drawing, Picture};
use crate::escape::{markup, put, visible};

pub(crate) use look::LOOK;

/// Width of a picture.
const WIDTH: f64 = 760.0;

/// Room at both sides in a file.
const MARGIN: f64 = 12.0;

/// Where a picture stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In a file of its own.
    File,
    /// In a page, whose script shows the values of lines.
    Page,
}

/// A drawn picture: its elements and its height.
struct Drawn {
    elements: String,
    height: f64,
}

impl Picture {
    /// The picture as a file. Cost: about 100 bytes for each point of a curve, bar and field.
    #[must_use]
    pub fn svg(&self) -> String {
        let drawn = match &self.drawing {
            Drawing::Curves(curves) => curves::draw(curves, Place::File),
            Drawing::Bars(bars) => bars::draw(bars),
            Drawing::Matrix(matrix) => matrix::draw(matrix),
            Drawing::Multiples(multiples) => multiples::draw_file(multiples),
        };
        let title = markup(&self.title);
        let heading = label(&self.title, WIDTH * 0.75);
        let height = drawn.height + 34.0;
        let (left, width) = (-MARGIN, WIDTH + 2.0 * MARGIN);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{left} 0 {width} {height:.0}\" role=\"img\" \
             aria-label=\"{title}\">\n<title>{title}</title>\n<style>{LOOK}</style>\n\
             <rect class=\"b\" x=\"{left}\" width=\"{width}\" height=\"{height:.0}\"/>\n\
             <text class=\"t\" x=\"0\" y=\"24\">{heading}</text>\n<g transform=\"translate(0 34)\">\n"
        );
        svg += &drawn.elements;
        svg += "</g>\n</svg>\n";
        svg
    }
}

/// The picture for a page; `id` begins the names of its parts.
pub(crate) fn in_page(picture: &Picture, id: &str) -> String {
    let drawn = match &picture.drawing {
        Drawing::Curves(curves) => curves::draw(curves, Place::Page),
        Drawing::Bars(bars) => bars::draw(bars),
        Drawing::Matrix(matrix) => matrix::draw(matrix),
        Drawing::Multiples(multiples) => return multiples::draw_page(multiples, id),
    };
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
        drawn.height,
        markup(&picture.title),
        drawn.elements
    )
}

/// Width of a character of 12 pixels, of a common font without serifs.
const CHARACTER: f64 = 6.9;

/// Width of a visible text.
fn text_width(text: &str) -> f64 {
    text.width() as f64 * CHARACTER
}

/// The visible text, cut to a width.
fn fitted(text: &str, width: f64) -> String {
    let text = visible(text);
    if text_width(&text) <= width {
        return text;
    }
    let mut room = width - CHARACTER;
    let fits = |c: &char| {
        room -= c.width().unwrap_or(0) as f64 * CHARACTER;
        room >= 0.0
    };
    text.chars().take_while(fits).collect::<String>() + "…"
}

/// Markup of the visible text, cut to a width.
fn label(text: &str, width: f64) -> String {
    markup(&fitted(text, width))
}

/// A text element. `class` may be empty.
fn text(out: &mut String, (x, y): (f64, f64), class: &str, anchor: Anchor, markup: &str) {
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let class = if class.is_empty() {
        String::new()
    } else {
        format!(" class=\"{class}\"")
    };
    put(
        out,
        format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\"{class}{anchor}>{markup}</text>\n"),
    );
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}
