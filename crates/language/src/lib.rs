//! Text: analysis, the search language, highlights, and the slow reference that all fast paths are tested against.
//!
//! Nothing in this crate knows a row, a type of column, a file, a thread, a clock, a protocol or an engine.
//!
//! ```
//! use language::analysis::{Analyzer, Words};
//! use language::reference;
//!
//! let analyzer = Analyzer::default();
//! let query = language::parse("storm (gulf | coast) -flood", &["title", "body"], &analyzer)?;
//!
//! let mut words = Words::new();
//! words.push_field(&analyzer, 0, "Storm warning");
//! words.push_field(&analyzer, 1, "for the Gulf of Mexico");
//! assert!(reference::matches(&query.root, &words));
//! # Ok::<(), language::tree::QueryError>(())
//! ```
//!
//! From text to words: `analysis`. From a query's text to its tree: [`parse`] and [`lucene`] into `tree`. The tree's
//! meaning: `reference`, and `verify` in near-linear time.

pub mod analysis;
pub mod highlight;
pub mod limits;
pub mod meter;
pub mod nearest;
mod parser;
pub mod pattern;
pub mod reference;
mod syntax;
pub mod tree;
pub mod verify;
pub mod weight;

pub use parser::{Leniency, lucene, parse, parse_as};
pub use syntax::Syntax;
