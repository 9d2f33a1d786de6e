//! Analysis: from text to words, by folding, word boundaries and positions.
//!
//! A *run* is a longest stretch of letters, digits, `_` and marks; every other character separates runs. A run is
//! folded (compatibility decomposition, accents stripped, lower case) and is one word, except that each Chinese,
//! Japanese and Korean character in it is a word of its own. A run written as `#tag` or `@handle` also gives the
//! marked word, at the position of its first bare word. Positions count the bare words of one field, from 1.
//!
//! Example: `Café 東京, #Storm-Warning`
//!
//! ```text
//! position  1     2   3   4               5
//! words     cafe  東  京  storm #storm    warning
//! ```

mod analyzer;
mod fold;
mod settings;
mod stem;
mod unit_ends;
mod units;
mod wide;
mod words;

#[cfg(test)]
mod tests;

pub use analyzer::Analyzer;
pub use fold::FoldedWord;
pub(crate) use fold::{in_run, is_mark, stands_alone};
pub use settings::Settings;
pub use unit_ends::UnitEnds;
pub use words::Words;
