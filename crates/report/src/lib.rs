//! Rows in, tables and pictures out.
//!
//! A [`Document`] holds facts, tables and pictures. It knows their units, but not their meaning. Each output shows all of it:
//! [`text`](Document::text), [`csv`](Document::csv), [`json`](Document::json), [`html`](Document::html),
//! [`xlsx`](Document::xlsx), and of a picture [`svg`](Picture::svg). docs/report.md is their reference for users;
//! [`Document::example`] has a bit of everything.
//!
//! ```
//! use report::{Column, Document, Section, Table, Unit};
//!
//! let columns = vec![Column::new("name", "index", Unit::Text), Column::new("p99_seconds", "p99", Unit::Seconds)];
//! let mut indexes = Table::new("indexes", "Indexes", columns);
//! indexes.rows.push(vec!["posts".into(), 0.0123.into()]);
//! let document = Document {
//!     title: "A log".to_owned(),
//!     sections: vec![Section { tables: vec![indexes], ..Section::default() }],
//!     ..Document::default()
//! };
//! assert!(document.csv().ends_with("# indexes\nname,p99_seconds\nposts,0.0123\n"));
//! assert!(document.json().contains(r#""indexes":[{"name":"posts","p99_seconds":0.0123}]"#));
//! ```

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
mod xlsx;

pub use document::{
    Axis, Bars, Cell, Column, Curve, CurveKind, Curves, Document, Drawing, Fact, Group, Matrix,
    Multiples, Panel, Picture, Scale, Section, Table, Unit,
};
pub use escape::visible;
pub use number::in_text;
pub use terminal::Terminal;
pub use xlsx::{SHEET_COLUMNS_MAX, SHEET_ROWS_MAX, WorkbookError};

#[cfg(test)]
mod tests;
