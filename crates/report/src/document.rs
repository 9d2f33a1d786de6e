//! The model of a report: a document has facts and sections, a section has text, tables and pictures.
//!
//! | item | name in CSV and JSON | shown as |
//! |---|---|---|
//! | fact | a key of the document | a figure below the title |
//! | section | a key of `sections` | a heading |
//! | table | a key of the document, a list of rows | a table |
//! | picture | a key of the document, a list of values | a drawing, and a table of its values |
//!
//! Names are stable: lower case, words joined by `_`, with the unit at the end (`p99_seconds`). Titles are for people and may
//! change.

mod example;
mod picture;
mod table;
mod values;

pub use picture::{
    Axis, Bars, Curve, CurveKind, Curves, Drawing, Group, Matrix, Multiples, Panel, Picture, Scale,
};
pub use table::{Cell, Column, Table, Unit};

/// A report: facts and sections below a heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Heading of the whole.
    pub title: String,
    /// Lines that a reader must know before the figures: the source, limits, what was left out.
    pub notes: Vec<String>,
    /// Single figures of the whole report.
    pub facts: Vec<Fact>,
    /// The parts, in the order shown.
    pub sections: Vec<Section>,
}

/// A named figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Key in JSON, first cell of a line in CSV.
    pub name: String,
    /// Words for a reader.
    pub title: String,
    /// Unit of the value.
    pub unit: Unit,
    /// A number, or words.
    pub value: Cell,
}

/// A part of a report under one heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Key of `sections` in JSON, anchor in HTML.
    pub name: String,
    /// Heading of the part.
    pub title: String,
    /// Paragraphs, each of one line.
    pub text: Vec<String>,
    /// Drawings, shown before the tables.
    pub pictures: Vec<Picture>,
    /// Tables. Their names are unique in the document.
    pub tables: Vec<Table>,
}

impl Document {
    /// The tables of all sections, in order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sections.iter().flat_map(|section| &section.tables)
    }

    /// The pictures of all sections, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.sections.iter().flat_map(|section| &section.pictures)
    }

    /// The first table with this name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables().find(|table| table.name == name)
    }
}

impl Fact {
    /// A figure from its parts.
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        unit: Unit,
        value: impl Into<Cell>,
    ) -> Fact {
        Fact {
            name: name.into(),
            title: title.into(),
            unit,
            value: value.into(),
        }
    }
}
