//! Pictures. Each holds its exact values; an output may draw fewer points, and tells exact values of those that it draws.

use super::Unit;

/// A picture with a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Key in JSON, name in CSV; unique in its document, among tables too.
    pub name: String,
    /// Words for a reader, and the accessible name.
    pub title: String,
    /// What is drawn.
    pub drawing: Drawing,
}

/// The kinds of pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawing {
    /// Lines over two axes.
    Curves(Curves),
    /// Horizontal bars.
    Bars(Bars),
    /// A grid of coloured fields.
    Matrix(Matrix),
    /// Many small pictures with the same axes.
    Multiples(Multiples),
}

/// Lines over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// What the lines show.
    pub kind: CurveKind,
    /// The horizontal axis.
    pub across: Axis,
    /// The vertical axis.
    pub upward: Axis,
    /// Lines in the order of the legend.
    pub curves: Vec<Curve>,
}

/// What a line shows, and so how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveKind {
    /// Share of all values at or below each value: shares that never fall, 0 to 1.
    Cumulative,
    /// How often values occur: the area below a single line is tinted.
    Frequency,
    /// One number by another: each point has a mark.
    Points,
}

/// An axis of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Words for a reader.
    pub title: String,
    /// Unit of its values.
    pub unit: Unit,
    /// Distances on it.
    pub scale: Scale,
    /// Least and most value; `None`: taken from the values. Pictures with equal ranges compare by eye.
    pub range: Option<(f64, f64)>,
}

/// Distances on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences have equal lengths.
    Linear,
    /// Equal ratios have equal lengths. A value of 0 or less is drawn at the least value.
    Log10,
}

/// A line of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Words for a reader, in the legend.
    pub name: String,
    /// Values across and upward, each value across once, rising; not finite ones are left out.
    pub points: Vec<(f64, f64)>,
    /// A value upward that is drawn as a dashed line through the whole width, such as the rate of an automatic setting.
    pub level: Option<f64>,
}

/// Horizontal bars from 0: for each group a bar of each series.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Unit of the values.
    pub unit: Unit,
    /// Names of the series; a single one needs no legend.
    pub series: Vec<String>,
    /// The groups, from the top.
    pub groups: Vec<Group>,
}

/// The bars of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Words for a reader.
    pub name: String,
    /// A value for each series; `None`: no bar. Values below 0 are drawn as 0.
    pub values: Vec<Option<f64>>,
}

/// A grid of fields, coloured by value from 0 to the highest.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Unit of the values.
    pub unit: Unit,
    /// What the rows are, such as `weekday`.
    pub down: String,
    /// What the columns are, such as `hour`.
    pub across: String,
    /// Names of the rows, from the top.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// A value for each row and column; `None`: an empty field.
    pub values: Vec<Vec<Option<f64>>>,
}

/// Small pictures with the same axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Multiples {
    /// What the lines show.
    pub kind: CurveKind,
    /// The horizontal axis of each.
    pub across: Axis,
    /// The vertical axis of each. Without a range each picture has its own.
    pub upward: Axis,
    /// The small pictures, the most important first.
    pub panels: Vec<Panel>,
}

/// A small picture with one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Heading of the small picture.
    pub title: String,
    /// Words below the heading, such as `1.2 M queries, p99 40 ms`; may be empty.
    pub caption: String,
    /// As of [`Curve`].
    pub points: Vec<(f64, f64)>,
}

impl Picture {
    /// A picture from its parts.
    pub fn new(name: impl Into<String>, title: impl Into<String>, drawing: Drawing) -> Picture {
        Picture {
            name: name.into(),
            title: title.into(),
            drawing,
        }
    }
}

impl Curves {
    /// Whether the names of the curves are shown: that of a single distribution says no more than the title.
    pub(crate) fn has_legend(&self) -> bool {
        self.curves.len() > 1 || self.kind == CurveKind::Points && !self.curves.is_empty()
    }
}

impl Matrix {
    /// The value of a field; `None` for a missing one and for one that is not finite.
    #[must_use]
    pub fn value(&self, row: usize, column: usize) -> Option<f64> {
        let value = *self.values.get(row)?.get(column)?;
        value.filter(|value| value.is_finite())
    }
}

impl Axis {
    /// An axis whose range is taken from the values.
    pub fn new(title: impl Into<String>, unit: Unit, scale: Scale) -> Axis {
        Axis {
            title: title.into(),
            unit,
            scale,
            range: None,
        }
    }

    /// The same axis, from `least` to `most`.
    #[must_use]
    pub fn within(self, least: f64, most: f64) -> Axis {
        Axis {
            range: Some((least, most)),
            ..self
        }
    }

    /// The vertical axis of cumulative curves: shares from 0 to 1.
    pub fn shares(title: impl Into<String>) -> Axis {
        Axis::new(title, Unit::Share, Scale::Linear).within(0.0, 1.0)
    }
}

impl Curve {
    /// A line through points.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Curve {
        Curve {
            name: name.into(),
            points,
            level: None,
        }
    }
}
