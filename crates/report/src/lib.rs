//! Rows in, tables and pictures out.
//!
//! A [`Document`] holds facts, tables and pictures. It knows their units, but not their meaning. Each output shows all of it.

mod document;

pub use document::{
    Axis, Bars, Cell, Column, Curve, CurveKind, Curves, Document, Drawing, Fact, Group, Matrix,
    Multiples, Panel, Picture, Scale, Section, Table, Unit,
};
