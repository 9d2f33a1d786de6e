//! Rows: values and their types, JSON, expressions, what a SELECT asks for and what it collects.
//!
//! Nothing in this crate knows where a row lives, a file, a thread, a clock, a protocol or an engine.
//!
//! WHERE and filters: `lexer` and `expression`. A SELECT: `request` as asked, `bind` as resolved, `rows` as collected, from any `source`.
//! Bytes on disk: `codec` and `row`.

pub mod bind;
pub mod codec;
pub mod expression;
pub mod json;
pub mod key;
pub mod lexer;
pub mod limits;
pub mod options;
pub mod processor;
pub mod request;
pub mod row;
pub mod rows;
pub mod schema;
pub mod scroll;
pub mod source;
pub mod time_unit;
pub mod value;
