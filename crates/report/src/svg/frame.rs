//! The area between two axes, with its grid and labels.

use super::{Anchor, WIDTH, label, text, text_width};
use crate::document::{Axis, Scale};
use crate::escape::{markup, put};
use crate::number::short;
use crate::ruler::Ruler;

/// Height between the axes.
const HEIGHT: f64 = 280.0;

/// Room at the right, for the half of the last label.
const RIGHT: f64 = 28.0;

/// Least room between two labels.
const GAP: f64 = 10.0;

/// Two axes and the area between them.
pub(super) struct Frame<'a> {
    across: &'a Axis,
    upward: &'a Axis,
    x: Ruler,
    y: Ruler,
    left: f64,
    top: f64,
}

impl<'a> Frame<'a> {
    /// A frame below `top`; the labels of the vertical axis say how far at the left it begins.
    pub(super) fn new(across: (&'a Axis, Ruler), upward: (&'a Axis, Ruler), top: f64) -> Frame<'a> {
        let widths = upward
            .1
            .ticks()
            .into_iter()
            .map(|tick| text_width(&short(tick, upward.0.unit)));
        Frame {
            left: widths.fold(24.0, f64::max) + 18.0,
            top: top + 22.0,
            across: across.0,
            upward: upward.0,
            x: across.1,
            y: upward.1,
        }
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + self.x.part(value) * (self.right() - self.left)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.bottom() - self.y.part(value) * HEIGHT
    }

    pub(super) fn left(&self) -> f64 {
        self.left
    }

    pub(super) fn right(&self) -> f64 {
        WIDTH - RIGHT
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + HEIGHT
    }

    /// Height of the picture with its labels.
    pub(super) fn height(&self) -> f64 {
        self.bottom() + 48.0
    }

    /// Draws the grid and the labels. `places` are the values across with a label; `None`: round values.
    pub(super) fn draw(&self, out: &mut String, places: Option<Vec<f64>>) {
        text(
            out,
            (self.left - 8.0, self.top - 12.0),
            "q",
            Anchor::Start,
            &label(&self.upward.title, WIDTH - self.left),
        );
        self.fine_lines(out);
        for tick in self.y.ticks() {
            let y = self.y(tick);
            put(
                out,
                format_args!(
                    "<path class=\"g\" d=\"M{:.1} {y:.1}H{:.1}\"/>\n",
                    self.left,
                    self.right()
                ),
            );
            let name = markup(&short(tick, self.upward.unit));
            text(out, (self.left - 8.0, y + 4.0), "q", Anchor::End, &name);
        }
        let mut free = f64::MIN;
        for tick in places.unwrap_or_else(|| self.x.ticks()) {
            let (x, name) = (self.x(tick), short(tick, self.across.unit));
            let half = text_width(&name) / 2.0;
            put(
                out,
                format_args!(
                    "<path class=\"g\" d=\"M{x:.1} {:.1}V{:.1}\"/>\n",
                    self.top,
                    self.bottom() + 5.0
                ),
            );
            if x - half >= free {
                free = x + half + GAP;
                text(
                    out,
                    (x, self.bottom() + 19.0),
                    "q",
                    Anchor::Middle,
                    &markup(&name),
                );
            }
        }
        put(
            out,
            format_args!(
                "<path class=\"a\" d=\"M{:.1} {:.1}H{:.1}\"/>\n",
                self.left,
                self.bottom(),
                self.right()
            ),
        );
        let middle = (self.left + self.right()) / 2.0;
        text(
            out,
            (middle, self.bottom() + 38.0),
            "q",
            Anchor::Middle,
            &label(&self.across.title, self.right() - self.left),
        );
    }

    /// On a logarithmic axis across of some decades, faint lines at 2 to 9 times each power of ten.
    fn fine_lines(&self, out: &mut String) {
        let decades: Vec<f64> = self.x.ticks();
        let is_by_ten = |pair: &[f64]| (pair[1] / pair[0] - 10.0).abs() < 1e-6;
        if self.across.scale != Scale::Log10
            || decades.len() < 2
            || !decades.windows(2).all(is_by_ten)
        {
            return;
        }
        let mut path = String::new();
        let first = decades[0] / 10.0;
        for decade in std::iter::once(first).chain(decades) {
            for factor in 2..10 {
                let x = self.x(decade * f64::from(factor));
                if x > self.left && x < self.right() {
                    put(
                        &mut path,
                        format_args!("M{x:.1} {:.1}V{:.1}", self.top, self.bottom()),
                    );
                }
            }
        }
        put(out, format_args!("<path class=\"h\" d=\"{path}\"/>\n"));
    }
}
