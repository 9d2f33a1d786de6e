//! Rows in, tables and pictures out.
//!
//! A [`Document`] holds facts, tables and pictures. It knows their units, but not their meaning. Each output shows all of it.

mod csv;
mod document;
mod escape;
mod html;
mod json;
mod names;
mod number;
mod ruler;
mod svg;
mod terminal;
mod thin;

pub use document::{
    Axis, Bars, Cell, Column, Curve, CurveKind, Curves, Document, Drawing, Fact, Group, Matrix,
    Multiples, Panel, Picture, Scale, Section, Table, Unit,
};
pub use terminal::Terminal;

#[cfg(test)]
mod tests;
