//! Analysis, the search language, expressions, and the slow reference of both directions.
//!
//! Nothing in this crate knows a file, thread, clock, protocol or engine.

pub mod analysis;
pub mod bind;
pub mod codec;
pub mod expression;
pub mod highlight;
pub mod lexer;
pub mod limits;
pub mod options;
mod parser;
pub mod pattern;
pub mod processor;
pub mod reference;
pub mod request;
pub mod row;
pub mod rows;
pub mod schema;
mod syntax;
pub mod tree;
pub mod value;
pub mod verify;
pub mod weight;

pub use parser::{Leniency, lucene, parse, parse_as};
pub use syntax::Syntax;
