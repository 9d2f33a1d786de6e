//! Analysis, the search language, SQL expressions, and the slow reference that all fast paths are tested against.
//!
//! Nothing in this crate knows a file, a thread, a clock, a protocol or an engine.
//!
//! ```
//! use query::analysis::{Analyzer, Words};
//! use query::reference;
//!
//! let analyzer = Analyzer::default();
//! let query = query::parse("storm (gulf | coast) -flood", &["title", "body"], &analyzer)?;
//!
//! let mut words = Words::new();
//! words.push_field(&analyzer, 0, "Storm warning");
//! words.push_field(&analyzer, 1, "for the Gulf of Mexico");
//! assert!(reference::matches(&query.root, &words));
//! # Ok::<(), query::tree::QueryError>(())
//! ```
//!
//! From text to words: `analysis`. From a query's text to its tree: [`parse`] and [`lucene`] into `tree`. The tree's
//! meaning: `reference`, and `verify` in near-linear time. WHERE and filters: `lexer` and `expression`. A SELECT:
//! `request` as asked, `bind` as resolved, `rows` as collected. Bytes on disk: `codec` and `row`.

pub mod analysis;
pub mod bind;
pub mod codec;
pub mod expression;
pub mod highlight;
pub mod json;
pub mod key;
pub mod lexer;
pub mod limits;
pub mod meter;
mod nearest;
pub mod options;
mod parser;
pub mod pattern;
pub mod processor;
pub mod reference;
pub mod request;
pub mod row;
pub mod rows;
pub mod schema;
pub mod scroll;
mod syntax;
pub mod text_ends;
pub mod time_unit;
pub mod tree;
pub mod value;
pub mod verify;
pub mod weight;

pub use parser::{Leniency, lucene, parse, parse_as};
pub use syntax::Syntax;
